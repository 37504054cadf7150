"""Ask one question and print the answer with its sources."""

import sys
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from contextlib import closing, contextmanager, suppress
from dataclasses import replace
from io import StringIO
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from zkchat_cli.cli import command
from zkchat_cli.errors import StoreError, UsageError, ZkchatError
from zkchat_cli.terminal import output_file
from zkchat_cli.terminal.screen import Screen

if TYPE_CHECKING:
    from zkchat_cli import events
    from zkchat_cli.app.factory import App
    from zkchat_cli.chat.command_hints import CommandHints
    from zkchat_cli.chat.session import ZkChatSession
    from zkchat_cli.models import Conversation, TurnReport

COMMAND = command.app()
NOT_MET = 1
"""How an agent run ends whose goal is not met: it is no error of the usage, the vault or the provider, and a script must see it."""


@command.command(
    COMMAND,
    *command.PROMPT,
    epilog=command.examples(
        'zkchat ask "what did I decide about the roof?"',
        'git log -5 | zkchat ask "which of my notes does this touch?"',
        'zkchat ask @plan.md "what is missing?" -o answer.md',
    ),
)
def ask(
    call: command.CommandContext,
    prompt: Annotated[list[str] | None, typer.Argument(metavar="[PROMPT]...", help="The question; a piped text is put before it.")] = None,
    continue_: Annotated[
        bool,
        typer.Option(
            "--continue", "-c", help="Go on with the vault's latest conversation; without PROMPT: finish its answer, if that was cut off."
        ),
    ] = False,
    cid: Annotated[str | None, typer.Option("--cid", metavar="ID", help="Go on with this conversation.")] = None,
    answer_only: Annotated[bool, typer.Option("--answer-only", help="Print the answer without its sources.")] = False,
    stream_json: Annotated[bool, typer.Option("--stream-json", help="Print one JSON event per line.")] = False,
    output: Annotated[
        Path | None, typer.Option("-o", "--output", metavar="FILE", help="Write to this file instead, whole or not at all.")
    ] = None,
    show_context: Annotated[bool, typer.Option("--show-context", help="Say on standard error what the prompt is made of.")] = False,
    iterations: Annotated[
        int | None,
        typer.Option("--iterations", metavar="N", min=1, help="Take PROMPT for a goal, and work on it in N rounds."),
    ] = None,
    unsafe: command.UnsafeOption = False,
    yes: command.YesOption = False,
    no_store: command.NoStoreOption = False,
) -> None:
    """Ask one question about your notes; print the answer and its sources."""
    from zkchat_cli.chat.agent_run import run_goal
    from zkchat_cli.chat.background_tasks import made_of
    from zkchat_cli.chat.command_hints import IN_SHELL, UNSTORED
    from zkchat_cli.terminal.change_approval import ApprovalPrompt, policy, tell_unable
    from zkchat_cli.terminal.hyperlinks import opener
    from zkchat_cli.terminal.turn_renderer import Verbosity, show
    from zkchat_cli.terminal.turn_view import note_printer

    as_json, ways = call.as_json, UNSTORED if no_store else IN_SHELL
    going_on = continue_ or cid is not None
    text, typed = _question(prompt or [], needed=not going_on)
    with _output(call.screen, output) as screen, call.opened(store=not no_store, unsafe=unsafe) as opened:
        asked = sys.stdin is not None and sys.stdin.isatty() and sys.stdout.isatty() and not (as_json or stream_json)
        bench = replace(opened, approve=policy(unsafe=unsafe, yes=yes, screen=screen, interactive=asked))
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
        if iterations:
            turn = run_goal(session, text, iterations, typed=typed, ways=ways)
        else:
            turn = session.send(text, typed=typed) if text else session.go_on()
        try:
            with closing(turn):  # where the reader has gone, what came of the answer is stored
                if as_json or stream_json:
                    report = _run_as_json(session, turn, screen, ways, stream=stream_json)
                else:
                    shown = 0 if answer_only else bench.loaded.values.references.max_displayed
                    manner = Verbosity(shown, ways=ways)
                    attended = bench.approve.attending(turn) if isinstance(bench.approve, ApprovalPrompt) else turn
                    report = _outcome(show(attended, screen, note_printer(screen), manner))
                    session.save_last()
            if typed != text and not going_on:
                with suppress(StoreError):  # a title is not worth an error
                    session.rename(made_of(typed))  # what was piped in says less of the conversation than what was asked of it
        except KeyboardInterrupt:
            if iterations and ways.run_goes_on:
                screen.warn("the run was stopped; what came is kept", f"{ways.run_goes_on} goes on")
            raise
        finally:
            if show_context:
                _tell_context(session, screen)
    if report.run is not None and not report.run.met:
        raise typer.Exit(NOT_MET)


