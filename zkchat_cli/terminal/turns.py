"""One turn on the screen: events become lines, for the interactive chat, a piped one and `ask`."""

from collections.abc import Callable, Iterable

from zkchat_cli import events
from zkchat_cli.errors import ZkchatError
from zkchat_cli.terminal import sources
from zkchat_cli.terminal.screen import Screen

Aside = Callable[[str, str], None]
"""Where a line that is not the answer goes, with its style: the screen itself in a chat, stderr in a pipe."""


def to_stderr(screen: Screen) -> Aside:
    """For a pipe: warnings always reach stderr, what is only progress reaches a terminal's."""
    return lambda line, style: screen.warn(line.strip()) if style in ("yellow", "red") else screen.progress(line)


def show(
    turn: Iterable[events.Event], screen: Screen, aside: Aside, *, max_sources: int
) -> events.TurnCompleted | events.TurnFailed | None:
    """Print a turn as it happens: the answer as it streams, then its sources (none with `max_sources` 0). Returns the last event.

    However the turn ends, what came of the answer is shown to its last word.
    """
    answer = _Answer(screen)
    try:
        return _show(turn, answer, screen, aside, max_sources=max_sources)
    finally:
        answer.end()


class _Answer:
    """The answer's text on the screen, and whether a line of it is open. `stand_apart` asks for an empty line before what comes next."""

    def __init__(self, screen: Screen) -> None:
        self._screen = screen
        self._flow = screen.flow()
        self._open = False
        self.stand_apart = False

    def add(self, text: str) -> None:
        if self.stand_apart and text.strip():
            self._write("\n")
            self.stand_apart = False
        self._write(self._flow.feed(text))

    def end(self) -> None:
        """Finish the open line, so that something else may be printed."""
        self._write(self._flow.close())
        self._flow = self._screen.flow()
        if self._open:
            self._write("\n")

    def _write(self, text: str) -> None:
        if text:
            self._screen.write(text)
            self._open = not text.endswith("\n")


def _show(
    turn: Iterable[events.Event], answer: _Answer, screen: Screen, aside: Aside, *, max_sources: int
) -> events.TurnCompleted | events.TurnFailed | None:
    last: events.TurnCompleted | events.TurnFailed | None = None
    for event in turn:
        if isinstance(event, events.TextDelta):
            answer.add(event.text)
            continue
        if not isinstance(event, events.ReasoningDelta):
            answer.end()
        if isinstance(event, events.Notice | events.ToolCallFinished | events.CompactionDone):
            answer.stand_apart = screen.columns is not None  # where the asides are in the way; in a pipe they are not on stdout
        match event:
            case events.Notice(message, hint):
                aside(f"  {message}{'; ' + hint if hint else ''}", "yellow")
            case events.ToolCallFinished(call, run, excerpts):
                aside(sources.tool_line(call.name, call.arguments, run.ok, excerpts, run.tokens, run.duration_ms), "dim")
            case events.CompactionStarted(reason):
                aside(f"  summarising older turns: {reason}", "dim")
            case events.CompactionDone(compaction) if compaction.mode != "none":
                saved = compaction.tokens_before - compaction.tokens_after
                aside(f"  {compaction.messages_folded} messages folded, {saved} tokens saved; /compact undo takes it back", "dim")
            case events.TurnFailed():
                last = event
            case events.TurnCompleted(report):
                last = event
                if report.finish_reason == "length":
                    aside("  the answer was cut: the model reached its length limit", "yellow")
                lines = sources.lines(report, max_sources) if max_sources else []
                if lines:
                    screen.print()
                for line, style in lines:
                    screen.print(line, style)
    return last


def show_error(error: ZkchatError, aside: Aside, partial: str = "") -> None:
    """What went wrong and what to do next, in two lines."""
    aside(f"✗ {error.message}{'; what came is kept' if partial else ''}", "red")
    if error.hint:
        aside(f"  {error.hint}", "yellow")
