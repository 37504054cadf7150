"""One turn on the screen: events become lines, for the interactive chat, a piped one and `ask`."""

from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, Protocol

from zkchat_cli import events
from zkchat_cli.context import past
from zkchat_cli.context.figures import left_out, saved, thousands
from zkchat_cli.errors import UsageError, ZkchatError, on_one_line
from zkchat_cli.models import RunReport, TurnReport
from zkchat_cli.references.listing import listing
from zkchat_cli.references.provenance import asked
from zkchat_cli.terminal.approving import show_change
from zkchat_cli.terminal.countdown import Countdown
from zkchat_cli.terminal.links import NOTHING, Opens
from zkchat_cli.terminal.safe import neutralise_name
from zkchat_cli.terminal.screen import Screen
from zkchat_cli.words import shorten

if TYPE_CHECKING:
    from zkchat_cli.session import ZkChatSession

Aside = Callable[[str, str], None]
"""Where a line that is not the answer goes, with its style: the screen itself in a chat, stderr in a pipe."""

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


class Stage(Protocol):
    """Where a turn is shown: with a terminal's means (live.Live) or as plain text (PlainStage)."""

    def answer(self, text: str) -> None: ...

    def thought(self, text: str) -> None: ...

    def aside(self, line: str, style: str = "") -> None: ...

    def stand_apart(self) -> None: ...

    def doing(self, what: str) -> None: ...

    def waiting(self, seconds: float, reason: str) -> None: ...

    def end(self) -> None: ...

    def pause(self) -> None: ...

    def close(self) -> None: ...


def to_stderr(screen: Screen, wanted: Callable[[], bool] = lambda: False) -> Aside:
    """For a pipe: warnings always reach stderr, what is only progress reaches a terminal's, or any if it is `wanted`."""

    def aside(line: str, style: str) -> None:
        if style in ("yellow", "red"):
            screen.warn(line.strip())
        elif wanted():
            screen.remark(line)
        else:
            screen.progress(line)

    return aside


def show(
    turn: Iterable[events.Event],
    screen: Screen,
    aside: Aside,
    *,
    max_sources: int,
    reasoning: bool = False,
    detail: bool = False,
    opens: Opens | None = None,
    who: str = "",
    costs: bool = False,
    going_on: str = "/continue",
) -> events.TurnCompleted | events.TurnFailed | None:
    """Print a turn as it happens: the answer as it streams, then its sources (none with `max_sources` 0). Returns the last event.

    A model's `reasoning` is shown only in an interactive chat; `detail` tells what the turn did, took and was made of. `opens` tells what a
    click on links and citations opens, and `who` answers is told while it is waited for. With `costs` what it took is told in a line.
    `going_on` is what goes on with an answer that was cut. However the turn ends, what came of the answer is shown to its last word.
    """
    stage = _stage(screen, aside, opens, who)
    thinking = (reasoning or detail) and screen.columns is not None
    try:
        return _show(
            turn,
            stage,
            screen,
            max_sources=max_sources,
            reasoning=thinking,
            detail=detail,
            costs=costs and not detail,
            going_on=going_on,
        )
    finally:
        stage.close()


def _stage(screen: Screen, aside: Aside, opens: Opens | None, who: str) -> Stage:
    if screen.columns is None or not (screen.colour or screen.out.isatty()):
        return PlainStage(screen, aside)
    if not screen.colour:
        from zkchat_cli.terminal.patient import PatientStage  # as Live below

        return PatientStage(screen, aside, who)
    from zkchat_cli.terminal.live import Live  # measures with prompt_toolkit, which an interactive chat has loaded

    return Live(screen, opens or NOTHING, who=who)


class PlainStage:
    """Text as it is, line after line; on a screen broken between words."""

    def __init__(self, screen: Screen, aside: Aside) -> None:
        self._answer = _Streamed(screen)
        self._thoughts = _Streamed(screen, "dim")
        self._thinking = False
        self._interactive = screen.columns is not None
        self._aside = aside
        self._countdown = Countdown(screen, aside)

    def answer(self, text: str) -> None:
        self._countdown.clear()
        self._end_thoughts()
        self._answer.add(text)

    def thought(self, text: str) -> None:
        self._countdown.clear()
        if not self._thinking:
            self._answer.end()
            self._aside("  thinking", "dim")
        self._thinking = self._answer.stand_apart = True
        self._thoughts.add(text)

    def aside(self, line: str, style: str = "") -> None:
        self.end()
        self._aside(line, style)

    def stand_apart(self) -> None:
        self._answer.stand_apart = self._interactive  # where the asides are in the way; in a pipe they are not on stdout

    def doing(self, what: str) -> None:  # noqa: ARG002  a line that goes away again takes a terminal's means
        self._countdown.clear()

    def waiting(self, seconds: float, reason: str) -> None:
        self._countdown.show(seconds, reason)

    def end(self) -> None:
        self._countdown.clear()
        self._end_thoughts()
        self._answer.end()

    def pause(self) -> None:
        self.end()

    def close(self) -> None:
        self.end()

    @property
    def has_the_line(self) -> bool:
        """Whether the cursor's line is one that goes on."""
        return self._answer.is_open or self._thoughts.is_open or self._countdown.is_shown

    def _end_thoughts(self) -> None:
        if self._thinking:
            self._thoughts.end()
            self._thinking = False


class _Streamed:
    """Streamed text on the screen, and whether a line of it is open. `stand_apart` asks for an empty line before what comes next."""

    def __init__(self, screen: Screen, *styles: str) -> None:
        self._screen = screen
        self._styles = styles
        self._flow = screen.flow()
        self.is_open = False
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
        if self.is_open:
            self._write("\n")

    def _write(self, text: str) -> None:
        if text:
            self._screen.write_styled(text, *self._styles)
            self.is_open = not text.endswith("\n")


