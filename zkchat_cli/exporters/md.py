"""`md`: the current branch as a note to keep: who said what, the sources as footnotes, the summaries apart.

For reading, so it leaves out what only a program needs (tool results, other branches); `json` has it all. An answer is Markdown already
and goes in as it is, with two exceptions: its numbers become footnotes, and a code block it left open is closed, lest it swallow the rest.
"""

import json
import re
from collections.abc import Iterator, Sequence
from pathlib import PurePosixPath

from zkchat_cli import marks
from zkchat_cli.exporters import Exporter
from zkchat_cli.models import Citation, Compaction, ConversationArchive, ToolCall, ZkChatMessage
from zkchat_cli.words import shorten

_SPEAKERS = {"user": "You", "assistant": "zkchat", "system": "System"}
_MARKS = {
    "pending": "*Not answered yet.*",
    "unfinished": "*Unfinished: the answer was cut off here.*",
    "failed": "*Failed: there is no answer.*",
}

_ToolAnswers = dict[tuple[str, str], ZkChatMessage]


def export(archive: ConversationArchive) -> str:
    branch = _branch(archive)
    answers = _tool_answers(branch)
    cited: dict[int, list[Citation]] = {}
    parts = [_front_matter(archive, branch), f"# {_title(archive)}"]
    for before, message in zip([None, *branch], branch, strict=False):
        parts += _message(message, before, answers, cited)
    parts += _summaries(archive.compactions)
    parts += ["\n".join(_footnote(number, cited[number]) for number in sorted(cited))]
    return "\n\n".join(part for part in parts if part) + "\n"


def _branch(archive: ConversationArchive) -> list[ZkChatMessage]:
    by_id = {message.id: message for message in archive.messages}
    branch: list[ZkChatMessage] = []
    at = archive.conversation.head_id
    while at is not None:
        branch.append(by_id[at])
        at = branch[-1].parent_id
    return branch[::-1]


def _tool_answers(branch: Sequence[ZkChatMessage]) -> _ToolAnswers:
    """By the message that called and the call's id: some models number their calls anew in each message."""
    answers: _ToolAnswers = {}
    caller = ""
    for message in branch:
        if message.role == "tool":
            answers[caller, message.tool_call_id or ""] = message
        else:
            caller = message.id
    return answers


def _title(archive: ConversationArchive) -> str:
    return " ".join((archive.conversation.title or "").split()) or f"Conversation of {archive.conversation.created_at[:10]}"


def _front_matter(archive: ConversationArchive, branch: Sequence[ZkChatMessage]) -> str:
    """Values as JSON strings, which are YAML as well, whatever stands in them."""
    models = dict.fromkeys(message.model for message in branch if message.model)
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
            yield f"- `{message.tool_name or 'tool'}`: {shorten(message.content, 120)}"
        return
    if not (message.role == "assistant" and before is not None and (before.role == "tool" or before.tool_calls)):
        yield f"## {_SPEAKERS[message.role]}"
    if message.content.strip():
        yield _with_footnotes(message, cited)
    if message.tool_calls:
        yield "\n".join(_call(call, answers.get((message.id, call.id))) for call in message.tool_calls)
    if message.status in _MARKS:
        yield _MARKS[message.status]


def _call(call: ToolCall, answer: ZkChatMessage | None) -> str:
    given = ", ".join(json.dumps(value, ensure_ascii=False) for value in call.arguments.values())
    line = f"- `{call.name}` {shorten(given, 80)}".rstrip()
    if answer is None or answer.tool_run is None:
        return line
    run = answer.tool_run
    if not run.ok:
        return f"{line}: failed"
    brought = len(answer.chunks)
    excerpts = f"{brought} excerpt{'s' if brought > 1 else ''}, " if brought else ""
    return f"{line}: {excerpts}{run.tokens} tokens"


def _summaries(compactions: Sequence[Compaction]) -> Iterator[str]:
    told = [compaction for compaction in compactions if compaction.summary]
    if told:
        yield "## Summaries"
    for compaction in told:
        figures = f"{compaction.messages_folded} messages, {compaction.tokens_before} → {compaction.tokens_after} tokens"
        yield f"*{compaction.created_at[:16].replace('T', ' ')}: {figures}*"
        yield "\n".join(f"> {line}".rstrip() for line in (compaction.summary or "").splitlines())


def _footnote(number: int, citations: Sequence[Citation]) -> str:
    """All answers share one numbering, so a number is one source; the quotes of all of them stand together."""
    source = next((citation for citation in citations if citation.relative_path), None)
    quotes = dict.fromkeys(" ".join(citation.quote.split()) for citation in citations if citation.quote)
    said = ", ".join(f'"{quote}"' for quote in quotes)
    if source is None or source.relative_path is None:
        return f"[^{number}]: *not among the sources* {said}".rstrip()
    note = PurePosixPath(source.relative_path).stem
    heading = re.sub(r"[\[\]|\s]+", " ", source.heading or "").strip()
    link = f"[[{note}#{heading}]]" if heading else f"[[{note}]]"
    lines = "" if source.start_line is None else f":{source.start_line}"
    if lines and source.end_line not in (None, source.start_line):
        lines += f"-{source.end_line}"
    doubt = "" if all(citation.valid for citation in citations) else " *(not verified)*"
    return f"[^{number}]: {link} {source.relative_path}{lines} {said}".rstrip() + doubt


def _with_footnotes(message: ZkChatMessage, cited: dict[int, list[Citation]]) -> str:
    """The message's text with `[n]` as `[^n]` where n is one of its citations, however it is written; notes in `cited` which ones it met.

    A note that is cited by its name is linked already.
    """
    known: dict[int, list[Citation]] = {}
    for citation in message.citations:
        known.setdefault(citation.number, []).append(citation)
    written: list[str] = []
    for piece, mark in marks.pieces(message.content, marks.cited(message.content, message.citations)):
        if mark is None or mark.name is not None:
            written.append(piece)
            continue
        for number in mark.numbers:
            cited.setdefault(number, []).extend(known.pop(number, ()))
        footnotes = "".join(f"[^{number}]" for number in mark.numbers)
        written.append(f"{footnotes}\\" if mark.defines else footnotes)  # at a line's start `[^1]:` would define the footnote
    text = "".join(written)
    closing = marks.read(text).closing
    if closing:
        text = text.removesuffix("\n") + "\n" + closing
    return text.strip("\n")


EXPORTER = Exporter(name="md", suffix=".md", help="a readable note: the current branch, sources as footnotes", export=export)
