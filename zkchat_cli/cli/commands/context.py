"""Show, compact, export and import what the model sees."""

import shutil
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

from typer import Argument, Option

from zkchat_cli.cli import options
from zkchat_cli.cli.command import CommandContext, command, command_group, confirm
from zkchat_cli.cli.text_output import OutputOption, write_document
from zkchat_cli.errors import UsageError
from zkchat_cli.text.numbers import plural
from zkchat_cli.views.text import IN_SHELL

if TYPE_CHECKING:
    from zkchat_cli.context.prompt_history import SentPrompts

ORDER = 30
COMMAND = command_group(
    "What the model sees: the exact prompt, its token usage and summaries; compact, export "
    "and import."
)


@command(
    COMMAND,
    *options.PROMPT,
    examples=['zkchat context show --next "and how long?"', "zkchat context show --turn 3"],
)
def show(
    ctx: CommandContext,
    id_: options.ConversationArgument = None,
    next_: Annotated[
        str | None, Option("--next", metavar="TEXT", help="Show the prompt for this message.")
    ] = None,
    turn: Annotated[
        int | None, Option("--turn", metavar="N", help="Show what was sent for your N-th message.")
    ] = None,
) -> None:
    """The exact messages and tools that the next call would send, or that an earlier one sent."""
    from zkchat_cli.views import conversation_cost, prompts
    from zkchat_cli.views.priorities import prompt_document

    if turn is not None and next_ is not None:
        raise UsageError(
            "--turn and --next cannot be combined", "--turn shows a past call, --next the next one."
        )
    if turn is not None:
        conversation, [past] = _sent_prompts(ctx, id_, turn)
        calls = [
            sent.model_dump(mode="json", exclude={"question_id", "summarized_through"})
            for sent in past.calls
        ]
        document = {
            "conversation_id": conversation,
            "turn": turn,
            "question_id": past.calls[0].question_id,
            "calls": calls,
        }
        ctx.print_result(document, prompts.sent_prompts_text(past))
        return
    with ctx.open_session(id_, indexed=next_ is not None, may_be_new=True) as session:
        prompt = session.prompt(next_)
        cost = conversation_cost.measure_cost(session, prompt).document
        usage = prompt.usage.model_dump(mode="json") | cost
        document = {**prompt_document(prompt, session.history), "usage": usage}
    ctx.print_result(document, prompts.prompt_text(prompt))


def _sent_prompts(
    ctx: CommandContext, id_: str | None, *turns: int
) -> "tuple[str, list[SentPrompts]]":
    from zkchat_cli.context.prompt_history import restore_sent_prompts

    found: list[SentPrompts] = []
    with ctx.open_app() as app:
        conversation = app.find(id_).id
        for turn in turns:
            history = app.store.history(conversation)
            found.append(restore_sent_prompts(history, turn, app.store.prompts.sent_for))
    return conversation, found


@command(COMMAND, *options.NOTES, examples=["zkchat context diff 3 4"])
def diff(
    ctx: CommandContext,
    a: Annotated[int, Argument(metavar="A", help="A turn, numbered by your messages.")],
    b: Annotated[int, Argument(metavar="B", help="Another turn.")],
    id_: options.ConversationArgument = None,
) -> None:
    """What was added to the prompt between turns A and B, and what was removed."""
    from zkchat_cli.context import prompt_history
    from zkchat_cli.views import prompts

    conversation, [before, after] = _sent_prompts(ctx, id_, a, b)
    found = prompt_history.diff_prompts(before.last, after.last)
    lost: list[dict[str, Any]] = []
    for message, why in found.removed:
        lost.append({**message.model_dump(mode="json"), "reason": why or None})
    document = {
        "conversation_id": conversation,
        "a": {"turn": before.number, "tokens": before.tokens},
        "b": {"turn": after.number, "tokens": after.tokens},
        "added": [message.model_dump(mode="json") for message in found.added],
        "lost": lost,
        "tools_added": found.tools_added,
        "tools_lost": found.tools_removed,
    }
    ctx.print_result(document, prompts.prompt_diff_text(before, after, found))


