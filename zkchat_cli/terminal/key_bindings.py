"""The keys of the input line beyond prompt_toolkit's own for Emacs and vi."""

from typing import Any

from prompt_toolkit.application import Application, get_app
from prompt_toolkit.buffer import Buffer
from prompt_toolkit.enums import DEFAULT_BUFFER
from prompt_toolkit.filters import (
    Condition,
    emacs_mode,
    has_focus,
    has_selection,
    vi_insert_mode,
    vi_navigation_mode,
)
from prompt_toolkit.key_binding import KeyBindings, KeyPressEvent
from prompt_toolkit.keys import Keys

from zkchat_cli.completion.typed_text import match_typed
from zkchat_cli.terminal.pastes import Pastes
from zkchat_cli.terminal.quit_hint import QuitHint

_LINK_END = "]]"


def prompt_keys(pastes: Pastes, quit_hint: QuitHint) -> KeyBindings:
    """All keys of the prompt, for a line with these pastes."""
    keys = KeyBindings()
    # In a search (Ctrl+R) Enter and Ctrl+C belong to the search
    at_prompt = has_focus(DEFAULT_BUFFER)
    keys.add("enter", filter=at_prompt)(_send)
    # Vi mode would wait after each Escape for a possible Enter
    keys.add("escape", "enter", filter=at_prompt & emacs_mode)(_start_line)
    keys.add("c-j", filter=at_prompt)(_start_line)
    keys.add("tab", filter=at_prompt)(_complete)
    keys.add("#", filter=at_prompt & Condition(_is_after_link))(_continue_link)
    keys.add(Keys.SIGINT)(_interrupt)
    _add_paste_keys(keys, pastes)

    @keys.add("c-c", filter=at_prompt)
    def _(event: KeyPressEvent) -> None:
        """Clear the line; in an empty one quit, the second time."""
        buffer = event.current_buffer
        if buffer.text:
            buffer.reset()
            # A reset does not fire this event
            buffer.on_text_changed.fire()
        elif quit_hint.text:
            event.app.exit(exception=EOFError)
        else:
            quit_hint.show(event.app)

    return keys


def exit_prompt(app: "Application[Any]", exception: type[BaseException]) -> None:
    """End a prompt that has not ended yet: prompt_toolkit would print an error for one that has."""
    if app.future is not None and not app.future.done():
        app.exit(exception=exception)


def _add_paste_keys(keys: KeyBindings, pastes: Pastes) -> None:
    at_prompt = has_focus(DEFAULT_BUFFER)
    after_paste = Condition(lambda: pastes.label_at_end(_text_before_cursor()) != "")

    @keys.add(Keys.BracketedPaste, filter=at_prompt)
    def _(event: KeyPressEvent) -> None:
        event.current_buffer.insert_text(pastes.fold(event.data))

    @keys.add("backspace", filter=at_prompt & after_paste)
    def _(event: KeyPressEvent) -> None:
        """Delete the label of a paste as a whole."""
        buffer = event.current_buffer
        label = pastes.label_at_end(buffer.document.text_before_cursor)
        buffer.delete_before_cursor(len(label))

    @keys.add("c-x", "c-e", filter=at_prompt & ~has_selection & (emacs_mode | vi_insert_mode))
    @keys.add("v", filter=at_prompt & vi_navigation_mode & ~has_selection)
    def _(event: KeyPressEvent) -> None:
        """Edit the line in the editor, with pastes in full.

        The line is sent only by Enter, so that nothing is sent unseen.
        """
        buffer = event.current_buffer
        buffer.text = pastes.unfold(buffer.text)
        buffer.open_in_editor()


def _send(event: KeyPressEvent) -> None:
    """Send the line; with a completion selected, accept it first. A selected command runs at
    once.
    """
    buffer = event.current_buffer
    state = buffer.complete_state
    is_selected = state is not None and state.current_completion is not None
    typed = match_typed(buffer.document.text_before_cursor)
    is_command = typed is not None and typed.kind == "command"
    if is_selected and not is_command:
        buffer.complete_state = None
    else:
        buffer.validate_and_handle()


def _start_line(event: KeyPressEvent) -> None:
    event.current_buffer.insert_text("\n")


def _complete(event: KeyPressEvent) -> None:
    """Select the next completion.

    If there are none, compute them, and select the first one when it arrives and the line is still
    the same: until then prompt_toolkit ignores Tab.
    """
    buffer = event.current_buffer
    line = buffer.text

    def select_first(_: Buffer) -> None:
        is_changed = buffer.text != line
        state = buffer.complete_state
        has_completions = not is_changed and state is not None and bool(state.completions)
        if is_changed or has_completions:
            buffer.on_completions_changed -= select_first
        if has_completions and state is not None and state.complete_index is None:
            buffer.go_to_completion(0)

    if buffer.complete_state is not None and buffer.complete_state.completions:
        buffer.complete_next()
    else:
        buffer.on_completions_changed += select_first
        buffer.start_completion(select_first=True)


def _continue_link(event: KeyPressEvent) -> None:
    """Continue inside a link with a heading, if the cursor is right after the link."""
    event.current_buffer.delete_before_cursor(len(_LINK_END))
    event.current_buffer.insert_text(event.data)


def _interrupt(event: KeyPressEvent) -> None:
    exit_prompt(event.app, KeyboardInterrupt)


def _is_after_link() -> bool:
    return _text_before_cursor().endswith(_LINK_END)


def _text_before_cursor() -> str:
    return get_app().current_buffer.document.text_before_cursor
