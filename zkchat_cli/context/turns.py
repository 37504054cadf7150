"""Turns: the user's messages with everything that answers them, as the branch in use holds them and
as they are sent.

A prompt keeps, drops or folds whole turns, never single messages, so that a tool call always has
its result and an answer its question. Every prompt has the fixed messages word for word (see
`fixed_messages.py`).
"""

from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Mapping, Sequence
from copy import copy
from itertools import chain
from operator import attrgetter
from typing import NamedTuple

from zkchat_cli.context.fixed_messages import is_fixed
from zkchat_cli.context.message_priority import IMPORTANT, describe_priority, message_priority
from zkchat_cli.context.prompt_messages import FIXED_TAG, make_prompt_message, render_turn
from zkchat_cli.models.compaction import Compaction
from zkchat_cli.models.messages import ZkChatMessage
from zkchat_cli.models.prompts import PromptMessage
from zkchat_cli.text.fences import fence
from zkchat_cli.tokens.counter import TokenCounter


class Turn:
    """The messages of a turn, also in the form in which they are sent.

    `number` counts the user's messages, from 1.
    """

    def __init__(
        self, messages: Sequence[ZkChatMessage], number: int, counter: TokenCounter
    ) -> None:
        self.messages = tuple(messages)
        self.number = number
        self.counter = counter
        self.ids = tuple(message.id for message in messages)
        self.prompt = render_turn(messages, counter)
        # A turn with a failure never goes into a prompt
        self.failure = failure_reason(messages)
        # Its pinned messages and standing instructions in the form in which they are sent without
        # the turn; of a failed turn only the pinned ones
        self.fixed = self._render_fixed()
        self.fixed_ids = _source_ids(self.fixed)
        # The priority of each message
        self.priorities = tuple(map(message_priority, messages))
        self.has_priority_set = any(message.priority is not None for message in messages)
        called_tools: set[str] = set()
        for message in messages:
            for call in message.tool_calls:
                called_tools.add(call.name)
        self.called_tools = frozenset(called_tools)
        self.tokens = sum(message.tokens for message in self.prompt)
        self.fixed_tokens = sum(message.tokens for message in self.fixed)

    @property
    def important(self) -> list[ZkChatMessage]:
        """The messages that may stay word for word when the turn leaves the prompt; not those that
        stay in any case.
        """
        if self.failure:
            return []
        found: list[ZkChatMessage] = []
        for message, priority in zip(self.messages, self.priorities, strict=True):
            if priority >= IMPORTANT and message.content and message.id not in self.fixed_ids:
                found.append(message)
        return found

    def _render_fixed(self) -> tuple[PromptMessage, ...]:
        rendered: list[PromptMessage] = []
        for message in self.messages:
            if not message.content or message.status == "damaged":
                continue
            if message.pinned if self.failure else is_fixed(message):
                rendered.append(self.render_kept(message))
        return tuple(rendered)

    def render_kept(self, message: ZkChatMessage) -> PromptMessage:
        """One of its messages in the form in which it is sent without the turn."""
        text = _fence_fixed(message, self.number)
        return make_prompt_message("user", "conversation", text, self.counter, (message.id,))

    @property
    def id(self) -> str:
        """The id of its first message."""
        return self.ids[0]

    @property
    def spoken(self) -> list[ZkChatMessage]:
        """What the user and the model said."""
        return [message for message in self.messages if message.role != "tool" and message.content]

    @property
    def foldable_tokens(self) -> int:
        """Tokens that a prompt saves without the turn."""
        return self.tokens - self.fixed_tokens

    def with_prompt(self, rendered: tuple[PromptMessage, ...]) -> "Turn":
        """The same turn with other messages to send."""
        turn = copy(self)
        turn.prompt = rendered
        turn.tokens = sum(message.tokens for message in rendered)
        return turn

    def with_fixed(self, rendered: Iterable[PromptMessage]) -> "Turn":
        """The same turn with more messages that are sent without it."""
        turn = copy(self)
        turn.fixed = (*self.fixed, *rendered)
        turn.fixed_ids = _source_ids(turn.fixed)
        turn.fixed_tokens = sum(message.tokens for message in turn.fixed)
        return turn


def _source_ids(rendered: Iterable[PromptMessage]) -> frozenset[str]:
    """The ids of the log's messages that these messages were made from."""
    ids: set[str] = set()
    for message in rendered:
        ids.update(message.source_ids)
    return frozenset(ids)


def failure_reason(messages: Sequence[ZkChatMessage]) -> str:
    """Why a turn is left out of prompts; empty if it is not.

    A message is damaged, or the call failed, was stopped before its first word, or the process
    died.
    """
    statuses = [message.status for message in messages]
    if "damaged" in statuses:
        return "a message is damaged on disk"
    last = messages[-1]
    never_answered = last.role == "user" and last.status in ("pending", "unfinished")
    return "the model call failed" if never_answered or "failed" in statuses else ""


