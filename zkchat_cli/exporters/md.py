"""`md`: the current branch as a note: questions and answers, the sources as footnotes, the current summary.

It is for reading, so it leaves out tool results and other branches; `json` has everything. An answer is Markdown and is copied, with two
exceptions: its numbers become footnotes, and a code block that it left open is closed.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence

from zkchat_cli.citations import marks
from zkchat_cli.exporters import base
from zkchat_cli.models import Citation, Compaction, ConversationArchive, DocumentReference, ToolCall, ZkChatMessage, group_by_number
from zkchat_cli.references.provenance import link_names
from zkchat_cli.text.truncate import truncate, truncate_to_minute
from zkchat_cli.vault.links.wikilinks import write_link


def export(archive: ConversationArchive) -> str:
    messages = base.current_branch(archive)
    results = base.tool_results(messages)
    cited: dict[int, list[Citation]] = {}
    name = link_names(reference for message in messages for reference in message.references)
    talk, model = archive.conversation, base.model_names(messages) or None
    front_matter = {"conversation": talk.id, "date": talk.created_at, "vault": talk.vault, "model": model}
    parts = [base.front_matter(front_matter), f"# {base.conversation_title(archive)}"]
    for previous, message in zip([None, *messages], messages, strict=False):
        parts += _message_parts(message, previous, results, cited)
        parts += _reference_list(message.references, name) if message.role == "user" else ()
    parts += _uncited_section(messages, name)
    parts += _summary_section(base.current_summary(archive, messages))
    parts += ["\n".join(_footnote(number, cited[number], name) for number in sorted(cited))]
    return "\n\n".join(part for part in parts if part) + "\n"


def _message_parts(
    message: ZkChatMessage,
    previous: ZkChatMessage | None,
    results: Mapping[tuple[str, str], ZkChatMessage],
    cited: dict[int, list[Citation]],
) -> Iterator[str]:
    """A message under its speaker's heading; tool calls and the answer after them share one heading."""
    if message.role == "tool":
        if message.tool_run is None:  # an imported result, which its call does not describe
            yield f"- `{message.tool_name or 'tool'}`: {truncate(message.content, 120)}"
        return
    if not (message.role == "assistant" and previous is not None and (previous.role == "tool" or previous.tool_calls)):
        yield f"## {base.SPEAKERS[message.role]}"
    if message.content.strip():
        yield _with_footnotes(message, cited)
    if message.tool_calls:
        yield "\n".join(_tool_call_line(call, results.get((message.id, call.id))) for call in message.tool_calls)
    if message.status in base.STATUS_NOTES:
        yield f"*{base.STATUS_NOTES[message.status]}*"


def _tool_call_line(call: ToolCall, result: ZkChatMessage | None) -> str:
    line = f"- `{call.name}` {base.describe_arguments(call)}".rstrip()
    description = base.describe_result(result)
    return f"{line}: {description}" if description else line


def _reference_list(references: Sequence[DocumentReference], name: Callable[[str], str]) -> Iterator[str]:
    """The documents that a question names, and how each was delivered."""
    if references:
        yield "\n".join(f"- {_reference_link(reference, name)}: {base.describe_reference(reference)}" for reference in references)


def _uncited_section(messages: Sequence[ZkChatMessage], name: Callable[[str], str]) -> Iterator[str]:
    """What the answers found and did not cite; what questions name is listed below them."""
    named = {reference.relative_path for message in messages if message.role == "user" for reference in message.references}
    if references := [each for each in base.uncited_references(messages) if each.relative_path not in named]:
        yield "## Not cited"
        yield from _reference_list(references, name)


def _reference_link(reference: DocumentReference, name: Callable[[str], str]) -> str:
    path = reference.relative_path
    return " ".join((reference.wikilink if path is None else f"{write_link(path, name(path))} {path}").split())


def _summary_section(summary: Compaction | None) -> Iterator[str]:
    if summary is not None:
        yield "## Summary"
        yield f"*{truncate_to_minute(summary.created_at)}: {base.compaction_figures(summary)}*"
        yield "\n".join(f"> {line}".rstrip() for line in (summary.summary or "").splitlines())


def _footnote(number: int, citations: Sequence[Citation], name: Callable[[str], str]) -> str:
    """All answers share one numbering, so a number is one source; its footnote has the quotations of all answers."""
    source = next((citation for citation in citations if citation.relative_path), None)
    if source is None or source.relative_path is None:
        return f"[^{number}]: *missing: {base.NO_SOURCE}* {_quotation_list(citations)}".rstrip()
    link = write_link(source.relative_path, name(source.relative_path), source.heading)
    return f"[^{number}]: {link} {base.format_location(source)} {_quotation_list(citations)}".rstrip()


def _quotation_list(citations: Sequence[Citation]) -> str:
    quotes: dict[str, str] = {}
    for citation in citations:
        if citation.quote:
            quotes.setdefault(" ".join(citation.quote.split()), base.quotation_doubt(citation))
    return ", ".join(f'"{quote}"{note}' for quote, note in quotes.items())


def _with_footnotes(message: ZkChatMessage, cited: dict[int, list[Citation]]) -> str:
    """The message's text with the marks of its citations as `[^n]`; adds these citations to `cited`.

    A note that is cited by its name is a link already.
    """
    known = group_by_number(message.citations)
    written: list[str] = []
    for piece, mark in marks.split_at_marks(message.content, marks.cited_marks(message.content, message.citations)):
        if mark is None or mark.name is not None:
            written.append(piece)
            continue
        for number in mark.numbers:
            cited.setdefault(number, []).extend(known.pop(number, ()))
        footnotes = "".join(f"[^{number}]" for number in mark.numbers)
        written.append(f"{footnotes}\\" if mark.defines else footnotes)  # at a line's start `[^1]:` would define the footnote
    return base.close_code_block("".join(written)).strip("\n")


EXPORTER = base.Exporter(suffix=".md", export=export)
