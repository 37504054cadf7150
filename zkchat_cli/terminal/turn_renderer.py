"""One turn on the screen: events become lines, for the interactive chat, a piped one and `ask`.

Text is plain in a pipe, for a screen reader, and on a terminal that gets no escape sequences
(`NO_COLOR`, `TERM=dumb`).
"""

from collections.abc import Callable, Iterable
from contextlib import closing
from typing import NamedTuple

from zkchat_cli import events
from zkchat_cli.errors import ZkchatError, on_one_line
from zkchat_cli.models.messages import ToolRun
from zkchat_cli.models.reports import TurnReport
from zkchat_cli.terminal.approval import show_change
from zkchat_cli.terminal.screen import NO_LINKS, LinkTargets, Screen
from zkchat_cli.text.sanitize import sanitize, sanitize_name
from zkchat_cli.views.sources import no_source_line, source_lines
from zkchat_cli.views.text import IN_CHAT, CommandHints, short_count, usage_text
from zkchat_cli.views.turn_steps import describe_compaction, tool_line, tools_line

RemarkPrinter = Callable[[str, str], None]
"""Prints a line that is not part of the answer, with its style: to the screen in a chat, to stderr
in a pipe.
"""


class DisplayOptions(NamedTuple):
    """`max_sources` is the length of the list of sources, 0 for none. `detail` adds tool calls,
    timings and tokens; `costs` adds a line with time and tokens. `hints` are the commands to
    suggest.
    """

    max_sources: int
    reasoning: bool = False
    detail: bool = False
    costs: bool = False
    links: LinkTargets = NO_LINKS
    hints: CommandHints = IN_CHAT


def show_turn(
    turn: Iterable[events.Event],
    screen: Screen,
    print_remark: RemarkPrinter,
    display: DisplayOptions,
) -> events.Event | None:
    """Print a turn as it happens, all that arrived however it ends: the answer, then its sources.
    Returns the last event.
    """
    if screen.columns is not None and screen.color and not screen.accessible:
        # Loads rich and markdown-it, which a pipe does not need
        from zkchat_cli.terminal.streaming_view import StreamingView

        view: StreamingView | PlainTurnView = StreamingView(screen, display.links)
    else:
        view = PlainTurnView(screen, print_remark)
    event: events.Event | None = None
    finished: list[tuple[ToolRun, int]] = []
    compactions: list[str] = []
    with closing(view):
        for event in turn:
            if finished and isinstance(
                event, events.TextDelta | events.TurnCompleted | events.TurnFailed
            ):
                view.print_remark(tools_line(finished), "dim")
                finished = []
            view.update(event)
            match event:
                case events.TextDelta(text):
                    view.add_answer(text)
                case events.ReasoningDelta(text) if (
                    display.reasoning and screen.columns is not None
                ):
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
                    compactions.append(
                        f"  {describe_compaction(compaction, display.hints, short=True)}"
                    )
                case events.TurnCompleted(report):
                    if report.finish_reason == "length":
                        more = (
                            f"; continue it with {display.hints.continue_answer}"
                            if display.hints.continue_answer
                            else ""
                        )
                        view.print_remark(f"  the answer was cut at a length limit{more}", "yellow")
                    view.close()
                    _show_end(report, view.print_remark, screen, display)
        for line in compactions:
            view.print_remark(line, "" if isinstance(view, PlainTurnView) else "dim")
    return event


def _show_end(
    report: TurnReport, print_remark: RemarkPrinter, screen: Screen, display: DisplayOptions
) -> None:
    """The lines below an answer: its details, sources and cost. What was found and not cited is in
    /sources.
    """
    timings = {phase: ms for phase, ms in report.timings_ms.items() if phase != "overhead"}
    if display.detail:
        times = ", ".join(f"{phase} {ms:.0f} ms" for phase, ms in timings.items())
        prompt = (
            f"prompt: {report.context.total_tokens:,} of {report.context.effective_limit:,} tokens"
        )
        model = sanitize_name(
            f"{report.model}, {report.strategy}, finished with {report.finish_reason}"
        )
        for line in (model, times, f"{usage_text(report.usage)}; {prompt}"):
            print_remark(f"  {line}", "dim")
    citations = report.citations
    references = report.references
    # The answer names its notes; a pipe gets their lines, too
    if report.level == "most_likely" and screen.columns is not None:
        named = {citation.relative_path for citation in citations}
        citations = ()
        references = tuple(each for each in references if each.relative_path not in named)
    cited = (
        citations,
        references,
        report.uncited_statements,
        display.max_sources,
        display.hints.all_sources,
    )
    sources = source_lines(*cited, with_unused=False) if display.max_sources else []
    # The offline model costs nothing
    show_cost = display.costs and not display.detail and report.model != "offline"
    if sources or show_cost:
        screen.print()
    screen.show(sources)
    if display.max_sources and report.lacks_source:
        print_remark(f"  {no_source_line(report.retrieval, display.hints)}", "yellow")
    if show_cost:
        print_remark(
            f"  {sum(timings.values()) / 1000:.1f} s, {usage_text(report.usage, short_count)}",
            "dim",
        )


