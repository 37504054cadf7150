"""The documents that each prompt of a conversation has, with their tokens."""

from collections.abc import Iterator
from typing import TYPE_CHECKING

from zkchat_cli.references.added_documents import AddedDocuments
from zkchat_cli.references.excerpts import chunk_tokens
from zkchat_cli.views.text import StyledLine, StyledSpan, styled_line

if TYPE_CHECKING:
    from zkchat_cli.chat.session import ZkChatSession
    from zkchat_cli.references.mentions import MentionedDocument


def added_lines(session: "ZkChatSession") -> list[StyledLine]:
    """The added documents, each with its tokens in the next prompt, or why it is not sent."""
    names = session.conversation.documents
    added = AddedDocuments.of(names, session.vault, session.store)
    documents = added.read(lambda _: None)
    if not documents:
        return [
            styled_line("No document is added; /add FILE or /add NOTE adds one to each prompt.")
        ]
    title = styled_line("Added to each prompt (/drop takes one out):", "bold")
    return [title, *(_document_line(session, document) for document in documents)]


def added_note_lines(session: "ZkChatSession") -> Iterator[StyledLine]:
    """The same below other figures; nothing without such documents."""
    if session.conversation.documents:
        yield styled_line()
        yield from added_lines(session)


def _document_line(session: "ZkChatSession", document: "MentionedDocument") -> StyledLine:
    reference = document.reference
    name = StyledSpan(f"  {reference.wikilink}")
    if reference.status == "broken":
        [problem] = document.warnings
        return StyledLine((name, StyledSpan(f"  not sent: {problem.message}", "yellow")))
    return StyledLine((name, StyledSpan(f"  {fitting_text(session, document)}", "dim")))


def fitting_text(session: "ZkChatSession", document: "MentionedDocument") -> str:
    """How many tokens of each prompt a document takes, and whether all of it fits."""
    counter = session.runtime.counter
    tokens = sum(chunk_tokens(chunk, counter.count) for chunk in document.chunks)
    mark = "~" if counter.estimated else ""
    text = f"{mark}{tokens:,} tokens in each prompt"
    room = session.runtime.budget.messages
    if tokens <= room:
        return text
    return (
        f"{mark}{tokens:,} tokens, more than the {room:,} for messages: the parts nearest to a "
        "question are sent"
    )
