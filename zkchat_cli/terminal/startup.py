"""What goes on behind the prompt: making the session, indexing, the vocabulary, the model, and what changes in the vault meanwhile.

Nothing is done before the first prompt is drawn that it does not show: importing what a session is made of takes twice as long as all
that the prompt needs. So what is wrong with the vault or the store may be found out when the prompt is there: then it ends the chat, as it
would have without a prompt.
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

LEAVING = 0.2
"""Seconds for which leaving waits for the background to stop."""
STILL_OPENING = 5.0
"""The same for one that is still opening the store and the vault: stopped in the middle, it might have to be done again."""
RESTS, LONGEST_REST = 9, 5.0
"""How many times as long as a refresh took, and how many seconds at most, the background leaves the vault alone after it."""
LOOKED_EVERY = 1.5
"""Seconds after which the vault is looked at again while a message is typed: less than a session takes a look for fresh (FRESH_FOR), so
that what is sent need not wait for one, which takes 60 ms for 10 000 notes."""
TYPED_LATELY = 30.0
"""Seconds without a key after which a line is one that was left standing, and no reason to look at the vault."""
TURNS_OF_THREADS = 0.001
"""Seconds after which a thread that computes lets another go on, while the background imports and indexes: with Python's own five a key
waits up to five times as long until it is on the screen."""
SHOWN_AFTER = 0.3
"""Seconds that something takes before it is shown in the toolbar: what is quicker should not flicker."""
SHOWN_EVERY = 0.2
COUNT_AFTER = 0.5
"""Seconds after which the greeting does not wait for the index any more, but takes the number of files to be read."""


@dataclass(frozen=True, slots=True)
class StartedSession:
    """What a chat stands on: the opened things, the session on the conversation it goes on with, and what to tell: problem and way out; and
    with what one may begin, where nobody can know that."""

    bench: "App"
    session: "ZkChatSession"
    warnings: tuple[tuple[str, str], ...] = ()
    tip: str = ""


Opening = Callable[[], StartedSession]
"""Opens what a chat needs, in the background's thread. Raises the ZkchatError of what cannot be opened."""


