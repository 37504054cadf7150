"""What keys do at the prompt, beyond prompt_toolkit's own Emacs keys."""

import time
from collections.abc import Callable

from prompt_toolkit.enums import DEFAULT_BUFFER
from prompt_toolkit.filters import has_focus
from prompt_toolkit.key_binding import KeyBindings, KeyPressEvent

from zkchat_cli.terminal.completion import command_typed

LEAVE_WITHIN = 2.0
"""Seconds between two Ctrl-C on an empty line that mean "leave"."""


def bindings(line_cleared: Callable[[], None], hint: Callable[[str], None]) -> KeyBindings:
    """The chat's keys. `hint` shows a line instead of the toolbar; an empty one brings the toolbar back."""
    keys = KeyBindings()
    at_prompt = has_focus(DEFAULT_BUFFER)  # in a search (Ctrl+R) Enter and Ctrl+C belong to the search
    last_interrupt = float("-inf")

    @keys.add("enter", filter=at_prompt)
    def _(event: KeyPressEvent) -> None:
        """Send; while a note is being chosen from the menu, take it. A chosen command is run at once."""
        buffer = event.current_buffer
        choosing = buffer.complete_state is not None and buffer.complete_state.current_completion is not None
        if choosing and command_typed(buffer.document.text_before_cursor) is None:
            buffer.complete_state = None
        else:
            buffer.validate_and_handle()

    @keys.add("escape", "enter", filter=at_prompt)
    @keys.add("c-j", filter=at_prompt)
    def _(event: KeyPressEvent) -> None:
        event.current_buffer.insert_text("\n")

    @keys.add("c-c", filter=at_prompt)
    def _(event: KeyPressEvent) -> None:
        nonlocal last_interrupt
        if event.current_buffer.text:
            event.current_buffer.reset()
            line_cleared()
        elif time.monotonic() - last_interrupt < LEAVE_WITHIN:
            event.app.exit(exception=EOFError)
        else:
            last_interrupt = time.monotonic()
            hint("Ctrl-C again leaves")
            assert event.app.loop is not None  # a key was pressed, so the prompt runs
            event.app.loop.call_later(LEAVE_WITHIN, hint, "")

    return keys
