"""The input line with its keys, its completion menu, its history and the toolbar below.

It is drawn before the session exists; `update` and `call_soon` pass in what becomes known later,
from any thread.
"""

import asyncio
import re
import threading
from collections.abc import AsyncGenerator, Callable, Iterable
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from prompt_toolkit import PromptSession
from prompt_toolkit.application import Application, get_app
from prompt_toolkit.buffer import Buffer
from prompt_toolkit.completion import CompleteEvent, Completer, Completion
from prompt_toolkit.document import Document
from prompt_toolkit.enums import DEFAULT_BUFFER, EditingMode
from prompt_toolkit.filters import (
    Always,
    Condition,
    emacs_mode,
    has_focus,
    has_selection,
    vi_insert_mode,
    vi_navigation_mode,
)
from prompt_toolkit.formatted_text import FormattedText
from prompt_toolkit.history import History
from prompt_toolkit.key_binding import KeyBindings, KeyPressEvent
from prompt_toolkit.keys import Keys
from prompt_toolkit.output import ColorDepth
from prompt_toolkit.styles import Style
from prompt_toolkit.utils import get_cwidth

from zkchat_cli.completion.input_completer import InputCompleter
from zkchat_cli.completion.typed_text import match_typed
from zkchat_cli.errors import ZkchatError
from zkchat_cli.store.input_history import append_line, read_lines
from zkchat_cli.terminal.screen import Screen
from zkchat_cli.text.sanitize import sanitize_name
from zkchat_cli.text.truncate import truncate
from zkchat_cli.views.text import PROMPT, YELLOW_FROM, BudgetBar, short_count

if TYPE_CHECKING:
    from zkchat_cli.chat.session import ZkChatSession
    from zkchat_cli.models.prompts import ContextUsage


PLACEHOLDER = "ask your notes, or /help"
MENU_LINES = 8
# Seconds that the toolbar may take to be drawn after the first prompt
TOOLBAR_DELAY = 0.03
STYLE = {
    "bottom-toolbar": "noreverse",
    "bottom-toolbar.text": "",
    # prompt_toolkit's has a contrast of 3.5
    "completion-menu.completion.current": "noreverse bg:#444444 #ffffff",
}
# Seconds for which the hint is shown: Ctrl-C quits meanwhile
QUIT_WITHIN = 2.0
QUIT_HINT = "press Ctrl-C again to quit"
# Seconds between two checks whether the history's file is known: a blocked thread would delay
# leaving the chat
POLL_INTERVAL = 0.05
# Lines from which a paste is folded
MAX_LINES = 8
MAX_CHARACTERS = 1_500
_LABEL = re.compile(r"\[pasted [^\[\]\n]*\]")
# Characters of the names of model and vault, and of the background work
MAX_NAME = 24
# Columns from which the bar has its figures
FIGURES_FROM = 100
# Share of the limit from which the tokens of the line being typed are shown
SHOWN_SHARE = 0.01


class Toolbar(NamedTuple):
    """`usage` is None until the first prompt has been measured. The bar includes the tokens of the
    line `typed` so far. `state` names the background work (`indexing 120/4000`). Without
    `show_tokens` there is no bar. Empty parts are left out.
    """

    model: str = ""
    vault: str = ""
    usage: "ContextUsage | None" = None
    typed: int = 0
    typed_estimated: bool = False
    state: str = ""
    show_tokens: bool = True

    def fragments(self, width: int) -> list[tuple[str, str]]:
        # from left to right, each with its rank: the highest is left out first where there is no
        # room
        parts: list[tuple[int, list[tuple[str, str]]]] = []
        for rank, name in ((1, self.state), (3, self.model), (5, self.vault)):
            parts += [(rank, [("", truncate(sanitize_name(name), MAX_NAME))])] if name else []
        if self.show_tokens and self.usage is not None:
            cells = 14 if width >= 80 else 7 if width >= 60 else 4
            limit = self.usage.effective_limit
            estimated = self.typed > 0 and self.typed_estimated
            bar = BudgetBar(
                self.usage.total_tokens + self.typed,
                limit,
                cells,
                self.usage.estimated or estimated,
            )
            parts.append((0, [(f"ansi{bar.color}", bar.bar), ("", f" {bar.percent}")]))
            if width >= FIGURES_FROM:
                parts.append((6, [("", bar.figures)]))
            if self.typed > SHOWN_SHARE * limit:
                parts.append(
                    (
                        4,
                        [
                            (
                                "",
                                "next message: "
                                f"{'~' if estimated else ''}{short_count(self.typed)}",
                            )
                        ],
                    )
                )
            compaction = self.usage.compaction
            # The bar shows what is sent, which was made to fit
            if compaction.due:
                parts.append(
                    (
                        2,
                        [
                            (
                                "",
                                "compaction is due "
                                f"({BudgetBar(compaction.tokens or 0, limit).percent})",
                            )
                        ],
                    )
                )
            elif bar.share >= YELLOW_FROM and compaction.at is not None:
                parts.append((7, [("", f"compacts at {BudgetBar(compaction.at, limit).percent}")]))
        while True:
            joined = [
                fragment
                for n, (_, part) in enumerate(parts)
                for fragment in (("", " │ " if n else " "), *part)
            ]
            if len(parts) <= 1 or sum(get_cwidth(text) for _, text in joined) <= width:
                return joined
            parts.remove(max(parts))


