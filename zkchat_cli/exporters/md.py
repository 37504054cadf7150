"""`md`: the current branch as a note: questions and answers, the sources as footnotes, the current
summary.

It is for reading, so it leaves out tool results and other branches; `json` has everything. An
answer is Markdown and is copied, with two exceptions: its numbers become footnotes, and a code
block that it left open is closed.
"""

from collections.abc import Callable, Mapping, Sequence

from zkchat_cli.citations import marks
from zkchat_cli.exporters import base
from zkchat_cli.models.archive import ConversationArchive
from zkchat_cli.models.citations import Citation, group_by_number
from zkchat_cli.models.messages import ZkChatMessage
from zkchat_cli.models.notes import DocumentReference
from zkchat_cli.references.documents import link_names
from zkchat_cli.text.truncate import truncate, truncate_to_minute
from zkchat_cli.vault.links.wikilinks import write_link


def export(archive: ConversationArchive) -> str:
    messages = base.current_branch(archive)
    results = base.tool_results(messages)
    cited: dict[int, list[Citation]] = {}
    name = link_names(reference for message in messages for reference in message.references)
    talk = archive.conversation
    model = base.model_names(messages) or None
    front_matter = {
        "conversation": talk.id,
        "date": talk.created_at,
        "vault": talk.vault,
        "model": model,
    }
    parts = [base.front_matter(front_matter), f"# {base.conversation_title(archive)}"]
    # Tool calls and the answer after them share one heading
    follows_call = False
    for message in messages:
        if message.role == "tool":
            # An imported result, which its call does not describe
            if message.tool_run is None:
                parts.append(f"- `{message.tool_name or 'tool'}`: {truncate(message.content, 120)}")
            follows_call = True
            continue
        if not (message.role == "assistant" and follows_call):
            parts.append(f"## {base.SPEAKERS[message.role]}")
        follows_call = bool(message.tool_calls)
        if message.content.strip():
            parts.append(_with_footnotes(message, cited))
        lines = []
        for call in message.tool_calls:
            result = base.describe_result(results.get((message.id, call.id)))
            lines.append(
                f"- `{call.name}` {base.describe_arguments(call)}".rstrip()
                + (f": {result}" if result else "")
            )
        parts.append("\n".join(lines))
        if message.status in base.STATUS_NOTES:
            parts.append(f"*{base.STATUS_NOTES[message.status]}*")
        # The documents that it names, and how each was delivered
        if message.role == "user":
            parts.append(_reference_list(message.references, name))
    named = {
        reference.relative_path
        for message in messages
        if message.role == "user"
        for reference in message.references
    }
    if uncited := [
        each for each in base.uncited_references(messages) if each.relative_path not in named
    ]:
        parts += ["## Not cited", _reference_list(uncited, name)]
    if summary := base.current_summary(archive, messages):
        parts += [
            "## Summary",
            f"*{truncate_to_minute(summary.created_at)}: {base.compaction_figures(summary)}*",
        ]
        parts.append(
            "\n".join(f"> {line}".rstrip() for line in (summary.summary or "").splitlines())
        )
    return "\n\n".join(part for part in (*parts, _footnotes(cited, name)) if part) + "\n"


def answer_note(
    question: str, answer: ZkChatMessage, conversation: str, name: Callable[[str], str]
) -> str:
    """One answer as a note of its own. `name` returns what a link calls the note at a path: its
    name, or its path if that is ambiguous.
    """
    fields = {
        "question": question.strip(),
        "model": answer.model,
        "date": answer.timestamp,
        "conversation": conversation,
    }
    cited: dict[int, list[Citation]] = {}
    text = _with_footnotes(answer, cited)
    return (
        "\n\n".join(
            part for part in (base.front_matter(fields), text, _footnotes(cited, name)) if part
        )
        + "\n"
    )


def _reference_list(references: Sequence[DocumentReference], name: Callable[[str], str]) -> str:
    lines = []
    for reference in references:
        path = reference.relative_path
        link = reference.wikilink if path is None else f"{write_link(path, name(path))} {path}"
        lines.append(f"- {' '.join(link.split())}: {base.describe_reference(reference)}")
    return "\n".join(lines)


def _footnotes(cited: Mapping[int, Sequence[Citation]], name: Callable[[str], str]) -> str:
    """All answers share one numbering, so a number is one source; its footnote has the quotations
    of all answers.
    """
    lines = []
    for number, citations in sorted(cited.items()):
        note = ""
        quotes: dict[str, str] = {}
        for each in citations:
            if each.relative_path and not note:
                note = (
                    f"{write_link(each.relative_path, name(each.relative_path), each.heading)} "
                    f"{base.format_location(each)}"
                )
            if each.quote:
                quotes.setdefault(" ".join(each.quote.split()), base.quotation_doubt(each))
        quoted = ", ".join(f'"{quote}"{doubt}' for quote, doubt in quotes.items())
        lines.append(f"[^{number}]: {note or f'*missing: {base.NO_SOURCE}*'} {quoted}".rstrip())
    return "\n".join(lines)


def _with_footnotes(message: ZkChatMessage, cited: dict[int, list[Citation]]) -> str:
    """The message's text with the marks of its citations as `[^n]`, but for names, which are links;
    adds the citations to `cited`.
    """
    known = group_by_number(message.citations)
    written: list[str] = []
    for piece, mark in marks.split_at_marks(
        message.content, marks.cited_marks(message.content, message.citations)
    ):
        if mark is None or mark.name is not None:
            written.append(piece)
            continue
        for number in mark.numbers:
            cited.setdefault(number, []).extend(known.pop(number, ()))
        footnotes = "".join(f"[^{number}]" for number in mark.numbers)
        # At a line's start `[^1]:` would define the footnote
        written.append(f"{footnotes}\\" if mark.defines else footnotes)
    text = "".join(written)
    # Of a code block that it leaves open
    closing = marks.read_marks(text).closing
    return (text.removesuffix("\n") + "\n" + closing).strip("\n")


EXPORTER = base.Exporter(suffix=".md", export=export)
