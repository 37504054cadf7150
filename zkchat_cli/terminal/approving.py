"""Changes of notes on the screen: each shown as a diff, and in a chat asked for, one by one or all of a turn at once."""

from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager
from typing import TYPE_CHECKING

from zkchat_cli import events
from zkchat_cli.changing import ALLOWED, DECLINED, Approve, Verdict
from zkchat_cli.errors import UsageError
from zkchat_cli.terminal.safe import neutralise
from zkchat_cli.terminal.screen import Screen
from zkchat_cli.tools import Tool
from zkchat_cli.vault.changes import Change

if TYPE_CHECKING:
    from zkchat_cli.terminal.question import Question

MOST_LINES = 300
"""Of a diff that are shown on a screen: nobody reads a thousand before saying yes."""
_STYLES = {"+": "green", "-": "red", "@": "cyan"}
YES, ALL = ("y", "yes"), ("a", "all")


class AskEach:
    """Asks before each change; a yes to all lasts for the turn. What is typed before the question does not answer it."""

    def __init__(self, question: "Question") -> None:
        self.question = question
        self.pausing: Callable[[], AbstractContextManager[None]] | None = None
        """Entered while a question is up: Ctrl-C is its answer then, and does not stop the turn."""
        self._all = False

    def begin(self) -> None:
        """A turn begins: nothing is allowed yet."""
        self._all = False

    def __call__(self, change: Change) -> Verdict:
        if self._all:
            return ALLOWED
        assert self.pausing is not None
        with self.pausing():
            said = self.question.said(f"{change.summary}?", "y/N, a: all of this turn")
        self._all = said in ALL
        return ALLOWED if said in (*YES, *ALL) else DECLINED


def policy(*, unsafe: bool, yes: bool, screen: Screen, interactive: bool) -> Approve | None:
    """Who approves changes with these flags: None for nobody, so that each is refused. Raises UsageError for flags that make no sense."""
    if yes and not unsafe:
        raise UsageError("--yes approves changes, and there are none without --unsafe", "Leave it out, or say --unsafe --yes.")
    if yes:
        return lambda _: ALLOWED
    if unsafe and interactive:
        from zkchat_cli.terminal.question import Question  # with prompt_toolkit, which pipes do without

        return AskEach(Question(colour=screen.colour))
    if unsafe:
        screen.warn("nobody can be asked here: changes of notes are shown and refused", "--yes approves them all beforehand")
    return None


def tell_unable(tools: Sequence[Tool], model: str, screen: Screen, *, unsafe: bool) -> None:
    """Say that --unsafe changes nothing, where the model cannot call the tools that write."""
    if unsafe and not any(tool.writes for tool in tools):
        screen.warn(f"{model} cannot change notes, with --unsafe or without", "choose a model that can: --model PROVIDER/NAME")


def show_change(event: events.ChangeProposed | events.ChangeDecided, screen: Screen) -> None:
    """A proposed change as a diff, and what became of it: on the screen of a chat, or on stderr beside an answer in a pipe."""
    for text, style in _lines(event, MOST_LINES if screen.columns is not None else None):
        if screen.columns is not None:
            screen.print(text, *([style] if style else []))
        else:
            screen.err.write(neutralise(text) + "\n")
    screen.err.flush()


def _lines(event: events.ChangeProposed | events.ChangeDecided, most: int | None) -> Iterator[tuple[str, str]]:
    if isinstance(event, events.ChangeDecided):
        yield f"  {event.told}", "dim" if event.made else "yellow"
        return
    yield f"  {event.summary}", "bold"
    if event.note:
        yield f"  {event.note}", "yellow"
    lines = event.diff.splitlines()
    for line in lines[:most]:
        yield line, "bold" if line.startswith(("--- ", "+++ ")) else _STYLES.get(line[:1], "")
    if most is not None and len(lines) > most:
        yield f"  … and {len(lines) - most} more lines", "dim"
