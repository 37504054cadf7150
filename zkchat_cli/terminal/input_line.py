"""The input line with its completion menu, and the toolbar below.

It is drawn before the session exists; `update` and `call_soon` pass in what becomes known later,
from any thread.
"""

import threading
from collections.abc import Callable, Iterable
from contextlib import suppress
from typing import Any

from prompt_toolkit import PromptSession
from prompt_toolkit.application import Application
from prompt_toolkit.completion import CompleteEvent, Completer, Completion
from prompt_toolkit.document import Document
from prompt_toolkit.enums import EditingMode
from prompt_toolkit.filters import Always, Condition
from prompt_toolkit.formatted_text import FormattedText
from prompt_toolkit.output import ColorDepth
from prompt_toolkit.styles import Style

from zkchat_cli.completion.input_completer import InputCompleter
from zkchat_cli.completion.typed_text import match_typed
from zkchat_cli.terminal.key_bindings import exit_prompt, prompt_keys
from zkchat_cli.terminal.palette import Palette, color_code
from zkchat_cli.terminal.quit_hint import QuitHint
from zkchat_cli.terminal.screen import Screen
from zkchat_cli.terminal.toolbar import BUDGET_STYLE, Toolbar
from zkchat_cli.terminal.vault_history import VaultHistory
from zkchat_cli.views.text import BAR_COLORS, PROMPT

PLACEHOLDER = "ask your notes, or /help"
MENU_LINES = 8
# Longest time in seconds between the first prompt and the drawing of its toolbar
TOOLBAR_DELAY = 0.03
STYLE = {
    "bottom-toolbar": "noreverse",
    "bottom-toolbar.text": "",
    # prompt_toolkit's own color has a contrast of only 3.5
    "completion-menu.completion.current": "noreverse bg:#444444 #ffffff",
}
CONTINUATION = "… "


