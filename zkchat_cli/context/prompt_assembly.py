"""Prompt assembly: one pure function from the log to what the model gets, the same for a call and
for `context show`.

The order keeps the front of the prompt the same from turn to turn, so that the provider's prompt
cache hits: instructions, memory, summary, recent turns; then what belongs to this message only
(recalled passages, relevant memory); then the message after the documents it names, and what its
tools have found so far.
"""

from collections.abc import Iterator, Sequence
from typing import NamedTuple

from zkchat_cli.context.budget import Budget, history_budget
from zkchat_cli.context.dropped_items import (
    EarlierTurn,
    dropped_memory,
    dropped_messages,
    dropped_tools,
    named_documents,
)
from zkchat_cli.context.passages import RecallPassage, format_passages
from zkchat_cli.context.prompt_inputs import PromptInputs
from zkchat_cli.context.prompt_layout import PromptLayout, lay_out_prompt, memory_id
from zkchat_cli.context.prompt_messages import RECALLED_TAG, make_prompt_message
from zkchat_cli.context.prompt_size import advise_on_size
from zkchat_cli.context.strategies.base import HistoryWindow, Selection, Strategy
from zkchat_cli.context.turns import TurnHistory
from zkchat_cli.context.usage import NOT_DUE, compaction_due, measure_usage
from zkchat_cli.errors import PromptTooLarge
from zkchat_cli.models.messages import ZkChatMessage
from zkchat_cli.models.prompts import (
    CompactionDue,
    ContextUsage,
    DroppedItem,
    Prompt,
    PromptMessage,
)
from zkchat_cli.references.injection import DocumentRoom
from zkchat_cli.text.fences import fence
from zkchat_cli.tokens.counter import TokenCounter

DROP_BATCHES = 3
"""Turns are dropped in this many batches of the messages' budget.

More would break the prompt cache more often, fewer would forget more.
"""


class _FittedLayout(NamedTuple):
    """A layout that fits, its usage without turns, and whether compaction is due.

    That depends on the layout before anything was left out.
    """

    layout: PromptLayout
    usage: ContextUsage
    compaction: CompactionDue


def assemble_prompt(
    inputs: PromptInputs,
    budget: Budget,
    strategy: Strategy,
    counter: TokenCounter,
    *,
    explain: bool = True,
) -> Prompt:
    """What the next model call sends, within the effective limit.

    The same inputs give the same prompt, to the byte. Instructions, tools, memory, fixed messages
    and the current turn are always sent, the summary unless it is too large; the history gets the
    rest of the messages' budget (`history_budget`). Raises PromptTooLarge, which names the largest
    items, if the required parts do not fit. `explain`: also list the dropped messages, which are
    thousands in a long conversation.

    Without a question, and if a compaction comes before the next one, the prompt has the whole
    history, even beyond the limit: so much does the conversation need.
    """
    fitted = _fit_layout(inputs, budget, strategy, counter)
    layout = fitted.layout
    window = _history_window(inputs, fitted, budget, counter)
    if fitted.compaction.runs_first and inputs.question is None:
        selection = Selection(layout.recent.turns)
    else:
        selection = strategy.choose(window)
    messages = (
        *layout.front,
        *layout.summary,
        *layout.fixed,
        *_render_history(selection, layout.recent),
        *_render_passages(selection, window),
        *layout.contextual_memory,
        *layout.current,
    )
    sent: list[ZkChatMessage] = []
    if explain:
        for turn in selection.turns:
            sent += turn.messages
        sent += inputs.current
    return Prompt(
        messages=messages,
        tools=layout.tools,
        usage=measure_usage(messages, layout.tools, budget, counter, fitted.compaction),
        dropped=_dropped_items(inputs, layout, messages, explain=explain),
        documents=named_documents(sent),
        retrieval=inputs.retrieval if explain else None,
        strategy=strategy.name,
    )


def count_uncompacted_tokens(
    inputs: PromptInputs, budget: Budget, strategy: Strategy, counter: TokenCounter
) -> int:
    """Tokens of the prompt if every turn after the summary were sent.

    Whether compaction is due depends on this number, because the prompt itself is made to fit.
    """
    layout = lay_out_prompt(inputs, budget, strategy, counter)
    return layout.measure(budget, counter).total_tokens + layout.recent.tokens


def room_for_documents(
    inputs: PromptInputs, budget: Budget, strategy: Strategy, counter: TokenCounter
) -> DocumentRoom:
    """Tokens that a prompt has for the documents of its question.

    That is the messages' budget, after the turns that the strategy chooses or without any; recalled
    passages give way to documents. Raises PromptTooLarge.
    """
    fitted = _fit_layout(inputs, budget, strategy, counter)
    window = _history_window(inputs, fitted, budget, counter)
    selection = strategy.choose(window)
    recalled = sum(message.tokens for message in _render_passages(selection, window))
    total = fitted.usage.total_tokens + window.tokens_with(selection.turns)
    fixed = fitted.usage.total_tokens + fitted.layout.recent.fixed_tokens
    return DocumentRoom(
        beside_turns=_room_beside(total + recalled, fitted.usage) + recalled,
        without_turns=_room_beside(fixed, fitted.usage),
    )


def _room_beside(total: int, usage: ContextUsage) -> int:
    """What the messages' budget leaves in a prompt of `total` tokens."""
    return history_budget(usage.model_copy(update={"total_tokens": total}))


