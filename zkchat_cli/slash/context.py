"""Commands that show the context, or change what is in it."""

from collections.abc import Generator
from functools import partial

from zkchat_cli.chat import numbered_turns
from zkchat_cli.chat.session import ZkChatSession
from zkchat_cli.context import prompt_history, strategies
from zkchat_cli.context.compaction_plan import CompactionRequest
from zkchat_cli.context.turns import is_fixed
from zkchat_cli.events import Event, TextDelta
from zkchat_cli.models.messages import sum_usage
from zkchat_cli.slash.base import (
    CommandResult,
    Lines,
    complete_questions,
    complete_turns,
    find_question,
    opening,
    slash_command,
)
from zkchat_cli.text.numbers import parse_number, plural
from zkchat_cli.views import prompts
from zkchat_cli.views.text import StyledLine, StyledSpan, styled_line, usage_text
from zkchat_cli.views.turn_steps import describe_compaction

# The last turns, which `/pin` lists with their numbers
MAX_TURNS = 8


@slash_command()
def context(session: ZkChatSession, _: str) -> CommandResult:
    """Show tokens per component against the budgets, and how to reduce them.

    They are the tokens of the next prompt. /show prints it word for word."""
    render = partial(prompts.usage_lines, session.prompt(), session.history)
    return CommandResult(lines=render(), render=render)


@slash_command(
    "[[preview] [instructions] | undo]",
    lambda _: {"preview": "show what it would do", "undo": "undo the last compaction"},
)
def compact(session: ZkChatSession, argument: str) -> CommandResult:
    """Summarize older turns now; undo restores them.

    The instructions say what the summary must contain. Nothing is deleted. `preview` only shows
    what it would do.
    """
    if argument == "undo":
        undone = session.stored_state().undo_compaction()
        return CommandResult(
            "No compaction to undo."
            if undone is None
            else "Compaction undone: the prompt is as it was before."
        )
    word, _, rest = argument.partition(" ")
    preview = word == "preview"
    request = CompactionRequest(
        instructions=(rest.strip() if preview else argument) or None, preview=preview
    )

    if not session.runtime.summary_model.summarizes:
        return CommandResult(
            describe_compaction(session.compact(instructions=request.instructions, preview=preview))
        )

    # As events: the screen shows progress, and Ctrl-C stops it
    def summarize() -> Generator[Event, None, None]:
        done = yield from session.compaction_events(request)
        yield TextDelta(describe_compaction(done))

    return CommandResult(turn=summarize())


@slash_command("[N | last | message]", complete_questions)
def show(session: ZkChatSession, argument: str) -> str:
    """Show the next prompt word for word; N: the prompts that turn N sent.

    With a message: the prompt if that were your next message. /context shows the token counts."""
    if argument != numbered_turns.LAST and parse_number(argument) is None:
        return prompts.prompt_text(session.prompt(argument or None))
    turn = find_question(session, argument).turn
    return prompts.sent_prompts_text(
        prompt_history.restore_sent_prompts(session.history, turn, session.store.prompts)
    )


@slash_command(
    "[N | last]",
    lambda session: {
        numbered_turns.LAST: "",
        **complete_turns(numbered_turns.list_turn_parts(session.history)),
    },
)
def pin(session: ZkChatSession, argument: str) -> str | Lines:
    """Include turn N in every prompt; without N, list the pinned and the last turns.

    A turn is a question with its answer, counted from 1. Pinned turns are sent word for word and
    never summarized; /unpin N removes the pin.
    """
    counter = session.runtime.counter
    history = session.history
    if argument:
        pinned = numbered_turns.resolve_turn(history, argument)
        session.stored_state().update_marks([each.message for each in pinned], pinned=True)
        tokens = sum(counter.count(each.message.content) for each in pinned)
        which = f"turn {pinned[0].turn}, {' and '.join(each.part for each in pinned)}"
        return (
            f"Pinned {which}: {tokens:,} tokens in every prompt. /unpin {pinned[0].turn} "
            "removes them."
        )
    pinned = numbered_turns.pinned_parts(history)
    parts = numbered_turns.list_turn_parts(history)
    if not parts:
        return "No messages yet."

    def listed(each: numbered_turns.TurnPart, why: str = "") -> StyledLine:
        tokens = f"{counter.count(each.message.content):>6,} tokens"
        return styled_line(
            f"{each.turn:>4} {each.part:<8} {tokens}{why}: {opening(each.message)}", indent=5
        )

    first = (
        "In every prompt, word for word:"
        if pinned
        else "Nothing is pinned, and no message is a lasting instruction."
    )
    fixed = [
        listed(each, ", pinned" if each.message.pinned else ", an instruction") for each in pinned
    ]
    recent = [listed(each) for each in parts if each.turn > parts[-1].turn - MAX_TURNS]
    return [styled_line(first), *fixed, styled_line("The last turns:"), *recent]


@slash_command("N", lambda session: complete_turns(numbered_turns.pinned_parts(session.history)))
def unpin(session: ZkChatSession, argument: str) -> str:
    """Stop including turn N in every prompt.

    /pin lists the pinned turns."""
    unpinned = [
        each
        for each in numbered_turns.resolve_turn(session.history, argument)
        if is_fixed(each.message)
    ]
    if not unpinned:
        return "That turn is not pinned; /pin lists the pinned turns."
    session.stored_state().update_marks([each.message for each in unpinned], pinned=False)
    parts = " and ".join(each.part for each in unpinned)
    return (
        f"Unpinned turn {unpinned[0].turn}, {parts}. It stays in the log and can still be recalled."
    )


def _described(_session: ZkChatSession) -> dict[str, str]:
    return {name: strategies.strategy(name).help for name in strategies.names()}


@slash_command("[NAME]", _described)
def strategy(session: ZkChatSession, argument: str) -> str | Lines:
    """Show what is sent when the window is full; NAME switches.

    The strategies are hybrid, summarize and discard. `zkchat config set context.strategy NAME`
    makes it permanent.
    """
    if argument:
        session.override_setting("context.strategy", argument)
        return f"Switched to {argument}: {strategies.strategy(argument).help}"
    mark = {session.runtime.strategy.name: "→ "}
    described = _described(session).items()
    return [
        StyledLine(
            (StyledSpan(mark.get(name, "  ")), StyledSpan(name, "bold")), (StyledSpan(text),)
        )
        for name, text in described
    ]


@slash_command("[text]")
def tokens(session: ZkChatSession, argument: str) -> str:
    """Count the tokens of a text; without text, of this conversation."""
    counter = session.runtime.counter
    if argument:
        count = counter.count(argument)
        return (
            f"{'~' if counter.estimated else ''}{plural(count, 'token')}, "
            f"{plural(len(argument), 'character')}"
        )
    usage = session.usage
    mark = "~" if usage.estimated else ""
    text = (
        f"The next prompt uses {mark}{usage.total_tokens:,} of {usage.effective_limit:,} "
        "tokens, without your message."
    )
    stored = (
        session.store.compactions(session.conversation.id, undone=True) if session.is_stored else ()
    )
    requested = [each for each in stored if each.requested]
    for paid, one, many in (
        (session.archive().messages, "answer", "answers"),
        (requested, "summary", "summaries"),
    ):
        if costs := [each.usage for each in paid if each.usage is not None]:
            text += f"\n{plural(len(costs), one, many)}: {usage_text(sum_usage(costs))}."
    return text