def _show(
    turn: Iterable[events.Event],
    stage: Stage,
    screen: Screen,
    *,
    max_sources: int,
    reasoning: bool,
    detail: bool,
    costs: bool,
    going_on: str,
) -> events.TurnCompleted | events.TurnFailed | None:
    last: events.TurnCompleted | events.TurnFailed | None = None
    aloud = ""
    for event in turn:
        if isinstance(event, events.ToolCallStarted | events.IterationStarted) and aloud.strip():
            stage.aside(f"  {shorten(aloud, LONGEST_ALOUD)}", "dim")
            aloud = ""
        match event:
            case events.TextDelta(text):
                stage.answer(text)
            case events.ReasoningDelta(text, said):
                if reasoning:
                    stage.thought(text)
                    stage.stand_apart()
                elif said:
                    aloud += text
            case events.Waiting(seconds, reason):
                stage.waiting(seconds, reason)
            case events.MessageStored() | events.Cited():
                pass
            case events.Notice(message, hint):
                stage.aside(f"  {on_one_line(message, hint)}", "yellow")
                stage.stand_apart()
            case events.ChangeProposed() | events.ChangeDecided():
                stage.pause()  # it may be asked for a yes
                show_change(event, screen)
            case events.ToolCallStarted(call):
                stage.end()
                stage.doing(f"{call.name} {shorten(asked(call.arguments), LONGEST_ARGUMENT)}")
            case events.ToolCallFinished(call, run, excerpts):
                stage.doing("")
                failed = f"failed: {run.outcome}" if run.outcome else "failed"
                undone = next((word for word in UNDONE if run.outcome.startswith(word)), failed)
                line = (call.name, call.arguments, run.ok, excerpts, run.tokens, run.duration_ms)
                stage.aside(tool_line(*line, whole=detail, undone=undone), "dim")
                stage.stand_apart()
            case events.CompactionStarted(why):
                stage.aside(f"  making older turns smaller: {why}", "dim")
                stage.doing("making older turns smaller")
            case events.CompactionDone(compaction):
                stage.doing("")
                stage.aside(f"  {saved(compaction)}", "dim")
                stage.stand_apart()
            case events.IterationStarted(number, of):
                stage.aside(f"  iteration {number} of {of}", "bold")
            case events.IterationFinished(number, tools, excerpts):
                both = ((tools, "tool call"), (excerpts, "new excerpt"))
                counts = [f"{count} {what}{'s' * (count > 1)}" for count, what in both if count]
                stage.aside(f"  iteration {number}: {', '.join(counts) or 'nothing was looked up'}", "dim")
                stage.stand_apart()
            case events.TurnFailed():
                stage.end()
                last = event
            case events.TurnCompleted(report):
                last = event
                stage.end()
                if report.finish_reason == "length":
                    more = f"; {going_on} goes on" if going_on else ""
                    stage.aside(f"  the answer was cut: the model reached its length limit{more}", "yellow")
                for told in details(report) if detail else ():
                    stage.aside(told, "dim")
                stage.close()
                shown = listing(report.citations, report.references, report.uncited_statements, max_sources) if max_sources else []
                costly = costs and report.model != "offline"  # which searches and quotes: nobody is paid, and nothing is waited for
                if shown or costly:
                    screen.print()
                screen.show(shown)
                if costly:
                    stage.aside(cost(report), "dim")
                if report.run is not None and (unmet := unmet_line(report.run)):
                    stage.aside(f"  {unmet}", "yellow")
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


def tool_line(
    name: str,
    arguments: dict[str, object],
    ok: bool,
    excerpts: int,
    tokens: int,
    milliseconds: float,
    *,
    whole: bool = False,
    undone: str = "failed",
) -> str:
    """A tool call in one line: what was asked (the `whole` of it, or its beginning), what came back (`undone`: nothing), what it cost."""
    brought = DONE.get(name, "") if not excerpts else f"{excerpts} excerpt{'' if excerpts == 1 else 's'}"
    outcome = ", ".join(filter(None, (brought, f"{tokens} tokens"))) if ok else undone
    said = asked(arguments) if whole else shorten(asked(arguments), LONGEST_ARGUMENT)
    return neutralise_name(f"  {name} {said}  {outcome}, {milliseconds:.0f} ms")


def cost(report: TurnReport) -> str:
    """What a turn took, in a line: time, and the tokens of all its calls."""
    took, usage = report.timings_ms, report.usage
    mark = "~" if usage.estimated else ""
    cached = f" ({thousands(usage.cached_tokens)} cached)" if usage.cached_tokens else ""
    seconds = (took.prepare + took.model + took.tools + took.store) / 1000
    read, written = thousands(usage.prompt_tokens), thousands(usage.completion_tokens)
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
    return [neutralise_name(line) for line in lines]


def unsent(session: "ZkChatSession") -> list[str]:
    """What the last call of the last turn was not sent, in a few lines; nothing where that is not known."""
    turn = sum(message.role == "user" for message in session.history)
    try:
        sent = session.parts.store.prompts(past.asked(session.history, turn).id)
        prompt = past.past(session.history, turn, sent).last
    except UsageError:
        return []
    return [neutralise_name(f"  {line}") for line in left_out(prompt)]


def show_error(error: ZkchatError, aside: Aside, partial: str = "") -> None:
    """What went wrong and what to do next, in two lines."""
    aside(f"✗ {error.message}{'; what came is kept' if partial else ''}", "red")
    if error.hint:
        aside(f"  {error.hint}", "yellow")
