"""Pick an item from a list that typing filters: a number picks its row, Enter the selected row, Esc cancels.

The list is drawn below the output and erased afterwards.
"""

from collections.abc import Sequence

from prompt_toolkit.application import Application
from prompt_toolkit.buffer import Buffer
from prompt_toolkit.formatted_text import StyleAndTextTuples
from prompt_toolkit.key_binding import KeyBindings, KeyPressEvent
from prompt_toolkit.layout import BufferControl, FormattedTextControl, HSplit, Layout, VSplit, Window
from prompt_toolkit.output import ColorDepth
from prompt_toolkit.utils import is_dumb_terminal

from zkchat_cli.text.sanitize import sanitize_name
from zkchat_cli.text.words import fold

ROWS = 10


def filter_rows(rows: Sequence[str], typed: str) -> list[int]:
    """The rows that contain every typed word, ignoring case. A typed row number (from 1) comes first."""
    words = fold(typed).split()
    matches = [i for i, row in enumerate(rows) if all(word in fold(row) for word in words)]
    digits = typed.strip()
    number = int(digits) - 1 if digits.isascii() and digits.isdecimal() and len(digits) < 6 else -1
    return [number, *(i for i in matches if i != number)] if 0 <= number < len(rows) else matches


def pick_row(title: str, rows: Sequence[str], *, colour: bool) -> int | None:
    """The index of the picked row; None if the user cancels, or nothing can be picked."""
    if not rows or is_dumb_terminal():
        return None
    try:
        return _application(title, [sanitize_name(row) for row in rows], colour=colour).run()
    except (EOFError, KeyboardInterrupt):
        return None


def _application(title: str, rows: Sequence[str], *, colour: bool) -> Application[int | None]:
    selected = 0
    shown = list(range(len(rows)))

    def update_filter(buffer: Buffer) -> None:
        nonlocal selected, shown
        selected, shown = 0, filter_rows(rows, buffer.text)

    def list_fragments() -> StyleAndTextTuples:
        first = max(0, min(selected - ROWS // 2, len(shown) - ROWS))
        lines: StyleAndTextTuples = []
        digits = len(str(len(rows)))
        for place, at in list(enumerate(shown))[first : first + ROWS]:
            mark = "›" if place == selected else " "
            lines.append(("reverse" if colour and place == selected else "", f"{mark} {at + 1:>{digits}}  {rows[at]}\n"))
        if len(shown) > ROWS:
            lines.append(("", f"  {len(shown)} items; type to filter"))
        return lines if lines else [("", "  no matches")]

    typed = Buffer(on_text_changed=update_filter, multiline=False)
    keys = KeyBindings()

    def moves(by: int, *names: str) -> None:
        def move(event: KeyPressEvent) -> None:  # noqa: ARG001  every key handler has this signature
            nonlocal selected
            selected = max(0, min(len(shown) - 1, selected + by))

        for name in names:
            keys.add(name)(move)

    moves(-1, "up", "c-p")
    moves(1, "down", "c-n", "tab")
    moves(-ROWS, "pageup")
    moves(ROWS, "pagedown")

    @keys.add("enter")
    def _(event: KeyPressEvent) -> None:
        if shown:
            event.app.exit(result=shown[selected])

    @keys.add("escape", eager=True)
    @keys.add("c-c")
    @keys.add("c-d")
    @keys.add("<sigint>")
    def _(event: KeyPressEvent) -> None:
        event.app.exit(result=None)

    head = f"{title} (number or words, Enter; Esc cancels) › "
    layout = Layout(
        HSplit(
            [
                VSplit([Window(FormattedTextControl(head), width=len(head), height=1), Window(BufferControl(typed), height=1)]),
                Window(FormattedTextControl(list_fragments), dont_extend_height=True, wrap_lines=False),
            ]
        )
    )
    depth = None if colour else ColorDepth.DEPTH_1_BIT
    app: Application[int | None] = Application(layout, key_bindings=keys, erase_when_done=True, color_depth=depth)
    app.ttimeoutlen = 0.05  # Esc alone is a key here
    return app
