"""The registry of formats to import: each module declares `IMPORTER`, and a new format is one new
module.

Reading is pure: a file with one wrong entry is refused before anything is stored, and the error
names the entry by its key path.
"""

import json
from collections.abc import Callable

from zkchat_cli.errors import UsageError
from zkchat_cli.importers.base import DocumentImporter, Importer, SessionImporter
from zkchat_cli.models.archive import ConversationArchive
from zkchat_cli.registry import Registry
from zkchat_cli.store.paused_gc import paused_gc

_EXPECTED = (
    "Expected: an export of zkchat with --format json or context, a list of "
    '{"role", "content"} or a chat_sessions.json. Nothing was imported.'
)
_FOR_PEOPLE = (
    "Exports in md and html are for people. Export it again with --format json, which has "
    "everything, or with --format context. Nothing was imported."
)
# How the exports begin that cannot be imported
_MD = b"---\nconversation: "
_HTML = b"<!doctype html"

IMPORTERS: Registry[Importer] = Registry(__name__, "IMPORTER")


def session_importers() -> dict[str, SessionImporter]:
    """The readers of other programs' logs by the names of the programs, such as `claude-code`."""
    importers = IMPORTERS.load_all()
    return {each.program: each for each in importers if isinstance(each, SessionImporter)}


def read_conversations(
    data: bytes, *, vault: str, new_id: Callable[[], str], now: str
) -> tuple[str, list[ConversationArchive]]:
    """The kind of a JSON file, and every conversation in it. It can have any Unicode encoding.

    Our own exports keep their ids and their vault; all others get new ids and `vault`. `now` (ISO
    8601) replaces missing times, and its zone is that of times without one. Raises UsageError.
    """
    beginning = data.lstrip()[: len(_MD)].lower()
    if beginning.startswith((_MD, _HTML)):
        format_ = "md" if beginning.startswith(_MD) else "html"
        raise UsageError(
            f"This is an export in {format_}; context import reads json and context", _FOR_PEOPLE
        )
    with paused_gc():
        try:
            document = json.loads(data)
        except (RecursionError, ValueError) as e:
            raise UsageError(f"Not valid JSON: {e}", _EXPECTED) from e
        for importer in IMPORTERS.load_all():
            if isinstance(importer, DocumentImporter) and importer.recognizes(document):
                return importer.kind, importer.read(document, vault, new_id, now)
        raise UsageError("This JSON holds no conversation", _EXPECTED)
