"""`zkchat context show`, `diff`, `stats`, `summary`, `memory`: what the model sees, or has seen."""

import shutil
from dataclasses import asdict
from typing import TYPE_CHECKING, Annotated

import typer

from zkchat_cli.cli import command
from zkchat_cli.errors import UsageError
from zkchat_cli.terminal import redrawing
from zkchat_cli.terminal.external_programs import paged

if TYPE_CHECKING:
    from zkchat_cli.chat.session import ZkChatSession
    from zkchat_cli.context.prompt_history import SentPrompts
    from zkchat_cli.views.text import StyledLine

ROOM = command.app()


@command.command(
    ROOM, *command.PROMPT, epilog=command.examples('zkchat context show --next "and how long?"', "zkchat context show --turn 3")
)
def show(
    call: command.CommandContext,
    id_: command.ConversationArgument = None,
    next_: Annotated[str | None, typer.Option("--next", metavar="TEXT", help="Show the prompt for this message.")] = None,
    turn: Annotated[int | None, typer.Option("--turn", metavar="N", help="Show what was sent then, for your N-th message.")] = None,
    call_number: Annotated[int | None, typer.Option("--call", metavar="K", help="Of that turn, its K-th call alone.")] = None,
) -> None:
    """The exact messages and tools the next call would send, or an earlier one has sent."""
    from zkchat_cli.views import prompts

    if turn is not None and next_ is not None:
        raise UsageError("--turn shows the past, --next what is to come", "Leave out one of them.")
    if call_number is not None and turn is None:
        raise UsageError("--call needs a --turn", "Say which turn's call, as --turn 3 --call 1.")
    if turn is not None:
        _show_past(call, id_, turn, call_number)
        return
    with call.session(id_, indexed=next_ is not None) as session:
        prompt = session.prompt(next_)
    if call.as_json:
        call.screen.json(prompt)
    else:
        with paged(call.screen) as pager:
            pager.print(prompts.prompt_text(prompt))


def _show_past(call: command.CommandContext, id_: str | None, turn: int, number: int | None) -> None:
    from zkchat_cli.views import prompts

    conversation, [one] = _pasts(call, id_, turn)
    if call.as_json:
        call.screen.json({"conversation_id": conversation, **one.document(number)})
    else:
        with paged(call.screen) as pager:
            pager.print(prompts.sent_prompts_text(one, number))


def _pasts(call: command.CommandContext, id_: str | None, *turns: int) -> "tuple[str, list[SentPrompts]]":
    """What was sent in some turns of a conversation, and its id."""
    from zkchat_cli.context import prompt_history

    with call.opened() as bench:
        conversation = bench.find(id_)
        history = bench.store.history(conversation.id)
        found = [prompt_history.past(history, turn, bench.store.prompts(prompt_history.asked(history, turn).id)) for turn in turns]
    return conversation.id, found


@command.command(ROOM, *command.NOTES, epilog=command.examples("zkchat context diff 3 4"))
def diff(
    call: command.CommandContext,
    a: Annotated[int, typer.Argument(metavar="A", help="A turn, counted by your messages.")],
    b: Annotated[int, typer.Argument(metavar="B", help="Another one.")],
    id_: command.ConversationArgument = None,
) -> None:
    """What came into the prompt from turn A to turn B, and what left it."""
    from zkchat_cli.context import prompt_history
    from zkchat_cli.views import prompts

    conversation, [before, after] = _pasts(call, id_, a, b)
    found = prompt_history.changes(before.last, after.last)
    if call.as_json:
        turns = {name: {"turn": one.number, "tokens": one.tokens} for name, one in (("a", before), ("b", after))}
        call.screen.json({"conversation_id": conversation, **turns, **found.document})
        return
    with paged(call.screen) as pager:
        pager.print(prompts.prompt_diff_text(before, after, found))


