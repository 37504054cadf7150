"""Lists the documents of the conversation."""

from zkchat_cli.chat.session import ZkChatSession
from zkchat_cli.references.provenance import Provenance, trace_documents
from zkchat_cli.slash.base import Lines, Topic, declare_command
from zkchat_cli.views.provenance import broken_link_lines, document_lines
from zkchat_cli.views.text import styled_line


def refs(session: ZkChatSession, _: str) -> Lines:
    """List the documents of this conversation, and how often each was used.

    For each document: how often it was named, found and cited, its source numbers, and its summary.
    """
    documents = trace_documents(session.history).values()
    if not documents:
        yield styled_line("No documents have been named or found yet.")
    for document in documents:
        path = document.references[0].relative_path
        if path is None:
            yield from broken_link_lines(document)
        else:
            yield from _existing_document_lines(session, document, path)


def _existing_document_lines(session: ZkChatSession, document: Provenance, path: str) -> Lines:
    link = document.references[0].wikilink if document.named else session.vault.link_to(path)
    is_deleted = not session.vault.has_file(path)
    summary = None if is_deleted else session.summaries.summary(path)
    return document_lines(document, path, link, summary, is_deleted=is_deleted)


COMMAND = declare_command(refs, Topic.SOURCES, order=10, priority=2)
