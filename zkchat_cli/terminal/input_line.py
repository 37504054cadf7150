"""The line at the bottom that a person types in, with its menu, its history and the toolbar beneath.

It can be drawn before anything is known of the vault or the conversation; what comes to be known is told to it from any thread.
"""

import asyncio
import threading
import time
from collections.abc import AsyncGenerator, Callable, Iterable, Iterator
from contextlib import suppress
from dataclasses import dataclass, replace
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
from prompt_toolkit.input import Input
from prompt_toolkit.input.typeahead import store_typeahead
from prompt_toolkit.input.vt100_parser import Vt100Parser
from prompt_toolkit.key_binding.key_processor import KeyPress
from prompt_toolkit.layout.processors import Processor, Transformation, TransformationInput
from prompt_toolkit.layout.utils import explode_text_fragments
from prompt_toolkit.output import ColorDepth, Output
from prompt_toolkit.styles import Style
from prompt_toolkit.utils import is_dumb_terminal

from zkchat_cli.terminal.completion import completing
from zkchat_cli.terminal.key_bindings import LEAVE_WITHIN, key_bindings
from zkchat_cli.terminal.paste_folding import Pastes
from zkchat_cli.terminal.screen import PROMPT
from zkchat_cli.terminal.toolbar import Fragments, Toolbar, clipped

PLACEHOLDER = "ask your notes, or /help"
MENU_LINES = 8


@dataclass(frozen=True, slots=True)
class PromptStyle:
    """What the screen has: colours or none, and signs, into which `said` puts a text."""

    colour: bool
    said: Callable[[str], str] = str


@dataclass(frozen=True, slots=True)
class PromptHelpers:
    """What helps who types."""

    completer: Completer
    history: History
    pastes: Pastes


