"""The part of a prompt about the documents of a message. Pure."""

from collections.abc import Collection, Iterable, Sequence

from zkchat_cli.models.messages import RetrievalMode
from zkchat_cli.models.notes import ContentChunk, DocumentReference
from zkchat_cli.references.excerpts import format_as_text, format_tool_result
from zkchat_cli.text.fences import escape_line

# How the part begins that describes named documents, and the one with found excerpts alone
NAMED_DOCUMENTS = "The message below refers to these documents:"
FOUND_EXCERPTS = "Excerpts of the notes, found for the message below"
NOT_SENT = "a picture that you were not sent: say so if the question needs it"


def describe_documents(
    references: Sequence[DocumentReference],
    chunks: Sequence[ContentChunk] = (),
    retrieval: RetrievalMode | None = None,
    *,
    as_text: bool = False,
) -> str:
    """The part of the prompt about the documents of a message: paths, summaries, numbered excerpts,
    and a request to read the rest, if the model can. Empty without documents and excerpts.

    `chunks` are the excerpts, which can also be passages of other notes that a search found;
    without any (the window got smaller) the model shall read all documents. They are JSON, or text
    (`as_text`) for a small model.
    """
    present = {chunk.number for chunk in chunks}
    lines = []
    if references:
        lines.append(NAMED_DOCUMENTS)
        lines += [_describe_document(reference, present) for reference in references]
    can_read = retrieval not in ("before", "none")
    if can_read and any(_is_unread(reference, present) for reference in references):
        rest = "what is not below" if present else "them"
        lines.append(
            f"Read {rest} with the read_zk_document tool before you answer, as far as the "
            "question needs it."
        )
    if chunks:
        texts = format_as_text(chunks) if as_text else format_tool_result(chunks, {})
        lines.append(
            f"{_describe_excerpts(references, present)}, to be cited by their numbers:\n{texts}"
        )
    return "\n".join(lines)


def _describe_excerpts(
    references: Iterable[DocumentReference], present: Collection[int | None]
) -> str:
    """What the excerpts in a prompt are: parts of the documents that the message names, or also
    passages of other notes.
    """
    own: set[int | None] = set()
    for reference in references:
        own.update(reference.numbers)
    if own.issuperset(present):
        return "Excerpts of them"
    return FOUND_EXCERPTS


def _is_unread(reference: DocumentReference, present: Collection[int | None]) -> bool:
    """Whether the prompt, in which these source numbers are present, lacks text of a document."""
    if reference.relative_path is None or _is_picture(reference):
        return False
    return reference.delivery != "injected" or not present


def _is_picture(reference: DocumentReference) -> bool:
    return reference.image is not None or reference.delivery == "left_out"


def _describe_document(reference: DocumentReference, present: Collection[int | None]) -> str:
    link = escape_line(reference.wikilink)
    path = escape_line(reference.relative_path or "")
    if reference.relative_path is None:
        kind = "file" if reference.reference_type == "import" else "note"
        return f"- {link}: no such {kind}"
    if _is_picture(reference):
        sent = "a picture, sent with this" if reference.delivery == "injected" else NOT_SENT
        return f"- {link} ({path}): {sent}"
    described = f"- {link} ({path}"
    if reference.heading:
        described += f", section {escape_line(repr(reference.heading))}"
    described += ")"
    if reference.summary:
        described += f": {escape_line(reference.summary)}"
    return described + _describe_sent_text(reference, present)


def _describe_sent_text(reference: DocumentReference, present: Collection[int | None]) -> str:
    """Which sources have text of the document, and its outline; empty if there is neither."""
    described = ""
    below = ", ".join(str(number) for number in reference.numbers if number in present)
    if below:
        sent = "text" if reference.delivery == "injected" else "beginning or parts"
        described += f" [its {sent}: source {below}]"
    if reference.headings:
        described += f" [headings: {escape_line('; '.join(reference.headings))}]"
    return described
