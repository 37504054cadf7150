"""The input line with its completion menu, its history and the toolbar below.

It is drawn before the session exists; `update` and `call_soon` pass in what becomes known later, from any thread.
"""

import threading
from bisect import bisect_right
from collections.abc import Callable, Iterable
from contextlib import suppress
from dataclasses import replace
from typing import Any

from prompt_toolkit import PromptSession
from prompt_toolkit.application import Application, get_app_session
from prompt_toolkit.completion import CompleteEvent, Completer, Completion
from prompt_toolkit.document import Document
from prompt_toolkit.enums import EditingMode
from prompt_toolkit.filters import Always, Condition
from prompt_toolkit.formatted_text import FormattedText, StyleAndTextTuples
from prompt_toolkit.formatted_text.utils import fragment_list_len
from prompt_toolkit.history import History
from prompt_toolkit.layout.processors import Processor, Transformation, TransformationInput
from prompt_toolkit.layout.utils import explode_text_fragments
from prompt_toolkit.output import ColorDepth
from prompt_toolkit.styles import Style

from zkchat_cli.completion import InputCompleter, can_complete
from zkchat_cli.terminal.key_bindings import key_bindings
from zkchat_cli.terminal.paste_folding import Pastes
from zkchat_cli.terminal.toolbar import Toolbar
from zkchat_cli.views.text import PROMPT

PLACEHOLDER = "ask your notes, or /help"
MENU_LINES = 8
TOOLBAR_DELAY = 0.03
"""Seconds that the toolbar may take to be drawn after the first prompt."""
STYLE = {
    "bottom-toolbar": "noreverse",
    "bottom-toolbar.text": "",
    "completion-menu.completion.current": "noreverse bg:#444444 #ffffff",  # prompt_toolkit's has a contrast of 3.5
}


