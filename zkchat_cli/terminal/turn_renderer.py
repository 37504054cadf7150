"""One turn on the screen: events become lines, for the interactive chat, a piped one and `ask`."""

from collections.abc import Callable, Iterable, Sequence
from contextlib import closing
from typing import TYPE_CHECKING, NamedTuple

from zkchat_cli import events
from zkchat_cli.chat.fault_guard import FaultGuard
from zkchat_cli.errors import ZkchatError, on_one_line
from zkchat_cli.models.messages import ToolRun
from zkchat_cli.models.prompts import ContextUsage
from zkchat_cli.models.reports import TurnReport
from zkchat_cli.terminal.approval import show_change
from zkchat_cli.terminal.link_targets import NO_LINKS, LinkTargets
from zkchat_cli.terminal.plain_turn_view import PlainTurnView, RemarkPrinter
from zkchat_cli.terminal.screen import Screen
from zkchat_cli.text.sanitize import sanitize_name
from zkchat_cli.views.live_budget import LiveBudget
from zkchat_cli.views.sources import evidence_lines, no_source_line, source_lines
from zkchat_cli.views.text import IN_CHAT, CommandHints, StyledLine, short_count, usage_text
from zkchat_cli.views.turn_steps import describe_compaction, tool_line, tools_line

# Imported only for types: rich and markdown-it load slowly, and a pipe does not need them
if TYPE_CHECKING:
    from zkchat_cli.terminal.streaming_view import StreamingView


class DisplayOptions(NamedTuple):
    """What is shown of a turn.

    `max_sources` is the length of the list of sources, 0 for none. `detail` adds tool calls,
    timings and tokens; `costs` adds a line with time and tokens. `hints` are the commands to
    suggest. With `budget` the status line shows how full the context window is, at first by the
    `usage` from before the turn. Without `diffs`, whoever approves a change shows it. `overview`
    are lines about the prompt, printed before the answer.
    """

    max_sources: int
    # Keeps a fault in the lines below an answer from ending the chat
    faults: FaultGuard
    reasoning: bool = False
    detail: bool = False
    costs: bool = False
    links: LinkTargets = NO_LINKS
    hints: CommandHints = IN_CHAT
    budget: bool = True
    diffs: bool = True
    usage: ContextUsage | None = None
    overview: Callable[[], Iterable[str]] = tuple


def show_turn(
    turn: Iterable[events.Event],
    screen: Screen,
    print_remark: RemarkPrinter,
    display: DisplayOptions,
) -> events.Event | None:
    """Print a turn while it happens: the answer, then its sources. Returns the last event.

    What has arrived is printed however the turn ends.
    """
    view: StreamingView | PlainTurnView
    if screen.columns is not None and screen.color and not screen.accessible:
        # This loads rich and markdown-it, which a pipe does not need
        from zkchat_cli.terminal import streaming_view

        budget = LiveBudget(display.usage) if display.budget else None
        view = streaming_view.StreamingView(screen, display.links, budget=budget)
    else:
        view = PlainTurnView(screen, print_remark)
    renderer = TurnRenderer(view, screen, display)
    event: events.Event | None = None
    with closing(view):
        for event in turn:
            renderer.show(event)
        renderer.print_remarks_below()
    return event


