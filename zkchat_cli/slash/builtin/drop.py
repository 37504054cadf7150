"""Takes documents out of each prompt."""

from collections.abc import Sequence
from contextlib import suppress

from zkchat_cli.chat.session import ZkChatSession
from zkchat_cli.errors import UsageError, VaultError, nearest_names
from zkchat_cli.references.added_documents import find_document, shown_name
from zkchat_cli.references.file_imports import ImportRoots
from zkchat_cli.slash.base import CommandResult, Topic, YesNoQuestion, declare_command
from zkchat_cli.text.numbers import plural
from zkchat_cli.text.truncate import truncate
from zkchat_cli.views.added_documents import added_lines

YES = "--yes"


def drop(session: ZkChatSession, argument: str) -> CommandResult:
    """Take a document that /add added out of each prompt; without one, all of them.

    Without a name it lists them and asks first (--yes: does not). The files stay as they are, and
    so do earlier answers.
    """
    documents = session.conversation.documents
    if not documents:
        return CommandResult("No document is added; /add FILE or /add NOTE adds one.")
    if argument in ("", YES):
        return _drop_all(session, documents, is_confirmed=argument == YES)
    name = _find_added(session, argument, documents)
    session.stored_state().update(documents=[each for each in documents if each != name])
    return CommandResult(f"Dropped {shown_name(name, session.vault)}. /add {name} adds it again.")


def _drop_all(
    session: ZkChatSession, documents: Sequence[str], *, is_confirmed: bool
) -> CommandResult:
    count = plural(len(documents), "document")

    def drop_them() -> CommandResult:
        session.stored_state().update(documents=())
        return CommandResult(f"Dropped {count}: {', '.join(documents)}")

    if is_confirmed:
        return drop_them()
    question = YesNoQuestion(f"Drop {count}?", drop_them, f"/drop {YES}")
    return CommandResult(lines=list(added_lines(session)), question=question)


def _find_added(session: ZkChatSession, argument: str, documents: Sequence[str]) -> str:
    """The added document that is meant, also if its file is gone. Raises UsageError."""
    if argument in documents:
        return argument
    folded = argument.strip("@[]").casefold()
    meant = [each for each in documents if each.casefold().endswith(folded)]
    with suppress(VaultError):
        roots = ImportRoots(session.vault, session.services.working_folder)
        found = find_document(argument, roots)
        meant = [found] if found in documents else meant
    if len(meant) != 1:
        hint = nearest_names(documents, label="These are added")
        raise UsageError(f"{truncate(argument, 80)} is not added", hint)
    return meant[0]


def _added(session: ZkChatSession) -> Sequence[str]:
    return session.conversation.documents


COMMAND = declare_command(drop, Topic.CONTEXT, order=54, argument="[FILE | NOTE]", values=_added)
