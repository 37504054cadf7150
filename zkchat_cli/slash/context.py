"""Commands about the context: what the next prompt contains, how large it is, and what stays in it."""

import re
from collections.abc import Generator, Iterable, Sequence

from zkchat_cli.chat import pins
from zkchat_cli.chat.compactor import CompactionRequest
from zkchat_cli.chat.session import ZkChatSession
from zkchat_cli.context import prompt_history, strategies
from zkchat_cli.errors import UsageError
from zkchat_cli.events import CompactionDone, Event, TextDelta
from zkchat_cli.slash import base
from zkchat_cli.slash.base import CommandResult, CompletionValue, SlashCommand
from zkchat_cli.text.truncate import truncate
from zkchat_cli.views import context_usage, prompts
from zkchat_cli.views.compaction import describe_compaction
from zkchat_cli.views.text import StyledLine, StyledSpan, styled_line

MAX_TURNS = 8
"""The last turns, which `/pin` lists with their numbers."""
_TURN = re.compile(r"(\d{1,9}|last)(?:\s+(\d{1,9}))?")


def _context(session: ZkChatSession) -> CommandResult:
    prompt = session.prompt()
    pinned = context_usage.pinned_turns(session.history)
    filtered = session.runtime.settings.context.tool_filter == "auto"

    def render(width: int) -> Sequence[StyledLine]:
        return context_usage.usage_lines(prompt, width, pinned, filtered=filtered)

    return CommandResult(lines=render(context_usage.WIDTH), render=render)


def _compact(session: ZkChatSession, argument: str) -> CommandResult:
    if argument == "undo":
        undone = session.undo_compaction()
        return CommandResult("No compaction to undo." if undone is None else "Compaction undone: the prompt is as it was before.")
    if session.runtime.can_summarize:
        return CommandResult(turn=_compaction_events(session, argument))
    return CommandResult(describe_compaction(session.compact(instructions=argument or None)))


def _compaction_events(session: ZkChatSession, instructions: str) -> Generator[Event, None, None]:
    """A summary by a model takes time: as events, the screen shows progress and Ctrl-C stops it."""
    events = session.compaction_events(CompactionRequest(instructions=instructions or None))
    while True:
        try:
            event = next(events)
        except StopIteration as end:
            yield TextDelta(describe_compaction(end.value))
            return
        if not isinstance(event, CompactionDone):  # the text at the end says it in full
            yield event


def _show(session: ZkChatSession, argument: str) -> CommandResult:
    turn = _TURN.fullmatch(argument)
    if turn is None:
        return CommandResult(prompts.prompt_text(session.prompt(argument or None)), paged=True)
    question = base.find_question(session, turn[1])
    sent = prompt_history.restore_sent_prompts(session.history, question.turn, session.store.prompts(question.message.id))
    return CommandResult(prompts.sent_prompts_text(sent, int(turn[2]) if turn[2] else None), paged=True)


def _pin(session: ZkChatSession, argument: str) -> CommandResult:
    if not argument:
        return CommandResult(lines=list(_pin_overview(session)))
    pinned = session.pin(argument)
    turn = pinned[0].turn
    tokens = sum(session.runtime.counter.count(each.message.content) for each in pinned)
    parts = " and ".join(each.part for each in pinned)
    return CommandResult(f"Pinned turn {turn}, {parts}: {tokens:,} tokens in every prompt. /unpin {turn} removes them.")


def _pin_overview(session: ZkChatSession) -> Iterable[StyledLine]:
    pinned, parts = pins.pinned_parts(session.history), pins.list_turn_parts(session.history)
    if not parts:
        yield styled_line("No messages yet.")
        return
    yield styled_line("In every prompt, word for word:" if pinned else "Nothing is pinned, and no message is a lasting instruction.")
    yield from (_part_line(each, session, "pinned" if each.message.pinned else "an instruction") for each in pinned)
    yield styled_line("The last turns:")
    yield from (_part_line(each, session) for each in parts if each.turn > parts[-1].turn - MAX_TURNS)


