"""The sessions that an editor has opened, the vaults that they are about, and the list of all."""

from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from zkchat_cli.acp.connection import INVALID_PARAMS, NOT_FOUND, Json, Params, RequestRefused
from zkchat_cli.app.factory import App
from zkchat_cli.chat.session import ZkChatSession
from zkchat_cli.errors import StoreDamaged, StoreError, StoreUnwritable, ZkchatError
from zkchat_cli.models.conversations import ConversationOverview
from zkchat_cli.views.stored_items import display_title

# Conversations on a page of the editor's list
PAGE = 50


@dataclass
class OpenSession:
    """A session that the editor has opened, in which folder, and the models to choose from."""

    session: ZkChatSession
    folder: Path
    models: frozenset[str] = frozenset(["offline"])


class SessionPool:
    """The open sessions. `open_app` opens the vault of a session's folder; `prepare` makes it ask
    the user before what needs a yes.
    """

    def __init__(self, open_app: Callable[[Path], App], prepare: Callable[[App], App]) -> None:
        self._open_app = open_app
        self._prepare = prepare
        self._apps: dict[Path, App] = {}
        self._sessions: dict[str, OpenSession] = {}

    def app(self, folder: Path | None = None) -> App:
        """The app of a folder. None: any, for what does not depend on the notes; all have the same
        settings and store.
        """
        if folder is None:
            folder = next(iter(self._apps), Path.cwd())
        if folder not in self._apps:
            self._apps[folder] = self._open_app(folder)
        return self._apps[folder]

    def session(self, params: Params) -> OpenSession:
        """The open session that a request names."""
        id_ = params.text("sessionId")
        if id_ not in self._sessions:
            problem = f"there is no open session {id_}; load it first"
            raise RequestRefused(NOT_FOUND, problem)
        return self._sessions[id_]

    def has(self, opened: OpenSession) -> bool:
        """Whether a session has not been closed, nor opened again."""
        return self._sessions.get(opened.session.conversation.id) is opened

    def open(self, folder: Path, id_: str | None) -> OpenSession:
        """Open a session on a stored conversation, or on a new one. One that is open without a
        message, and so is not stored, stays as it is.
        """
        app = self.app(folder)
        stored = None
        if id_ is not None:
            known = self._sessions.get(id_)
            if known is not None:
                known.session.flush()
            stored = _stored(app, id_)
            if stored is None and known is not None:
                return known
            if stored is None:
                raise RequestRefused(NOT_FOUND, f"there is no session {id_}")
        session = self._prepare(app).session(stored)
        for warning in app.warnings(session):
            # The editor shows this with the first answer
            session.memory.notify(*warning)
        opened = OpenSession(session, folder)
        self._sessions[session.conversation.id] = opened
        return opened

    def close(self, opened: OpenSession) -> None:
        """Close a session, and the vault if it was the only one about it. If something cannot be
        stored, it stays open and this raises StoreError.
        """
        opened.session.flush()
        self._forget(opened)

    def _forget(self, opened: OpenSession) -> None:
        del self._sessions[opened.session.conversation.id]
        if all(each.folder != opened.folder for each in self._sessions.values()):
            self._apps.pop(opened.folder).close()

    def delete(self, id_: str) -> None:
        """Delete a conversation for good, open or not. One that is not there counts as deleted, as
        the protocol wants it.
        """
        opened = self._sessions.get(id_)
        app = self.app(None if opened is None else opened.folder)
        if _stored(app, id_) is not None:
            app.store.delete(id_)
        if opened is not None:
            self._forget(opened)

    def close_all(self) -> None:
        """Store what can be stored, and close everything."""
        for opened in self._sessions.values():
            with suppress(ZkchatError):
                opened.session.flush()
        for app in self._apps.values():
            app.close()

    def page(self, folder: Path | None, cursor: str | None) -> Json:
        """A page of the conversations about the notes of a folder, the latest first; without one,
        of those of the folder that zkchat was started in.
        """
        app = self.app(folder or Path.cwd())
        found = app.store.conversations(str(app.vault.root))
        start = _page_start(cursor, found)
        shown = found[start : start + PAGE]
        page: Json = {"sessions": [_session_info(each, folder) for each in shown]}
        if len(found) > start + PAGE:
            page["nextCursor"] = f"{start + PAGE} {shown[-1].id}"
        return page


def _stored(app: App, id_: str) -> ConversationOverview | None:
    """The stored conversation with exactly this id; None if there is none. Raises StoreError if
    the store cannot be read.
    """
    try:
        return app.store.conversation(id_)
    except (StoreUnwritable, StoreDamaged):
        raise
    except StoreError:
        return None


def _page_start(cursor: str | None, found: list[ConversationOverview]) -> int:
    """Where the next page begins: after the last conversation of the page before, if it is still
    there, or else after as many.
    """
    if cursor is None:
        return 0
    number, _, last_id = cursor.partition(" ")
    if not number.isdecimal() or len(number) > len(str(len(found))) + 1:
        problem = "this cursor is not from an earlier page; list without one"
        raise RequestRefused(INVALID_PARAMS, problem)
    for index, each in enumerate(found):
        if each.id == last_id:
            return index + 1
    return int(number)


def _session_info(conversation: ConversationOverview, folder: Path | None) -> Json:
    """A conversation in a list. Its folder is the one that the editor has to name to load it:
    several may have the same vault.
    """
    return {
        "sessionId": conversation.id,
        "cwd": str(folder or conversation.vault),
        "title": display_title(conversation),
        "updatedAt": conversation.updated_at,
    }
