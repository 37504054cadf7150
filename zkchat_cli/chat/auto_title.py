"""Between turns, the model is asked for a title of the conversation, once, unless `chat.model_titles` is off.

The screen starts this when a turn is over and stops it when the next one begins; in between nothing else uses the model.
"""

import logging
import threading
from contextlib import suppress

from zkchat_cli.chat.runtime import Runtime, SessionServices
from zkchat_cli.chat.state import ConversationState
from zkchat_cli.chat.turn_recorder import default_title
from zkchat_cli.errors import StoreError
from zkchat_cli.llm.base import Request
from zkchat_cli.llm.tasks import suggest_title

MAX_ATTEMPTS = 3
"""Model calls of one session, if the next turn always begins before the title has arrived."""
_log = logging.getLogger(__name__)


class AutoTitle:
    """Used from one thread; the model is called in another."""

    def __init__(self, services: SessionServices, state: ConversationState) -> None:
        self._services, self._state = services, state
        self._attempts_left = MAX_ATTEMPTS
        self._stopped = threading.Event()
        self._thread: threading.Thread | None = None
        self._title: str | None = None

    def start(self, runtime: Runtime) -> None:
        """Ask for a title, as far as the settings want one and the model can write it."""
        is_running = self._thread is not None and self._thread.is_alive()
        is_wanted = runtime.can_describe and runtime.settings.chat.model_titles
        if is_running or not is_wanted or not self._attempts_left or not self._needs_title():
            return
        self._attempts_left -= 1
        self._stopped = threading.Event()
        self._thread = threading.Thread(target=self._ask, args=(runtime, self._stopped), name="title", daemon=True)
        self._thread.start()

    def stop(self, seconds: float = 0.0) -> None:
        """Stop at once; wait so many seconds at most for the model's call to end. A title that has arrived is used."""
        self._stopped.set()
        if self._thread is not None:
            self._thread.join(seconds)
        title, self._title = self._title, None
        if title:
            with suppress(StoreError):  # a title is not worth an error
                if self._needs_title():
                    self._state.rename(title)

    def _needs_title(self) -> bool:
        """Whether the conversation has an answer, and still its default title."""
        history = self._state.history
        if not any(message.role == "assistant" and message.content.strip() for message in history):
            return False
        try:
            stored = self._services.store.conversation(self._state.conversation.id)
        except StoreError:  # deleted meanwhile, by another zkchat
            return False
        return stored.title == default_title(next((message.content for message in history if message.role == "user"), ""))

    def _ask(self, runtime: Runtime, stopped: threading.Event) -> None:
        history = self._state.history
        question = next(message.content for message in history if message.role == "user")
        answer = next(message.content for message in history if message.role == "assistant" and message.content.strip())
        request = Request((), options=runtime.options, window=runtime.window.tokens, wanted=lambda: not stopped.is_set())
        try:
            title = suggest_title(runtime.model, question, answer, request)
        except Exception:  # a defect must not end the chat  # noqa: BLE001
            _log.exception("no title")
            title = None
        if not stopped.is_set():
            self._title = title
            self._attempts_left = 0
