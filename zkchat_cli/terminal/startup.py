"""Startup in the background: open the session, index the vault, load tokenizer and model, then keep the index current.

The prompt is drawn first: importing the modules of a session takes twice as long as everything that the prompt needs. So a problem with the
vault or the store may appear after the prompt; it ends the chat then.
"""

import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from typing import TYPE_CHECKING

from zkchat_cli.errors import ZkchatError

if TYPE_CHECKING:
    from zkchat_cli.app.factory import App
    from zkchat_cli.chat.session import ZkChatSession

STOP_TIMEOUT = 0.2
"""Seconds that `stop` waits for the thread."""
STOP_TIMEOUT_OPENING = 5.0
"""The same while store and vault are being opened: interrupted, that work might have to be done again."""
REST_FACTOR, MAX_REST = 9, 5.0
"""After a refresh the vault rests for this many times its duration, in seconds at most."""
SCAN_INTERVAL = 1.5
"""Seconds between scans while a message is typed: less than a session treats a scan as fresh (FRESH_FOR), so that sending it needs no scan,
which takes 60 ms for 10,000 notes."""
TYPING_TIMEOUT = 30.0
"""Seconds without a key after which an unfinished line no longer causes scans."""
SWITCH_INTERVAL = 0.001
"""Python's thread switch interval during startup: with the default of 5 ms, a key takes up to five times as long to appear."""
SHOW_STATE_AFTER = 0.3
"""Seconds before work is shown in the toolbar; shorter work would only flicker."""
PROGRESS_INTERVAL = 0.2
COUNT_AFTER = 0.5
"""Seconds after which the greeting shows the number of files to index instead of waiting for the index."""


@dataclass(frozen=True, slots=True)
class StartedSession:
    """An opened chat: `warnings` are pairs of problem and hint, `tip` suggests a first question."""

    app: "App"
    session: "ZkChatSession"
    warnings: tuple[tuple[str, str], ...] = ()
    tip: str = ""


StartSession = Callable[[], StartedSession]
"""Opens the app and the session, in the background thread. Raises ZkchatError."""


