"""The screen of a turn at three sizes: the question, an answer of three sentences with two sources,
and the next prompt.

`python tests/test_turn_screens.py` writes tests/transcripts/screens again; read the difference.
"""

import json
import re
import tempfile
from contextlib import closing
from pathlib import Path
from typing import TextIO, cast

import pyte
import pytest
from conftest import NOTES, write_notes
from streaming_terminal import Terminal

from zkchat_cli.app import factory
from zkchat_cli.app.settings import StartupOptions
from zkchat_cli.chat.fault_guard import FaultGuard
from zkchat_cli.terminal.screen import Screen
from zkchat_cli.terminal.toolbar import Toolbar, measure_prompt
from zkchat_cli.terminal.turn_renderer import DisplayOptions, show_turn
from zkchat_cli.views.text import PROMPT

FOLDER = Path(__file__).parent / "transcripts" / "screens"
SIZES = ((80, 24), (50, 20), (120, 40))
QUESTION = "How do I combine filters, and how many results do I get?"
REPLIES: tuple[dict[str, object], ...] = (
    {
        "tool_calls": [
            {
                "name": "find_excerpts",
                "arguments": {"query": "join filters with AND and OR, limit the results"},
            }
        ]
    },
    {
        "text": "Filters can be joined, and each condition has brackets of its own: “joined with "
        "AND, OR and NOT” [3]. Brackets can be "
        "nested as deep as you like [3]. For ten results at most, “Write `limit 10`” [1]."
    },
)


class PyteScreen:
    """A stream into a terminal of this size."""

    def __init__(self, columns: int, rows: int) -> None:
        self.terminal = Terminal(columns, rows)
        self._stream = pyte.Stream(self.terminal)

    def write(self, text: str) -> None:
        self._stream.feed(text.replace("\n", "\r\n"))

    def flush(self) -> None: ...


def turn_screen(columns: int, rows: int, folder: Path) -> str:
    vault = write_notes(folder / "notes", NOTES)
    (folder / "replies.jsonl").write_text("".join(json.dumps(reply) + "\n" for reply in REPLIES))
    env = {"ZKCHAT_HOME": str(folder / "home"), "ZKCHAT_SEMANTIC__PROVIDER": "none"}
    shown = PyteScreen(columns, rows)
    out = cast(TextIO, shown)
    screen = Screen(
        out, out, color=True, err_is_terminal=False, columns=lambda: columns, lines=lambda: rows
    )
    with closing(
        factory.open_app(
            StartupOptions(vault=vault, model=f"scripted/{folder}/replies.jsonl"), env, vault
        )
    ) as app:
        app.vault.refresh()
        session = app.session()
        screen.print(f"{PROMPT}{QUESTION}")
        screen.print()
        show_turn(
            session.send(QUESTION),
            screen,
            screen.print,
            DisplayOptions(10, FaultGuard(), costs=True),
        )
        screen.print()
        screen.print(PROMPT.rstrip())
        toolbar = Toolbar(vault="notes", **{**measure_prompt(session), "model": "model"}).fragments(
            columns
        )
        screen.write("".join(text for _, text in toolbar))
    text = "\n".join(row.rstrip() for row in shown.terminal.rows()).strip("\n")
    return re.sub(r"\d+\.\d s,", "0.1 s,", text) + "\n"


@pytest.mark.parametrize(("columns", "rows"), SIZES)
def test_a_turn_fits_on_the_screen_with_its_question(
    columns: int, rows: int, tmp_path: Path
) -> None:
    shown = turn_screen(columns, rows, tmp_path)
    assert shown == (FOLDER / f"{columns}x{rows}.txt").read_text(encoding="utf-8")
    assert len(shown.splitlines()) <= rows
    assert max(map(len, shown.splitlines())) <= columns


if __name__ == "__main__":
    for size in SIZES:
        with tempfile.TemporaryDirectory() as temporary:
            (FOLDER / f"{size[0]}x{size[1]}.txt").write_text(
                turn_screen(*size, Path(temporary)), encoding="utf-8"
            )
