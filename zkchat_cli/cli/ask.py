"""Ask one question and print the answer with its sources."""

import sys
from collections.abc import Iterable
from dataclasses import replace
from typing import Annotated, Any

import typer
from pydantic import BaseModel

from zkchat_cli import cli, events
from zkchat_cli.errors import UsageError, ZkchatError
from zkchat_cli.models import Conversation, TurnReport
from zkchat_cli.session import ZkChatSession
from zkchat_cli.terminal.links import opener
from zkchat_cli.terminal.screen import Screen
from zkchat_cli.terminal.turns import show, to_stderr
from zkchat_cli.wiring import Bench, Choices

COMMAND = cli.app()


@COMMAND.command()
def ask(
    prompt: Annotated[str | None, typer.Argument(metavar="[PROMPT]", help="The question; standard input is put before it.")] = None,
    continue_: Annotated[bool, typer.Option("--continue", "-c", help="Go on with the vault's latest conversation.")] = False,
    cid: Annotated[str | None, typer.Option("--cid", metavar="ID", help="Go on with this conversation.")] = None,
    answer_only: Annotated[bool, typer.Option("--answer-only", help="Print the answer without its sources.")] = False,
    stream_json: Annotated[bool, typer.Option("--stream-json", help="Print one JSON event per line.")] = False,
    show_context: Annotated[bool, typer.Option("--show-context", help="Say on stderr what the prompt is made of.")] = False,
    as_json: cli.JsonOption = False,
    strategy: cli.StrategyOption = None,
    max_context: cli.MaxContextOption = None,
    no_store: cli.NoStoreOption = False,
    vault: cli.VaultOption = None,
    model: cli.ModelOption = None,
    config: cli.ConfigOption = None,
) -> None:
    """Ask one question about your notes. stdout is the answer and its sources."""
    text, typed = _question(prompt)
    screen = Screen.of()
    choices = Choices(vault, model, config, strategy, max_context, store=not no_store)
    with cli.opened(choices) as bench:
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
        warming.join()
        if as_json or stream_json:
            report = _run_as_json(session.send(text, typed=typed), screen, stream=stream_json)
        else:
            shown = 0 if answer_only else bench.loaded.values.references.max_displayed
            report = _outcome(show(session.send(text, typed=typed), screen, to_stderr(screen), max_sources=shown))
        if show_context:
            screen.err.write(_context_lines(session, report))


def _question(prompt: str | None) -> tuple[str, str]:
    """The whole message, and what of it was typed: a text that is piped in besides is data, and must not import files."""
    piped = "" if sys.stdin is None or sys.stdin.isatty() else sys.stdin.read()
    if prompt is None and sys.stdin is not None and sys.stdin.isatty():
        raise UsageError("there is nothing to ask", 'Say zkchat ask "…", or pipe a text in.')
    text = "\n\n".join(part.strip("\n") for part in (piped, prompt or "") if part.strip())
    if not text:
        raise UsageError("there is nothing to ask", 'Say zkchat ask "…", or pipe a text in.')
    return text, prompt.strip("\n") if prompt and prompt.strip() else text


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
    report = _outcome(last)
    if not stream:
        screen.json(report)
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


def _context_lines(session: ZkChatSession, report: TurnReport) -> str:
    """Document 2's example: what the prompt was made of, with tokens."""
    usage = report.context
    parts = [f"{name} {tokens}" for name, tokens in usage.message_breakdown.model_dump().items() if tokens]
    parts += [f"{item.key or item.relative_path} {item.tokens}" for item in session.memory_for()]
    return (
        f"Context: {usage.total_tokens} of {usage.effective_limit} tokens "
        f"(system {usage.system_tokens}, tools {usage.tool_tokens}, {', '.join(parts)})\n"
    )


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
