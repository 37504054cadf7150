"""Shows how a document came into the conversation."""

from zkchat_cli.chat.session import ZkChatSession
from zkchat_cli.errors import UsageError
from zkchat_cli.references import provenance
from zkchat_cli.slash.base import Lines, Topic, declare_command
from zkchat_cli.slash.lookups import numbered_chunk
from zkchat_cli.text.truncate import truncate
from zkchat_cli.views.provenance import is_project_memory, provenance_lines

# Most documents that are named if several match
MAX_NAMED = 5


def why(session: ZkChatSession, argument: str) -> Lines:
    """Show how a document came into the conversation.

    NOTE is a path, a title, a [[link]] or the number of a source. It says who named the document,
    which search found it, and whether the model sees it now.
    """
    key = _document_key(session, argument)
    document = provenance.trace_documents(session.history).get(key, provenance.Provenance(key))
    prompt = session.prompt()
    is_used = document.named or document.found or document.remembered
    if not is_used and not is_project_memory(key, prompt):
        raise UsageError(
            f"{key} is not part of this conversation", "/refs lists the documents that are."
        )
    is_deleted = document.has_path and not session.vault.has_file(key)
    return provenance_lines(document, prompt, is_deleted=is_deleted)


def _document_key(session: ZkChatSession, argument: str) -> str:
    """The document that the argument means: a source, a document of the conversation, or another
    note.

    Raises UsageError if several match, VaultError if there is none.
    """
    chunk = numbered_chunk(session, argument)
    if chunk is not None:
        return chunk.relative_path
    keys = provenance.matching_documents(argument, session.history)
    if len(keys) > 1:
        raise UsageError(
            f"{truncate(argument, 80)} matches {len(keys)} documents",
            f"Give a path: {', '.join(keys[:MAX_NAMED])}",
        )
    if keys:
        return keys[0]
    return session.vault.locate(argument).path


def _document_keys(session: ZkChatSession) -> list[str]:
    return list(provenance.trace_documents(session.history))


COMMAND = declare_command(why, Topic.SOURCES, order=50, argument="NOTE", values=_document_keys)
