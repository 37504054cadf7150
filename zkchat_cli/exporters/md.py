"""`md`: the current branch as a note to keep: who said what, the sources as footnotes, the summaries apart.

For reading, so it leaves out what only a program needs (tool results, other branches); `json` has it all. An answer is Markdown already
and goes in as it is, with two exceptions: its `[n]` become footnotes, and a code block it left open is closed, lest it swallow the rest.
"""

import json
import re
from collections.abc import Iterator, Sequence
from pathlib import PurePosixPath

from zkchat_cli.exporters import SPEAKERS, UNANSWERED, Exporter, asked, branch, brought, came_in, not_cited, title, tool_answers
from zkchat_cli.models import Citation, Compaction, ConversationArchive, DocumentReference, ToolCall, ZkChatMessage
from zkchat_cli.words import shorten

_FENCE = re.compile(r"^([ \t>]*(?:(?:[-*+]|\d+[.)])[ \t]+)*)(`{3,}(?=[^`]*$)|~{3,})")
_LIST_ITEM = re.compile(r"^([ \t]*(?:[-*+]|\d+[.)])[ \t]+)\S")
_CODE_SPAN = re.compile(r"(?<!`)(`+)(?!`)(?:.*?[^`])?\1(?!`)", re.DOTALL)
_CITATION = re.compile(r"(?<![\\!\[])\[(\d{1,9})\](?![(\]])")

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
    parts += _summaries(archive.compactions)
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
            yield f"- `{message.tool_name or 'tool'}`: {shorten(message.content, 120)}"
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


def _summaries(compactions: Sequence[Compaction]) -> Iterator[str]:
    told = [compaction for compaction in compactions if compaction.summary]
    if told:
        yield "## Summaries"
    for compaction in told:
        figures = f"{compaction.messages_folded} messages, {compaction.tokens_before} → {compaction.tokens_after} tokens"
        yield f"*{compaction.created_at[:16].replace('T', ' ')}: {figures}*"
        yield "\n".join(f"> {line}".rstrip() for line in (compaction.summary or "").splitlines())


def _footnote(number: int, citations: Sequence[Citation]) -> str:
    """All answers share one numbering, so a number is one source; the quotes of all of them stand together, each with what is wrong."""
    source = next((citation for citation in citations if citation.relative_path), None)
    if source is None or source.relative_path is None:
        return f"[^{number}]: *missing: no such source was in the prompt* {_quotes(citations)}".rstrip()
    note = PurePosixPath(source.relative_path).stem
    heading = re.sub(r"[\[\]|\s]+", " ", source.heading or "").strip()
    link = f"[[{note}#{heading}]]" if heading else f"[[{note}]]"
    lines = "" if source.start_line is None else f":{source.start_line}"
    if lines and source.end_line not in (None, source.start_line):
        lines += f"-{source.end_line}"
    return f"[^{number}]: {link} {source.relative_path}{lines} {_quotes(citations)}".rstrip()


def _quotes(citations: Sequence[Citation]) -> str:
    quotes: dict[str, str] = {}
    for citation in citations:
        if citation.quote:
            quotes.setdefault(" ".join(citation.quote.split()), _MISQUOTED if citation.standing == "misquoted" else "")
    return ", ".join(f'"{quote}"{wrong}' for quote, wrong in quotes.items())


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