class BackgroundLoader:
    """Runs in a thread of its own from `start` until `leave`.

    `opened` is there when `ready` is set, and `failure` is what kept it from being there, or what is so wrong with the vault that there is
    nothing to chat with. The callbacks come in the background's thread: `told` when something of these is new, `state` with what is being
    done (empty: nothing the user need know), `measure` when figures may have changed.
    """

    def __init__(
        self,
        opening: Opening,
        *,
        told: Callable[[], object],
        state: Callable[[str], None],
        measure: Callable[[], None],
        session: "Callable[[], ZkChatSession | None]",
    ) -> None:
        self.ready = threading.Event()
        self.indexed = threading.Event()
        self.waiting = threading.Event()
        """Set while the user has the prompt before them: only then is the vault looked at."""
        self.opened: StartedSession | None = None
        self.failure: BaseException | None = None
        self.problems: tuple[str, ...] = ()
        """What the first index could not read."""
        self.notes: int | None = None
        self.state = "loading"
        self._opening = opening
        self._told, self._show_state, self._measure, self._session = told, state, measure, session
        self._left = threading.Event()
        self._typing = threading.Event()
        self._typed_at = self._begun_at = float("-inf")
        self._starting = threading.Lock()
        self._readied: ZkChatSession | None = None
        self._thread = threading.Thread(target=self._run, name="behind the prompt", daemon=True)

    def start(self) -> None:
        """May be called again, and from any thread."""
        with self._starting:
            if self._thread.ident is None and not self._left.is_set():
                self._thread.start()

    def typed(self, line: str) -> None:
        """Tell that a key was pressed, and what the line is now. Cheap, and from any thread."""
        if line and not line.startswith("/"):
            self._typed_at = time.monotonic()
            if not self._typing.is_set():
                self._begun_at = self._typed_at
                if (session := self._session()) is not None:
                    session.invalidate_scan()
            self._typing.set()
        else:
            self._typing.clear()

    def leave(self) -> None:
        """Stop soon, and wait for it a moment; what was opened is the caller's to close."""
        with self._starting:
            self._left.set()
        self.waiting.set()
        self._typing.set()
        if self._thread.ident is not None:  # else left before the first prompt was drawn
            self._thread.join(LEAVING if self.ready.is_set() else STILL_OPENING)

    def _run(self) -> None:
        interval = sys.getswitchinterval()
        sys.setswitchinterval(TURNS_OF_THREADS)
        try:
            self._open()
            self._tell()
            if self.opened is not None:
                self._prepare(self.opened)
        except _Left:
            pass
        except BaseException as e:  # noqa: BLE001  it is raised again where the prompt is
            self.failure = e
            self._tell()
        finally:
            sys.setswitchinterval(interval)

    def _open(self) -> None:
        self.opened = self._opening()
        self._unless_left()
        if self.opened.bench.vault.has_index:
            self._first_index_there()

    def _first_index_there(self) -> None:
        assert self.opened is not None
        with suppress(ZkchatError):
            self.notes = len(self.opened.bench.vault.note_paths())
        self.indexed.set()

    def _tell(self) -> None:
        self.ready.set()
        self._told()

    def _prepare(self, opened: StartedSession) -> None:
        """While the user reads or types: the index, what can be completed, the vocabulary, what changes in the vault."""
        vault, counter = opened.bench.vault, opened.bench.counter
        warming = counter.load_in_background()
        if not self.indexed.is_set():
            self._build(opened)
        with suppress(ZkchatError):
            vault.complete("", 1)  # its list takes a second for 100 000 notes: now, and not when it is wanted
        warming.join()
        self._measure()
        with self._doing("loading the model"):
            (self._session() or opened.session).model.prepare()
        self._measure()
        self._refresh(None)
        from zkchat_cli.context.recall import index  # with the session's modules, which are there by now

        index.preload_numpy()
        self._get_ready()
        threading.Thread(target=self._look_while_typing, name="looking at the vault", daemon=True).start()
        from zkchat_cli.terminal import vault_watcher  # with the vault's modules, which are there by now

        for paths in vault_watcher.changes(vault.root, opened.bench.loaded.values.vault.ignore, self._left):
            self.waiting.wait()  # a turn has refreshed what it began with, and works undisturbed
            self._refresh(paths)

    def _get_ready(self) -> None:
        """Have the conversation in use ready for a question, once each."""
        session = self._session()
        if session is not None and session is not self._readied:
            self._readied = session
            with suppress(ZkchatError):  # the question itself will tell
                session.warm_up()

    def _build(self, opened: StartedSession) -> None:
        """The first index. A vault in which there is nothing to chat with ends the chat."""
        began = time.monotonic()
        shown = began + SHOWN_AFTER - SHOWN_EVERY

        def progress(done: int, total: int) -> None:
            nonlocal shown
            self._unless_left()
            if self.notes is None and time.monotonic() - began > COUNT_AFTER:
                self.notes = total
                self._told()
            self.state = f"indexing {done}/{total}"
            if time.monotonic() - shown > SHOWN_EVERY:  # each time the toolbar is drawn takes from the indexing
                shown = time.monotonic()
                self._show_state(self.state)

        with self._doing("indexing"):
            self.problems = opened.bench.vault.refresh(progress=progress).problems
            self._first_index_there()
        self._told()

    def _refresh(self, paths: frozenset[str] | None) -> None:
        """Bring the index and what is made of it up to date; what is wrong with the vault is told when a message needs it."""
        assert self.opened is not None
        vault = self.opened.bench.vault
        self._unless_left()
        began = time.monotonic()
        with suppress(ZkchatError):
            report = vault.refresh(only=paths, progress=self._unless_left)
            session = self._session() or self.opened.session
            session.apply_scan(report)
            if paths is None and self._typing.is_set() and began >= self._begun_at:  # what was written before its first key is seen
                session.mark_scanned()
            vault.complete("", 1)  # which makes its list anew if notes have come or gone
            # a folder in which something is written all the time must not keep the processor busy
            self._left.wait(min(RESTS * report.seconds, LONGEST_REST))

    def _look_while_typing(self) -> None:
        """Have the vault looked at by the time a message is sent, all of it: a watch misses what a network drive does not tell."""
        with suppress(_Left):
            while True:
                self._typing.wait()
                self.waiting.wait()
                began = time.monotonic()
                if began - self._typed_at > TYPED_LATELY:
                    self._typing.clear()
                    continue
                self._get_ready()
                self._refresh(None)
                self._left.wait(began + LOOKED_EVERY - time.monotonic())

    @contextmanager
    def _doing(self, state: str) -> Iterator[None]:
        """Show it, if it takes long enough to be read."""
        self.state = state
        late = threading.Timer(SHOWN_AFTER, lambda: self._show_state(self.state))
        late.daemon = True
        late.start()
        try:
            yield
        finally:
            late.cancel()
            self.state = ""
            self._show_state("")

    def _unless_left(self, _done: int = 0, _total: int = 0) -> None:
        """Progress of a refresh that nobody waits for any more ends it; the next one takes it up."""
        if self._left.is_set():
            raise _Left


class _Left(Exception):
    """The user has left, and the background need not go on."""