def measure_prompt(session: "ZkChatSession") -> dict[str, Any]:
    usage = None
    with suppress(ZkchatError):
        usage = session.last_usage
    return {"usage": usage, "model": session.runtime.speaker_label}


class Pastes:
    """The long pastes of a chat, for its whole duration: the input history may contain any of them.
    The input line has `[pasted 120 lines]` instead of the text, which is sent in full.
    """

    def __init__(self) -> None:
        self._texts: dict[str, str] = {}

    def fold(self, text: str) -> str:
        """The text to insert for a paste: a label, or a short text itself, with `\\n` line ends."""
        text = text.replace("\r\n", "\n").replace("\r", "\n")
        if text.count("\n") < MAX_LINES and len(text) <= MAX_CHARACTERS:
            return text
        lines = len(text.removesuffix("\n").split("\n"))
        size = f"{lines} lines" if lines > 1 else f"{len(text)} characters"
        label = f"[pasted {size}]"
        number = 2
        while self._texts.setdefault(label, text) != text:
            label = f"[pasted {size}, {number}]"
            number = number + 1
        return label

    def unfold(self, line: str) -> str:
        """The line with every paste in full."""
        return _LABEL.sub(lambda label: self._texts.get(label[0], label[0]), line)

    def label_at_end(self, text: str) -> str:
        """The label that the text ends with, which is deleted as a whole; empty if there is
        none.
        """
        return next((label for label in self._texts if text.endswith(label)), "")