class BackgroundLoader:
    """Works in a thread of its own from `start` until `stop`.

    `opened` is set before `ready`; `failure` is the error that ends the chat. The callbacks run in the background thread: `notify` when
    one of these attributes changed, `show_state` with the current work (empty: none), `measure` when token counts may have changed.
    """

    def __init__(
        self,
        start_session: StartSession,
        *,
        notify: Callable[[], object],
        show_state: Callable[[str], None],
        measure: Callable[[], None],
        session: "Callable[[], ZkChatSession | None]",
    ) -> None:
        self.ready = threading.Event()
        self.indexed = threading.Event()
        self.prompt_idle = threading.Event()
        """Set while the prompt waits for input: only then is the vault scanned."""
        self.opened: StartedSession | None = None
        self.failure: BaseException | None = None
        self.problems: tuple[str, ...] = ()
        """Files that the first index could not read."""
        self.notes: int | None = None
        self.state = "loading"
        self._start_session = start_session
        self._notify, self._show_state, self._measure, self._session = notify, show_state, measure, session
        self._stopped = threading.Event()
        self._typing = threading.Event()
        self._last_key_at = self._first_key_at = float("-inf")
        self._start_lock = threading.Lock()
        self._prepared: ZkChatSession | None = None
        self._thread = threading.Thread(target=self._run, name="startup", daemon=True)

    def start(self) -> None:
        """Idempotent, and from any thread."""
        with self._start_lock:
            if self._thread.ident is None and not self._stopped.is_set():
                self._thread.start()

    def note_typing(self, line: str) -> None:
        """Called with the line after each key; cheap, and from any thread."""
        if line and not line.startswith("/"):
            self._last_key_at = time.monotonic()
            if not self._typing.is_set():
                self._first_key_at = self._last_key_at
                if (session := self._session()) is not None:
                    session.invalidate_scan()
            self._typing.set()
        else:
            self._typing.clear()

    def stop(self) -> None:
        """Stop soon, and wait a moment for it. The caller closes what was opened."""
        with self._start_lock:
            self._stopped.set()
        self.prompt_idle.set()
        self._typing.set()
        if self._thread.ident is not None:  # else stopped before the first prompt was drawn
            self._thread.join(STOP_TIMEOUT if self.ready.is_set() else STOP_TIMEOUT_OPENING)

    def _run(self) -> None:
        interval = sys.getswitchinterval()
        sys.setswitchinterval(SWITCH_INTERVAL)
        try:
            self._open()
            self._announce()
            if self.opened is not None:
                self._prepare(self.opened)
        except _StoppedError:
            pass
        except BaseException as e:  # noqa: BLE001  the prompt's thread raises it again
            self.failure = e
            self._announce()
        finally:
            sys.setswitchinterval(interval)

    def _open(self) -> None:
        self.opened = self._start_session()
        self._check_stopped()
        if self.opened.app.vault.has_index:
            self._announce_index()

    def _announce_index(self) -> None:
        assert self.opened is not None
        with suppress(ZkchatError):
            self.notes = len(self.opened.app.vault.note_paths())
        self.indexed.set()

    def _announce(self) -> None:
        self.ready.set()
        self._notify()

    def _prepare(self, opened: StartedSession) -> None:
        """While the user reads or types: index, completion lists, tokenizer, model."""
        vault, counter = opened.app.vault, opened.app.counter
        warming = counter.load_in_background()
        if not self.indexed.is_set():
            self._build_index(opened)
        with suppress(ZkchatError):
            vault.complete("", 1)  # builds its list, which takes a second for 100,000 notes
        warming.join()
        self._measure()
        with self._showing("loading the model"):
            (self._session() or opened.session).model.prepare()
        self._measure()
        self._refresh()
        from zkchat_cli.context.recall import index  # the session has loaded it

        index.preload_numpy()
        from zkchat_cli.terminal import streaming_view  # noqa: F401  loads rich and markdown-it: 80 ms that the first answer saves

        self._prepare_session()
        threading.Thread(target=self._scan_while_typing, name="vault scan", daemon=True).start()

    def _prepare_session(self) -> None:
        """Prepare each session once for its first question."""
        session = self._session()
        if session is not None and session is not self._prepared:
            self._prepared = session
            with suppress(ZkchatError):  # the question itself will report it
                session.warm_up()

    def _build_index(self, opened: StartedSession) -> None:
        """The first index. An empty vault ends the chat."""
        began = time.monotonic()
        shown_at = began + SHOW_STATE_AFTER - PROGRESS_INTERVAL

        def progress(done: int, total: int) -> None:
            nonlocal shown_at
            self._check_stopped()
            if self.notes is None and time.monotonic() - began > COUNT_AFTER:
                self.notes = total
                self._notify()
            self.state = f"indexing {done}/{total}"
            if time.monotonic() - shown_at > PROGRESS_INTERVAL:  # drawing the toolbar takes time from indexing
                shown_at = time.monotonic()
                self._show_state(self.state)

        with self._showing("indexing"):
            self.problems = opened.app.vault.refresh(progress=progress).problems
            self._announce_index()
        self._notify()

    def _refresh(self) -> None:
        """Update the index and what depends on it. A problem with the vault is reported when a message needs the vault."""
        assert self.opened is not None
        vault = self.opened.app.vault
        self._check_stopped()
        began = time.monotonic()
        with suppress(ZkchatError):
            report = vault.refresh(progress=self._check_stopped)
            session = self._session() or self.opened.session
            session.apply_scan(report)
            if self._typing.is_set() and began >= self._first_key_at:  # the scan saw everything written before the first key
                session.mark_scanned()
            vault.complete("", 1)  # rebuilds its list if notes were added or removed
            # a folder that changes all the time must not keep the processor busy
            self._stopped.wait(min(REST_FACTOR * report.seconds, MAX_REST))

    def _scan_while_typing(self) -> None:
        """Scan the vault before a message is sent, so that completion knows new notes."""
        with suppress(_StoppedError):
            while True:
                self._typing.wait()
                self.prompt_idle.wait()
                began = time.monotonic()
                if began - self._last_key_at > TYPING_TIMEOUT:
                    self._typing.clear()
                    continue
                self._prepare_session()
                self._refresh()
                self._stopped.wait(began + SCAN_INTERVAL - time.monotonic())

    @contextmanager
    def _showing(self, state: str) -> Iterator[None]:
        """Show work in the toolbar if it takes long enough to be read."""
        self.state = state
        timer = threading.Timer(SHOW_STATE_AFTER, lambda: self._show_state(self.state))
        timer.daemon = True
        timer.start()
        try:
            yield
        finally:
            timer.cancel()
            self.state = ""
            self._show_state("")

    def _check_stopped(self, _done: int = 0, _total: int = 0) -> None:
        """Also the progress callback of a scan, which it ends; the next scan continues it."""
        if self._stopped.is_set():
            raise _StoppedError


class _StoppedError(Exception):
    """The user has left the chat."""
