"""Asks before a turn that would make a conversation cost more than `chat.max_cost`."""

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from typing import NamedTuple

from zkchat_cli.errors import CostLimitReached
from zkchat_cli.events import CostAsked, Notice
from zkchat_cli.models.messages import ZkChatMessage
from zkchat_cli.models.money import Money
from zkchat_cli.text.numbers import amount_text

EXPECTED_ANSWER = 1_000
"""Tokens that an answer is expected to have, unless llm.max_output_tokens limits it."""
RAISE_IT = "Raise it with `zkchat config set chat.max_cost AMOUNT`, or start another conversation."


class TurnCost(NamedTuple):
    """What a turn is expected to cost, None if the model's price is unknown, and the limit."""

    conversation_id: str
    model: str
    expected: Money | None
    limit: float


@dataclass
class CostGuard:
    """Compares what a conversation costs with its limit. `approve` asks the user; without it,
    nobody can be asked. Each approval allows as much again as the limit.
    """

    approve: Callable[[str], bool] | None = None
    _allowed: dict[str, float] = field(default_factory=dict)
    _told: set[str] = field(default_factory=set)

    def check(self, turn: TurnCost, log: Iterable[ZkChatMessage]) -> Iterator[Notice | CostAsked]:
        """Ask if this turn would exceed the limit, after those in the `log`. Yields what the user
        should know. Raises CostLimitReached if the turn must not be sent.
        """
        if turn.expected is None:
            yield from self._tell_unknown_price(turn.model)
            return
        currency = turn.expected.currency
        total = turn.expected.amount + _spent(log, currency)
        if total <= max(turn.limit, self._allowed.get(turn.conversation_id, 0)):
            return
        expected = amount_text(turn.expected.amount, currency)
        problem = (
            f"this turn costs about {expected}, and the conversation "
            f"{amount_text(total, currency)} with it: more than chat.max_cost = {turn.limit:g}"
        )
        if self.approve is None:
            raise CostLimitReached(problem, RAISE_IT)
        question = f"{problem[0].upper()}{problem[1:]}. Send it?"
        yield CostAsked(question)
        if not self.approve(question):
            raise CostLimitReached(f"not sent: {problem}", RAISE_IT)
        self._allowed[turn.conversation_id] = total + turn.limit

    def _tell_unknown_price(self, model: str) -> list[Notice]:
        """What to tell once about a model with an unknown price."""
        if model in self._told:
            return []
        self._told.add(model)
        hint = f"zkchat config set llm.prices '{model} = INPUT/OUTPUT' sets it."
        return [Notice(f"chat.max_cost has no effect: the price of {model} is unknown", hint)]


def _spent(log: Iterable[ZkChatMessage], currency: str) -> float:
    """What the answers so far have cost in this currency."""
    total = 0.0
    for message in log:
        cost = None if message.usage is None else message.usage.cost
        if cost is not None and cost.currency == currency:
            total += cost.amount
    return total