class InputLine:
    """`ask` waits for a line; `update` and `call_soon` may be called from any thread meanwhile.

    `on_drawn` is called when the first prompt and its toolbar are on the screen, perhaps twice and
    from another thread.
    """

    def __init__(
        self,
        screen: Screen,
        completer: Completer,
        history: "VaultHistory",
        on_change: Callable[[str], None],
        on_drawn: Callable[[], None],
    ) -> None:
        self._pastes = history.pastes
        color = screen.color
        gray = (
            f"#{(8 + 10 * (screen.palette['dim'] - 232)) * 0x10101:06x}"
            if screen.palette
            else "ansibrightblack"
        )
        self._hint = ""
        self._hint_timer: asyncio.TimerHandle | None = None
        self.toolbar = Toolbar(state="loading")
        self._toolbar_lock = threading.Lock()
        self._on_change = on_change
        self._on_drawn = on_drawn
        self._is_drawn = False
        self._session: PromptSession[str] = PromptSession(
            [("bold" if color else "", PROMPT)],
            history=history,
            multiline=True,
            prompt_continuation=lambda width, _line, wrapped: (
                " " * width if wrapped else "… ".rjust(width)
            ),
            key_bindings=self._key_bindings(),
            completer=completer,
            complete_in_thread=True,
            # only where something can be completed: prompt_toolkit keeps lines free for the menu
            # while this is true
            complete_while_typing=Condition(
                lambda: (
                    match_typed(self._session.default_buffer.document.text_before_cursor)
                    is not None
                )
            ),
            reserve_space_for_menu=MENU_LINES,
            bottom_toolbar=lambda: FormattedText(
                [("", f" {self._hint}")]
                if self._hint
                else self.toolbar.fragments(self._session.output.get_size().columns)
            ),
            enable_suspend=True,
            tempfile_suffix=".md",
            # not without colors, where it would look like typed text, nor once the line is done, so
            # that an empty line stays empty
            placeholder=lambda: (
                [(gray, PLACEHOLDER)] if color and not self._session.app.is_done else []
            ),
            color_depth=None if color else ColorDepth.DEPTH_1_BIT,
            style=Style.from_dict(STYLE),
        )
        # The toolbar is right below the line
        self._session.layout.current_window.dont_extend_height = Always()
        self._session.app.after_render += self._on_render
        self._session.default_buffer.on_text_changed += self._on_text_changed

    def ask(self, default: str = "") -> str:
        """The next line, pastes in full. Raises EOFError at the end of the input or after
        `end_input`, KeyboardInterrupt on SIGINT.
        """
        self._hint = ""
        self._on_change(default)
        line = self._session.prompt(default=default)
        self._session.placeholder = None
        return self._pastes.unfold(line)

    @property
    def text(self) -> str:
        return self._pastes.unfold(self._session.default_buffer.text)

    def use_vi_keys(self) -> None:
        self._session.editing_mode = EditingMode.VI

    # from any thread or a signal handler

    def call_soon(self, action: Callable[[], None]) -> None:
        """Run `action` in the thread that waits for keys, if one does."""
        if (loop := self._session.app.loop) is not None:
            with suppress(RuntimeError):  # it has just ended
                loop.call_soon_threadsafe(action)

    def end_input(self, *, erase: bool = False) -> None:
        """End the prompt, as at the end of the input; `erase` removes it from the screen."""
        self._session.app.erase_when_done = erase
        self.call_soon(lambda: _exit(self._session.app, EOFError))

    def update(self, **changes: Any) -> None:
        """Change fields of the toolbar; it is redrawn only if one differs."""
        with self._toolbar_lock:
            before = self.toolbar
            self.toolbar = self.toolbar._replace(**changes)
            changed = self.toolbar != before
        if changed:
            # Which from another thread fails while the prompt ends
            self.call_soon(self._session.app.invalidate)

    # in the thread of the prompt

    def complete(self) -> None:
        """Compute the completions again, because more is known now, unless the user is choosing
        one.
        """
        state = self._session.default_buffer.complete_state
        if self._session.app.is_running and (state is None or state.current_completion is None):
            self._session.default_buffer.start_completion()

    def print_above(self, show: Callable[[], None]) -> None:
        """Print something above the prompt and redraw the prompt below.

        The terminal stays in its raw mode: prompt_toolkit's `run_in_terminal` leaves it for a
        moment, and an Enter in that moment would arrive as Ctrl+J.
        """
        app = self._session.app
        if app.is_running:
            app.renderer.erase()
        show()
        if app.is_running:
            app.renderer.request_absolute_cursor_position()
            app.invalidate()

    def _on_text_changed(self, _: object) -> None:
        self._hint = ""
        self._on_change(self.text)

    def _show_hint(self, hint: str) -> None:
        """Show a hint instead of the toolbar; an empty one brings the toolbar back."""
        self._hint = hint
        self._session.app.invalidate()

    def _on_render(self, app: "Application[str]") -> None:
        """The toolbar is in the second drawing, as soon as the terminal has reported the cursor's
        position; some terminals never do.
        """
        if not self._is_drawn:
            self._is_drawn = True
            threading.Timer(TOOLBAR_DELAY, self._on_drawn).start()
        else:
            app.after_render -= self._on_render
            self._on_drawn()

    def _key_bindings(self) -> KeyBindings:
        """The keys beyond prompt_toolkit's own for Emacs and vi."""
        keys = KeyBindings()
        pastes = self._pastes
        after_link = Condition(
            lambda: get_app().current_buffer.document.text_before_cursor.endswith("]]")
        )
        after_paste = Condition(
            lambda: bool(pastes.label_at_end(get_app().current_buffer.document.text_before_cursor))
        )
        # In a search (Ctrl+R) Enter and Ctrl+C belong to the search
        at_prompt = has_focus(DEFAULT_BUFFER)

        @keys.add("enter", filter=at_prompt)
        def _(event: KeyPressEvent) -> None:
            """Send the line; with a completion selected, accept it first. A selected command runs
            at once.
            """
            buffer = event.current_buffer
            typed = match_typed(buffer.document.text_before_cursor)
            is_command = typed is not None and typed.kind == "command"
            if (
                buffer.complete_state is not None
                and buffer.complete_state.current_completion is not None
                and not is_command
            ):
                buffer.complete_state = None
            else:
                buffer.validate_and_handle()

        # Vi would wait after each Escape whether Enter follows
        @keys.add("escape", "enter", filter=at_prompt & emacs_mode)
        @keys.add("c-j", filter=at_prompt)
        def _(event: KeyPressEvent) -> None:
            event.current_buffer.insert_text("\n")

        @keys.add(Keys.BracketedPaste, filter=at_prompt)
        def _(event: KeyPressEvent) -> None:
            event.current_buffer.insert_text(pastes.fold(event.data))

        @keys.add("tab", filter=at_prompt)
        def _(event: KeyPressEvent) -> None:
            buffer = event.current_buffer
            line = buffer.text

            def select(_: Buffer) -> None:
                state = buffer.complete_state if buffer.text == line else None
                if buffer.text != line or (state is not None and state.completions):
                    buffer.on_completions_changed -= select
                if state is not None and state.completions and state.complete_index is None:
                    buffer.go_to_completion(0)

            if buffer.complete_state is not None and buffer.complete_state.completions:
                buffer.complete_next()
            else:
                # prompt_toolkit ignores a Tab while completions are being computed
                buffer.on_completions_changed += select
                buffer.start_completion(select_first=True)

        @keys.add("#", filter=at_prompt & after_link)
        def _(event: KeyPressEvent) -> None:
            """Right after a link: continue inside it with a heading."""
            event.current_buffer.delete_before_cursor(2)
            event.current_buffer.insert_text(event.data)

        @keys.add("backspace", filter=at_prompt & after_paste)
        def _(event: KeyPressEvent) -> None:
            buffer = event.current_buffer
            buffer.delete_before_cursor(
                len(pastes.label_at_end(buffer.document.text_before_cursor))
            )

        @keys.add("c-x", "c-e", filter=at_prompt & ~has_selection & (emacs_mode | vi_insert_mode))
        @keys.add("v", filter=at_prompt & vi_navigation_mode & ~has_selection)
        def _(event: KeyPressEvent) -> None:
            """Edit the line in the editor, with pastes in full. It is not sent before Enter, so
            that nothing is sent unseen.
            """
            buffer = event.current_buffer
            buffer.text = pastes.unfold(buffer.text)
            buffer.open_in_editor()

        @keys.add("c-c", filter=at_prompt)
        def _(event: KeyPressEvent) -> None:
            if event.current_buffer.text:
                event.current_buffer.reset()
                event.current_buffer.on_text_changed.fire()  # a reset does not fire it
            elif self._hint:
                event.app.exit(exception=EOFError)
            else:
                self._show_hint(QUIT_HINT)
                # Of an earlier hint, after which something was typed
                if self._hint_timer is not None:
                    self._hint_timer.cancel()
                # A key was pressed, so the prompt runs
                assert event.app.loop is not None
                self._hint_timer = event.app.loop.call_later(QUIT_WITHIN, self._show_hint, "")

        @keys.add(Keys.SIGINT)
        def _(event: KeyPressEvent) -> None:
            _exit(event.app, KeyboardInterrupt)

        return keys