class InputLine:
    """`ask` waits for a line; `update` and `call` may come from any thread meanwhile.

    `heading` stands over the first prompt, until `forget_heading`. `typed` are keys that were pressed before. `drawn` is called once, when
    the first prompt is on the screen.
    """

    def __init__(
        self,
        looks: PromptStyle,
        aids: PromptHelpers,
        *,
        line_changed: Callable[[str], None],
        heading: str = "",
        typed: str = "",
        drawn: Callable[[], None] = lambda: None,
        keyboard: Input | None = None,
        screen: Output | None = None,
    ) -> None:
        self._on = get_app_session()
        self._looks = looks
        self._pastes = pastes = aids.pastes
        self._heading = heading
        self._asked = False
        self._interrupted = float("-inf")
        self._hint = ""
        self._toolbar = Toolbar(state="loading")
        self._bar: tuple[Toolbar, int, Fragments] | None = None
        self._changing = threading.Lock()
        self._line_changed = line_changed
        self._drawn = drawn
        offering = _Offering(aids.completer)
        self.dumb = screen is None and is_dumb_terminal()
        self._session: PromptSession[str] = PromptSession(
            self._message,
            history=aids.history,
            multiline=True,
            prompt_continuation=_continuation,
            key_bindings=key_bindings(pastes, self._show_hint, offering.ended),
            completer=_Beside(offering),
            # only where there is something to complete: prompt_toolkit keeps lines free for the menu as long as this holds
            complete_while_typing=Condition(lambda: completing(self._session.default_buffer.document.text_before_cursor)),
            reserve_space_for_menu=MENU_LINES,
            input_processors=[_FoldedPastes(pastes)],
            bottom_toolbar=self._draw_toolbar,
            enable_suspend=True,
            tempfile_suffix=".md",
            # without colour a placeholder could not be told from typed text
            placeholder=self._placeholder if looks.colour else None,
            color_depth=None if looks.colour else ColorDepth.DEPTH_1_BIT,
            style=Style.from_dict({"bottom-toolbar": "noreverse", "bottom-toolbar.text": ""}),
            input=keyboard,
            output=screen,
        )
        self._session.layout.current_window.dont_extend_height = Always()  # the toolbar stands under the line, not at the screen's end
        self._session.app.after_render += self._first_drawn
        self._session.default_buffer.on_text_changed += lambda buffer: self._typed(buffer.text)
        if typed:
            keys: list[KeyPress] = []
            Vt100Parser(keys.append).feed_and_flush(typed)
            store_typeahead(self._session.input, keys)

    def ask(self, default: str = "") -> str:
        """The next line, pastes in full.

        Raises EOFError when the user leaves or `leave` was called, and on a dumb screen KeyboardInterrupt for a line that was cleared.
        """
        self._line_changed(default)
        try:
            line = self._session.prompt(default=default)
        except KeyboardInterrupt:  # where the screen is dumb, prompt_toolkit's own Ctrl-C comes before ours
            self._interrupt()
            raise
        self._asked = bool(self._heading)
        self._session.placeholder = None
        return self._pastes.unfold(line)

    def _interrupt(self) -> None:
        """What keys.py does on other screens: the second Ctrl-C on an empty line leaves."""
        now = time.monotonic()
        if not self._session.default_buffer.text:
            if now - self._interrupted < LEAVE_WITHIN:
                raise EOFError
            self._interrupted = now
            self._session.output.write("Ctrl-C again leaves\r\n")
            self._session.output.flush()

    @property
    def text(self) -> str:
        """What has been typed so far."""
        return self._pastes.unfold(self._session.default_buffer.text)

    @property
    def columns(self) -> int:
        return self._session.output.get_size().columns

    @property
    def lines(self) -> int:
        return self._session.output.get_size().rows

    def dress(self, looks: PromptStyle) -> None:
        """Look as the settings have it, which are read when the prompt is there already."""
        self._looks, self._bar = looks, None
        if not looks.colour:
            self._session.color_depth = ColorDepth.DEPTH_1_BIT
            self._session.placeholder = None

    def use_vi_keys(self) -> None:
        self._session.editing_mode = EditingMode.VI

    # from any thread, and from a signal's handler

    def call(self, action: Callable[[], None]) -> bool:
        """Do something in the thread of whatever waits for keys now; False when nothing does."""
        app = self._on.app
        if app is None or not app.is_running or app.loop is None:
            return False
        with suppress(RuntimeError):  # it has been left just now
            app.loop.call_soon_threadsafe(action)
            return True
        return False

    def leave(self, *, erase: bool = False) -> None:
        """End whatever waits for keys, as at the end of the input; `erase` takes the prompt from the screen."""
        self._session.app.erase_when_done = erase
        self.call(self._leave)

    def update(self, **changes: Any) -> None:
        """Change what the toolbar says; it is drawn anew only if that is something else."""
        with self._changing:
            before, self._toolbar = self._toolbar, replace(self._toolbar, **changes)
            changed = self._toolbar != before
        if changed:
            self._session.app.invalidate()

    # in the prompt's thread

    def print_above(self, show: Callable[[], None]) -> None:
        """Let something be printed where the prompt stands, and the prompt be drawn anew below.

        The terminal stays as it is meanwhile: for a moment of its usual mode, as prompt_toolkit's own way has it, an Enter would be taken
        for Ctrl+J.
        """
        app = self._session.app
        if app.is_running and not self.dumb:
            app.renderer.erase()
            show()
            app.renderer.request_absolute_cursor_position()
            app.invalidate()
        else:
            show()

    def forget_heading(self) -> bool:
        """Whether a line was sent under the heading, so that it stays on the screen."""
        self._heading = ""
        return self._asked

    def _leave(self) -> None:
        app = self._on.app
        if app is not None and app.future is not None and not app.future.done():
            app.exit(exception=EOFError)

    def _message(self) -> FormattedText:
        heading = [("bold" if self._looks.colour else "", f"{self._heading}\n\n")] if self._heading and not self.dumb else []
        return FormattedText([*heading, ("bold" if self._looks.colour else "", self._looks.said(PROMPT))])

    def _placeholder(self) -> FormattedText:
        """Not in what stays on the screen of a line that was left empty."""
        return FormattedText([] if self._session.app.is_done else [("ansibrightblack", PLACEHOLDER)])

    def _typed(self, text: str) -> None:
        self._hint = ""
        self._line_changed(self._pastes.unfold(text))

    def _show_hint(self, hint: str) -> None:
        """Show a line instead of the toolbar; an empty one brings that back."""
        self._hint = hint
        self._session.app.invalidate()

    def _draw_toolbar(self) -> FormattedText:
        width = self.columns
        if self._hint:
            return FormattedText([("", f" {self._hint}"[:width])])
        if self._bar is None or self._bar[:2] != (self._toolbar, width):
            drawn = [(style, self._looks.said(text)) for style, text in self._toolbar.fragments(width)]
            self._bar = self._toolbar, width, clipped(drawn, width)
        return FormattedText(self._bar[2])

    def _first_drawn(self, app: "Application[str]") -> None:
        app.after_render -= self._first_drawn
        self._drawn()


