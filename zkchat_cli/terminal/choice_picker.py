"""A list to choose from, below the input line: letters filter it, arrows move, Enter chooses, Esc
leaves without a choice. Afterwards nothing of it is on the screen.
"""

from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager, nullcontext

from prompt_toolkit.application import Application
from prompt_toolkit.buffer import Buffer
from prompt_toolkit.formatted_text import StyleAndTextTuples
from prompt_toolkit.key_binding import KeyBindings
from prompt_toolkit.key_binding.key_processor import KeyPressEvent
from prompt_toolkit.layout import HSplit, Layout, Window
from prompt_toolkit.layout.controls import BufferControl, FormattedTextControl
from prompt_toolkit.layout.processors import BeforeInput
from prompt_toolkit.output import ColorDepth
from prompt_toolkit.utils import get_cwidth

from zkchat_cli.slash.base import ChoiceOption, ListQuestion
from zkchat_cli.terminal.screen import Screen
from zkchat_cli.text.sanitize import sanitize_name
from zkchat_cli.vault.links.note_completer import FuzzyMatcher

# Rows of the list
MOST_ROWS = 10
# Seconds after which Esc is that key alone, and not the beginning of an arrow
ESCAPE_SECONDS = 0.1
HELP = "type to filter, ↑ ↓ move, Enter chooses, Esc leaves"
SHORT_HELP = "type, ↑ ↓, Enter, Esc"
ELLIPSIS = "…"


class ChoiceList:
    """The options that match what is typed, and which of them is selected. Pure: no screen."""

    def __init__(self, options: Sequence[ChoiceOption]) -> None:
        self._options = options
        self._matcher = FuzzyMatcher(f"{each.label} {each.description}" for each in options)
        self.matching: Sequence[ChoiceOption] = options
        self.position = 0

    def filter(self, typed: str) -> None:
        """Keep the options with these letters, the best first, and select the first of them."""
        found = self._matcher.find(typed, len(self._options))
        self.matching = [self._options[number] for number in found]
        self.position = 0

    def move(self, rows: int) -> None:
        """Select another one; at an end it stays there."""
        last = max(0, len(self.matching) - 1)
        self.position = min(max(self.position + rows, 0), last)

    @property
    def selected(self) -> ChoiceOption | None:
        """The selected option; None if nothing matches."""
        return self.matching[self.position] if self.matching else None

    def visible(self, rows: int) -> Sequence[ChoiceOption]:
        """So many options around the selected one."""
        first = max(0, min(self.position - rows // 2, len(self.matching) - rows))
        return self.matching[first : first + rows]


def choose(
    choice: ListQuestion,
    screen: Screen,
    pause: Callable[[], AbstractContextManager[None]] = nullcontext,
) -> str | None:
    """The value of the option that the user chooses; None for none. Within `pause`, Ctrl-C leaves
    the list instead of stopping a turn.
    """
    listed = ChoiceList(choice.options)
    buffer = Buffer(multiline=False)
    buffer.on_text_changed += lambda changed: listed.filter(changed.text)
    bold = "bold" if screen.color else ""
    application: Application[str | None] = Application(
        layout=Layout(
            HSplit(
                [
                    Window(
                        FormattedTextControl(lambda: _title(choice, application, bold)), height=1
                    ),
                    Window(
                        BufferControl(buffer, input_processors=[BeforeInput("› ", style=bold)]),
                        height=1,
                    ),
                    Window(
                        FormattedTextControl(lambda: _rows(listed, application, screen)),
                        dont_extend_height=True,
                    ),
                ]
            )
        ),
        key_bindings=_keys(listed),
        color_depth=None if screen.color else ColorDepth.DEPTH_1_BIT,
        erase_when_done=True,
    )
    application.ttimeoutlen = ESCAPE_SECONDS
    application.timeoutlen = ESCAPE_SECONDS
    with pause():
        try:
            return application.run()
        except (EOFError, KeyboardInterrupt):
            return None


def _title(
    choice: ListQuestion, application: "Application[str | None]", style: str
) -> StyleAndTextTuples:
    title = sanitize_name(choice.title)
    columns = application.output.get_size().columns
    keys = HELP if get_cwidth(f"{title}  {HELP}") < columns else SHORT_HELP
    return [(style, title), ("", f"  {keys}")]


def _rows(
    listed: ChoiceList, application: "Application[str | None]", screen: Screen
) -> StyleAndTextTuples:
    """The visible options, a line each, the selected one marked."""
    size = application.output.get_size()
    shown = listed.visible(max(1, min(MOST_ROWS, size.rows - 3)))
    if not shown:
        return [("", "  nothing matches")]
    rows: StyleAndTextTuples = []
    for option in shown:
        is_selected = option is listed.selected
        mark = "→ " if is_selected else "  "
        text = f"{option.label}  {option.description}".rstrip()
        style = "reverse" if is_selected and screen.color else ""
        rows.append((style, _cut(mark + sanitize_name(text), size.columns - 1)))
        rows.append(("", "\n"))
    rows.pop()
    return rows


def _cut(text: str, columns: int) -> str:
    """The beginning of a text that fits into so many columns."""
    if get_cwidth(text) <= columns:
        return text
    kept = text[:columns]
    while kept and get_cwidth(kept) >= columns:
        kept = kept[:-1]
    return kept + ELLIPSIS


def _keys(listed: ChoiceList) -> KeyBindings:
    keys = KeyBindings()

    def moving(*names: str, rows: int) -> None:
        for name in names:

            @keys.add(name)
            def _(_event: KeyPressEvent) -> None:
                listed.move(rows)

    moving("up", "c-p", rows=-1)
    moving("down", "c-n", "tab", rows=1)
    moving("pageup", rows=-MOST_ROWS)
    moving("pagedown", rows=MOST_ROWS)

    @keys.add("enter")
    def _(event: KeyPressEvent) -> None:
        if listed.selected is not None:
            event.app.exit(result=listed.selected.value)

    @keys.add("escape")
    @keys.add("c-c")
    @keys.add("c-d")
    @keys.add("<sigint>")
    def _(event: KeyPressEvent) -> None:
        event.app.exit(result=None)

    return keys
