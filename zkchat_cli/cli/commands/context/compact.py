"""`zkchat context compact` and `clear`: reduce what the model sees; the log stays."""

from typing import Annotated

import typer

from zkchat_cli.cli import options
from zkchat_cli.cli.command import CommandContext, command, command_group, confirm, examples
from zkchat_cli.errors import UsageError

COMMANDS = command_group()

PreviewOption = Annotated[bool, typer.Option("--preview", help="Only print what would happen; this may call the model.")]


@command(
    COMMANDS,
    *options.COMPACT,
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
    from zkchat_cli.views.command_hints import IN_SHELL
    from zkchat_cli.views.compaction import describe_compaction

    if undo and (preview or instructions is not None or target is not None or keep is not None):
        raise UsageError("--undo cannot be combined with another option", "zkchat context summary shows what --undo takes back.")
    with ctx.open_session(id_) as session:
        if undo:
            undone = session.undo_compaction()
            if undone is None:
                raise UsageError("there is no compaction to undo", "zkchat context summary shows the current one.")
            done, text = undone, "Undone: the prompt is what it was before."
        else:
            if session.runtime.summary_model.can_summarize:
                ctx.screen.progress(f"{session.runtime.summary_model.model.name} may have to write a summary …")
            done = session.compact(instructions=instructions, target=target, keep=keep, preview=preview)
            text = describe_compaction(done, IN_SHELL) + (f"\n\n{done.summary}" if preview and done.summary else "")
    ctx.print_result(done, text)


@command(COMMANDS, *options.NOTES)
def clear(ctx: CommandContext, id_: options.ConversationArgument = None, yes: options.ConfirmOption = False) -> None:
    """Clear the conversation's context; the log stays."""
    with ctx.open_app() as app:
        conversation = app.find(id_)
        confirm(f"Clear the context of {conversation.id}? The log stays.", "context clear", yes=yes)
        app.store.move_head(conversation.id, None)
    ctx.print_result({"conversation_id": conversation.id, "cleared": True}, f"Cleared the context of {conversation.id}; its log is kept.")