class _Offering(Completer):
    """Remembers what was offered last."""

    def __init__(self, completer: Completer) -> None:
        self._completer = completer
        self._offered: list[Completion] = []

    def get_completions(self, document: Document, complete_event: CompleteEvent) -> Iterator[Completion]:
        self._offered = []
        for completion in self._completer.get_completions(document, complete_event):
            self._offered.append(completion)
            yield completion

    def ended(self, before: str) -> bool:
        """Whether a text ends with some of it."""
        return any(before.endswith(completion.text) for completion in self._offered)


class _Beside(Completer):
    """Completes in a thread of its own, which nobody waits for: while the first index is built a look into it may take as long, and with
    prompt_toolkit's ThreadedCompleter the prompt would end, by Enter or Ctrl-C, only when that has come to its end."""

    def __init__(self, completer: Completer) -> None:
        self._completer = completer

    def get_completions(self, document: Document, complete_event: CompleteEvent) -> Iterable[Completion]:
        return self._completer.get_completions(document, complete_event)

    async def get_completions_async(self, document: Document, complete_event: CompleteEvent) -> AsyncGenerator[Completion, None]:
        loop, found, left = asyncio.get_running_loop(), asyncio.Queue[Completion | Exception | None](), threading.Event()

        def tell(what: Completion | Exception | None) -> None:
            with suppress(RuntimeError):  # the prompt has ended
                loop.call_soon_threadsafe(found.put_nowait, what)

        def look() -> None:
            try:
                for completion in self._completer.get_completions(document, complete_event):
                    if left.is_set():
                        return
                    tell(completion)
                tell(None)
            except Exception as e:  # noqa: BLE001  raised where prompt_toolkit tells of it
                tell(e)

        threading.Thread(target=look, name="completing", daemon=True).start()
        try:
            while (told := await found.get()) is not None:
                if isinstance(told, Exception):
                    raise told
                yield told
        finally:
            left.set()


class _FoldedPastes(Processor):
    """Shows what stands for a paste as `[pasted 120 lines]`."""

    def __init__(self, pastes: Pastes) -> None:
        self._pastes = pastes

    def apply_transformation(self, transformation_input: TransformationInput) -> Transformation:
        fragments = transformation_input.fragments
        if transformation_input.document.text.isascii():
            return Transformation(fragments)
        shown: StyleAndTextTuples = []
        places = [0]
        for fragment in explode_text_fragments(fragments):
            label = self._pastes.shown(fragment[1]) if len(fragment[1]) == 1 else None
            shown.append((f"{fragment[0]} class:pasted", label) if label is not None else fragment)
            places.append(places[-1] + fragment_list_len([shown[-1]]))

        def to_display(source: int) -> int:
            return places[min(source, len(places) - 1)] + max(0, source - len(places) + 1)

        def to_source(display: int) -> int:
            return next((i - 1 for i, place in enumerate(places) if place > display), len(places) - 1 + max(0, display - places[-1]))

        return Transformation(shown, to_display, to_source)


def _continuation(width: int, _line: int, wrapped: int) -> str:
    """Before a further line of the message, or before what did not fit."""
    return " " * width if wrapped else "… ".rjust(width)
