"""What the formats that are notes share: questions and answers as Markdown, the sources as
footnotes.

An answer is Markdown and is copied with two changes: its marks become footnotes, and a code block
that it left open is closed. How footnotes are labelled and what they say of a source is the
format's, a `FootnoteStyle`.
"""

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import NamedTuple

from zkchat_cli.citations.cited_marks import cited_marks, split_at_marks
from zkchat_cli.citations.marks import read_marks
from zkchat_cli.context.message_priority import describe_priority
from zkchat_cli.exporters import base
from zkchat_cli.models.archive import ConversationArchive
from zkchat_cli.models.citations import Citation, group_by_number
from zkchat_cli.models.compaction import Compaction
from zkchat_cli.models.messages import ToolCall, ZkChatMessage
from zkchat_cli.models.notes import DocumentReference
from zkchat_cli.text.truncate import truncate, truncate_to_minute
from zkchat_cli.vault.links.wikilinks import write_link

# Characters of an imported result
MAX_IMPORTED_RESULT = 120
LinkName = Callable[[str], str]
"""The name that links use for the note at a path."""


class FootnoteStyle(NamedTuple):
    """`label` names the footnote for a number and its citations in one answer; `source` writes what
    a footnote says of the source, and gets the citations of all answers with its label.
    """

    label: Callable[[int, Sequence[Citation]], str]
    source: Callable[[Sequence[Citation]], str]


class _Footnote(NamedTuple):
    """The lowest number of a footnote's source, and its citations in all answers."""

    number: int
    citations: list[Citation]


CitedSources = dict[str, _Footnote]
"""The footnotes by their labels."""


def conversation_parts(
    archive: ConversationArchive,
    messages: Sequence[ZkChatMessage],
    name: LinkName,
    style: FootnoteStyle,
) -> Iterator[str]:
    """The parts of a conversation below its front matter."""
    cited: CitedSources = {}
    yield f"# {base.conversation_title(archive)}"
    yield from _message_parts(messages, cited, name, style)
    yield from _uncited_parts(messages, name)
    yield from _summary_parts(base.current_summary(archive, messages))
    yield _footnotes(cited, style)


def answer_parts(answer: ZkChatMessage, style: FootnoteStyle) -> Iterator[str]:
    """The parts of a note with one answer."""
    cited: CitedSources = {}
    yield _with_footnotes(answer, cited, style)
    yield _evidence_list(answer)
    yield _footnotes(cited, style)


def _evidence_list(message: ZkChatMessage) -> str:
    """The sentences that zkchat has found for an answer without a source."""
    items = [f"- {item}" for item in base.evidence_items(message.evidence)]
    return "\n".join([f"*{base.FOUND_BY_ZKCHAT}:*\n", *items]) if items else ""


def join_parts(parts: Iterable[str]) -> str:
    """The parts that are not empty, with a blank line between them."""
    return "\n\n".join(part for part in parts if part) + "\n"


def _message_parts(
    messages: Sequence[ZkChatMessage], cited: CitedSources, name: LinkName, style: FootnoteStyle
) -> Iterator[str]:
    """The messages with their headings; adds their citations to `cited`."""
    results = base.tool_results(messages)
    # Tool calls and the answer after them share one heading
    follows_call = False
    for message in messages:
        if message.role == "tool":
            yield _imported_result(message)
            follows_call = True
            continue
        if message.role != "assistant" or not follows_call:
            yield f"## {base.SPEAKERS[message.role]}"
        follows_call = bool(message.tool_calls)
        priority = describe_priority(message)
        if priority:
            yield f"*{priority}*"
        if message.content.strip():
            yield _with_footnotes(message, cited, style)
        calls = [
            _call_line(call, results.get((message.id, call.id))) for call in message.tool_calls
        ]
        yield "\n".join(calls)
        if message.status in base.STATUS_NOTES:
            yield f"*{base.STATUS_NOTES[message.status]}*"
        yield _evidence_list(message)
        # The documents that the question names, and how each was delivered
        if message.role == "user":
            yield _reference_list(message.references, name)


