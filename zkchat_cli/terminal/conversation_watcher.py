"""Notices in the background what other programs write into the open conversation.

Only a store on a server tells that by itself; for one in a file nothing is started.
"""

import threading
from contextlib import suppress
from queue import Empty, SimpleQueue
from typing import TYPE_CHECKING

from zkchat_cli.errors import StoreError
from zkchat_cli.text.numbers import plural

# Imported only for types: a session's modules are loaded in the background, after the prompt
if TYPE_CHECKING:
    from zkchat_cli.chat.other_programs import OtherMessages
    from zkchat_cli.chat.session import ZkChatSession
    from zkchat_cli.store.port import ConversationWatch
    from zkchat_cli.terminal.chat_host import StartupHost

# Seconds after which the watcher looks whether another conversation was opened
LONGEST_WAIT = 2.0
# Seconds until a server that is away is tried again
RETRY_AFTER = 5.0


class ConversationWatcher:
    """Works in its own thread from `start` until `stop`; `take` returns what it found."""

    def __init__(self, chat: "StartupHost") -> None:
        self._chat = chat
        self._found: SimpleQueue[OtherMessages] = SimpleQueue()
        self._stopped = threading.Event()
        self._conversation_id = ""
        self._watch: ConversationWatch | None = None

    def start(self, session: "ZkChatSession") -> None:
        """Begin, if the session's store tells what others write."""
        if self._watch_conversation(session) is not None:
            threading.Thread(target=self._run, name="watch conversation", daemon=True).start()

    def stop(self) -> None:
        """End with the next look."""
        self._stopped.set()

    def take(self) -> "OtherMessages | None":
        """What was found first and not taken yet; None if that is nothing."""
        with suppress(Empty):
            return self._found.get_nowait()
        return None

    def _run(self) -> None:
        while not self._stopped.is_set():
            session = self._chat.current()
            watch = self._watch_conversation(session) if session is not None else None
            if session is None or watch is None:
                self._stopped.wait(LONGEST_WAIT)
                continue
            try:
                if watch.wait(LONGEST_WAIT):
                    self._look(session)
            except StoreError:
                # The next turn tells about it
                self._show_waiting(session)
                self._stopped.wait(RETRY_AFTER)
            self._show_waiting(session)

    def _show_waiting(self, session: "ZkChatSession") -> None:
        """Show in the toolbar how many turns the server does not have."""
        with suppress(StoreError):
            waiting = session.store.waiting_turns
            shown = f"{plural(waiting, 'turn')} kept here" if waiting else ""
            if waiting and session.store.refusal is not None:
                shown += ", refused"
            self._chat.show_waiting(shown)

    def _watch_conversation(self, session: "ZkChatSession") -> "ConversationWatch | None":
        """The watch of the conversation that is open now."""
        id_ = session.conversation.id
        if id_ != self._conversation_id:
            if self._watch is not None:
                self._watch.close()
            self._conversation_id = id_
            self._watch = session.store.watch(id_) if session.store.watch is not None else None
        return self._watch

    def _look(self, session: "ZkChatSession") -> None:
        found = session.other_programs.read()
        if found is not None:
            self._found.put(found)
            self._chat.notify()