@command.command(ROOM, *command.PROMPT, epilog=command.examples("zkchat context stats --watch"))
def stats(
    call: command.CommandContext,
    id_: command.ConversationArgument = None,
    watch: Annotated[bool, typer.Option("--watch", "-w", help="Show them again whenever they change, until Ctrl-C.")] = False,
) -> None:
    """Tokens per component against budgets, and what to do about the largest."""
    with call.session(id_) as session:
        if watch:
            _watch(call, session, id_)
        else:
            _print_stats(call, _stats(call, session))


def _stats(call: command.CommandContext, session: "ZkChatSession") -> "str | list[StyledLine]":
    from zkchat_cli.chat.command_hints import IN_SHELL
    from zkchat_cli.views import context_usage

    prompt = session.prompt()
    if call.as_json:
        return call.screen.as_json(prompt.usage)
    filtered = session.parts.settings.context.tool_filter == "auto"
    return context_usage.usage_lines(prompt, _columns(), context_usage.pinned_turns(session.history), IN_SHELL, filtered=filtered)


def _print_stats(call: command.CommandContext, stats: "str | list[StyledLine]") -> None:
    if isinstance(stats, str):
        call.screen.print(stats)
    else:
        call.screen.fitted().show(stats)


def _watch(call: command.CommandContext, session: "ZkChatSession", id_: str | None) -> None:
    """Of the conversation that is named, or of whichever is the vault's latest, until Ctrl-C."""
    from zkchat_cli.chat.session import ZkChatSession

    parts = session.parts

    def look() -> "str | list[StyledLine]":
        return _stats(call, ZkChatSession(parts, parts.store.find(id_, str(parts.vault.root))))

    redrawing.watch(lambda: (parts.store.facts_version(), _columns()), look, lambda stats: _print_stats(call, stats), call.screen)


def _columns() -> int:
    from zkchat_cli.views import context_usage

    return shutil.get_terminal_size((context_usage.WIDTH, 24)).columns


@command.command(ROOM, *command.NOTES)
def summary(call: command.CommandContext, id_: command.ConversationArgument = None) -> None:
    """The summary that stands for older turns, if there is one."""
    from zkchat_cli.context.compaction_policy import covered
    from zkchat_cli.views.compaction import describe_active_compaction

    with call.session(id_) as session:
        compaction = session.compaction
        covers = covered(compaction, session.turns) if compaction else None
    if call.as_json:
        call.screen.json([{**compaction.model_dump(mode="json"), "covers": asdict(covers)}] if compaction and covers else [])
    elif compaction is None or covers is None:
        call.screen.remark("No summary: every turn is sent as it is.")
    else:
        call.screen.print(describe_active_compaction(compaction, covers), "bold")
        call.screen.print(compaction.summary or "")


@command.command(ROOM, "agent", *command.NOTES, epilog=command.examples('zkchat context memory --next "how much is the rent?"'))
def memory(
    call: command.CommandContext,
    id_: command.ConversationArgument = None,
    next_: Annotated[str, typer.Option("--next", metavar="TEXT", help="For this message.")] = "",
) -> None:
    """What of memory the next prompt would hold, and why."""
    from zkchat_cli.views.memory import NONE, memory_item_lines

    with call.opened() as bench:
        if next_:
            bench.vault.refresh()
        there = id_ is not None or bench.store.conversations(str(bench.vault.root), 1)  # project memory is there before anything was said
        session = bench.session(bench.find(id_) if there else None)
        items = session.memory_for(next_)
        for message, hint in session.keeper.take_notices():
            call.screen.warn(message, hint)
    if call.as_json:
        values = ({f: getattr(item, f) for f in item.__dataclass_fields__} for item in items)
        call.screen.json([{**value, "relative_path": value["relative_path"] or None} for value in values])
        return
    call.screen.show([*memory_item_lines(items)])
    if not items:
        call.screen.remark(NONE.format('zkchat memory add "…"'))