def _imported_result(message: ZkChatMessage) -> str:
    """The beginning of an imported result, which its call does not describe; empty for others."""
    if message.tool_run is not None:
        return ""
    content = truncate(message.content, MAX_IMPORTED_RESULT)
    return f"- `{message.tool_name or 'tool'}`: {content}"


def _call_line(call: ToolCall, result: ZkChatMessage | None) -> str:
    line = f"- `{call.name}` {base.describe_arguments(call)}".rstrip()
    outcome = base.describe_result(result)
    return f"{line}: {outcome}" if outcome else line


def _uncited_parts(messages: Sequence[ZkChatMessage], name: LinkName) -> list[str]:
    """The documents that tools found and no answer cites."""
    named: set[str | None] = set()
    for message in messages:
        if message.role == "user":
            named.update(reference.relative_path for reference in message.references)
    found = [each for each in base.uncited_references(messages) if each.relative_path not in named]
    return ["## Not cited", _reference_list(found, name)] if found else []


def _summary_parts(summary: Compaction | None) -> list[str]:
    if summary is None:
        return []
    lines = (summary.summary or "").splitlines()
    return [
        "## Summary",
        f"*{truncate_to_minute(summary.created_at)}: {base.compaction_figures(summary)}*",
        "\n".join(f"> {line}".rstrip() for line in lines),
    ]


def _reference_list(references: Sequence[DocumentReference], name: LinkName) -> str:
    lines = []
    for reference in references:
        path = reference.relative_path
        link = reference.wikilink
        if path is not None:
            link = f"{write_link(path, name(path))} {path}"
        lines.append(f"- {' '.join(link.split())}: {base.describe_reference(reference)}")
    return "\n".join(lines)


def _footnotes(cited: CitedSources, style: FootnoteStyle) -> str:
    """A footnote for each label with the quotations of all answers, in the order of their
    numbers.
    """
    lines = []
    for label in sorted(cited, key=lambda label: cited[label].number):
        citations = cited[label].citations
        quotes: dict[str, str] = {}
        for citation in citations:
            if citation.quote:
                quotes.setdefault(" ".join(citation.quote.split()), base.quotation_doubt(citation))
        quoted = ", ".join(f'"{quote}"{doubt}' for quote, doubt in quotes.items())
        lines.append(f"[^{label}]: {style.source(citations)} {quoted}".rstrip())
    return "\n".join(lines)


def _with_footnotes(message: ZkChatMessage, cited: CitedSources, style: FootnoteStyle) -> str:
    """The message's text with footnotes (`[^n]`) in place of its citation marks; marks that are
    links stay. Adds the citations to `cited`.
    """
    known = group_by_number(message.citations)
    written: list[str] = []
    marks = cited_marks(message.content, message.citations)
    for piece, mark in split_at_marks(message.content, marks):
        if mark is None or mark.name is not None:
            written.append(piece)
            continue
        labels: dict[str, None] = {}
        for number in mark.numbers:
            citations = known.get(number, [])
            label = style.label(number, citations)
            labels[label] = None
            _add_citations(cited, label, number, citations)
        footnotes = "".join(f"[^{label}]" for label in labels)
        # At a line's start `[^1]:` would define the footnote
        written.append(f"{footnotes}\\" if mark.defines else footnotes)
    text = "".join(written)
    # The end of a code block that the answer left open
    closing = read_marks(text).closing
    return (text.removesuffix("\n") + "\n" + closing).strip("\n")


def _add_citations(
    cited: CitedSources, label: str, number: int, citations: Sequence[Citation]
) -> None:
    footnote = cited.get(label, _Footnote(number, []))
    new = [each for each in citations if each not in footnote.citations]
    cited[label] = _Footnote(min(number, footnote.number), [*footnote.citations, *new])
