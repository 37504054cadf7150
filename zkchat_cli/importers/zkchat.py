"""Our own lossless JSON export, of every version. It is read strictly, because a field that is
ignored would be lost.
"""

from collections.abc import Callable, Iterator
from typing import Any

from zkchat_cli.errors import UsageError
from zkchat_cli.importers._archive_upgrades import upgrade
from zkchat_cli.importers.base import DocumentImporter, parse_time, validate
from zkchat_cli.models.archive import ArchivedPrompts, ConversationArchive


def _is_own_export(document: Any) -> bool:
    return isinstance(document, dict) and isinstance(document.get("format"), str)


def _read(
    document: Any,
    vault: str,  # noqa: ARG001 – an export has its own
    new_id: Callable[[], str],  # noqa: ARG001 – and its own ids
    now: str,  # noqa: ARG001 – and times
) -> list[ConversationArchive]:
    archive = validate(ConversationArchive, upgrade(document))
    for problem in _contradictions(archive):
        raise UsageError(
            f"The export is inconsistent: {problem}", "Export it again. Nothing was imported."
        )
    return [archive]


def _contradictions(archive: ConversationArchive) -> Iterator[str]:
    """The errors that the store's tables would not refuse: these check ids, but neither times nor
    indexes.
    """
    times = [archive.conversation.created_at, archive.conversation.updated_at]
    times += [each.timestamp for each in archive.messages]
    times += [each.created_at for each in archive.compactions]
    for time in times:
        if parse_time(time) is None:
            yield f"{time!r} is no time such as 2025-05-08T12:00:00Z"
    if archive.prompts is not None:
        yield from _wrong_indexes(archive.prompts)


def _wrong_indexes(prompts: ArchivedPrompts) -> Iterator[str]:
    for number, call in enumerate(prompts.calls):
        last_message = max(call.messages, default=-1)
        last_tool = max(call.tools, default=-1)
        if last_message >= len(prompts.messages) or last_tool >= len(prompts.tools):
            yield f"prompts.calls[{number}] has an index without an entry"


IMPORTER = DocumentImporter(kind="an export of zkchat", recognizes=_is_own_export, read=_read)
