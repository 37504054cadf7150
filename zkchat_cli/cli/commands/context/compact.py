"""`zkchat context compact` and `clear`: reduce what the model sees; the log stays."""

from collections.abc import Generator
from typing import TYPE_CHECKING, Annotated

import typer

from zkchat_cli.cli import options
from zkchat_cli.cli.command import CommandContext, command, command_group, confirm, examples
from zkchat_cli.errors import UsageError
from zkchat_cli.terminal.screen import Screen

if TYPE_CHECKING:
    from zkchat_cli.events import Event
    from zkchat_cli.models import Compaction

COMMANDS = command_group()

PreviewOption = Annotated[bool, typer.Option("--preview", help="Only print what would happen; this may call the model.")]


@command(
    COMMANDS,
    "strategy",
    "max_context",
    "as_json",
    "vault",
    "model",
    "config_file",
    epilog=examples(
        "zkchat context compact --preview", 'zkchat context compact --instructions "keep all dates"', "zkchat context compact --undo"
    ),
)
def compact(
    ctx: CommandContext,
    id_: options.ConversationArgument = None,
    instructions: Annotated[str | None, typer.Option("--instructions", metavar="TEXT", help="What the summary should keep.")] = None,
    target: Annotated[int | None, typer.Option("--target", metavar="TOKENS", min=1, help="Largest size of the summary.")] = None,
    keep: Annotated[int | None, typer.Option("--keep", metavar="N", min=0, help="Number of newest messages to keep verbatim.")] = None,
    preview: PreviewOption = False,
    undo: Annotated[bool, typer.Option("--undo", help="Undo the last compaction.")] = False,
) -> None:
    """Summarize older turns now; nothing is deleted."""
    from zkchat_cli.chat.compactor import CompactionRequest
    from zkchat_cli.views.command_hints import IN_SHELL
    from zkchat_cli.views.compaction import describe_compaction

    with ctx.open_session(id_) as session:
        if undo:
            undone = session.undo_compaction()
            if undone is None:
                raise UsageError("there is no compaction to undo", "zkchat context summary shows the current one.")
            done, text = undone, "Undone: the prompt is what it was before."
        else:
            request = CompactionRequest(instructions=instructions, target=target, keep=keep, preview=preview)
            summarizer = session.runtime.model.name if session.runtime.can_summarize else ""
            done = _run_compaction(session.compaction_events(request), ctx.screen, summarizer)
            text = describe_compaction(done, IN_SHELL) + (f"\n\n{done.summary}" if preview and done.summary else "")
    if ctx.as_json:
        ctx.screen.json(done)
    else:
        ctx.screen.print(text)


def _run_compaction(steps: "Generator[Event, None, Compaction]", screen: Screen, model: str) -> "Compaction":
    """Run a compaction, and report progress while a model summarizes."""
    from zkchat_cli.events import CompactionStarted, Waiting

    while True:
        try:
            event = next(steps)
        except StopIteration as end:
            done: Compaction = end.value
            return done
        if model and isinstance(event, CompactionStarted):
            screen.progress(f"{model} is writing a summary …")
        elif isinstance(event, Waiting):
            screen.progress(f"retrying in {event.seconds:.0f} s: {event.reason}")


@command(COMMANDS, *options.NOTES)
def clear(ctx: CommandContext, id_: options.ConversationArgument = None, yes: options.ConfirmOption = False) -> None:
    """Clear the conversation's context; the log stays."""
    with ctx.open_app() as app:
        conversation = app.find(id_)
        confirm(f"Clear the context of {conversation.id}? The log stays.", "context clear", yes=yes)
        app.store.move_head(conversation.id, None)
    if ctx.as_json:
        ctx.screen.json({"conversation_id": conversation.id, "cleared": True})
    else:
        ctx.screen.print(f"Cleared the context of {conversation.id}; its log is kept.")