def _tell_context(session: "ZkChatSession", screen: Screen) -> None:
    """What the prompt that was sent was made of, if one was."""
    from zkchat_cli.views.prompt_overview import overview

    if session.sent is not None:
        asked = next((m for m in reversed(session.history) if m.role == "user"), None)
        tokens: Counter[str] = Counter()
        for chunk in asked.chunks if asked is not None else ():
            tokens[chunk.relative_path] += session.parts.counter.count(chunk.text)
        for line in overview(session.sent, asked.references if asked is not None else (), tokens):
            screen.remark(line)


@contextmanager
def _output(screen: Screen, file: Path | None) -> Iterator[Screen]:
    """Where the answer goes: to stdout, or when it is whole into a file. What cannot get there, half of an answer too, is on stdout."""
    if file is None:
        yield screen
        return
    output_file.check(file)
    collected = StringIO()
    try:
        yield replace(screen, out=collected, colour=False)
        output_file.save(file, collected.getvalue())
    except (ZkchatError, KeyboardInterrupt):
        screen.write(collected.getvalue())
        raise
    screen.progress(f"Written to {file}")


def _question(arguments: Sequence[str], *, needed: bool) -> tuple[str, str]:
    """The whole message, and what of it was typed: a text that is piped in besides is data, and must not import files."""
    waiting = sys.stdin is not None and sys.stdin.isatty()
    piped = "" if sys.stdin is None or waiting else command.no_more_than_fits(sys.stdin.read(command.MOST_PIPED + 1))
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


def _conversation(bench: "App", cid: str | None, *, continue_: bool) -> "Conversation | None":
    return bench.find(cid) if cid is not None or continue_ else None


def _run_as_json(
    session: "ZkChatSession", turn: "Iterable[events.Event]", screen: Screen, ways: "CommandHints", *, stream: bool
) -> "TurnReport":
    from zkchat_cli import events
    from zkchat_cli.terminal.change_approval import show_change
    from zkchat_cli.terminal.turn_renderer import unmet_line

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
    try:
        session.save_last()
    except ZkchatError as e:
        e.partial = report.answer
        raise
    if not stream:
        screen.json(report)
    if report.run is not None and (unmet := unmet_line(report.run, ways)):
        screen.warn(unmet)
    return report


def _outcome(last: "events.Event | None") -> "TurnReport":
    """The report of a completed turn. Raises the error of a failed one, with the text that came (`partial`) on it."""
    from zkchat_cli import events

    match last:
        case events.TurnCompleted(report):
            return report
        case events.TurnFailed(error, _, partial):
            error.partial = partial
            raise error
    raise ZkchatError("the turn ended without a result", "This is a defect of zkchat; please report it.")


def as_document(event: "events.Event") -> dict[str, Any]:
    """An event as one JSON line: `type`, then its fields; a completed turn's are those of the ask document."""
    from zkchat_cli import events

    name = "".join(f"_{c.lower()}" if c.isupper() else c for c in type(event).__name__).lstrip("_")
    if isinstance(event, events.TurnCompleted):
        return {"type": name, **event.report.model_dump(mode="json")}
    if isinstance(event, events.TurnFailed):
        error = {"code": event.error.code, "message": event.error.message, "hint": event.error.hint or None}
        return {"type": name, "error": error, "message_id": event.message_id, "partial": event.partial}
    fields = {f: getattr(event, f) for f in event.__dataclass_fields__}
    return {"type": name, **{f: _plain(value) for f, value in fields.items()}}


def _plain(value: object) -> object:
    if hasattr(value, "model_dump"):
        return value.model_dump(mode="json")
    return [_plain(item) for item in value] if isinstance(value, tuple) else value
