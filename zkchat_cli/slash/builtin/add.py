"""Adds a document to each prompt, or lists the added ones."""

from collections.abc import Sequence

from zkchat_cli.chat.session import ZkChatSession
from zkchat_cli.errors import UsageError
from zkchat_cli.references.added_documents import (
    MAX_DOCUMENTS,
    AddedDocuments,
    find_document,
    read_document,
    shown_name,
)
from zkchat_cli.references.file_imports import ImportRoots, list_files
from zkchat_cli.slash.base import Lines, Topic, declare_command
from zkchat_cli.views.added_documents import added_lines, fitting_text


def add(session: ZkChatSession, argument: str) -> str | Lines:
    """Add a note or a file to each prompt of this conversation; without one, list what is added.

    Its current text is sent with every message until /drop, also after a restart; what does not fit
    into the window is left out, and told. Files may be anywhere on this machine.
    """
    if not argument:
        return added_lines(session)
    vault = session.vault
    name = find_document(argument, ImportRoots(vault, session.services.working_folder))
    documents = session.conversation.documents
    if name in documents:
        return f"{shown_name(name, vault)} is added already; /drop {name} takes it out."
    if len(documents) == MAX_DOCUMENTS:
        raise UsageError(
            f"{MAX_DOCUMENTS} documents are added already", "Take one out with /drop first."
        )
    takes_outside = AddedDocuments.of((), vault, session.store).takes_outside
    document = read_document(name, vault, takes_outside=takes_outside)
    session.stored_state().update(documents=[*documents, name])
    return (
        f"Added {shown_name(name, vault)}: {fitting_text(session, document)}. "
        f"/drop {name} takes it out."
    )


def _documents(session: ZkChatSession) -> Sequence[str]:
    """The notes, and the files below the current folder."""
    notes = session.vault.note_paths()
    folder = session.services.working_folder
    files = list_files(folder) if folder not in (None, session.vault.root) else ()
    added = session.conversation.documents
    return [name for name in dict.fromkeys((*notes, *files)) if name not in added]


COMMAND = declare_command(add, Topic.CONTEXT, order=52, argument="[FILE | NOTE]", values=_documents)
