"""Startup in the background: opens the session, indexes the vault, loads tokenizer and model.

Then, while a message is typed, it does in advance what sending would wait for: looking for changed
notes takes 60 ms in 10,000 notes. The prompt is drawn first, because that takes only half of the
time. So a problem with the vault or the store may end the chat after the prompt.
"""

import sys
import threading
import time
from collections.abc import Callable, Sequence
from contextlib import suppress
from queue import SimpleQueue
from typing import TYPE_CHECKING, NamedTuple

from zkchat_cli import __version__
from zkchat_cli.errors import ZkchatError
from zkchat_cli.llm.stop_signal import STOP, raise_if_stopped
from zkchat_cli.text.numbers import plural
from zkchat_cli.text.sanitize import sanitize_name
from zkchat_cli.text.truncate import truncate
from zkchat_cli.views.text import summarize_problems

# Imported only for types: a session's modules are loaded in the background, after the prompt
if TYPE_CHECKING:
    from zkchat_cli.app.factory import App
    from zkchat_cli.chat.session import ZkChatSession
    from zkchat_cli.events import Notice
    from zkchat_cli.llm.base import Model
    from zkchat_cli.terminal.chat_host import StartupHost
    from zkchat_cli.terminal.screen import Screen
    from zkchat_cli.tokens.counter import TokenCounter

# Seconds to wait for the end of the background work when the chat ends
STOP_TIMEOUT = 0.2
# The same while store and vault are being opened: that work might have to be done again if it were
# interrupted
STOP_TIMEOUT_OPENING = 5.0
SWITCH_INTERVAL = 0.001
"""Python's thread switch interval in a chat: with the default of 5 ms, a key takes up to five times
as long to appear.
"""
# Seconds between two updates of the toolbar while notes are indexed: drawing it takes time from
# indexing
PROGRESS_INTERVAL = 0.2
SCAN_INTERVAL = 0.4
"""Seconds between two scans of the vault while a message is typed. The last one counts for half a
second when the message is sent.
"""
# Largest share of the time for scanning: a scan of 100,000 notes takes 0.5 s
SCAN_SHARE = 0.15
# Most characters of the title of a resumed conversation
MAX_TITLE = 60
OFFLINE_LABEL = "offline: quotes your notes, no model"


class StartedSession(NamedTuple):
    """An opened chat.

    `tip` suggests a first question. With `suggests_question`, a chat without a tip gets one about
    the note that changed last.
    """

    app: "App"
    session: "ZkChatSession"
    warnings: "Sequence[Notice]" = ()
    tip: str = ""
    suggests_question: bool = False


# Opens the app and the session, in the background thread. Raises ZkchatError.
StartSession = Callable[[], StartedSession]
# Prints something above the prompt
Announcement = Callable[["Screen"], None]


