"""Ask one question and print the answer with its sources."""

import sys
from collections.abc import Iterable, Iterator, Sequence
from contextlib import closing, contextmanager
from dataclasses import replace
from io import StringIO
from pathlib import Path
from typing import Annotated, Any

import typer
from pydantic import BaseModel

from zkchat_cli import cli, events
from zkchat_cli.context.overview import overview
from zkchat_cli.errors import UsageError, ZkchatError
from zkchat_cli.models import Conversation, TurnReport
from zkchat_cli.solving import MOST_ITERATIONS, solve
from zkchat_cli.terminal import saving
from zkchat_cli.terminal.approving import policy, show_change, tell_unable
from zkchat_cli.terminal.links import opener
from zkchat_cli.terminal.safe import neutralise
from zkchat_cli.terminal.screen import Screen
from zkchat_cli.terminal.turns import show, to_stderr, unmet_line
from zkchat_cli.wiring import Bench, Choices

COMMAND = cli.app()
NOT_MET = 1
"""How an agent run ends whose goal is not met: it is no error of the usage, the vault or the provider, and a script must see it."""


@COMMAND.command(
    epilog=cli.examples(
        'zkchat ask "what did I decide about the roof?"',
        'git log -5 | zkchat ask "which of my notes does this touch?"',
        'zkchat ask @plan.md "what is missing?" -o answer.md',
    )
)
def ask(
    prompt: Annotated[list[str] | None, typer.Argument(metavar="[PROMPT]...", help="The question; a piped text is put before it.")] = None,
    continue_: Annotated[bool, typer.Option("--continue", "-c", help="Go on with the vault's latest conversation.")] = False,
    cid: Annotated[str | None, typer.Option("--cid", metavar="ID", help="Go on with this conversation.")] = None,
    answer_only: Annotated[bool, typer.Option("--answer-only", help="Print the answer without its sources.")] = False,
    stream_json: Annotated[bool, typer.Option("--stream-json", help="Print one JSON event per line.")] = False,
    output: Annotated[
        Path | None, typer.Option("-o", "--output", metavar="FILE", help="Write to this file instead, whole or not at all.")
    ] = None,
    show_context: Annotated[bool, typer.Option("--show-context", help="Say on standard error what the prompt is made of.")] = False,
    iterations: Annotated[
        int | None,
        typer.Option("--iterations", metavar="N", min=1, max=MOST_ITERATIONS, help="Take PROMPT for a goal, and work on it in N rounds."),
    ] = None,
    as_json: cli.JsonOption = False,
    agent: cli.AgentOption = None,
    strategy: cli.StrategyOption = None,
    max_context: cli.MaxContextOption = None,
    unsafe: cli.UnsafeOption = False,
    yes: cli.YesOption = False,
    no_store: cli.NoStoreOption = False,
    vault: cli.VaultOption = None,
    model: cli.ModelOption = None,
    config: cli.ConfigOption = None,
) -> None:
    """Ask one question about your notes; print the answer and its sources."""
    going_on = continue_ or cid is not None
    text, typed = _question(prompt or [], needed=not (iterations and going_on))
    choices = Choices(vault, model, config, strategy, max_context, store=not no_store, agent=agent, unsafe=unsafe)
    with _output(Screen.of(), output) as screen, cli.opened(choices) as opened:
        asked = sys.stdin is not None and sys.stdin.isatty() and sys.stdout.isatty() and not (as_json or stream_json)
        bench = replace(opened, approve=policy(unsafe=unsafe, yes=yes, screen=screen, interactive=asked))
        screen = screen.dressed(bench.loaded.values.terminal)
        screen = replace(screen, address=opener(bench.vault.root, bench.loaded.values.references.link_style))
        warming = bench.counter.warm()
        with screen.progress_bar("Indexing") as progress:
            index = bench.vault.refresh(progress=progress)
        for problem in index.problems if index.added or index.changed else ():
            screen.warn(problem)
        if index.rebuilt:
            screen.warn(f"the index was rebuilt: {index.rebuilt}")
        session = bench.session(_conversation(bench, cid, continue_=continue_))
        session.just_refreshed()
        tell_unable(session.parts, screen, unsafe=unsafe)
        warming.join()
        turn = solve(session, text, iterations, typed=typed) if iterations else session.send(text, typed=typed)
        try:
            with closing(turn):  # where the reader has gone, what came of the answer is stored
                if as_json or stream_json:
                    report = _run_as_json(turn, screen, stream=stream_json)
                else:
                    shown = 0 if answer_only else bench.loaded.values.references.max_displayed
                    report = _outcome(show(turn, screen, to_stderr(screen), max_sources=shown))
        except KeyboardInterrupt:
            if iterations and not no_store:
                screen.warn("the run was stopped; what came is kept", "zkchat ask -c --iterations N goes on")
            raise
        finally:
            if show_context and session.sent is not None:
                named = next((m.references for m in reversed(session.history) if m.role == "user"), ())
                for line in overview(session.sent, named):
                    screen.err.write(neutralise(line) + "\n")
    if report.run is not None and not report.run.met:
        raise typer.Exit(NOT_MET)