class TurnHistory(NamedTuple):
    """The finished turns of a branch, oldest first.

    `turns` can be sent, `failed` cannot. Of `turns`, some have fixed messages, important ones, or a
    priority that the user set. The work for each prompt takes as long with 10,000 turns as with
    100.
    """

    turns: tuple[Turn, ...] = ()
    failed: tuple[Turn, ...] = ()
    fixed: tuple[Turn, ...] = ()
    important: tuple[Turn, ...] = ()
    prioritized: tuple[Turn, ...] = ()

    @property
    def all_turns(self) -> tuple[Turn, ...]:
        """The turns that can be sent and those that failed, in their order."""
        if not self.failed:
            return self.turns
        return tuple(sorted((*self.turns, *self.failed), key=_number))

    @property
    def tokens(self) -> int:
        """Tokens of `turns`."""
        return sum(turn.tokens for turn in self.turns)

    @property
    def fixed_tokens(self) -> int:
        """Tokens of the fixed messages in `turns`."""
        return sum(turn.fixed_tokens for turn in self.fixed)

    @property
    def set_priorities(self) -> dict[str, int]:
        """The priorities that the user set, by the messages' ids."""
        found: dict[str, int] = {}
        for turn in self.prioritized:
            for message, priority in zip(turn.messages, turn.priorities, strict=True):
                if message.priority is not None:
                    found[message.id] = priority
        return found

    def with_fixed(self, more: Mapping[int, Iterable[PromptMessage]]) -> "TurnHistory":
        """The history with more fixed messages in the turns with these numbers."""
        if not more:
            return self
        turns = list(self.turns)
        fixed = {turn.number: turn for turn in self.fixed}
        for number, rendered in more.items():
            position = bisect_left(self.turns, number, key=_number)
            turns[position] = turns[position].with_fixed(rendered)
            fixed[number] = turns[position]
        in_order = tuple(sorted(fixed.values(), key=_number))
        return self._replace(turns=tuple(turns), fixed=in_order)

    def since(self, position: int) -> "TurnHistory":
        """The turns that can be sent from this position on."""
        turns = self.turns[position:]
        if not turns:
            return TurnHistory()
        first = turns[0].number
        fixed = tuple(turn for turn in self.fixed if turn.number >= first)
        return TurnHistory(turns, fixed=fixed)

    def starting_with(self, message_id: str | None) -> tuple[Turn, ...]:
        """Those of `turns` from the turn of this message on; none if it is in no turn. The search
        begins at the end.
        """
        for turn in chain(reversed(self.turns), self.failed):
            if message_id in turn.ids:
                return self.turns[bisect_left(self.turns, turn.number, key=_number) :]
        return ()

    def count_covered(self, compaction: Compaction | None) -> int:
        """How many of `turns`, from the first, a compaction's summary covers.

        The search begins at the end, where the border is.
        """
        if compaction is not None and compaction.summary:
            for turn in chain(reversed(self.turns), self.failed):
                if compaction.last_id in turn.ids:
                    return bisect_right(self.turns, turn.number, key=_number)
        return 0


_number = attrgetter("number")


def make_turns(
    exchanges: Iterable[Sequence[ZkChatMessage]],
    counter: TokenCounter,
    before: TurnHistory = TurnHistory(),  # noqa: B008
) -> TurnHistory:
    """The turns `before`, followed by the turns of these exchanges.

    The first question is turn 1. Messages before it, which some imports have, are a turn of their
    own, 0.
    """
    last_turns = (*before.turns[-1:], *before.failed[-1:])
    number: int | None = max(map(_number, last_turns), default=None)
    turns: list[Turn] = []
    failed: list[Turn] = []
    for messages in exchanges:
        if number is not None:
            number += 1
        else:
            number = 1 if messages[0].role == "user" else 0
        turn = Turn(messages, number, counter)
        (failed if turn.failure else turns).append(turn)
    fixed = [turn for turn in turns if turn.fixed]
    important = [turn for turn in turns if turn.important]
    prioritized = [turn for turn in turns if turn.has_priority_set]
    return TurnHistory(
        turns=(*before.turns, *turns),
        failed=(*before.failed, *failed),
        fixed=(*before.fixed, *fixed),
        important=(*before.important, *important),
        prioritized=(*before.prioritized, *prioritized),
    )


def _fence_fixed(message: ZkChatMessage, turn: int) -> str:
    why = "an instruction of the user that still holds"
    if message.pinned:
        why = "pinned by the user"
    elif not is_fixed(message):
        why = describe_priority(message)
    return fence(
        FIXED_TAG,
        message.content,
        turn=turn,
        role=message.role,
        date=message.timestamp[:10],
        why=why,
    )


def select_newest(history: TurnHistory, budget: int) -> tuple[Turn, ...]:
    """The newest turns that take at most `budget` tokens, without gaps.

    The fixed messages of all turns are sent in any case.
    """
    kept: list[Turn] = []
    budget -= history.fixed_tokens
    for turn in reversed(history.turns):
        budget -= turn.foldable_tokens
        if budget < 0:
            break
        kept.append(turn)
    return tuple(reversed(kept))
