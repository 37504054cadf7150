"""One turn on the screen: events become lines, for the interactive chat, a piped one and `ask`."""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING

from zkchat_cli import events
from zkchat_cli.context import prompt_history
from zkchat_cli.errors import UsageError, ZkchatError, on_one_line
from zkchat_cli.models import RunReport, ToolRun, TurnReport
from zkchat_cli.references.provenance import format_arguments
from zkchat_cli.terminal.change_approval import show_change
from zkchat_cli.terminal.hyperlinks import NOTHING, LinkTargets
from zkchat_cli.terminal.plain_view import PlainTurnView
from zkchat_cli.terminal.screen import Screen
from zkchat_cli.terminal.turn_view import NotePrinter, TurnView
from zkchat_cli.text.sanitize import sanitize_name
from zkchat_cli.text.truncate import truncate
from zkchat_cli.views.budget_bar import short_count
from zkchat_cli.views.command_hints import IN_CHAT, CommandHints
from zkchat_cli.views.compaction import compaction_line
from zkchat_cli.views.context_usage import omitted_lines
from zkchat_cli.views.sources import source_lines

if TYPE_CHECKING:
    from zkchat_cli.chat.session import ZkChatSession

LONGEST_ARGUMENT = 44
LONGEST_ALOUD = 300
"""Characters of what a model says between its tools, in an agent run, that are shown."""
DONE = {
    "find_excerpts": "nothing found",
    "store_in_smart_memory": "kept",
    "retrieve_from_smart_memory": "looked up",
    "recall_conversation": "looked back",
}
"""What tools did that bring no excerpts of notes."""
UNDONE = ("declined", "refused")
"""How what was not approved is told: that is no failure."""


@dataclass(frozen=True, slots=True)
class Verbosity:
    """How a turn is to be shown. As it stands: the answer, and all of its sources that are worth a line."""

    max_sources: int
    """How many sources are listed; with 0 there is no list."""
    reasoning: bool = False
    """A model's reasoning, too; on a screen only."""
    detail: bool = False
    """Also what the turn did, took and was made of, and the reasoning."""
    costs: bool = False
    """What it took, in a line."""
    opens: LinkTargets = NOTHING
    """What a click on links and citations opens."""
    who: str = ""
    """Who answers, as is told while that is waited for."""
    ways: CommandHints = IN_CHAT
    """How that is called by which one may go on."""


def show(
    turn: Iterable[events.Event], screen: Screen, print_note: NotePrinter, how: Verbosity
) -> events.TurnCompleted | events.TurnFailed | None:
    """Print a turn as it happens: the answer as it streams, then its sources. Returns the last event.

    However the turn ends, what came of the answer is shown to its last word.
    """
    view = _choose_view(screen, print_note, how)
    try:
        return _show(turn, view, screen, how)
    finally:
        view.close()


def _choose_view(screen: Screen, print_note: NotePrinter, how: Verbosity) -> TurnView:
    on_terminal = screen.columns is not None and (screen.colour or screen.out.isatty())
    if on_terminal and screen.colour:
        from zkchat_cli.terminal.streaming_view import StreamingView  # loads rich and markdown-it, which a pipe does not need

        return StreamingView(screen, how.opens, who=how.who)
    return PlainTurnView(screen, print_note, how.who, status=on_terminal)


def _show(turn: Iterable[events.Event], view: TurnView, screen: Screen, how: Verbosity) -> events.TurnCompleted | events.TurnFailed | None:
    reasoning = (how.reasoning or how.detail) and screen.columns is not None
    last: events.TurnCompleted | events.TurnFailed | None = None
    aloud = ""
    for event in turn:
        if isinstance(event, events.ToolCallStarted | events.IterationStarted) and aloud.strip():
            view.print_note(f"  {truncate(aloud, LONGEST_ALOUD)}", "dim")
            aloud = ""
        match event:
            case events.TextDelta(text):
                view.add_answer(text)
            case events.ReasoningDelta(text, said):
                if reasoning:
                    view.add_reasoning(text)
                    view.add_gap()
                elif said:
                    aloud += text
            case events.Waiting(seconds, reason):
                view.set_waiting(seconds, reason)
            case events.MessageStored() | events.Cited():
                pass
            case events.Notice(message, hint):
                view.print_note(f"  {on_one_line(message, hint)}", "yellow")
                view.add_gap()
            case events.ChangeProposed() | events.ChangeDecided():
                view.pause()  # it may be asked for a yes
                show_change(event, screen)
            case events.ToolCallStarted(call):
                view.end_stream()
                view.set_activity(f"{call.name} {truncate(format_arguments(call.arguments), LONGEST_ARGUMENT)}")
            case events.ToolCallFinished(_, run, excerpts):
                view.set_activity("")
                view.print_note(tool_line(run, excerpts, whole=how.detail), "dim")
                view.add_gap()
            case events.CompactionStarted(why):
                view.print_note(f"  making older turns smaller: {why}", "dim")
                view.set_activity("making older turns smaller")
            case events.CompactionDone(compaction):
                view.set_activity("")
                view.print_note(f"  {compaction_line(compaction, how.ways)}", "dim")
                view.add_gap()
            case events.IterationStarted(number, of):
                view.print_note(f"  iteration {number} of {of}", "bold")
            case events.IterationFinished(number, tools, excerpts):
                both = ((tools, "tool call"), (excerpts, "new excerpt"))
                counts = [f"{count} {what}{'s' * (count > 1)}" for count, what in both if count]
                view.print_note(f"  iteration {number}: {', '.join(counts) or 'nothing was looked up'}", "dim")
                view.add_gap()
            case events.TurnFailed():
                view.end_stream()
                last = event
            case events.TurnCompleted(report):
                last = event
                view.end_stream()
                if report.finish_reason == "length":
                    more = f"; {how.ways.continue_answer} goes on" if how.ways.continue_answer else ""
                    view.print_note(f"  the answer was cut: the model reached its length limit{more}", "yellow")
                for told in details(report) if how.detail else ():
                    view.print_note(told, "dim")
                view.close()
                _show_end(report, view, screen, how)
    return last


