"""What a turn does next, as tables: its progress, a refusal of the server, and the step."""

import pytest

from zkchat_cli.chat.next_step import (
    MIN_TOOL_TOKENS,
    Call,
    Compact,
    RefuseTools,
    Reply,
    RunTools,
    Step,
    Stop,
    TurnProgress,
    next_step,
    why_no_more_tools,
)
from zkchat_cli.errors import ProviderError
from zkchat_cli.models.messages import FinishReason, ToolCall

CALLS = (ToolCall(id="call-1", name="find_excerpts"),)
BEGUN = TurnProgress("gpt")
ANSWERED = BEGUN._replace(text="Yes.", reply=Reply((), "stop"))
CALLING = BEGUN._replace(reply=Reply(CALLS, "tool_calls"))
WITHOUT_TOOLS = CALLING._replace(no_more_tools="llm.max_tool_rounds is 2", only_question=False)

TOO_LONG = ProviderError("context_length", "at most 2,000 tokens")
NO_TOOLS = ProviderError("no_tools", "this model takes no tools")
LATER = ProviderError("rate_limit", "too many requests")


@pytest.mark.parametrize(
    ("turn", "step"),
    [
        (BEGUN, Call()),
        (ANSWERED, Stop(finish="stop")),
        (ANSWERED._replace(reply=Reply((), "length")), Stop(finish="length")),
        (CALLING, RunTools(CALLS)),
        # Text before the calls is no answer yet
        (CALLING._replace(text="Let me see."), RunTools(CALLS)),
        (
            WITHOUT_TOOLS,
            RefuseTools(
                CALLS,
                "no more tools in this turn: llm.max_tool_rounds is 2. Answer now with what you "
                "have found",
            ),
        ),
    ],
)
def test_a_reply_decides_the_next_step(turn: TurnProgress, step: Step) -> None:
    assert next_step(turn) == step


@pytest.mark.parametrize(
    ("turn", "refusal", "step"),
    [
        (BEGUN, TOO_LONG, Compact("at most 2,000 tokens")),
        (BEGUN._replace(only_question=False), TOO_LONG, Compact("at most 2,000 tokens")),
        (BEGUN, NO_TOOLS, Call(search_first=True)),
        (BEGUN, LATER, Stop(error=LATER)),
        # Each is answered once
        (
            BEGUN._replace(answered_refusals=frozenset(("context_length",))),
            TOO_LONG,
            Stop(error=TOO_LONG, too_long=True),
        ),
        (
            BEGUN._replace(answered_refusals=frozenset(("no_tools",))),
            NO_TOOLS,
            Stop(error=NO_TOOLS),
        ),
        (
            BEGUN._replace(answered_refusals=frozenset(("no_tools",))),
            TOO_LONG,
            Compact("at most 2,000 tokens"),
        ),
        # What tools have found would be lost
        (BEGUN._replace(only_question=False), NO_TOOLS, Stop(error=NO_TOOLS)),
        # The user has read the beginning of an answer
        (BEGUN._replace(text="Half an "), TOO_LONG, Stop(error=TOO_LONG)),
        (BEGUN._replace(text="Half an "), NO_TOOLS, Stop(error=NO_TOOLS)),
    ],
)
def test_a_refusal_decides_the_next_step(
    turn: TurnProgress, refusal: ProviderError, step: Step
) -> None:
    assert next_step(turn, refusal) == step


@pytest.mark.parametrize(
    ("finish", "kind", "message"),
    [
        ("stop", "empty", "gpt sent an empty answer"),
        ("length", "empty", "gpt reached its length limit before it answered"),
        ("content_filter", "content_filter", "gpt: a content filter blocked the answer"),
    ],
)
def test_an_empty_answer_stops_the_turn_with_its_cause(
    finish: FinishReason, kind: str, message: str
) -> None:
    step = next_step(BEGUN._replace(text=" \n", reply=Reply((), finish)))
    assert isinstance(step, Stop) and step.error is not None
    assert (step.error.kind, step.error.message) == (kind, message)


def test_a_model_that_calls_tools_again_after_it_was_told_to_answer_has_not_answered() -> None:
    step = next_step(WITHOUT_TOOLS._replace(refused_replies=1))
    assert isinstance(step, Stop) and step.error is not None
    assert step.error.message == "gpt never answered: llm.max_tool_rounds is 2"


@pytest.mark.parametrize(
    ("room", "rounds", "reason"),
    [
        (MIN_TOOL_TOKENS, 1, ""),
        (MIN_TOOL_TOKENS - 1, 1, "tool results have filled the window of 4,000 tokens"),
        (MIN_TOOL_TOKENS, 3, "llm.max_tool_rounds is 3"),
    ],
)
def test_tools_end_when_the_window_is_full_or_after_the_last_round(
    room: int, rounds: int, reason: str
) -> None:
    assert why_no_more_tools(room, rounds, most_rounds=3, window=4000) == reason
