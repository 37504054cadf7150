"""The keys of the input line, beyond prompt_toolkit's own for Emacs and vi."""

import time
from collections.abc import Callable

from prompt_toolkit.application import get_app
from prompt_toolkit.buffer import Buffer
from prompt_toolkit.document import Document
from prompt_toolkit.enums import DEFAULT_BUFFER
from prompt_toolkit.filters import Condition, emacs_mode, has_focus, has_selection, vi_insert_mode, vi_navigation_mode
from prompt_toolkit.key_binding import KeyBindings, KeyPressEvent
from prompt_toolkit.keys import Keys

from zkchat_cli.completion import is_command_name
from zkchat_cli.terminal.paste_folding import Pastes

QUIT_WITHIN = 2.0
"""Seconds between two Ctrl-C on an empty line that quit."""
QUIT_HINT = "press Ctrl-C again to quit"


def key_bindings(pastes: Pastes, show_hint: Callable[[str], None]) -> KeyBindings:
    """`show_hint` shows a line instead of the toolbar; an empty one brings the toolbar back."""
    keys = KeyBindings()
    after_link = Condition(lambda: get_app().current_buffer.document.text_before_cursor.endswith("]]"))
    at_prompt = has_focus(DEFAULT_BUFFER)  # in a search (Ctrl+R) Enter and Ctrl+C belong to the search
    last_interrupt = float("-inf")

    @keys.add("enter", filter=at_prompt)
    def _(event: KeyPressEvent) -> None:
        """Send the line; with a completion selected, accept it first. A selected command runs at once."""
        buffer = event.current_buffer
        choosing = buffer.complete_state is not None and buffer.complete_state.current_completion is not None
        if choosing and not is_command_name(buffer.document.text_before_cursor):
            buffer.complete_state = None
        else:
            buffer.validate_and_handle()

    @keys.add("escape", "enter", filter=at_prompt & emacs_mode)  # vi would wait after each Escape whether Enter follows
    @keys.add("c-j", filter=at_prompt)
    def _(event: KeyPressEvent) -> None:
        event.current_buffer.insert_text("\n")

    @keys.add(Keys.BracketedPaste, filter=at_prompt)
    def _(event: KeyPressEvent) -> None:
        event.current_buffer.insert_text(pastes.fold(event.data))

    @keys.add("tab", filter=at_prompt)
    def _(event: KeyPressEvent) -> None:
        buffer = event.current_buffer
        if buffer.complete_state is not None and buffer.complete_state.completions:
            buffer.complete_next()
        else:
            _select_first_when_computed(buffer)
            buffer.start_completion(select_first=True)

    @keys.add("#", filter=at_prompt & after_link)
    def _(event: KeyPressEvent) -> None:
        """Right after a link: continue inside it with a heading."""
        event.current_buffer.delete_before_cursor(2)
        event.current_buffer.insert_text(event.data)

    @keys.add("c-x", "c-e", filter=at_prompt & ~has_selection & (emacs_mode | vi_insert_mode))
    @keys.add("v", filter=at_prompt & vi_navigation_mode & ~has_selection)
    def _(event: KeyPressEvent) -> None:
        """Edit the line in the editor, with pastes in full. It is not sent before Enter, so that nothing is sent unseen."""
        buffer = event.current_buffer
        if (text := pastes.unfold(buffer.text)) != buffer.text:
            buffer.document = Document(text)
        buffer.open_in_editor()

    @keys.add("c-c", filter=at_prompt)
    def _(event: KeyPressEvent) -> None:
        nonlocal last_interrupt
        if event.current_buffer.text:
            event.current_buffer.reset()
            event.current_buffer.on_text_changed.fire()  # a reset does not fire it
        elif time.monotonic() - last_interrupt < QUIT_WITHIN:
            event.app.exit(exception=EOFError)
        else:
            last_interrupt = time.monotonic()
            show_hint(QUIT_HINT)
            assert event.app.loop is not None  # a key was pressed, so the prompt runs
            event.app.loop.call_later(QUIT_WITHIN, show_hint, "")

    @keys.add(Keys.SIGINT)
    def _(event: KeyPressEvent) -> None:
        """SIGINT while the line is read. For one just after Enter, prompt_toolkit's own binding would print an error."""
        if event.app.future is not None and not event.app.future.done():
            event.app.exit(exception=KeyboardInterrupt)

    return keys


def _select_first_when_computed(buffer: Buffer) -> None:
    """A Tab while completions are being computed: prompt_toolkit would ignore it."""
    line = buffer.text

    def select(_: Buffer) -> None:
        computed = buffer.complete_state is not None and buffer.complete_state.completions
        if computed or buffer.text != line:
            buffer.on_completions_changed -= select
        if buffer.complete_state is not None and computed and buffer.text == line and buffer.complete_state.complete_index is None:
            buffer.go_to_completion(0)

    buffer.on_completions_changed += select