class InputLine:
    """The input line.

    `ask` waits for a line; meanwhile `update` and `call_soon` may be called from any thread.
    `on_drawn` is called when the first prompt and its toolbar are on the screen, perhaps twice and
    from another thread.
    """

    def __init__(
        self,
        screen: Screen,
        completer: Completer,
        history: VaultHistory,
        on_change: Callable[[str], None],
        on_drawn: Callable[[], None],
    ) -> None:
        self.toolbar = Toolbar(state="loading")
        self._toolbar_lock = threading.Lock()
        self._pastes = history.pastes
        self._quit_hint = QuitHint()
        self._on_change = on_change
        self._on_drawn = on_drawn
        self._is_drawn = False
        # Without colors the placeholder would look like typed text
        self._placeholder = FormattedText()
        if screen.color:
            self._placeholder.append((_gray(screen.palette), PLACEHOLDER))
        self._session: PromptSession[str] = PromptSession(
            [("bold" if screen.color else "", PROMPT)],
            history=history,
            multiline=True,
            prompt_continuation=_continuation,
            key_bindings=prompt_keys(self._pastes, self._quit_hint),
            completer=completer,
            complete_in_thread=True,
            # Off if nothing can be completed: while this is true, prompt_toolkit keeps lines free
            # for the menu
            complete_while_typing=Condition(self._can_complete),
            reserve_space_for_menu=MENU_LINES,
            bottom_toolbar=self._toolbar_text,
            enable_suspend=True,
            tempfile_suffix=".md",
            placeholder=self._placeholder_text,
            color_depth=None if screen.color else ColorDepth.DEPTH_1_BIT,
            style=prompt_style(screen.palette),
        )
        # Puts the toolbar right below the line
        self._session.layout.current_window.dont_extend_height = Always()
        self._session.app.after_render += self._on_render
        self._session.default_buffer.on_text_changed += self._on_text_changed

    def ask(self, default: str = "") -> str:
        """The next line, with its pastes in full.

        Raises EOFError at the end of the input or after `end_input`, KeyboardInterrupt on SIGINT.
        """
        self._quit_hint.clear()
        self._on_change(default)
        line = self._session.prompt(default=default)
        self._session.placeholder = None
        return self._pastes.unfold(line)

    @property
    def text(self) -> str:
        """The line that is being typed, with its pastes in full."""
        return self._pastes.unfold(self._session.default_buffer.text)

    def use_vi_keys(self) -> None:
        """Use vi's keys from now on; those of Emacs are the default."""
        self._session.editing_mode = EditingMode.VI

    # from any thread or a signal handler

    def call_soon(self, action: Callable[[], None]) -> None:
        """Run `action` in the thread that waits for keys, if one does."""
        loop = self._session.app.loop
        if loop is not None:
            # The prompt may have just ended
            with suppress(RuntimeError):
                loop.call_soon_threadsafe(action)

    def end_input(self, *, erase: bool = False) -> None:
        """End the prompt in the same way as the end of the input; `erase` removes it from the
        screen.
        """
        self._session.app.erase_when_done = erase
        self.call_soon(lambda: exit_prompt(self._session.app, EOFError))

    def update(self, **changes: Any) -> None:
        """Change fields of the toolbar; it is redrawn only if one differs."""
        with self._toolbar_lock:
            before = self.toolbar
            self.toolbar = self.toolbar._replace(**changes)
            changed = self.toolbar != before
        if changed:
            # From another thread this fails if the prompt is just ending
            self.call_soon(self._session.app.invalidate)

    # in the thread of the prompt

    def complete(self) -> None:
        """Compute the completions again, because more is known now; not while the user is choosing
        one.
        """
        state = self._session.default_buffer.complete_state
        if self._session.app.is_running and (state is None or state.current_completion is None):
            self._session.default_buffer.start_completion()

    def print_above(self, show: Callable[[], None]) -> None:
        """Print something above the prompt and redraw the prompt below it.

        The terminal stays in raw mode: prompt_toolkit's `run_in_terminal` leaves it for a moment,
        and an Enter in that moment would arrive as Ctrl+J.
        """
        app = self._session.app
        if app.is_running:
            app.renderer.erase()
        show()
        if app.is_running:
            app.renderer.request_absolute_cursor_position()
            app.invalidate()

    def _can_complete(self) -> bool:
        return match_typed(self._session.default_buffer.document.text_before_cursor) is not None

    def _toolbar_text(self) -> FormattedText:
        if self._quit_hint.text:
            return FormattedText([("", f" {self._quit_hint.text}")])
        return FormattedText(self.toolbar.fragments(self._session.output.get_size().columns))

    def _placeholder_text(self) -> FormattedText:
        # No placeholder after the line is sent, so that an empty line stays empty
        return FormattedText() if self._session.app.is_done else self._placeholder

    def _on_text_changed(self, _: object) -> None:
        self._quit_hint.clear()
        self._on_change(self.text)

    def _on_render(self, app: "Application[str]") -> None:
        """Note that the prompt is drawn.

        The second drawing has the toolbar, once the terminal has reported the cursor's position;
        some terminals never do.
        """
        if not self._is_drawn:
            self._is_drawn = True
            threading.Timer(TOOLBAR_DELAY, self._on_drawn).start()
        else:
            app.after_render -= self._on_render
            self._on_drawn()


def _continuation(width: int, _line: int, wrapped: int) -> str:
    """The text before each further row of the line: a mark where the user began the row."""
    return " " * width if wrapped else CONTINUATION.rjust(width)


def _gray(palette: Palette | None) -> str:
    """The color of the placeholder, in prompt_toolkit's notation."""
    if palette is None:
        return "ansibrightblack"
    return color_code(palette["dim"])


def prompt_style(palette: Palette | None) -> Style:
    """The styles of the input line, with the budget bar in the colors that rich uses while a turn
    runs.
    """
    styles = dict(STYLE)
    for name in BAR_COLORS:
        styles[f"{BUDGET_STYLE}.{name}"] = color_code(palette[name]) if palette else f"ansi{name}"
    return Style.from_dict(styles)


class ChatCompleter(Completer):
    """The suggestions of an `InputCompleter` as prompt_toolkit takes them."""

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
