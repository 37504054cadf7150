"""`md`: the current branch as a note: questions and answers, the sources as footnotes, the current
summary.

It is for reading, so it leaves out tool results and other branches; `json` has everything. An
answer is Markdown and is copied with two changes: its numbers become footnotes, and a code block
that it left open is closed.
"""

from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import chain

from zkchat_cli.citations.cited_marks import cited_marks, split_at_marks
from zkchat_cli.citations.marks import read_marks
from zkchat_cli.context.message_priority import describe_priority
from zkchat_cli.exporters import base
from zkchat_cli.models.archive import ConversationArchive
from zkchat_cli.models.citations import Citation, group_by_number
from zkchat_cli.models.compaction import Compaction
from zkchat_cli.models.messages import ToolCall, ZkChatMessage
from zkchat_cli.models.notes import DocumentReference
from zkchat_cli.references.documents import link_names
from zkchat_cli.text.truncate import truncate, truncate_to_minute
from zkchat_cli.vault.links.wikilinks import write_link

# Characters of an imported result
MAX_IMPORTED_RESULT = 120
LinkName = Callable[[str], str]
"""The name that links use for the note at a path."""
CitedSources = dict[int, list[Citation]]
"""The citations of all answers, by number."""


def export(archive: ConversationArchive) -> str:
    """The note of a conversation."""
    messages = base.current_branch(archive)
    name = link_names(chain.from_iterable(message.references for message in messages))
    talk = archive.conversation
    fields = {
        "conversation": talk.id,
        "date": talk.created_at,
        "vault": talk.vault,
        "model": base.model_names(messages) or None,
    }
    cited: CitedSources = {}
    return _join_parts(
        [
            base.front_matter(fields),
            f"# {base.conversation_title(archive)}",
            *_message_parts(messages, cited, name),
            *_uncited_parts(messages, name),
            *_summary_parts(base.current_summary(archive, messages)),
            _footnotes(cited, name),
        ]
    )


def answer_note(question: str, answer: ZkChatMessage, conversation: str, name: LinkName) -> str:
    """One answer as a note of its own. `name` returns the text of links to the note at a path: its
    name, or its path if that is ambiguous.
    """
    fields = {
        "question": question.strip(),
        "model": answer.model,
        "date": answer.timestamp,
        "conversation": conversation,
    }
    cited: CitedSources = {}
    text = _with_footnotes(answer, cited)
    evidence = _evidence_list(answer)
    return _join_parts([base.front_matter(fields), text, evidence, _footnotes(cited, name)])


def _evidence_list(message: ZkChatMessage) -> str:
    """The sentences that zkchat has found for an answer without a source."""
    items = [f"- {item}" for item in base.evidence_items(message.evidence)]
    return "\n".join([f"*{base.FOUND_BY_ZKCHAT}:*\n", *items]) if items else ""


def _join_parts(parts: Iterable[str]) -> str:
    return "\n\n".join(part for part in parts if part) + "\n"


def _message_parts(
    messages: Sequence[ZkChatMessage], cited: CitedSources, name: LinkName
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
            yield _with_footnotes(message, cited)
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


def _footnotes(cited: CitedSources, name: LinkName) -> str:
    """A footnote for each source with the quotations of all answers, which share one numbering."""
    lines = []
    for number, citations in sorted(cited.items()):
        quotes: dict[str, str] = {}
        for citation in citations:
            if citation.quote:
                quotes.setdefault(" ".join(citation.quote.split()), base.quotation_doubt(citation))
        quoted = ", ".join(f'"{quote}"{doubt}' for quote, doubt in quotes.items())
        lines.append(f"[^{number}]: {_source_link(citations, name)} {quoted}".rstrip())
    return "\n".join(lines)


def _source_link(citations: Iterable[Citation], name: LinkName) -> str:
    """The link to the note of these citations, and its lines."""
    for citation in citations:
        path = citation.relative_path
        if path:
            link = write_link(path, name(path), citation.heading)
            return f"{link} {base.format_location(citation)}"
    return f"*missing: {base.NO_SOURCE}*"


def _with_footnotes(message: ZkChatMessage, cited: CitedSources) -> str:
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
        for number in mark.numbers:
            cited.setdefault(number, []).extend(known.pop(number, ()))
        footnotes = "".join(f"[^{number}]" for number in mark.numbers)
        # At a line's start `[^1]:` would define the footnote
        written.append(f"{footnotes}\\" if mark.defines else footnotes)
    text = "".join(written)
    # The end of a code block that the answer left open
    closing = read_marks(text).closing
    return (text.removesuffix("\n") + "\n" + closing).strip("\n")


EXPORTER = base.Exporter(suffix=".md", export=export)