@command(COMMAND, *options.PROMPT, examples=['zkchat context stats --next "Why [[Filters]]?"'])
def stats(
    ctx: CommandContext,
    id_: options.ConversationArgument = None,
    next_: Annotated[
        str | None,
        Option("--next", metavar="TEXT", help="Add this message, with the notes that it names."),
    ] = None,
) -> None:
    """Tokens of the next prompt per component against the budgets, and how to reduce the largest.

    Before the first message, these are instructions, tools and memory.
    """
    from zkchat_cli.views import conversation_cost, summary_cost, token_usage

    with ctx.open_session(id_, indexed=next_ is not None, may_be_new=True) as session:
        prompt = session.prompt(next_)
        cost = conversation_cost.measure_cost(session, prompt)
        columns = shutil.get_terminal_size((token_usage.WIDTH, 24)).columns
        lines = token_usage.usage_lines(
            prompt,
            session.history,
            columns,
            IN_SHELL,
            (cost.line, summary_cost.note_summaries_text(session)),
            session.runtime.price,
        )
        document = prompt.usage.model_dump(mode="json")
        document |= cost.document
        document |= summary_cost.note_summaries_document(session)
        ctx.print_result(document, lines)


@command(COMMAND, *options.NOTES)
def summary(ctx: CommandContext, id_: options.ConversationArgument = None) -> None:
    """The summary that replaces older turns, if there is one."""
    from zkchat_cli.context.compaction_plan import summary_coverage
    from zkchat_cli.views.turn_steps import describe_active_compaction

    with ctx.open_session(id_) as session:
        documents = []
        text = ""
        compaction = session.state.compaction
        if compaction is not None:
            turns = session.stored_state().turns(session.runtime.counter)
            covers = summary_coverage(compaction, turns)
            documents = [{**compaction.model_dump(mode="json"), "covers": covers}]
            text = f"{describe_active_compaction(compaction, covers)}\n{compaction.summary or ''}"
    ctx.print_result(documents, text, "No summary: all turns are sent verbatim.")


@command(COMMAND, "agent", *options.NOTES)
def memory(ctx: CommandContext, id_: options.ConversationArgument = None) -> None:
    """The memory that the next prompt would include, and why."""
    from zkchat_cli.views.stored_items import level_lines, memory_item_lines

    with ctx.open_app() as app:
        # Project memory exists even before any conversation
        stored = id_ is not None or app.has_conversations
        session = app.session(app.find(id_) if stored else None)
        items = session.memory_items()
        root_items = session.memory.project_items(
            session.runtime.budget.messages, session.runtime.counter
        )
        lines = [*level_lines(session.memory, root_items, items), *memory_item_lines(items)]
        for message, hint in session.memory.pop_notices():
            ctx.screen.warn(message, hint)
    documents = [{**item._asdict(), "relative_path": item.relative_path or None} for item in items]
    ctx.print_result(documents, lines)


@command(
    COMMAND, *options.COMPACT, examples=['zkchat context compact --instructions "keep all dates"']
)
def compact(
    ctx: CommandContext,
    id_: options.ConversationArgument = None,
    instructions: Annotated[
        str | None, Option("--instructions", metavar="TEXT", help="What the summary should keep.")
    ] = None,
    target: Annotated[
        int | None, Option("--target", metavar="TOKENS", min=1, help="Largest size of the summary.")
    ] = None,
    keep: Annotated[
        int | None,
        Option("--keep", metavar="N", min=0, help="Number of newest messages to keep verbatim."),
    ] = None,
    preview: Annotated[
        bool, Option("--preview", help="Only print what would happen; this may call the model.")
    ] = False,
    undo: Annotated[bool, Option("--undo", help="Undo the last compaction.")] = False,
) -> None:
    """Summarize older turns now; nothing is deleted."""
    from zkchat_cli.views.turn_steps import requested_compaction_text

    has_options = preview or (instructions, target, keep) != (None, None, None)
    if undo and has_options:
        raise UsageError(
            "--undo cannot be combined with another option",
            "zkchat context summary shows what --undo takes back.",
        )
    with ctx.open_session(id_) as session:
        if undo:
            undone = session.stored_state().undo_compaction()
            if undone is None:
                raise UsageError(
                    "there is no compaction to undo",
                    "zkchat context summary shows the current one.",
                )
            ctx.print_result(undone, "Undone: the prompt is what it was before.")
            return
        if session.runtime.summary_model.summarizes:
            ctx.screen.progress(
                f"{session.runtime.summary_model.name} may have to write a summary …"
            )
        done = session.compact(instructions=instructions, target=target, keep=keep, preview=preview)
        price = session.runtime.price
    ctx.print_result(done, requested_compaction_text(done, IN_SHELL, price))


