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
    """Print a turn as it happens: the answer as it streams, then its sources (none with `max_sources` 0). Returns the last event."""
    at_line_start = True

    def fresh_line() -> None:
        nonlocal at_line_start
        if not at_line_start:
            screen.print()
        at_line_start = True

    last: events.TurnCompleted | events.TurnFailed | None = None
    for event in turn:
        if isinstance(event, events.TextDelta):
            screen.write(event.text)
            at_line_start = event.text.endswith("\n")
            continue
        fresh_line()
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
    fresh_line()
    return last


def show_error(error: ZkchatError, aside: Aside, partial: str = "") -> None:
    """What went wrong and what to do next, in two lines."""
    aside(f"✗ {error.message}{'; what came is kept' if partial else ''}", "red")
    if error.hint:
        aside(f"  {error.hint}", "yellow")