class TurnRenderer:
    """Shows the events of one turn in a view."""

    def __init__(
        self, view: "StreamingView | PlainTurnView", screen: Screen, display: DisplayOptions
    ) -> None:
        self._view = view
        self._screen = screen
        self._display = display
        # A pipe gets no reasoning
        self._shows_reasoning = display.reasoning and screen.columns is not None
        # Runs of tools to show together on one line, each with the number of its excerpts
        self._finished: list[tuple[ToolRun, int]] = []
        # Lines about compactions and warnings about the answer, which follow its sources
        self._compactions: list[str] = []
        self._warnings: list[str] = []
        self._follows_text = False
        self._calls = 0

    def show(self, event: events.Event) -> None:
        """Show one event."""
        self._prepare_for(event)
        self._view.update(event)
        match event:
            case events.PromptBuilt():
                self._show_overview()
            case events.TextDelta(text):
                self._view.add_answer(text)
            case events.ReasoningDelta(text) if self._shows_reasoning:
                self._view.add_reasoning(text)
            case events.Notice(message, hint):
                self._show_notice(f"  {on_one_line(message, hint)}")
            case events.ChangeProposed() | events.ChangeDecided():
                # The user may have to confirm the call
                self._view.pause()
                show_change(event, self._screen, with_diff=self._display.diffs)
            case events.CostAsked():
                self._view.pause()
            case events.ToolCallFinished(_, run, excerpts):
                self._show_tool_run(run, excerpts)
            case events.CompactionDone(compaction):
                words = describe_compaction(compaction, self._display.hints, short=True)
                self._compactions.append(f"  {words}")
            case events.TurnCompleted(report):
                self._show_end(report)

    def _prepare_for(self, event: events.Event) -> None:
        """Print what an event ends: the runs of tools, and warnings below no answer."""
        if isinstance(event, _AFTER_TOOLS):
            self._show_finished_tools()
        if isinstance(event, events.Notice):
            return
        self._follows_text = isinstance(event, events.TextDelta)
        if not isinstance(event, events.TurnCompleted):
            self._print_warnings()

    def _show_notice(self, line: str) -> None:
        """Print a warning; one that follows the answer waits for its sources."""
        if self._follows_text:
            self._warnings.append(line)
        else:
            self._view.print_remark(line, "yellow")

    def _print_warnings(self) -> None:
        for line in self._warnings:
            self._view.print_remark(line, "yellow")
        self._warnings = []

    def _show_overview(self) -> None:
        """Print what the first prompt of the turn is made of, if that is wanted."""
        self._calls += 1
        if self._calls == 1:
            for line in self._display.overview():
                self._view.print_remark(line)

    def print_remarks_below(self) -> None:
        """Print the warnings about the answer, and what was compacted before it; above the answer
        that would be in the way.
        """
        self._print_warnings()
        style = "" if isinstance(self._view, PlainTurnView) else "dim"
        for line in self._compactions:
            self._view.print_remark(line, style)

    def _show_finished_tools(self) -> None:
        if self._finished:
            self._view.print_remark(tools_line(self._finished), "dim")
            self._finished = []

    def _show_tool_run(self, run: ToolRun, excerpts: int) -> None:
        if run.ok and not self._display.detail:
            self._finished.append((run, excerpts))
        else:
            self._view.print_remark(tool_line(run, excerpts), "dim")

    def _show_end(self, report: TurnReport) -> None:
        if report.finish_reason == "length":
            hint = self._display.hints.continue_answer
            more = f"; continue it with {hint}" if hint else ""
            self._view.print_remark(f"  the answer was cut at a length limit{more}", "yellow")
        self._view.close()
        with self._display.faults.contain("figures"):
            _show_report(report, self._view.print_remark, self._screen, self._display)


_AFTER_TOOLS = (events.TextDelta, events.TurnCompleted, events.TurnFailed)
"""The events before which the runs of tools are printed."""


def _show_report(
    report: TurnReport, print_remark: RemarkPrinter, screen: Screen, display: DisplayOptions
) -> None:
    """Print the lines below an answer: its details, sources and cost.

    What was found but not cited is in /sources.
    """
    if display.detail:
        for line in _details(report):
            print_remark(f"  {line}", "dim")
    sources: Sequence[StyledLine] = ()
    if display.max_sources:
        sources = [*_sources(report, display), *evidence_lines(report.evidence)]
    # The offline model costs nothing
    has_cost = display.costs and not display.detail and report.model != "offline"
    if sources or has_cost:
        screen.print()
    screen.show(sources)
    if display.max_sources and report.lacks_source:
        print_remark(f"  {no_source_line(report.retrieval, display.hints)}", "yellow")
    if has_cost:
        print_remark(f"  {_cost(report)}", "dim")


def _cost(report: TurnReport) -> str:
    """The time and the tokens of a turn."""
    seconds = sum(_timings(report).values()) / 1000
    return f"{seconds:.1f} s, {usage_text(report.usage, short_count)}"


def _details(report: TurnReport) -> Iterable[str]:
    """The model and how its answer ended, the time of each phase, and the tokens."""
    yield sanitize_name(f"{report.model}, {report.strategy}, finished with {report.finish_reason}")
    yield ", ".join(f"{phase} {ms:.0f} ms" for phase, ms in _timings(report).items())
    context = report.context
    yield (
        f"{usage_text(report.usage)}; "
        f"prompt: {context.total_tokens:,} of {context.effective_limit:,} tokens"
    )


def _timings(report: TurnReport) -> dict[str, float]:
    """Milliseconds by phase, without zkchat's own share."""
    return {phase: ms for phase, ms in report.timings_ms.items() if phase != "overhead"}


def _sources(report: TurnReport, display: DisplayOptions) -> Sequence[StyledLine]:
    """The list of sources, the same on a screen and in a pipe."""
    return source_lines(
        report.citations,
        report.references,
        report.uncited_statements,
        display.max_sources,
        display.hints.all_sources,
        with_unused=False,
    )


def show_error(error: ZkchatError, print_remark: RemarkPrinter, partial: str = "") -> None:
    """Print an error with its hint; `partial` is the answer that came before it, if any."""
    stored = "; the partial answer is stored" if partial else ""
    print_remark(f"✗ {error.message}{stored}", "red")
    if error.hint:
        print_remark(f"  {error.hint}", "yellow")


def remark_printer(screen: Screen, verbose: Callable[[], bool] = lambda: False) -> RemarkPrinter:
    """A printer of remarks for a pipe.

    Warnings and lines without a style always go to stderr, others only if it is a terminal or the
    user wants them.
    """

    def print_remark(line: str, style: str) -> None:
        if style in ("yellow", "red"):
            screen.warn(line.strip())
        elif verbose() or not style:
            screen.remark(line)
        else:
            screen.progress(line)

    return print_remark