class InputLine:
    """`ask` waits for a line; `update` and `call_soon` may be called from any thread meanwhile.

    `on_drawn` is called when the first prompt and its toolbar are on the screen, perhaps twice and from another thread.
    `placeholder_style` is for the text that an empty line shows.
    """

    def __init__(
        self,
        color: bool,
        completer: Completer,
        history: History,
        pastes: Pastes,
        *,
        placeholder_style: str = "ansibrightblack",
        on_line_changed: Callable[[str], None],
        on_drawn: Callable[[], None] = lambda: None,
    ) -> None:
        self._app_session = get_app_session()
        self._color, self._placeholder_style = color, placeholder_style
        self._pastes = pastes
        self._hint = ""
        self.toolbar = Toolbar(state="loading")
        self._toolbar_lock = threading.Lock()
        self._on_line_changed = on_line_changed
        self._on_drawn, self._is_drawn = on_drawn, False
        self._session: PromptSession[str] = PromptSession(
            [("bold" if color else "", PROMPT)],
            history=history,
            multiline=True,
            prompt_continuation=_continuation,
            key_bindings=key_bindings(pastes, self._show_hint),
            completer=completer,
            complete_in_thread=True,
            # only where something can be completed: prompt_toolkit keeps lines free for the menu while this is true
            complete_while_typing=Condition(lambda: can_complete(self._session.default_buffer.document.text_before_cursor)),
            reserve_space_for_menu=MENU_LINES,
            input_processors=[_FoldedPastes(pastes)],
            bottom_toolbar=self._draw_toolbar,
            enable_suspend=True,
            tempfile_suffix=".md",
            # without colors a placeholder would look like typed text
            placeholder=self._placeholder if color else None,
            color_depth=None if color else ColorDepth.DEPTH_1_BIT,
            style=Style.from_dict(STYLE),
        )
        self._session.layout.current_window.dont_extend_height = Always()  # the toolbar is right below the line
        self._session.app.after_render += self._on_render
        self._session.default_buffer.on_text_changed += self._on_text_changed

    def ask(self, default: str = "") -> str:
        """The next line, pastes in full. Raises EOFError at the end of the input or after `end_input`, KeyboardInterrupt on SIGINT."""
        self._on_line_changed(default)
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
        app = self._app_session.app
        if app is not None and (loop := app.loop) is not None:
            with suppress(RuntimeError):  # it has just ended
                loop.call_soon_threadsafe(action)

    def end_input(self, *, erase: bool = False) -> None:
        """End the prompt, as at the end of the input; `erase` removes it from the screen."""
        self._session.app.erase_when_done = erase
        self.call_soon(self._exit)

    def update(self, **changes: Any) -> None:
        """Change fields of the toolbar; it is redrawn only if one differs."""
        with self._toolbar_lock:
            before, self.toolbar = self.toolbar, replace(self.toolbar, **changes)
            changed = self.toolbar != before
        if changed:
            self.call_soon(self._session.app.invalidate)  # which from another thread fails while the prompt ends

    # in the thread of the prompt

    def complete(self) -> None:
        """Compute the completions again, because more is known now, unless the user is choosing one."""
        state = self._session.default_buffer.complete_state
        if self._session.app.is_running and (state is None or state.current_completion is None):
            self._session.default_buffer.start_completion()

    def print_above(self, show: Callable[[], None]) -> None:
        """Print something above the prompt and redraw the prompt below.

        The terminal stays in its raw mode: prompt_toolkit's `run_in_terminal` leaves it for a moment, and an Enter in that moment would
        arrive as Ctrl+J.
        """
        app = self._session.app
        if app.is_running:
            app.renderer.erase()
            show()
            app.renderer.request_absolute_cursor_position()
            app.invalidate()
        else:
            show()

    def _exit(self) -> None:
        app = self._app_session.app
        if app is not None and app.future is not None and not app.future.done():
            app.exit(exception=EOFError)

    def _placeholder(self) -> FormattedText:
        """Not shown once the line is done, so that an empty line stays empty on the screen."""
        return FormattedText([] if self._session.app.is_done else [(self._placeholder_style, PLACEHOLDER)])

    def _on_text_changed(self, _: object) -> None:
        self._hint = ""
        self._on_line_changed(self.text)

    def _show_hint(self, hint: str) -> None:
        """Show a hint instead of the toolbar; an empty one brings the toolbar back."""
        self._hint = hint
        self._session.app.invalidate()

    def _draw_toolbar(self) -> FormattedText:
        width = self._session.output.get_size().columns
        return FormattedText([("", f" {self._hint}"[:width])] if self._hint else self.toolbar.fragments(width))

    def _on_render(self, app: "Application[str]") -> None:
        """The toolbar is in the second drawing, as soon as the terminal has reported the cursor's position; some terminals never do."""
        if not self._is_drawn:
            self._is_drawn = True
            threading.Timer(TOOLBAR_DELAY, self._on_drawn).start()
        else:
            app.after_render -= self._on_render
            self._on_drawn()


class ChatCompleter(Completer):
    def __init__(self, completer: InputCompleter) -> None:
        self._completer = completer

    def get_completions(self, document: Document, complete_event: CompleteEvent) -> Iterable[Completion]:  # noqa: ARG002
        for each in self._completer.suggest(document.text_before_cursor, document.text_after_cursor):
            yield Completion(each.text, -each.replaced, display=each.label or None, display_meta=each.description or None)


class _FoldedPastes(Processor):
    """Shows the placeholder character of a paste as `[pasted 120 lines]`."""

    def __init__(self, pastes: Pastes) -> None:
        self._pastes = pastes

    def apply_transformation(self, transformation_input: TransformationInput) -> Transformation:
        fragments = transformation_input.fragments
        if transformation_input.document.text.isascii():
            return Transformation(fragments)
        shown: StyleAndTextTuples = []
        offsets = [0]
        for fragment in explode_text_fragments(fragments):
            label = self._pastes.label(fragment[1]) if len(fragment[1]) == 1 else None
            shown.append((f"{fragment[0]} class:pasted", label) if label is not None else fragment)
            offsets.append(offsets[-1] + fragment_list_len([shown[-1]]))

        last = len(offsets) - 1
        return Transformation(shown, lambda source: offsets[min(source, last)], lambda display: bisect_right(offsets, display) - 1)


def _continuation(width: int, _line: int, wrapped: int) -> str:
    return " " * width if wrapped else "… ".rjust(width)