class BackgroundLoader:
    """Works in its own thread from `start` until `stop`, and notifies the chat when an attribute
    changes.

    These are `opened`, which is set before `ready`; `failure`, the error that ends the chat; and
    `state`, the current work, and `meaning`, how far search by meaning is; they are empty if there
    is nothing to tell.
    """

    def __init__(self, start_session: StartSession, chat: "StartupHost") -> None:
        self.ready = threading.Event()
        self.indexed = threading.Event()
        self.opened: StartedSession | None = None
        self.failure: BaseException | None = None
        # What to print above the prompt: the greeting, and why the model cannot answer
        self.announcements: SimpleQueue[Announcement] = SimpleQueue()
        self.state = "loading"
        self.meaning = ""
        self._start_session = start_session
        self._chat = chat
        self._stopped = threading.Event()
        self._notify_at = 0.0
        self._start_lock = threading.Lock()
        self._thread = threading.Thread(target=self._run, name="startup", daemon=True)

    def start(self) -> None:
        """Begin the work, from any thread. A second call does nothing."""
        with self._start_lock:
            if self._thread.ident is None:
                sys.setswitchinterval(SWITCH_INTERVAL)
                self._thread.start()

    def stop(self) -> None:
        """Stop soon, and wait for that a moment. The caller closes what was opened."""
        self._stopped.set()
        if self._thread.is_alive():
            self._thread.join(STOP_TIMEOUT if self.ready.is_set() else STOP_TIMEOUT_OPENING)

    def _run(self) -> None:
        STOP.set(self._stopped)
        try:
            raise_if_stopped()
            self.opened = self._start_session()
            raise_if_stopped()
            self._prepare(self.opened)
            self._look_ahead()
        except KeyboardInterrupt:
            # The user has left the chat
            pass
        except BaseException as e:  # noqa: BLE001  # the chat raises it in its own thread
            self.failure = e
            self.ready.set()
            self._chat.notify()

    def _look_ahead(self) -> None:
        """While somebody types a message, scan the vault and prepare the prompt, until `stop`."""
        pause = SCAN_INTERVAL
        while not self._stopped.wait(pause):
            begin = time.monotonic()
            session = self._chat.typing_session()
            if session is not None:
                # The message itself will report the problem
                with suppress(Exception):
                    session.look_ahead()
            pause = max(SCAN_INTERVAL, (time.monotonic() - begin) / SCAN_SHARE)

    def _prepare(self, opened: StartedSession) -> None:
        """Prepare, while the user reads or types: index, budget bar, completion lists, model, and
        what the first answer needs.
        """
        model = opened.session.runtime.model
        # In its own thread, because an unreachable server takes seconds
        threading.Thread(
            target=self._check_model, args=(model,), name="check model", daemon=True
        ).start()
        self.ready.set()
        self._index_vault(opened)
        self._set_state("")
        self._chat.measure()
        contain = opened.session.services.faults.contain
        with contain("preparation"), suppress(ZkchatError):
            # The first call builds the list of names, which takes a second for 100,000 notes
            opened.app.vault.complete("", 1)
        self._load_model(model, opened.app.counter)
        with contain("preparation"), suppress(ZkchatError):
            # The question itself will report the problem
            opened.session.warm_up()
        raise_if_stopped()
        opened.app.vault.embed_in_background(
            self._chat.is_busy, opened.app.message_embedder(), self._show_meaning
        )

    def _check_model(self, model: "Model") -> None:
        """Warn, below the greeting, if the model cannot answer."""
        problem = model.check()
        if problem is not None:
            self.indexed.wait()
            self.announcements.put(lambda screen: screen.warn(problem.message, problem.hint))
            self._chat.notify()

    def _index_vault(self, opened: StartedSession) -> None:
        """Bring the index up to date. If there is an earlier one, the chat can be used meanwhile.

        Without an index, raises ZkchatError for an empty or unreadable vault, which ends the chat.
        With one, a message that needs the vault will report the problem.
        """
        vault = opened.app.vault
        if vault.has_index:
            self._chat.measure()
            self._announce_index(opened)
        self._set_state("")
        try:
            report = vault.refresh(progress=self._show_progress)
        except ZkchatError:
            if not self.indexed.is_set():
                raise
            return
        opened.session.apply_scan(report)
        if not self.indexed.is_set():
            self._announce_index(opened, report.problems)

    def _load_model(self, model: "Model", counter: "TokenCounter") -> None:
        counter.load_vocabulary()
        self._set_state("loading the model")
        model.prepare()
        self._set_state("")
        self._chat.measure()
        # Loaded now, so that the first answer need not wait for this
        from zkchat_cli.terminal import streaming_view  # noqa: F401

    def _show_progress(self, done: int, total: int) -> None:
        raise_if_stopped()
        if time.monotonic() > self._notify_at:
            self._notify_at = time.monotonic() + PROGRESS_INTERVAL
            self._set_state(f"indexing {done}/{total}")

    def _show_meaning(self, done: int, total: int) -> None:
        """Show the share of the notes that has vectors, until it is all of them."""
        meaning = f"meaning {100 * done // total}%" if done < total else ""
        if meaning != self.meaning:
            self.meaning = meaning
            self._chat.notify()

    def _announce_index(self, opened: StartedSession, problems: Sequence[str] = ()) -> None:
        """Print the greeting: vault and model, the resumed conversation, and the warnings of the
        start.
        """
        with suppress(ZkchatError):
            title = sanitize_name(
                f"zkchat {__version__} · {opened.app.vault.name} "
                f"({len(opened.app.vault.note_paths())}) · {_speaker(opened.session)}"
            )
            tip = _first_tip(opened)

            def greet(screen: "Screen") -> None:
                screen.print(title, "bold")
                if tip:
                    screen.print(tip, "dim")
                for message, hint in opened.warnings:
                    screen.warn(message, hint)
                for problem in summarize_problems(problems):
                    screen.warn(problem)

            self.announcements.put(greet)
        # The next change of the state notifies the chat; then completion offers the notes
        self.indexed.set()

    def _set_state(self, state: str) -> None:
        self.state = state
        self._chat.notify()


def _speaker(session: "ZkChatSession") -> str:
    """The agent and the model that answer, in the form in which the greeting names them."""
    name = session.runtime.model.name
    model = OFFLINE_LABEL if name == "offline" else name
    agent = session.runtime.agent
    return model if agent is None else f"{agent.name} · {model}"


def _first_tip(opened: StartedSession) -> str:
    """The line below the greeting: the conversation that is resumed, or a question to try; empty if
    there is neither.
    """
    from zkchat_cli.models.messages import is_chat

    session = opened.session
    if session.history:
        title = truncate(session.conversation.title or session.conversation.id, MAX_TITLE)
        messages = plural(sum(map(is_chat, session.history)), "message")
        return f"resumed “{title}” ({messages})"
    if not opened.tip and opened.suggests_question:
        for newest in opened.app.vault.complete("", 1):
            return f"to try: What do my notes say about {sanitize_name(newest.name)}?"
    return opened.tip
