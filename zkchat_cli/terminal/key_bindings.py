"""What keys do at the prompt, beyond prompt_toolkit's own keys of Emacs and vi."""

import time
from asyncio import get_running_loop
from collections.abc import Callable

from prompt_toolkit.application import get_app
from prompt_toolkit.buffer import Buffer, CompletionState
from prompt_toolkit.document import Document
from prompt_toolkit.enums import DEFAULT_BUFFER
from prompt_toolkit.filters import Condition, emacs_mode, has_focus, has_selection, vi_insert_mode, vi_navigation_mode
from prompt_toolkit.key_binding import KeyBindings, KeyPressEvent
from prompt_toolkit.keys import Keys

from zkchat_cli.terminal.completion import command_typed
from zkchat_cli.terminal.paste_folding import Pastes

LEAVE_WITHIN = 2.0
"""Seconds between two Ctrl-C on an empty line that mean "leave"."""


def key_bindings(pastes: Pastes, hint: Callable[[str], None], completed: Callable[[str], bool]) -> KeyBindings:
    """The chat's keys. `hint` shows a line instead of the toolbar; an empty one brings the toolbar back.

    `completed` says whether the text before the cursor ends with what was offered for completion.
    """
    keys = KeyBindings()
    note_chosen = Condition(lambda: (before := get_app().current_buffer.document.text_before_cursor).endswith("]]") and completed(before))
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

    @keys.add("escape", "enter", filter=at_prompt & emacs_mode)  # vi would wait after each Escape whether Enter follows
    @keys.add("c-j", filter=at_prompt)
    def _(event: KeyPressEvent) -> None:
        event.current_buffer.insert_text("\n")

    @keys.add(Keys.BracketedPaste, filter=at_prompt)
    def _(event: KeyPressEvent) -> None:
        event.current_buffer.insert_text(pastes.fold(event.data))

    @keys.add("tab", filter=at_prompt)
    def _(event: KeyPressEvent) -> None:
        """The first or next of what is offered; of what is being looked for already, the first as soon as it is found."""
        buffer = event.current_buffer
        if buffer.complete_state is not None and buffer.complete_state.completions:
            buffer.complete_next()
            return

        def choose(_: Buffer) -> None:
            state = buffer.complete_state
            if state is not None and state.completions:
                forget(buffer)
                get_running_loop().call_soon(take, state)

        def take(state: CompletionState) -> None:
            if buffer.complete_state is state and state.complete_index is None:
                buffer.go_to_completion(0)

        def forget(_: Buffer) -> None:
            buffer.on_completions_changed -= choose
            buffer.on_text_changed -= forget

        buffer.on_completions_changed += choose
        buffer.on_text_changed += forget
        buffer.start_completion(select_first=True)  # which does nothing while it is being looked for

    @keys.add("#", filter=at_prompt & note_chosen)
    @keys.add("|", filter=at_prompt & note_chosen)
    def _(event: KeyPressEvent) -> None:
        """Right after a note was chosen: go on inside of its link."""
        event.current_buffer.delete_before_cursor(2)
        event.current_buffer.insert_text(event.data)

    @keys.add("c-x", "c-e", filter=at_prompt & ~has_selection & (emacs_mode | vi_insert_mode))
    @keys.add("v", filter=at_prompt & vi_navigation_mode & ~has_selection)
    def _(event: KeyPressEvent) -> None:
        """Go on writing in the editor, pastes in full; what comes back is sent by Enter, so that nothing is sent unseen."""
        edit(event.current_buffer, pastes)

    @keys.add("c-c", filter=at_prompt)
    def _(event: KeyPressEvent) -> None:
        nonlocal last_interrupt
        if event.current_buffer.text:
            event.current_buffer.reset()
            event.current_buffer.on_text_changed.fire()  # which a reset does not tell
        elif time.monotonic() - last_interrupt < LEAVE_WITHIN:
            event.app.exit(exception=EOFError)
        else:
            last_interrupt = time.monotonic()
            hint("Ctrl-C again leaves")
            assert event.app.loop is not None  # a key was pressed, so the prompt runs
            event.app.loop.call_later(LEAVE_WITHIN, hint, "")

    return keys


def edit(buffer: Buffer, pastes: Pastes) -> None:
    text = pastes.unfold(buffer.text)
    if text != buffer.text:
        buffer.document = Document(text)
    buffer.open_in_editor()