@contextmanager
def _output(screen: Screen, file: Path | None) -> Iterator[Screen]:
    """Where the answer goes: to stdout, or when it is whole into a file. What cannot get there, half of an answer too, is on stdout."""
    if file is None:
        yield screen
        return
    saving.check(file)
    collected = StringIO()
    try:
        yield replace(screen, out=collected, colour=False)
        saving.save(file, collected.getvalue())
    except (ZkchatError, KeyboardInterrupt):
        screen.write(collected.getvalue())
        raise
    screen.progress(f"Written to {file}")


def _question(arguments: Sequence[str], *, needed: bool) -> tuple[str, str]:
    """The whole message, and what of it was typed: a text that is piped in besides is data, and must not import files."""
    waiting = sys.stdin is not None and sys.stdin.isatty()
    piped = "" if sys.stdin is None or waiting else cli.no_more_than_fits(sys.stdin.read(cli.MOST_PIPED + 1))
    typed = " ".join(map(_named, arguments)).strip("\n")
    if not typed.strip() and waiting and needed:
        raise UsageError("there is nothing to ask", 'Say zkchat ask "…", or pipe a text in.')
    text = "\n\n".join(part.strip("\n") for part in (piped, typed) if part.strip())
    if not text and needed:
        raise UsageError("there is nothing to ask", 'Say zkchat ask "…", or pipe a text in.')
    return text, typed if typed.strip() else text


def _named(argument: str) -> str:
    """An argument as it would be typed in a chat: of `@"my notes.md"` the shell has taken the quotation marks away."""
    name = argument.removeprefix("@")
    if name == argument or not any(c.isspace() for c in name):
        return argument
    try:
        return f'@"{name}"' if Path(name).expanduser().is_file() and '"' not in name else argument
    except (OSError, RuntimeError, ValueError):
        return argument


def _conversation(bench: Bench, cid: str | None, *, continue_: bool) -> Conversation | None:
    return bench.store.find(cid, str(bench.vault.root)) if cid is not None or continue_ else None


def _run_as_json(turn: Iterable[events.Event], screen: Screen, *, stream: bool) -> TurnReport:
    last: events.Event | None = None
    for event in turn:
        last = event
        if stream:
            screen.json(as_document(event))
        if isinstance(event, events.Notice):
            screen.warn(event.message, event.hint)
        if isinstance(event, events.ChangeProposed | events.ChangeDecided) and not stream:
            show_change(event, screen)
    report = _outcome(last)
    if not stream:
        screen.json(report)
    if report.run is not None and (unmet := unmet_line(report.run)):
        screen.warn(unmet)
    return report


def _outcome(last: events.Event | None) -> TurnReport:
    """The report of a completed turn. Raises the error of a failed one, with the text that came (`partial`) on it."""
    match last:
        case events.TurnCompleted(report):
            return report
        case events.TurnFailed(error, _, partial):
            error.partial = partial
            raise error
    raise ZkchatError("the turn ended without a result", "This is a defect of zkchat; please report it.")


def as_document(event: events.Event) -> dict[str, Any]:
    """An event as one JSON line: `type`, then its fields; a completed turn's are those of the ask document."""
    name = "".join(f"_{c.lower()}" if c.isupper() else c for c in type(event).__name__).lstrip("_")
    if isinstance(event, events.TurnCompleted):
        return {"type": name, **event.report.model_dump(mode="json")}
    if isinstance(event, events.TurnFailed):
        error = {"code": event.error.code, "message": event.error.message, "hint": event.error.hint or None}
        return {"type": name, "error": error, "message_id": event.message_id, "partial": event.partial}
    fields = {f: getattr(event, f) for f in event.__dataclass_fields__}
    return {"type": name, **{f: _plain(value) for f, value in fields.items()}}


def _plain(value: object) -> object:
    if isinstance(value, BaseModel):
        return value.model_dump(mode="json")
    return [_plain(item) for item in value] if isinstance(value, tuple) else value
