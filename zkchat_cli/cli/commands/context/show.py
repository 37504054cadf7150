"""`zkchat context show`, `diff`, `stats`, `summary` and `memory`: what the model sees, or saw in past calls."""

import shutil
from typing import TYPE_CHECKING, Annotated

import typer

from zkchat_cli.cli import options
from zkchat_cli.cli.command import CommandContext, command, command_group, examples
from zkchat_cli.errors import UsageError
from zkchat_cli.terminal.screen import json_text

if TYPE_CHECKING:
    from zkchat_cli.context.prompt_history import SentPrompts

COMMANDS = command_group()


@command(COMMANDS, *options.PROMPT, epilog=examples('zkchat context show --next "and how long?"', "zkchat context show --turn 3"))
def show(
    ctx: CommandContext,
    id_: options.ConversationArgument = None,
    next_: Annotated[str | None, typer.Option("--next", metavar="TEXT", help="Show the prompt for this message.")] = None,
    turn: Annotated[int | None, typer.Option("--turn", metavar="N", help="Show what was sent for your N-th message.")] = None,
    body: Annotated[bool, typer.Option("--body", help="Print it as the body of the request; of a turn, the last one.")] = False,
) -> None:
    """The exact messages and tools that the next call would send, or that an earlier one sent."""
    from zkchat_cli.views import prompts

    if turn is not None and next_ is not None:
        raise UsageError("--turn and --next cannot be combined", "--turn shows a past call, --next the next one.")
    if body:
        with ctx.open_session(id_, indexed=next_ is not None) as session:
            request = session.request(next_) if turn is None else session.past_request(turn)
        ctx.print_result(request, json_text(request, indent=2))
        return
    if turn is not None:
        conversation, [past] = _sent_prompts(ctx, id_, turn)
        document = {"conversation_id": conversation, **prompts.sent_prompts_document(past)}
        ctx.print_result(document, prompts.sent_prompts_text(past))
        return
    with ctx.open_session(id_, indexed=next_ is not None) as session:
        prompt = session.prompt(next_)
    ctx.print_result(prompt, prompts.prompt_text(prompt))


def _sent_prompts(ctx: CommandContext, id_: str | None, *turns: int) -> "tuple[str, list[SentPrompts]]":
    """A conversation's id, and what was sent in the given turns."""
    from zkchat_cli.context import prompt_history

    with ctx.open_app() as app:
        conversation = app.find(id_)
        history = app.store.history(conversation.id)
        found = [prompt_history.restore_sent_prompts(history, turn, app.store.prompts) for turn in turns]
    return conversation.id, found


@command(COMMANDS, *options.NOTES, epilog=examples("zkchat context diff 3 4"))
def diff(
    ctx: CommandContext,
    a: Annotated[int, typer.Argument(metavar="A", help="A turn, numbered by your messages.")],
    b: Annotated[int, typer.Argument(metavar="B", help="Another turn.")],
    id_: options.ConversationArgument = None,
) -> None:
    """What was added to the prompt between turns A and B, and what was removed."""
    from zkchat_cli.context import prompt_history
    from zkchat_cli.views import prompts

    conversation, [before, after] = _sent_prompts(ctx, id_, a, b)
    found = prompt_history.diff_prompts(before.last, after.last)
    document = {"conversation_id": conversation, **prompts.prompt_diff_document(before, after, found)}
    ctx.print_result(document, prompts.prompt_diff_text(before, after, found))


@command(COMMANDS, *options.PROMPT)
def stats(ctx: CommandContext, id_: options.ConversationArgument = None) -> None:
    """Tokens per component against the budgets, and how to reduce the largest."""
    from zkchat_cli.slash.context import usage_lines
    from zkchat_cli.views.command_hints import IN_SHELL
    from zkchat_cli.views.context_usage import WIDTH

    with ctx.open_session(id_) as session:
        prompt = session.prompt()
        columns = shutil.get_terminal_size((WIDTH, 24)).columns
        ctx.print_result(prompt.usage, usage_lines(session, prompt, columns, IN_SHELL))


@command(COMMANDS, *options.NOTES)
def summary(ctx: CommandContext, id_: options.ConversationArgument = None) -> None:
    """The summary that replaces older turns, if there is one."""
    from zkchat_cli.context.compaction_policy import summary_coverage
    from zkchat_cli.views.compaction import describe_active_compaction

    with ctx.open_session(id_) as session:
        compaction = session.compaction
        covers = summary_coverage(compaction, session.stored_state().turns(session.runtime.counter)) if compaction else None
    documents, text = [], ""
    if compaction is not None and covers is not None:
        documents = [{**compaction.model_dump(mode="json"), "covers": covers._asdict()}]
        text = f"{describe_active_compaction(compaction, covers)}\n{compaction.summary or ''}"
    ctx.print_result(documents, text, "No summary: all turns are sent verbatim.")


@command(COMMANDS, "agent", *options.NOTES)
def memory(ctx: CommandContext, id_: options.ConversationArgument = None) -> None:
    """The memory that the next prompt would include, and why."""
    from zkchat_cli.views.memory import level_lines, memory_item_lines

    with ctx.open_app() as app:
        stored = id_ is not None or app.store.conversations(str(app.vault.root), 1)  # project memory exists before any conversation
        session = app.session(app.find(id_) if stored else None)
        items = session.memory_items()
        levels = session.memory.levels(session.runtime.budget.messages, session.runtime.counter)
        for message, hint in session.memory.pop_notices():
            ctx.screen.warn(message, hint)
    documents = [{**item._asdict(), "relative_path": item.relative_path or None} for item in items]
    ctx.print_result(documents, [*level_lines(levels, items), *memory_item_lines(items)])
