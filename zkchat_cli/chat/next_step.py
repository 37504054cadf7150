"""What a turn does next: pure decisions over values, which `turn_runner.py` carries out.

    nothing yet                  Call
    calls of tools               RunTools; RefuseTools when the turn gets no more of them
    an answer                    Stop
    a refused prompt, too long   Compact, which is followed by another call
    a refusal of tools           Call, after a search for the model
    anything else                Stop, with the error

Each kind of refusal is answered once, so a turn ends.
"""

from typing import NamedTuple

from zkchat_cli.errors import ProviderError, ProviderErrorKind
from zkchat_cli.models.messages import FinishReason, ToolCall

# How many replies that call tools after the last round are refused before the turn fails
MOST_REFUSED = 1
# Fewest tokens for another round of tools: describing the tools takes that many
MIN_TOOL_TOKENS = 300
_LESS_AT_A_TIME = "Ask for less at a time, or raise that limit in the settings."
_LONGER_ANSWERS = "Raise llm.max_output_tokens, or lower llm.reasoning_effort."


class Reply(NamedTuple):
    """The result of a model call."""

    calls: tuple[ToolCall, ...]
    finish: FinishReason


class TurnProgress(NamedTuple):
    """The facts that decide the next step of a turn."""

    # The name of the model
    model: str
    # The text of the reply, also while it is being streamed
    text: str = ""
    # The last reply; None before the first call and after its calls were answered
    reply: Reply | None = None
    # Whether the question is the turn's only message so far
    only_question: bool = True
    # Why the model gets no more tools in this turn; empty as long as it gets some
    no_more_tools: str = ""
    # Number of replies that called tools nevertheless
    refused_replies: int = 0
    # The kinds of refusals by the server that were answered already
    answered_refusals: frozenset[ProviderErrorKind] = frozenset()


class Call(NamedTuple):
    """Call the model. `search_first`: search the notes for it, because it takes no tools."""

    search_first: bool = False


class Compact(NamedTuple):
    """Make the prompt smaller without asking the model, and call it again."""

    reason: str


class RunTools(NamedTuple):
    """Run these calls, and call the model with the results."""

    calls: tuple[ToolCall, ...]


class RefuseTools(NamedTuple):
    """Answer these calls with the reason why they are not run, and call the model again."""

    calls: tuple[ToolCall, ...]
    reason: str


class Stop(NamedTuple):
    """End the turn with its answer, or with an error. `too_long`: the prompt is the problem, and
    the hint of the error should say how to make it smaller.
    """

    finish: FinishReason | None = None
    error: ProviderError | None = None
    too_long: bool = False


Step = Call | Compact | RunTools | RefuseTools | Stop


def next_step(turn: TurnProgress, refusal: ProviderError | None = None) -> Step:
    """The next step of a turn, after its last reply or after a call that its server refused."""
    if refusal is not None:
        return _step_after_refusal(turn, refusal)
    reply = turn.reply
    if reply is None:
        return Call()
    if reply.calls:
        return _step_after_calls(turn, reply)
    if not turn.text.strip():
        return Stop(error=no_answer_error(turn, reply.finish))
    return Stop(finish=reply.finish)


def _step_after_calls(turn: TurnProgress, reply: Reply) -> Step:
    if not turn.no_more_tools:
        return RunTools(reply.calls)
    if turn.refused_replies >= MOST_REFUSED:
        return Stop(error=no_answer_error(turn, reply.finish))
    reason = (
        f"no more tools in this turn: {turn.no_more_tools}. Answer now with what you have found"
    )
    return RefuseTools(reply.calls, reason)


def _step_after_refusal(turn: TurnProgress, refusal: ProviderError) -> Step:
    if turn.text:
        return Stop(error=refusal)
    was_answered = refusal.kind in turn.answered_refusals
    match refusal.kind:
        case "context_length" if was_answered:
            return Stop(error=refusal, too_long=True)
        case "context_length":
            return Compact(refusal.message)
        case "no_tools" if turn.only_question and not was_answered:
            return Call(search_first=True)
        case "no_images" if not was_answered:
            return Call()
        case _:
            return Stop(error=refusal)


def why_no_more_tools(room: int, rounds: int, most_rounds: int, window: int) -> str:
    """Why a turn gets no more tools; empty if it gets some.

    `rounds` is the number of rounds so far, `room` the tokens of the window that they have left.
    """
    if room < MIN_TOOL_TOKENS:
        return f"tool results have filled the window of {window:,} tokens"
    if rounds >= most_rounds:
        return f"llm.max_tool_rounds is {most_rounds}"
    return ""


def no_answer_error(turn: TurnProgress, finish: FinishReason) -> ProviderError:
    """Why a turn ends without an answer, as an error."""
    name = turn.model
    if turn.no_more_tools:
        problem = f"{name} never answered: {turn.no_more_tools}"
        return ProviderError("empty", problem, _LESS_AT_A_TIME)
    match finish:
        case "content_filter":
            problem = f"{name}: a content filter blocked the answer"
            return ProviderError("content_filter", problem, "Ask it differently.")
        case "length":
            problem = f"{name} reached its length limit before it answered"
            return ProviderError("empty", problem, _LONGER_ANSWERS)
        case "cancelled":
            problem = f"{name} repeated itself in its reasoning and never answered"
            return ProviderError("empty", problem, "Ask in other words, or use a larger model.")
        case _:
            problem = f"{name} sent an empty answer"
            return ProviderError("empty", problem, "Try again, or ask in other words.")