@command(COMMAND, *options.NOTES)
def clear(
    ctx: CommandContext,
    id_: options.ConversationArgument = None,
    yes: options.ConfirmOption = False,
) -> None:
    """Clear the conversation's context; the log stays."""
    with ctx.open_app() as app:
        conversation = app.find(id_)
        confirm(f"Clear the context of {conversation.id}? The log stays.", "context clear", yes=yes)
        app.store.move_head(conversation.id, None)
    ctx.print_result(
        {"conversation_id": conversation.id, "cleared": True},
        f"Cleared the context of {conversation.id}; its log is kept.",
    )


@command(COMMAND, *options.EXPORT, examples=["zkchat context export --format html -o talk.html"])
def export(
    ctx: CommandContext,
    id_: options.ConversationArgument = None,
    format_: Annotated[
        str, Option("--format", metavar="F", help="md, okf, html, json or context (the next call).")
    ] = "md",
    output: OutputOption = None,
) -> None:
    """Export a conversation as Markdown, HTML or JSON (lossless), or export the request of the next
    model call.
    """
    from zkchat_cli import exporters

    exporter = exporters.exporter(format_)
    if exporter.of == "call":
        with ctx.open_session(id_) as session:
            text = exporter.export(session.request())
    else:
        # The store alone works even if the vault is gone
        with ctx.open_store(anywhere=id_ is not None) as (store, root):
            text = exporter.export(
                store.archive(store.find(id_, root).id, prompts=exporter.prompts)
            )
    write_document(ctx, text, output)


@command(
    COMMAND,
    *options.NOTES,
    examples=["zkchat context import --from claude-code ~/.claude/projects"],
)
def import_(
    ctx: CommandContext,
    path: Annotated[
        Path | None,
        Argument(metavar="[PATH]", help="A file, as --file; with --from a session's, or a folder."),
    ] = None,
    file: Annotated[
        Path | None,
        Option(
            "--file",
            metavar="FILE",
            help="An export of zkchat in json or context, or a list of messages; - for a pipe.",
        ),
    ] = None,
    program: Annotated[
        str | None,
        Option("--from", metavar="PROGRAM", help="claude-code or codex: sessions of that program."),
    ] = None,
) -> None:
    """Import conversations: a whole file or, on an error, nothing of it. What was imported before
    is left out.
    """
    from zkchat_cli.cli.conversation_import import embed_messages, files_to_import, import_files

    files = files_to_import(path, file, program)
    with ctx.open_app() as app:
        found = import_files(ctx, app, files, program)
        if not found.conversations:
            raise UsageError(
                f"{path} has no .jsonl file that can be read",
                "Name a session's file, or the program's folder of them.",
            )
        embed_messages(ctx, app, sum(each.messages for each in found.conversations))
    documents = []
    lines = []
    for conversation, messages in found.conversations:
        values = conversation.model_dump(mode="json", include={"title", "vault"})
        documents.append({"conversation_id": conversation.id, **values, "messages": messages})
        if messages:
            title = conversation.title or ""
            lines.append(f"{conversation.id}  {plural(messages, 'message')}  {title}")
    if known := len(documents) - len(lines):
        lines.append(_known_line(documents, known))
    document = {**documents[-1], "format": found.kind, "conversations": documents}
    ctx.print_result(document, "\n".join(lines))


def _known_line(documents: list[dict[str, Any]], known: int) -> str:
    """Says how many of the imported conversations were stored already, or which one."""
    if len(documents) > 1:
        return f"already here: {plural(known, 'conversation')}"
    [only] = documents
    return f"{only['conversation_id']}  already here  {only['title'] or ''}"
