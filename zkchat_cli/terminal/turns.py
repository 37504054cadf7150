"""One turn on the screen: events become lines, for the interactive chat, a piped one and `ask`."""

from collections.abc import Callable, Iterable, Iterator

from zkchat_cli import events
from zkchat_cli.context.figures import saved
from zkchat_cli.errors import ZkchatError
from zkchat_cli.models import RunReport
from zkchat_cli.references.listing import listing
from zkchat_cli.references.provenance import asked
from zkchat_cli.terminal.approving import show_change
from zkchat_cli.terminal.countdown import Countdown
from zkchat_cli.terminal.safe import neutralise_name
from zkchat_cli.terminal.screen import Screen
from zkchat_cli.words import shorten

Aside = Callable[[str, str], None]
"""Where a line that is not the answer goes, with its style: the screen itself in a chat, stderr in a pipe."""


def to_stderr(screen: Screen) -> Aside:
    """For a pipe: warnings always reach stderr, what is only progress reaches a terminal's."""
    return lambda line, style: screen.warn(line.strip()) if style in ("yellow", "red") else screen.progress(line)


def show(
    turn: Iterable[events.Event], screen: Screen, aside: Aside, *, max_sources: int, reasoning: bool = False
) -> events.TurnCompleted | events.TurnFailed | None:
    """Print a turn as it happens: the answer as it streams, then its sources (none with `max_sources` 0). Returns the last event.

    A model's `reasoning` is shown only in an interactive chat. However the turn ends, what came of the answer is shown to its last word.
    """
    answer = _Streamed(screen)
    thoughts = _Streamed(screen, "dim")
    countdown = Countdown(screen, aside)
    shown = thoughts if reasoning and screen.columns else None
    try:
        return _show(_told(turn, countdown), answer, shown, screen, aside, max_sources=max_sources)
    finally:
        countdown.clear()
        thoughts.end()
        answer.end()


def _told(turn: Iterable[events.Event], countdown: Countdown) -> Iterator[events.Event]:
    """The turn without the events of waiting, which the countdown tells."""
    for event in turn:
        if isinstance(event, events.Waiting):
            countdown.show(event.seconds, event.reason)
        else:
            countdown.clear()
            yield event


class _Streamed:
    """Streamed text on the screen, and whether a line of it is open. `stand_apart` asks for an empty line before what comes next."""

    def __init__(self, screen: Screen, *styles: str) -> None:
        self._screen = screen
        self._styles = styles
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
            self._screen.write_styled(text, *self._styles)
            self._open = not text.endswith("\n")


def _show(
    turn: Iterable[events.Event], answer: _Streamed, thoughts: _Streamed | None, screen: Screen, aside: Aside, *, max_sources: int
) -> events.TurnCompleted | events.TurnFailed | None:
    last: events.TurnCompleted | events.TurnFailed | None = None
    thinking = False
    for event in turn:
        if isinstance(event, events.ReasoningDelta):
            if thoughts is not None:
                if not thinking:
                    answer.end()
                    aside("  thinking", "dim")
                thinking = answer.stand_apart = True
                thoughts.add(event.text)
            continue
        if thinking and thoughts is not None:
            thoughts.end()
            thinking = False
        if isinstance(event, events.TextDelta):
            answer.add(event.text)
        if isinstance(event, events.TextDelta | events.Cited):
            continue
        answer.end()
        if isinstance(event, events.Notice | events.ToolCallFinished | events.CompactionDone):
            answer.stand_apart = screen.columns is not None  # where the asides are in the way; in a pipe they are not on stdout
        match event:
            case events.Notice(message, hint):
                aside(f"  {message}{'; ' + hint if hint else ''}", "yellow")
            case events.ChangeProposed() | events.ChangeDecided():
                show_change(event, screen)
            case events.ToolCallFinished(call, run, excerpts):
                aside(tool_line(call.name, call.arguments, run.ok, excerpts, run.tokens, run.duration_ms), "dim")
            case events.CompactionStarted(reason):
                aside(f"  making older turns smaller: {reason}", "dim")
            case events.CompactionDone(compaction):
                aside(f"  {saved(compaction)}", "dim")
            case events.IterationStarted(number, of):
                aside(f"  iteration {number} of {of}", "bold")
            case events.IterationFinished(number, tools, excerpts):
                found = f"{tools} tool call{'' if tools == 1 else 's'}, {excerpts} new excerpt{'' if excerpts == 1 else 's'}"
                aside(f"  iteration {number}: {found}", "dim")
            case events.TurnFailed():
                last = event
            case events.TurnCompleted(report):
                last = event
                if report.finish_reason == "length":
                    aside("  the answer was cut: the model reached its length limit; /continue goes on", "yellow")
                shown = listing(report.citations, report.references, report.uncited_statements, max_sources) if max_sources else []
                if shown:
                    screen.print()
                    screen.show(shown)
                if report.run is not None and (unmet := unmet_line(report.run)):
                    aside(f"  {unmet}", "yellow")
    return last


def unmet_line(run: RunReport) -> str:
    """What is to be told of an agent run that did not reach its goal; nothing of one that did."""
    if run.met:
        return ""
    rounds = f"{run.iterations} iteration{'' if run.iterations == 1 else 's'}"
    match run.stopped:
        case "finished":
            return f"not met: {' '.join((run.unmet or '').split())}"
        case "repeated":
            return f"not met: after {rounds} it only repeated itself"
        case "rounds":
            return f"not met: {rounds} did not do; /solve, or zkchat ask -c --iterations N, goes on"


def tool_line(name: str, arguments: dict[str, object], ok: bool, excerpts: int, tokens: int, milliseconds: float) -> str:
    """A tool call in one line: what was asked, what came back, what it cost."""
    outcome = f"{excerpts} excerpt{'' if excerpts == 1 else 's'}, {tokens} tokens" if ok else "failed"
    return neutralise_name(f"  {name} {shorten(asked(arguments), 44)}  {outcome}, {milliseconds:.0f} ms")


def show_error(error: ZkchatError, aside: Aside, partial: str = "") -> None:
    """What went wrong and what to do next, in two lines."""
    aside(f"✗ {error.message}{'; what came is kept' if partial else ''}", "red")
    if error.hint:
        aside(f"  {error.hint}", "yellow")
