"""What a conversation has cost, and what its next prompt costs."""

from typing import Any, NamedTuple

from zkchat_cli.chat.session import ZkChatSession
from zkchat_cli.models.messages import TokenUsage
from zkchat_cli.models.money import Money, TokenCounts, sum_money
from zkchat_cli.models.prompts import Prompt
from zkchat_cli.views.money import money_text, price_text


class ConversationCost(NamedTuple):
    """The cost of the next prompt, without its answer, and of the conversation so far; None is
    unknown.
    """

    next_prompt: Money | None
    conversation: Money | None
    # The price, as text
    price: str

    @property
    def line(self) -> str:
        """The costs as a sentence; empty if no price is known."""
        if self.next_prompt is None:
            return ""
        text = f"The next prompt costs at most {money_text(self.next_prompt)} ({self.price})"
        if self.conversation is not None:
            text += f"; this conversation has cost {money_text(self.conversation)}"
        return f"{text}."

    @property
    def document(self) -> dict[str, Any]:
        """The costs as keys of a JSON document."""
        return {
            "cost": _document(self.next_prompt),
            "conversation_cost": _document(self.conversation),
        }


def measure_cost(session: ZkChatSession, prompt: Prompt) -> ConversationCost:
    """The costs of a session and of its next prompt. Raises StoreError."""
    price = session.runtime.price
    next_prompt = None
    if price is not None:
        next_prompt = price.cost(TokenCounts(prompt.usage.total_tokens))
    return ConversationCost(next_prompt, money_spent(session), price_text(price))


def money_spent(session: ZkChatSession, running: TokenUsage | None = None) -> Money | None:
    """What the conversation has cost, with the calls of a `running` turn: its answer is not stored
    yet. None is unknown. Raises StoreError.
    """
    usages = [*answer_usages(session), *summary_usages(session), running]
    return sum_money(usage.cost for usage in usages if usage is not None)


def answer_usages(session: ZkChatSession) -> list[TokenUsage | None]:
    """The tokens of the conversation's answers, on every branch. Raises StoreError."""
    return [each.usage for each in session.archive().messages]


def summary_usages(session: ZkChatSession) -> list[TokenUsage | None]:
    """The tokens of the summaries that the user requested, including undone ones."""
    if not session.state.is_stored:
        return []
    stored = session.store.compactions(session.conversation.id, undone=True)
    return [each.usage for each in stored if each.requested]


def _document(money: Money | None) -> dict[str, Any] | None:
    return None if money is None else money.model_dump(mode="json")