def _show_end(report: TurnReport, view: TurnView, screen: Screen, how: Verbosity) -> None:
    """What stands below an answer: what it rests on, what it took, and whether its goal was met."""
    cited = report.citations, report.references, report.uncited_statements
    shown = source_lines(*cited, how.max_sources, how.ways.all_sources) if how.max_sources else []
    costly = how.costs and not how.detail and report.model != "offline"  # which searches and quotes: nobody is paid
    if shown or costly:
        screen.print()
    screen.show(shown)
    if costly:
        view.print_note(cost(report), "dim")
    if report.run is not None and (unmet := unmet_line(report.run, how.ways)):
        view.print_note(f"  {unmet}", "yellow")


def unmet_line(run: RunReport, ways: CommandHints = IN_CHAT) -> str:
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
            return f"not met: {rounds} did not do{f'; {ways.resume_run} goes on' if ways.resume_run else ''}"


def tool_line(run: ToolRun, excerpts: int, *, whole: bool = False) -> str:
    """A tool call in one line: what was asked (the `whole` of it, or its beginning), what came back, what it cost."""
    brought = DONE.get(run.name, "") if not excerpts else f"{excerpts} excerpt{'' if excerpts == 1 else 's'}"
    failed = f"failed: {run.outcome}" if run.outcome else "failed"
    undone = next((word for word in UNDONE if run.outcome.startswith(word)), failed)
    outcome = ", ".join(filter(None, (brought, f"{run.tokens} tokens"))) if run.ok else undone
    said = format_arguments(run.arguments) if whole else truncate(format_arguments(run.arguments), LONGEST_ARGUMENT)
    return sanitize_name(f"  {run.name} {said}  {outcome}, {run.duration_ms:.0f} ms")


def cost(report: TurnReport) -> str:
    """What a turn took, in a line: time, and the tokens of all its calls."""
    took, usage = report.timings_ms, report.usage
    mark = "~" if usage.estimated else ""
    cached = f" ({short_count(usage.cached_tokens)} cached)" if usage.cached_tokens else ""
    seconds = (took.prepare + took.model + took.tools + took.store) / 1000
    read, written = short_count(usage.prompt_tokens), short_count(usage.completion_tokens)
    return f"  {seconds:.1f} s, {mark}{read} tokens read{cached}, {mark}{written} written"


def details(report: TurnReport) -> list[str]:
    """What a turn took and what its last prompt was made of, in a few lines."""
    took, usage, context = report.timings_ms, report.usage, report.context
    mark = "~" if usage.estimated else ""
    cached = f", {usage.cached_tokens} of them cached" if usage.cached_tokens else ""
    parts = {"system": context.system_tokens, "tools": context.tool_tokens, **context.message_breakdown.model_dump()}
    made_of = ", ".join(f"{name.replace('_', ' ')} {tokens}" for name, tokens in parts.items() if tokens)
    lines = [
        f"  {report.model}, {report.strategy}, ended with {report.finish_reason}",
        f"  prepare {took.prepare:.0f} ms, model {took.model:.0f} ms, tools {took.tools:.0f} ms, store {took.store:.0f} ms",
        f"  {mark}{usage.prompt_tokens} tokens read{cached}, {mark}{usage.completion_tokens} written",
        f"  prompt: {context.total_tokens} of {context.effective_limit} tokens ({made_of})",
    ]
    lines += [f"  {each.wikilink}: {each.delivery_reason}" for each in report.references if each.delivery_reason]
    if context.compaction.due:
        lines.append(f"  compaction is due: {context.compaction.reason}")
    return [sanitize_name(line) for line in lines]


def unsent(session: "ZkChatSession") -> list[str]:
    """What the last call of the last turn was not sent, in a few lines; nothing where that is not known."""
    turn = sum(message.role == "user" for message in session.history)
    try:
        sent = session.store.prompts(prompt_history.find_question(session.history, turn).id)
        prompt = prompt_history.restore_sent_prompts(session.history, turn, sent).last
    except UsageError:
        return []
    return [sanitize_name(f"  {line}") for line in omitted_lines(prompt)]


def show_error(error: ZkchatError, print_note: NotePrinter, partial: str = "") -> None:
    """What went wrong and what to do next, in two lines."""
    print_note(f"✗ {error.message}{'; what came is kept' if partial else ''}", "red")
    if error.hint:
        print_note(f"  {error.hint}", "yellow")
