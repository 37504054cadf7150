"""What model calls cost: beside the tokens, in JSON, and asked for above `chat.max_cost`."""

from collections.abc import Callable
from typing import Any

import pytest
from conftest import Program
from factories import AppFixture, DeltaModel, reply
from model_server import ModelServer, Reply, openai_text

from zkchat_cli import events, slash
from zkchat_cli.chat.cost_guard import CostGuard, TurnCost
from zkchat_cli.errors import CostLimitReached
from zkchat_cli.llm.base import StreamFinished
from zkchat_cli.models.messages import TokenUsage, sum_usage
from zkchat_cli.models.money import Money, Price
from zkchat_cli.views.money import money_text, price_text
from zkchat_cli.views.text import usage_text

USAGE = {
    "prompt_tokens": 10_000,
    "completion_tokens": 1_000,
    "prompt_tokens_details": {"cached_tokens": 4_000},
}
# 6,000 tokens at $4, 4,000 at $0.40 and 1,000 at $20 for a million
COST = 0.0456


@pytest.fixture
def priced(zkchat: Program, server: ModelServer) -> Program:
    """zkchat with a model of OpenAI behind another server."""
    zkchat.env |= {
        "OPENAI_BASE_URL": f"{server.address}/v1",
        "ZKCHAT_MODEL": "openai/gpt-5.6-sol",
        "ZKCHAT_RETRIEVAL__MODE": "before",
    }
    server.says(*[Reply(openai_text("A filter selects.", usage=USAGE))] * 3)
    return zkchat


def test_the_cost_stands_beside_the_tokens(priced: Program) -> None:
    answered = priced("ask", "What is a filter?", "--json").json
    assert answered["usage"]["cost"] == {"amount": COST, "currency": "USD"}
    stats = priced("context", "stats", "--json").json
    assert stats["conversation_cost"] == {"amount": COST, "currency": "USD"}
    expected = round(stats["total_tokens"] * 4 / 1_000_000, 9)
    assert stats["cost"] == {"amount": expected, "currency": "USD"}
    shown = priced("context", "stats").out
    assert "this conversation has cost $0.0456" in shown
    assert shown.splitlines()[0].split()[:4] == ["component", "tokens", "budget", "cost"]
    chat = priced("chat", "--continue", stdin="/tokens\n/context\n").out
    assert "1 answer: 10,000 tokens in (4,000 cached), 1,000 out, $0.0456." in chat
    assert chat.count("this conversation has cost $0.0456") == 2
    exported = priced("context", "export", "--format", "json").json
    assert exported["messages"][-1]["usage"]["cost"]["amount"] == COST


def test_without_a_price_the_cost_is_null(priced: Program) -> None:
    priced.env["ZKCHAT_MODEL"] = "openai/someones-own"
    assert priced("ask", "What is a filter?", "--json").json["usage"]["cost"] is None
    assert priced("context", "stats", "--json").json["cost"] is None
    priced.env["ZKCHAT_LLM__PRICES"] = "openai/someones-* = 0"
    answered = priced("ask", "What is a filter?", "--json").json
    assert answered["usage"]["cost"] == {"amount": 0.0, "currency": "USD"}


def test_a_pipe_sends_no_turn_that_would_exceed_the_limit(
    priced: Program, server: ModelServer
) -> None:
    priced.env["ZKCHAT_CHAT__MAX_COST"] = "0.06"
    assert priced("ask", "What is a filter?").exit_status == 0
    refused = priced("ask", "-c", "And an amplifier?", "--json")
    assert (refused.exit_status, len(server.asked)) == (2, 1)
    assert "more than chat.max_cost = 0.06" in refused.json["error"]["message"]
    assert "zkchat config set chat.max_cost" in refused.json["error"]["hint"]
    # Another conversation begins at nothing
    assert priced("ask", "What is a filter?").exit_status == 0


class PricedModel(DeltaModel):
    price = Price(1000, 1000)
    has_server = True  # type: ignore[misc]


def priced_session(app: AppFixture, approve: Callable[[str], bool], limit: float) -> Any:
    usage = TokenUsage(prompt_tokens=100, completion_tokens=10, estimated=False)
    model = PricedModel([[*reply("Yes.")[:-1], StreamFinished("stop", usage)]])
    session = app.session(model)
    session.runtimes.override_setting("chat.max_cost", str(limit))
    session.services.costs.approve = approve
    return session


def test_a_user_at_a_screen_is_asked_and_may_allow_it(app: AppFixture) -> None:
    asked: list[str] = []
    session = priced_session(app, lambda question: not asked.append(question), 0.5)
    for _ in range(2):
        *_, last = session.send("What is a filter?")
        assert isinstance(last, events.TurnCompleted)
    assert "This turn costs about $" in asked[0]
    refusing = priced_session(app, lambda _: False, 0.5)
    *_, last = refusing.send("What is a filter?")
    assert isinstance(last, events.TurnFailed)
    assert last.error.message.startswith("not sent: this turn costs about $")
    assert not refusing.runtime.model.requests


def test_the_cost_of_a_preview_is_told(app: AppFixture) -> None:
    session = priced_session(app, lambda _: True, 0)
    for _ in range(6):
        [*_] = session.send("What is a filter? " * 200)
    result = slash.run_line("/compact preview", session)
    told = "".join(each.text for each in result.turn or () if isinstance(each, events.TextDelta))
    assert "; cost: " in told
    assert "The next prompt costs $" in told
    assert " out, $0." in told


def test_each_approval_allows_as_much_again() -> None:
    asked: list[str] = []
    guard = CostGuard(lambda question: not asked.append(question))
    for amount in (0.5, 1.1, 1.9, 2.2):
        [*_] = guard.check(TurnCost("c", "m", Money(amount=amount), 1), ())
    assert len(asked) == 2
    with pytest.raises(CostLimitReached, match=r"more than chat\.max_cost = 1"):
        [*_] = CostGuard().check(TurnCost("c", "m", Money(amount=1.1), 1), ())
    notices = [*guard.check(TurnCost("c", "m", None, 1), ())]
    notices += guard.check(TurnCost("c", "m", None, 1), ())
    assert notices == [
        events.Notice(
            "chat.max_cost has no effect: the price of m is unknown",
            "zkchat config set llm.prices 'm = INPUT/OUTPUT' sets it.",
        )
    ]


@pytest.mark.parametrize(
    ("amount", "currency", "text"),
    [
        (0.0, "USD", "$0.00"),
        (0.0132, "USD", "$0.0132"),
        (0.5, "EUR", "0.50 EUR"),
        (0.00001, "USD", "<$0.0001"),
        (1234.5, "USD", "$1,234.50"),
    ],
)
def test_amounts_are_short(amount: float, currency: str, text: str) -> None:
    assert money_text(Money(amount=amount, currency=currency)) == text


def test_a_sum_is_unknown_if_a_part_of_it_is() -> None:
    known = TokenUsage(prompt_tokens=10, completion_tokens=1).at_price(Price(1, 1))
    unknown = TokenUsage(prompt_tokens=10, completion_tokens=1)
    assert sum_usage((known, known)).cost == Money(amount=0.000022)
    assert sum_usage((known, unknown)).cost is None
    assert usage_text(sum_usage((known, unknown))) == "~20 tokens in, ~2 out"
    assert price_text(None) == "price unknown"
    assert price_text(Price(0, 0)) == "free of charge"