def _part_line(part: pins.TurnPart, session: ZkChatSession, reason: str = "") -> StyledLine:
    tokens = session.runtime.counter.count(part.message.content)
    prefix = f"{part.turn:>4} {part.part:<8} {tokens:>6,} tokens{', ' if reason else ''}{reason}: "
    return styled_line(f"{prefix}{truncate(part.message.display_text, 60)}", indent=5)


def _unpin(session: ZkChatSession, argument: str) -> CommandResult:
    if not argument:
        raise UsageError("which turn?", "/unpin N; /pin lists the pinned turns.")
    unpinned = session.unpin(argument)
    if not unpinned:
        return CommandResult("That turn is not pinned; /pin lists the pinned turns.")
    parts = " and ".join(each.part for each in unpinned)
    return CommandResult(f"Unpinned turn {unpinned[0].turn}, {parts}. It stays in the log and can still be recalled.")


def _strategy(session: ZkChatSession, argument: str) -> CommandResult:
    if argument:
        session.override_setting("context.strategy", argument)
        return CommandResult(f"Switched to {argument}: {strategies.load_strategy(argument).help}")
    lines = []
    for strategy in map(strategies.load_strategy, strategies.strategy_names()):
        marker = "→ " if strategy.name == session.runtime.strategy.name else "  "
        lines.append(StyledLine((StyledSpan(marker), StyledSpan(strategy.name, "bold")), (StyledSpan(strategy.help),)))
    return CommandResult(lines=lines)


def _tokens(session: ZkChatSession, argument: str) -> CommandResult:
    counter = session.runtime.counter
    if argument:
        count = counter.count(argument)
        tokens = f"{'~' if counter.estimated else ''}{count:,} token{'' if count == 1 else 's'}"
        return CommandResult(f"{tokens}, {len(argument):,} character{'' if len(argument) == 1 else 's'}")
    usage = session.usage
    mark = "~" if usage.estimated else ""
    text = f"The next prompt uses {mark}{usage.total_tokens:,} of {usage.effective_limit:,} tokens, without your message."
    costs = [message.usage for message in session.history if message.usage is not None]
    if costs:
        about = "about " if any(cost.estimated for cost in costs) else ""
        tokens_in, tokens_out = sum(cost.prompt_tokens for cost in costs), sum(cost.completion_tokens for cost in costs)
        text += f"\n{len(costs)} answer{'' if len(costs) == 1 else 's'}: {about}{tokens_in:,} tokens in, {tokens_out:,} out."
    return CommandResult(text)


COMMANDS = (
    SlashCommand("context", "show tokens per component against the budgets, and how to reduce them", lambda session, _: _context(session)),
    SlashCommand(
        "compact",
        "summarize older turns now; undo restores them",
        _compact,
        "[instructions | undo]",
        lambda _: [CompletionValue("undo", "undo the last compaction")],
        "The instructions say what the summary must contain. Nothing is deleted. `zkchat context compact --preview` only shows it.",
    ),
    SlashCommand(
        "show",
        "show the next prompt word for word; N: the prompt that turn N sent",
        _show,
        "[N [call] | last | message]",
        base.complete_questions,
        "With a message: the prompt if that were your next message. A turn that used tools made several model calls; a second number "
        "shows only that call. /context shows the token counts.",
    ),
    SlashCommand(
        "pin",
        "include turn N in every prompt; without N, list the pinned and the last turns",
        _pin,
        "[N | last]",
        lambda session: [pins.LAST, *base.complete_turns(pins.list_turn_parts(session.history))],
        "A turn is a question with its answer, counted from 1. Pinned turns are sent word for word and never summarized; "
        "/unpin N removes the pin.",
    ),
    SlashCommand(
        "unpin",
        "stop including turn N in every prompt",
        _unpin,
        "N",
        lambda session: base.complete_turns(pins.pinned_parts(session.history)),
    ),
    SlashCommand(
        "strategy",
        "show what is sent when the window is full; NAME switches",
        _strategy,
        "[NAME]",
        lambda _: [CompletionValue(name, strategies.load_strategy(name).help) for name in strategies.strategy_names()],
    ),
    SlashCommand("tokens", "count the tokens of a text; without text, of this conversation", _tokens, "[text]"),
)
