"""`md`: the current branch as a note to keep: who said what, the sources as footnotes, the summaries apart.

For reading, so it leaves out what only a program needs (tool results, other branches); `json` has it all. An answer is Markdown already
and goes in as it is, with two exceptions: its `[n]` become footnotes, and a code block it left open is closed, lest it swallow the rest.
"""

import json
import re
from collections.abc import Iterator, Sequence
from pathlib import PurePosixPath

from zkchat_cli.exporters import Exporter
from zkchat_cli.models import Citation, Compaction, ConversationArchive, ToolCall, ZkChatMessage
from zkchat_cli.words import shorten

_SPEAKERS = {"user": "You", "assistant": "zkchat", "system": "System"}
_MARKS = {
    "pending": "*Not answered yet.*",
    "unfinished": "*Unfinished: the answer was cut off here.*",
    "failed": "*Failed: there is no answer.*",
}
_FENCE = re.compile(r"^([ \t>]*(?:(?:[-*+]|\d+[.)])[ \t]+)*)(`{3,}(?=[^`]*$)|~{3,})")
_LIST_ITEM = re.compile(r"^([ \t]*(?:[-*+]|\d+[.)])[ \t]+)\S")
_CODE_SPAN = re.compile(r"(?<!`)(`+)(?!`)(?:.*?[^`])?\1(?!`)", re.DOTALL)
_CITATION = re.compile(r"(?<![\\!\[])\[(\d{1,9})\](?![(\]])")

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
    """The message's text with `[n]` as `[^n]` where n is one of its citations; notes in `cited` which ones it met."""
    known: dict[int, list[Citation]] = {}
    for citation in message.citations:
        known.setdefault(citation.number, []).append(citation)

    def footnote(found: re.Match[str]) -> str:
        number = int(found[1])
        if number not in known:
            return found[0]
        met.add(number)
        before, after = found.string[: found.start()], found.string[found.end() : found.end() + 1]
        defines = after == ":" and not before.rpartition("\n")[2].strip()
        return f"[^{number}]\\" if defines else f"[^{number}]"  # at a line's start `[^1]:` would define the footnote

    met: set[int] = set()
    text = "".join(piece if is_code else _CITATION.sub(footnote, piece) for piece, is_code in _pieces(message.content.strip("\n")))
    for number in met:
        cited.setdefault(number, []).extend(known[number])
    return text


def _pieces(text: str) -> Iterator[tuple[str, bool]]:
    """`text` cut into prose and code; put together again it is the same, but for an open code block, which is closed."""
    prose = ""
    opening: re.Match[str] | None = None
    margin = 0
    after_blank = True
    for line in text.splitlines(keepends=True):
        if opening and ">" in opening[1] and not line.lstrip().startswith(">"):
            opening = None  # the quote is over, and its code block with it
        if opening:
            yield line, True
            rest = line.strip(" \t\r\n>")
            if len(rest) >= len(opening[2]) and set(rest) == set(opening[2]):
                opening = None
            continue
        blank = not line.strip()
        indent = len(line[: len(line) - len(line.lstrip())].expandtabs(4))
        indented_code = after_blank and not blank and indent >= margin + 4
        opening = None if indented_code else _FENCE.match(line)
        if indented_code or opening:
            yield from _spans(prose)
            yield line, True
            prose = ""
        else:
            prose += line
        if item := _LIST_ITEM.match(line):
            margin = len(item[1].expandtabs(4))
        elif not blank and indent == 0:
            margin = 0
        after_blank = blank or indented_code
    yield from _spans(prose)
    if opening and not opening[1].strip() and len(opening[1].expandtabs(4)) < (margin or 4):  # one in a list or a quote ends with that
        yield ("" if text.endswith("\n") else "\n") + opening[2], True


def _spans(prose: str) -> Iterator[tuple[str, bool]]:
    """Prose with its `code spans`; a span does not reach over a blank line."""
    for number, piece in enumerate(re.split(r"(\n[ \t]*\n)", prose)):
        if number % 2:
            yield piece, False
            continue
        end = 0
        for span in _CODE_SPAN.finditer(piece):
            yield piece[end : span.start()], False
            yield span[0], True
            end = span.end()
        yield piece[end:], False


EXPORTER = Exporter(name="md", suffix=".md", help="a readable note: the current branch, sources as footnotes", export=export)