def show_error(error: ZkchatError, print_remark: RemarkPrinter, partial: str = "") -> None:
    print_remark(f"✗ {error.message}{'; the partial answer is stored' if partial else ''}", "red")
    if error.hint:
        print_remark(f"  {error.hint}", "yellow")


def remark_printer(screen: Screen, verbose: Callable[[], bool] = lambda: False) -> RemarkPrinter:
    """For a pipe: warnings and lines without a style always reach stderr, others only if it is a
    terminal or the user asked for them.
    """

    def print_remark(line: str, style: str) -> None:
        if style in ("yellow", "red"):
            screen.warn(line.strip())
        elif verbose() or not style:
            screen.remark(line)
        else:
            screen.progress(line)

    return print_remark


class PlainTurnView:
    """Text as it comes; on a screen it breaks between words. It has the methods of StreamingView,
    which describes them, but no status line.
    """

    def __init__(self, screen: Screen, print_remark: RemarkPrinter) -> None:
        self._screen = screen
        self._print_remark = print_remark
        self._style = ""  # that of reasoning, while it streams
        self._row = ""  # the last row, on a screen
        # Characters of the last row that are on the screen
        self._written = 0
        self._is_open = self._needs_gap = False
        self._wait_reason = self._speaker = ""

    def add_answer(self, text: str) -> None:
        if self._style:
            self.close()
        if self._needs_gap and text.strip():
            self._write("\n")
            self._needs_gap = False
        self._write(self._wrapped(text))

    def add_reasoning(self, text: str) -> None:
        if not self._style:
            self.print_remark("  thinking", "dim")
            self._style = "dim"
        self._write(self._wrapped(text))

    def print_remark(self, line: str, style: str = "") -> None:
        self.close()
        self._print_remark(line, style)
        # In a pipe the remarks are not on stdout
        self._needs_gap = self._screen.columns is not None

    def update(self, event: events.Event) -> None:
        """There is no status line: each reason for waiting is printed once, and what takes a while
        for a screen reader.
        """
        match event:
            case events.Waiting(seconds, reason) if reason != self._wait_reason:
                self._wait_reason = reason
                self.print_remark(f"  {reason}; trying again in {seconds:.0f} s", "dim")
            case events.PromptBuilt(_, speaker) if self._screen.accessible and not self._speaker:
                self._speaker = speaker
                self.print_remark(f"  {speaker} is answering", "dim")
            case events.CompactionStarted(why) if self._screen.accessible:
                self.print_remark(f"  compacting: {why}", "dim")

    def close(self) -> None:
        """Finish the open line, so that something else can be printed."""
        self._write(self._row[self._written :].rstrip())
        if self._is_open:
            self._write("\n")
        self._row = ""
        self._written = 0
        self._style = ""

    pause = close

    def _wrapped(self, text: str) -> str:
        """What can be written now: all but the last word, which may not fit into its row when the
        rest of it comes.
        """
        if self._screen.columns is None:
            return text
        # Loads rich, which a pipe does not need
        from rich.text import Text

        from zkchat_cli.terminal.text_layout import last_word, wrap

        written = self._written
        rows = [
            row.plain
            for row in wrap(
                Text(self._row + sanitize(text.replace("\r", ""))), self._screen.columns()
            )
        ]
        self._row = rows[-1]
        self._written = max(last_word(self._row), written if len(rows) == 1 else 0)
        return "\n".join([*(row.rstrip() for row in rows[:-1]), self._row[: self._written]])[
            written:
        ]

    def _write(self, text: str) -> None:
        if text:
            self._screen.write(text, *self._style.split())
            self._is_open = not text.endswith("\n")
