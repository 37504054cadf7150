"""`md`: the current branch as a note to keep: who said what, the sources as footnotes, the summary that holds apart.

For reading, so it leaves out what only a program needs (tool results, other branches); `json` has it all. An answer is Markdown already
and goes in as it is, with two exceptions: its numbers become footnotes, and a code block it left open is closed, lest it swallow the rest.
"""

import json
import re
from collections.abc import Iterator, Sequence
from pathlib import PurePosixPath

from zkchat_cli.citations import marks
from zkchat_cli.exporters.base import (
    SPEAKERS,
    UNANSWERED,
    Exporter,
    asked,
    branch,
    brought,
    came_in,
    folded_in,
    not_cited,
    summaries,
    title,
    tool_answers,
)
from zkchat_cli.models import Citation, Compaction, ConversationArchive, DocumentReference, ToolCall, ZkChatMessage
from zkchat_cli.text.truncate import truncate

_ToolAnswers = dict[tuple[str, str], ZkChatMessage]
_MISQUOTED = " *(misquoted: not there)*"


def export(archive: ConversationArchive) -> str:
    messages = branch(archive)
    answers = tool_answers(messages)
    cited: dict[int, list[Citation]] = {}
    parts = [_front_matter(archive, messages), f"# {title(archive)}"]
    for before, message in zip([None, *messages], messages, strict=False):
        parts += _message(message, before, answers, cited)
    parts += _not_cited(messages)
    parts += _summary(summaries(archive, messages))
    parts += ["\n".join(_footnote(number, cited[number]) for number in sorted(cited))]
    return "\n\n".join(part for part in parts if part) + "\n"


def _front_matter(archive: ConversationArchive, messages: Sequence[ZkChatMessage]) -> str:
    """Values as JSON strings, which are YAML as well, whatever stands in them."""
    models = dict.fromkeys(message.model for message in messages if message.model)
    fields = {
        "conversation": archive.conversation.id,
        "date": archive.conversation.created_at,
        "vault": archive.conversation.vault,
        "model": ", ".join(models) or None,
    }
    lines = [f"{name}: {json.dumps(value, ensure_ascii=False)}" for name, value in fields.items()]
    return "\n".join(["---", *lines, "---"])


def _message(
    message: ZkChatMessage, before: ZkChatMessage | None, answers: _ToolAnswers, cited: dict[int, list[Citation]]
) -> Iterator[str]:
    """A message under its speaker's heading; what a tool found and the answer made from it belong to one heading."""
    if message.role == "tool":
        if message.tool_run is None:  # nothing said what the call came to, so show what it brought
            yield f"- `{message.tool_name or 'tool'}`: {truncate(message.content, 120)}"
        return
    if not (message.role == "assistant" and before is not None and (before.role == "tool" or before.tool_calls)):
        yield f"## {SPEAKERS[message.role]}"
    if message.content.strip():
        yield _with_footnotes(message, cited)
    if message.tool_calls:
        yield "\n".join(_call(call, answers.get((message.id, call.id))) for call in message.tool_calls)
    if message.status in UNANSWERED:
        yield f"*{UNANSWERED[message.status]}*"


def _call(call: ToolCall, answer: ZkChatMessage | None) -> str:
    line = f"- `{call.name}` {asked(call)}".rstrip()
    came_to = brought(answer)
    return f"{line}: {came_to}" if came_to else line


def _not_cited(messages: Sequence[ZkChatMessage]) -> Iterator[str]:
    """The documents that were named or supplied and that no answer cites, and the links that lead nowhere."""
    if references := not_cited(messages):
        yield "## Not cited"
        yield "\n".join(f"- {_where(reference)}: {came_in(reference)}" for reference in references)


def _where(reference: DocumentReference) -> str:
    if reference.relative_path is None:
        return " ".join(reference.wikilink.split())
    return " ".join(f"[[{PurePosixPath(reference.relative_path).stem}]] {reference.relative_path}".split())


def _summary(told: Sequence[Compaction]) -> Iterator[str]:
    if not told:
        return
    yield "## Summary"
    yield f"*{told[-1].created_at[:16].replace('T', ' ')}: {folded_in(told[-1])}{_earlier(len(told) - 1)}*"
    yield "\n".join(f"> {line}".rstrip() for line in (told[-1].summary or "").splitlines())


def _earlier(count: int) -> str:
    return f"; it took in {count} earlier one{'s' * (count > 1)}" if count else ""


def _footnote(number: int, citations: Sequence[Citation]) -> str:
    """All answers share one numbering, so a number is one source; the quotes of all of them stand together, each with what is wrong."""
    source = next((citation for citation in citations if citation.relative_path), None)
    if source is None or source.relative_path is None:
        return f"[^{number}]: *missing: no such source was in the prompt* {_quotes(citations)}".rstrip()
    note = PurePosixPath(source.relative_path).stem
    heading = re.sub(r"[\[\]|\s]+", " ", source.heading or "").strip()
    link = f"[[{note}#{heading}]]" if heading not in ("", note) else f"[[{note}]]"
    lines = "" if source.start_line is None else f":{source.start_line}"
    if lines and source.end_line not in (None, source.start_line):
        lines += f"-{source.end_line}"
    return f"[^{number}]: {link} {source.relative_path}{lines} {_quotes(citations)}".rstrip()


def _quotes(citations: Sequence[Citation]) -> str:
    quotes: dict[str, str] = {}
    for citation in citations:
        if citation.quote:
            quotes.setdefault(" ".join(citation.quote.split()), _MISQUOTED if citation.effective_status == "misquoted" else "")
    return ", ".join(f'"{quote}"{wrong}' for quote, wrong in quotes.items())


def _with_footnotes(message: ZkChatMessage, cited: dict[int, list[Citation]]) -> str:
    """The message's text with `[n]` as `[^n]` where n is one of its citations, however it is written; notes in `cited` which ones it met.

    A note that is cited by its name is linked already.
    """
    known: dict[int, list[Citation]] = {}
    for citation in message.citations:
        known.setdefault(citation.number, []).append(citation)
    written: list[str] = []
    for piece, mark in marks.split_at_marks(message.content, marks.cited_marks(message.content, message.citations)):
        if mark is None or mark.name is not None:
            written.append(piece)
            continue
        for number in mark.numbers:
            cited.setdefault(number, []).extend(known.pop(number, ()))
        footnotes = "".join(f"[^{number}]" for number in mark.numbers)
        written.append(f"{footnotes}\\" if mark.defines else footnotes)  # at a line's start `[^1]:` would define the footnote
    text = "".join(written)
    closing = marks.read_marks(text).closing
    if closing:
        text = text.removesuffix("\n") + "\n" + closing
    return text.strip("\n")


EXPORTER = Exporter(name="md", suffix=".md", help="a readable note: the current branch, sources as footnotes", export=export)
