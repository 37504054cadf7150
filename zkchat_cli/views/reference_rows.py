"""The references of a turn as rows of a list: what it cites, and what else it names or found."""

from collections.abc import Mapping, Sequence
from typing import NamedTuple

from zkchat_cli.exporters.base import NO_SOURCE, describe_reference, uncited_references
from zkchat_cli.exporters.html.sources import STATUSES
from zkchat_cli.models import Citation, ZkChatMessage, group_by_number, worst_verdict
from zkchat_cli.text.numbers import line_range
from zkchat_cli.vault.links.wikilinks import note_name
from zkchat_cli.views.sources import source_name

BROKEN = "✗"


class ReferenceRow(NamedTuple):
    """`key` is what `/open` takes: the number of a source, or the path of a note; empty for a broken link."""

    key: str
    sign: str
    verdict: str
    where: str
    """Note, heading and line."""
    summary: str

    @property
    def text(self) -> str:
        """Two paragraphs of the list."""
        number = f"[{self.key}]" if self.key.isdecimal() else ""
        return f"{' '.join(filter(None, (self.sign, number, self.where)))}\n{': '.join(filter(None, (self.verdict, self.summary)))}"


def reference_rows(turn: Sequence[ZkChatMessage]) -> list[ReferenceRow]:
    """What the messages of a turn cite, by number, then broken links, and then other documents that they name or that tools found."""
    summaries = {each.relative_path: each.summary for message in turn for each in message.references if each.summary}
    groups = group_by_number(each for message in turn for each in message.citations)
    rows = [_cited_row(number, group, summaries) for number, group in groups.items()]
    for each in sorted(uncited_references(turn), key=lambda each: each.relative_path is not None):
        about = "; ".join(filter(None, (describe_reference(each), each.summary)))
        if each.relative_path is None:
            rows.append(ReferenceRow("", BROKEN, "broken", each.wikilink, about))
        else:
            key = str(each.number) if each.number is not None else each.relative_path
            where = source_name(each.relative_path, note_name(each.relative_path), each.heading)
            rows.append(ReferenceRow(key, "", "not cited", where, about))
    return rows


def _cited_row(number: int, group: Sequence[Citation], summaries: Mapping[str | None, str]) -> ReferenceRow:
    verdict = worst_verdict(each.verdict for each in group)
    first = next((each for each in group if each.relative_path), group[0])
    if first.relative_path is None:
        return ReferenceRow("", BROKEN, verdict, f"[{number}]", NO_SOURCE)
    line = f", line {line_range(first.start_line, first.end_line)}" if first.start_line is not None else ""
    where = source_name(first.relative_path, note_name(first.relative_path), first.heading) + line
    return ReferenceRow(str(number), STATUSES[verdict].sign, verdict, where, summaries.get(first.relative_path, ""))
