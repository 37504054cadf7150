"""Startup in the background: open the session, index the vault, load tokenizer and model. Then,
while a message is typed, do in advance what sending it would wait for: looking for changed notes
takes 60 ms in 10,000 notes.

The prompt is drawn first, as it needs half of the time. So a problem with the vault or the store
may end the chat after the prompt.
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
from zkchat_cli.text.sanitize import sanitize_name
from zkchat_cli.text.truncate import truncate
from zkchat_cli.views.text import summarize_problems

if TYPE_CHECKING:
    from zkchat_cli.app.factory import App
    from zkchat_cli.chat.session import ZkChatSession
    from zkchat_cli.terminal.repl import Repl
    from zkchat_cli.terminal.screen import Screen

STOP_TIMEOUT = 0.2
# The same while store and vault are being opened: interrupted, that work might have to be done
# again
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
# Of the time, for scanning: 100,000 notes take 0.5 s
SCAN_SHARE = 0.15


class StartedSession(NamedTuple):
    """An opened chat: `warnings` are pairs of problem and hint, `tip` suggests a first question.
    With `suggests_question`, a chat without a tip gets one from the vault's most linked note.
    """

    app: "App"
    session: "ZkChatSession"
    warnings: Sequence[tuple[str, str]] = ()
    tip: str = ""
    suggests_question: bool = False


# Opens the app and the session, in the background thread. Raises ZkchatError.
StartSession = Callable[[], StartedSession]


class BackgroundLoader:
    """Works in a thread of its own from `start` until `stop`, and notifies the chat when one of its
    attributes changed: `opened`, which is set before `ready`; `failure`, the error that ends the
    chat; `state`, the current work, empty if there is none.
    """

    def __init__(self, start_session: StartSession, chat: "Repl") -> None:
        self.ready = threading.Event()
        self.indexed = threading.Event()
        self.opened: StartedSession | None = None
        self.failure: BaseException | None = None
        self.notices: SimpleQueue[Callable[[Screen], None]] = SimpleQueue()
        """Messages to show above the prompt: the greeting, and why the model cannot answer."""
        self.state = "loading"
        self._start_session = start_session
        self._chat = chat
        self._stopped = threading.Event()
        self._notify_at = 0.0
        self._start_lock = threading.Lock()
        self._thread = threading.Thread(target=self._run, name="startup", daemon=True)

    def start(self) -> None:
        """Idempotent, and from any thread."""
        with self._start_lock:
            if self._thread.ident is None:
                sys.setswitchinterval(SWITCH_INTERVAL)
                self._thread.start()

    def stop(self) -> None:
        """Stop soon, and wait a moment for it. The caller closes what was opened."""
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
            pause = SCAN_INTERVAL
            while not self._stopped.wait(pause):
                begin = time.monotonic()
                if (session := self._chat.typing_session()) is not None:
                    with suppress(Exception):  # the message itself will report it
                        session.look_ahead()
                pause = max(SCAN_INTERVAL, (time.monotonic() - begin) / SCAN_SHARE)
        except KeyboardInterrupt:  # the user has left the chat
            pass
        except BaseException as e:  # noqa: BLE001, RUF100
            self.failure = e
            self.ready.set()
            self._chat.notify()

    def _prepare(self, opened: StartedSession) -> None:
        """While the user reads or types: index, budget bar, completion lists, model, and what the
        first answer needs.
        """
        vault = opened.app.vault
        model = opened.session.runtime.model

        def check_model() -> None:
            if (problem := model.check()) is not None:
                self.indexed.wait()  # the greeting comes first
                self.notices.put(lambda screen: screen.warn(problem.message, problem.hint))
                self._chat.notify()

        # on a thread of its own, since a server that cannot be reached takes seconds
        threading.Thread(target=check_model, name="check model", daemon=True).start()
        self.ready.set()
        if vault.has_index:
            self._chat.measure()
            self._announce_index(opened)
        self._set_state("")
        try:
            report = vault.refresh(progress=self._show_progress)
        except ZkchatError:
            if not self.indexed.is_set():
                # Without an index, an empty or unreadable vault ends the chat; with one, a message
                # that needs it will report it
                raise
        else:
            opened.session.apply_scan(report)
            if not self.indexed.is_set():
                self._announce_index(opened, report.problems)
        self._set_state("")
        self._chat.measure()
        with suppress(ZkchatError):
            # Builds its list, which takes a second for 100,000 notes
            vault.complete("", 1)
        opened.app.counter.load_vocabulary()
        self._set_state("loading the model")
        model.prepare()
        self._set_state("")
        self._chat.measure()
        from zkchat_cli.terminal import streaming_view  # noqa: F401

        with suppress(ZkchatError):  # the question itself will report it
            opened.session.warm_up()
        raise_if_stopped()
        vault.embed_in_background(self._chat.is_busy, opened.app.message_embedder())

    def _show_progress(self, done: int, total: int) -> None:
        raise_if_stopped()
        if time.monotonic() > self._notify_at:
            self._notify_at = time.monotonic() + PROGRESS_INTERVAL
            self._set_state(f"indexing {done}/{total}")

    def _announce_index(self, opened: StartedSession, problems: Sequence[str] = ()) -> None:
        """Greet with vault and model, the conversation that is resumed, and the warnings of the
        start.
        """
        vault = opened.app.vault
        session = opened.session
        agent = session.runtime.agent
        model = session.runtime.model.name
        model = "offline: quotes your notes, no model" if model == "offline" else model
        model = f"{agent.name} · {model}" if agent is not None else model
        with suppress(ZkchatError):
            first = sanitize_name(
                f"zkchat {__version__} · {vault.name} ({len(vault.note_paths())}) · {model}"
            )
            second = opened.tip
            if session.history:
                title = truncate(session.conversation.title or session.conversation.id, 60)
                second = f"resumed “{title}” ({len(session.history)} messages)"
            elif not second and opened.suggests_question and (newest := vault.complete("", 1)):
                second = f"to try: What do my notes say about {sanitize_name(newest[0].name)}?"

            def greet(screen: "Screen") -> None:
                screen.print(first, "bold")
                if second:
                    screen.print(second, "dim")
                for warning in (
                    *opened.warnings,
                    *((problem, "") for problem in summarize_problems(problems)),
                ):
                    screen.warn(*warning)

            self.notices.put(greet)
        # And the next state notifies: completion then has the notes
        self.indexed.set()

    def _set_state(self, state: str) -> None:
        self.state = state
        self._chat.notify()
