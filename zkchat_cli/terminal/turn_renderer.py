"""One turn on the screen: events become lines, for the interactive chat, a piped one and `ask`."""

from collections.abc import Iterable
from contextlib import closing
from typing import TYPE_CHECKING, NamedTuple

from zkchat_cli import events
from zkchat_cli.errors import ZkchatError, on_one_line
from zkchat_cli.models import ToolRun, TurnReport
from zkchat_cli.terminal.approval import show_change
from zkchat_cli.terminal.hyperlinks import NO_LINKS, LinkTargets
from zkchat_cli.terminal.plain_view import PlainTurnView, RemarkPrinter
from zkchat_cli.terminal.screen import Screen
from zkchat_cli.text.sanitize import sanitize_name
from zkchat_cli.views.command_hints import IN_CHAT, CommandHints
from zkchat_cli.views.compaction import compaction_line
from zkchat_cli.views.sources import no_source_line, source_lines
from zkchat_cli.views.token_usage import short_count, usage_text
from zkchat_cli.views.tool_calls import tool_line, tools_line

if TYPE_CHECKING:
    from zkchat_cli.terminal.streaming_view import StreamingView


class DisplayOptions(NamedTuple):
    """`max_sources` is the length of the list of sources, 0 for none. `detail` adds tool calls, timings and tokens; `costs` adds a line
    with time and tokens. `hints` are the commands to suggest."""

    max_sources: int
    reasoning: bool = False
    detail: bool = False
    costs: bool = False
    links: LinkTargets = NO_LINKS
    hints: CommandHints = IN_CHAT


def show_turn(
    turn: Iterable[events.Event], screen: Screen, print_remark: RemarkPrinter, display: DisplayOptions
) -> events.TurnCompleted | events.TurnFailed | None:
    """Print a turn as it happens: the answer while it streams, then its sources. Returns the last event.

    However the turn ends, all of the answer that arrived is shown.
    """
    if screen.columns is not None and screen.color and not screen.accessible:
        from zkchat_cli.terminal.streaming_view import StreamingView  # loads rich and markdown-it, which a pipe does not need

        view: StreamingView | PlainTurnView = StreamingView(screen, display.links)
    else:
        view = PlainTurnView(screen, print_remark)
    with closing(view):
        return _show_events(turn, view, screen, display)


def _show_events(
    turn: Iterable[events.Event], view: "StreamingView | PlainTurnView", screen: Screen, display: DisplayOptions
) -> events.TurnCompleted | events.TurnFailed | None:
    last: events.TurnCompleted | events.TurnFailed | None = None
    finished: list[tuple[ToolRun, int]] = []
    compactions: list[str] = []
    for event in turn:
        if finished and isinstance(event, events.TextDelta | events.TurnCompleted | events.TurnFailed):
            view.print_remark(tools_line(finished), "dim")
            finished = []
        view.update(event)
        match event:
            case events.TextDelta(text):
                view.add_answer(text)
            case events.ReasoningDelta(text) if display.reasoning and screen.columns is not None:
                view.add_reasoning(text)
            case events.Notice(message, hint):
                view.print_remark(f"  {on_one_line(message, hint)}", "yellow")
            case events.ChangeProposed() | events.ChangeDecided():
                view.pause()  # the user may have to confirm
                show_change(event, screen)
            case events.ToolCallFinished(_, run, excerpts) if run.ok and not display.detail:
                finished.append((run, excerpts))
            case events.ToolCallFinished(_, run, excerpts):
                view.print_remark(tool_line(run, excerpts), "dim")
            case events.CompactionDone(compaction):
                compactions.append(f"  {compaction_line(compaction, display.hints)}")
            case events.TurnFailed():
                last = event
            case events.TurnCompleted(report):
                last = event
                if report.finish_reason == "length":
                    more = f"; continue it with {display.hints.continue_answer}" if display.hints.continue_answer else ""
                    view.print_remark(f"  the answer was cut at a length limit{more}", "yellow")
                for line in _detail_lines(report) if display.detail else ():
                    view.print_remark(line, "dim")
                view.close()
                _show_end(report, view, screen, display)
    for line in compactions:
        view.print_remark(line, "" if isinstance(view, PlainTurnView) else "dim")
    return last


def _show_end(report: TurnReport, view: "StreamingView | PlainTurnView", screen: Screen, display: DisplayOptions) -> None:
    """The lines below an answer: its sources and its cost. What was found and not cited is in /sources."""
    citations, references = report.citations, report.references
    if report.level == "most_likely" and screen.columns is not None:  # the answer names its notes; a pipe gets their lines, too
        named = {citation.relative_path for citation in citations}
        citations, references = (), tuple(each for each in references if each.relative_path not in named)
    cited = citations, references, report.uncited_statements, display.max_sources, display.hints.all_sources
    sources = source_lines(*cited, with_unused=False) if display.max_sources else []
    show_cost = display.costs and not display.detail and report.model != "offline"  # the offline model costs nothing
    if sources or show_cost:
        screen.print()
    screen.show(sources)
    if display.max_sources and report.lacks_source:
        view.print_remark(f"  {no_source_line(report, display.hints)}", "yellow")
    if show_cost:
        seconds = (report.timings_ms.prepare + report.timings_ms.model + report.timings_ms.tools + report.timings_ms.store) / 1000
        view.print_remark(f"  {seconds:.1f} s, {usage_text(report.usage, short_count)}", "dim")


def _detail_lines(report: TurnReport) -> list[str]:
    timings, context = report.timings_ms, report.context
    return [
        sanitize_name(f"  {report.model}, {report.strategy}, finished with {report.finish_reason}"),
        f"  prepare {timings.prepare:.0f} ms, model {timings.model:.0f} ms, tools {timings.tools:.0f} ms, store {timings.store:.0f} ms",
        f"  {usage_text(report.usage)}; prompt: {context.total_tokens:,} of {context.effective_limit:,} tokens",
    ]


def show_error(error: ZkchatError, print_remark: RemarkPrinter, partial: str = "") -> None:
    print_remark(f"✗ {error.message}{'; the partial answer is stored' if partial else ''}", "red")
    if error.hint:
        print_remark(f"  {error.hint}", "yellow")
