"""`okf`: the current branch as a note in the Open Knowledge Format 0.2. Its front matter says what
it is based on, who wrote it, and that it was verified.

Each footnote has the label of an entry of `sources`, one for each note, instead of a number.
https://github.com/GoogleCloudPlatform/knowledge-catalog/blob/main/okf/SPEC.md
"""

import json
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from datetime import datetime
from itertools import chain
from typing import NamedTuple
from urllib.parse import quote

from zkchat_cli import __version__
from zkchat_cli.exporters import _notes, base
from zkchat_cli.models.archive import ConversationArchive
from zkchat_cli.models.citations import Citation
from zkchat_cli.models.messages import ZkChatMessage
from zkchat_cli.references.documents import link_names
from zkchat_cli.text.numbers import line_range
from zkchat_cli.text.sentences import first_sentence
from zkchat_cli.text.truncate import truncate
from zkchat_cli.vault.knowledge_format import STAMP_ACTOR
from zkchat_cli.vault.links.wikilinks import note_name, strip_suffix

# Written by a program, and not yet read by anybody
STATUS = "draft"
MAX_TITLE = 100
MAX_LABEL = 60


class SourceState(NamedTuple):
    """What is known of a source besides its path: when its file changed, and from when on it is
    stale by its own account.
    """

    last_modified: str | None = None
    stale_after: datetime | None = None


def export(archive: ConversationArchive) -> str:
    """The note of a conversation. It is verified if all quotations of its answers were, at the time
    of the last answer.
    """
    messages = base.current_branch(archive)
    name = link_names(chain.from_iterable(message.references for message in messages))
    answers = [message for message in messages if message.role == "assistant"]
    citations = [*chain.from_iterable(answer.citations for answer in answers)]
    labels = _source_labels(citations)
    talk = archive.conversation
    written_at = answers[-1].timestamp if answers else talk.created_at
    fields = _FrontMatter("Conversation", base.conversation_title(archive), written_at)
    fields.add_verification(citations, written_at)
    fields.add_sources(labels, {})
    fields.add("model", base.model_names(messages) or None)
    fields.add("vault", talk.vault)
    fields.add("conversation", talk.id)
    parts = _notes.conversation_parts(archive, messages, name, _footnote_style(labels))
    return _notes.join_parts([fields.text(), *parts])


def answer_note(
    question: str,
    answer: ZkChatMessage,
    conversation: str,
    source_state: Callable[[str], SourceState],
    stale_after: datetime | None = None,
) -> str:
    """One answer as a note of its own, which is not verified yet. It is stale when the first of its
    sources is, by default.
    """
    labels = _source_labels(answer.citations)
    states = {path: source_state(path) for path in labels}
    title = first_sentence(question).strip() or "Answer"
    fields = _FrontMatter("Answer", truncate(title, MAX_TITLE), answer.timestamp)
    times = [state.stale_after for state in states.values() if state.stale_after is not None]
    fields.add_stale_after(stale_after or min(times, default=None))
    fields.add_sources(labels, states)
    fields.add("question", question.strip())
    fields.add("model", answer.model)
    fields.add("conversation", conversation)
    parts = _notes.answer_parts(answer, _footnote_style(labels))
    return _notes.join_parts([fields.text(), *parts])


class _FrontMatter:
    """The lines of front matter. Values are JSON strings, which are YAML for any content; times and
    actors are as the format's own examples have them.
    """

    def __init__(self, kind: str, title: str, written_at: str) -> None:
        self._lines = [
            f"type: {kind}",
            f"title: {_quoted(title)}",
            f"status: {STATUS}",
            f"generated: {{ by: zkchat/{__version__}, at: {_quoted(written_at)} }}",
        ]

    def add(self, name: str, value: str | None) -> None:
        """A field of zkchat's own, if it has a value."""
        if value is not None:
            self._lines.append(f"{name}: {_quoted(value)}")

    def add_verification(self, citations: Sequence[Citation], at: str) -> None:
        """That zkchat verified the quotations, if all of them hold."""
        quotes = [citation for citation in citations if citation.quote]
        holds = all(citation.verdict in ("verified", "cited") for citation in citations)
        if holds and any(citation.verdict == "verified" for citation in quotes):
            self._lines.append("verified:")
            self._lines.append(f"  - {{ by: {STAMP_ACTOR}, at: {_quoted(at)} }}")

    def add_stale_after(self, time: datetime | None) -> None:
        """From when on the note should not be trusted any more."""
        if time is not None:
            self._lines.append(f"stale_after: {_quoted(time.isoformat())}")

    def add_sources(self, labels: Mapping[str, str], states: Mapping[str, SourceState]) -> None:
        """The notes with the labels of their footnotes."""
        if labels:
            self._lines.append("sources:")
        for path, label in labels.items():
            self._lines.append(f"  - id: {_quoted(label)}")
            self._lines.append(f"    resource: {_quoted(f'/{path}')}")
            self._lines.append(f"    title: {_quoted(note_name(path))}")
            modified = states.get(path, SourceState()).last_modified
            if modified is not None:
                self._lines.append(f"    last_modified: {_quoted(modified)}")

    def text(self) -> str:
        """The front matter between its marks."""
        return "\n".join(["---", *self._lines, "---"])


def _quoted(value: str) -> str:
    return base.escape_for_yaml(json.dumps(value, ensure_ascii=False))


def _source_labels(citations: Iterable[Citation]) -> dict[str, str]:
    """A label for the footnotes of each cited note, by its path: the words of its name, with those
    of its folder if another note has the same.
    """
    paths = dict.fromkeys(each.relative_path for each in citations if each.relative_path)
    labels: dict[str, str] = {}
    for path in paths:
        taken = set(labels.values())
        for label in _possible_labels(path):
            if label not in taken:
                labels[path] = label
                break
    return labels


def _possible_labels(path: str) -> Iterator[str]:
    name = _label_text(note_name(path))
    yield name
    yield _label_text(strip_suffix(path))
    number = 2
    while True:
        yield f"{name}-{number}"
        number += 1


def _label_text(name: str) -> str:
    """A label without spaces and brackets. One of digits alone would be a number."""
    words = "".join(c if c.isalnum() else " " for c in name.casefold()).split()
    label = "-".join(words)[:MAX_LABEL].strip("-")
    return label if label and not label.isdecimal() else f"note-{label}".strip("-")


def _footnote_style(labels: Mapping[str, str]) -> _notes.FootnoteStyle:
    """Footnotes with these labels, and Markdown links from the vault's root."""

    def label(number: int, citations: Sequence[Citation]) -> str:
        for citation in citations:
            if citation.relative_path:
                return labels[citation.relative_path]
        return f"missing-{number}"

    return _notes.FootnoteStyle(label, _write_source)


def _write_source(citations: Sequence[Citation]) -> str:
    paths = [citation.relative_path for citation in citations if citation.relative_path]
    if not paths:
        return f"*missing: {base.NO_SOURCE}*"
    ranges: dict[str, None] = {}
    for citation in citations:
        if citation.start_line is not None:
            ranges[line_range(citation.start_line, citation.end_line)] = None
    word = "line" if len(ranges) == 1 and "-" not in next(iter(ranges)) else "lines"
    lines = f", {word} {', '.join(ranges)}" if ranges else ""
    name = " ".join(note_name(paths[0]).replace("[", " ").replace("]", " ").split())
    return f"[{name}](/{quote(paths[0], errors='replace')}){lines}:"


EXPORTER = base.Exporter(suffix=".okf.md", export=export)