def _exit(app: Application[Any], exception: type[BaseException]) -> None:
    """End a prompt that has not ended yet: prompt_toolkit would print an error for one that has."""
    if app.future is not None and not app.future.done():
        app.exit(exception=exception)


class ChatCompleter(Completer):
    def __init__(self, completer: InputCompleter) -> None:
        self._completer = completer

    def get_completions(
        self,
        document: Document,
        complete_event: CompleteEvent,  # noqa: ARG002
    ) -> Iterable[Completion]:
        for each in self._completer.suggest(
            document.text_before_cursor, document.text_after_cursor
        ):
            yield Completion(
                each.text,
                -each.replaced,
                display=each.label or None,
                display_meta=each.description or None,
            )


class VaultHistory(History):
    """Remembers lines from the first on, and reads and writes the vault's file once `set_file` has
    named it, with the `pastes` in full.
    """

    def __init__(self) -> None:
        super().__init__()
        self.pastes = Pastes()
        self._file_known = False
        self._file: Path | None = None

    def set_file(self, file: Path | None) -> None:
        """Only the first call counts. None means that no history is stored."""
        if not self._file_known:
            self._file = file
            self._file_known = True
            for string in reversed(self._loaded_strings):  # those sent before
                self.store_string(string)

    async def load(self) -> AsyncGenerator[str, None]:
        while not self._file_known:
            await asyncio.sleep(POLL_INTERVAL)
        async for string in super().load():
            yield string

    def load_history_strings(self) -> Iterable[str]:
        return read_lines(self._file) if self._file is not None else ()

    def store_string(self, string: str) -> None:
        if self._file is not None:
            append_line(self._file, self.pastes.unfold(string))