def _fit_layout(
    inputs: PromptInputs, budget: Budget, strategy: Strategy, counter: TokenCounter
) -> _FittedLayout:
    """The layout without parts that do not fit: contextual memory first, then important messages
    without their turns, then the summary.

    Raises PromptTooLarge.
    """
    whole = lay_out_prompt(inputs, budget, strategy, counter)
    layout = whole
    usage = whole.measure(budget, counter)
    compaction = NOT_DUE
    if strategy.summarizes:
        compaction = compaction_due(
            usage, whole.recent.tokens, compacts_first=inputs.compacts_first
        )
    needed = usage.total_tokens + layout.recent.fixed_tokens
    for smaller in _smaller_layouts(inputs, whole, budget, strategy, counter):
        if needed <= budget.effective_limit:
            break
        layout = smaller
        usage = smaller.measure(budget, counter)
        needed = usage.total_tokens + layout.recent.fixed_tokens
    if needed > budget.effective_limit:
        question = inputs.question
        fixed: list[PromptMessage] = []
        for turn in layout.recent.fixed:
            fixed += turn.fixed
        raise PromptTooLarge(
            f"the prompt needs at least {needed:,} tokens; the limit is "
            f"{usage.effective_limit:,} of a window of {usage.max_context:,}",
            advise_on_size(
                (*layout.without_turns, *fixed),
                usage.tool_tokens,
                question.id if question is not None else "",
            ),
        )
    return _FittedLayout(layout, usage, compaction)


def _smaller_layouts(
    inputs: PromptInputs,
    whole: PromptLayout,
    budget: Budget,
    strategy: Strategy,
    counter: TokenCounter,
) -> Iterator[PromptLayout]:
    """The layout with less and less."""
    yield whole._replace(contextual_memory=())
    without_important = lay_out_prompt(inputs, budget, strategy, counter, keeps_important=False)
    yield without_important._replace(contextual_memory=())
    # A summary that is too large was made for a larger window
    yield without_important._replace(contextual_memory=(), summary=())


def _history_window(
    inputs: PromptInputs, fitted: _FittedLayout, budget: Budget, counter: TokenCounter
) -> HistoryWindow:
    """The turns and passages from which the strategy chooses."""
    layout = fitted.layout
    recent = layout.recent
    question = inputs.question
    fixed_ids: set[str] = set()
    for message in layout.fixed:
        fixed_ids.update(message.source_ids)
    for turn in recent.fixed:
        fixed_ids |= turn.fixed_ids
    at = fitted.compaction.at or budget.effective_limit
    return HistoryWindow(
        turns=inputs.history.turns,
        recent=recent,
        question=question.prompt_text if question is not None else "",
        budget=_turn_budget(fitted.usage, recent, budget),
        counter=counter,
        index_turns=inputs.index_turns,
        fixed_ids=frozenset(fixed_ids),
        set_priorities=inputs.history.set_priorities,
        compaction_room=at - fitted.usage.total_tokens,
        drop_batch=max(1, budget.messages // DROP_BATCHES),
    )


def _turn_budget(usage: ContextUsage, recent: TurnHistory, budget: Budget) -> int:
    """Tokens for earlier turns.

    If not all turns fit, the share of the messages is the limit. The newest turn is sent whenever
    it fits at all, because the next question is most likely about it.
    """
    share = history_budget(usage)
    if recent.tokens > share:
        share = min(share, budget.messages)
    if not recent.turns:
        return share
    newest = recent.turns[-1].foldable_tokens + recent.fixed_tokens
    if newest > usage.effective_limit - usage.total_tokens:
        return share
    return max(share, newest)


def _render_history(selection: Selection, recent: TurnHistory) -> list[PromptMessage]:
    """The fixed messages of recent turns that were not chosen, followed by the chosen turns."""
    whole = {turn.number for turn in selection.turns}
    messages: list[PromptMessage] = []
    for turn in recent.fixed:
        if turn.number not in whole:
            messages += turn.fixed
    for turn in selection.turns:
        messages += turn.prompt
    return messages


def _render_passages(selection: Selection, window: HistoryWindow) -> tuple[PromptMessage, ...]:
    """A message that quotes the passages; the oldest are left out if they take more tokens than
    estimated.
    """
    budget = window.budget
    if window.is_folded:
        budget = min(budget, window.compaction_room)
    budget -= window.tokens_with(selection.turns)
    for first in range(len(selection.passages)):
        message = _quote(selection.passages[first:], window.counter)
        if message.tokens <= budget:
            return (message,)
    return ()


def _quote(passages: Sequence[RecallPassage], counter: TokenCounter) -> PromptMessage:
    ids = tuple(dict.fromkeys(passage.message.id for passage in passages))
    text = fence(RECALLED_TAG, format_passages(passages))
    return make_prompt_message("user", "recalled", text, counter, ids)


def _dropped_items(
    inputs: PromptInputs,
    layout: PromptLayout,
    messages: Sequence[PromptMessage],
    *,
    explain: bool,
) -> tuple[DroppedItem, ...]:
    """What the prompt leaves out.

    Messages are listed only if they should be explained, tools and memory always.
    """
    turns: list[EarlierTurn] = []
    if explain:
        turns = [EarlierTurn(turn.ids, turn.failure) for turn in inputs.history.all_turns]
    covered: str | None = None
    if inputs.compaction is not None and layout.summary:
        covered = inputs.compaction.last_id
    unsent = () if layout.contextual_memory else inputs.contextual_memory
    return (
        *dropped_messages(turns, messages, covered),
        *dropped_tools(layout.omitted_tools),
        *dropped_memory(map(memory_id, unsent)),
    )
