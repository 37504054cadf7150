"""One call of the model in a turn: its deltas as events, its cost added to the turn."""

import logging
from collections.abc import Generator, Iterator
from contextlib import closing

from zkchat_cli import events
from zkchat_cli.chat.cost_guard import EXPECTED_ANSWER, TurnCost
from zkchat_cli.chat.fault_guard import FaultGuard
from zkchat_cli.chat.next_step import Reply
from zkchat_cli.chat.prompt_builder import PromptBuilder
from zkchat_cli.chat.runtime import Runtime, SessionServices
from zkchat_cli.chat.server_count import cut_notices, learn_count, prompt_request
from zkchat_cli.chat.state import ConversationState
from zkchat_cli.chat.storable import storable_call, storable_thinking
from zkchat_cli.chat.turn import TurnInProgress
from zkchat_cli.context.usage import measure_lasting
from zkchat_cli.errors import ProviderError
from zkchat_cli.llm.base import StreamFailed, StreamFinished
from zkchat_cli.markdown.repetition import Repetition, RepetitionWatch
from zkchat_cli.models.messages import ToolCall
from zkchat_cli.models.money import TokenCounts
from zkchat_cli.models.prompts import Prompt
from zkchat_cli.text.numbers import plural
from zkchat_cli.text.words import replace_surrogates

_log = logging.getLogger(__name__)


def call_model(
    turn: TurnInProgress,
    prompt: Prompt,
    prompts: PromptBuilder,
    state: ConversationState,
    services: SessionServices,
) -> Generator[events.Event, None, Reply]:
    """Stream one model call and return its reply.

    Raises the ProviderError that ended the call, or CostLimitReached.
    """
    runtime = turn.runtime
    faults = services.faults
    yield from _check_cost(turn, prompt, state, services)
    name = runtime.model.name
    usage = prompt.usage
    _log.info(
        "asking %s: %d messages, %d tools, %d tokens",
        name,
        len(prompt.messages),
        len(prompt.tools),
        usage.total_tokens,
    )
    yield from _pending_notices(runtime, prompts, faults)
    lasting = measure_lasting(prompt, runtime.budget, runtime.counter)
    may_withdraw = runtime.model.may_withdraw
    spent = turn.usage if turn.usage.prompt_tokens else None
    yield events.PromptBuilt(lasting, runtime.speaker_label, may_withdraw, spent)
    prompts.remember_tools(turn.user.id, prompt)
    if runtime.settings.references.enabled:
        # The answer's references include these summaries
        prompts.summaries(runtime).prefetch(chunk.relative_path for chunk in turn.chunks)
    request = prompt_request(turn, prompt, prompts.images)
    turn.add_call(prompt)
    watch = RepetitionWatch(runtime.counter.count if _stops_repetition(runtime) else None)
    with closing(runtime.model.stream(request)) as stream:
        while True:
            with turn.timer("model"):
                delta = next(stream, None)
            match delta:
                case events.TextDelta(text) | events.ReasoningDelta(text):
                    delta = delta._replace(text=replace_surrogates(text))
                    turn.add_delta(delta)
                    yield delta
                    if found := watch.look(turn.text or turn.reasoning):
                        delta = _stop_repetition(found)
                        return (yield from _finish(turn, prompt, state, delta, faults))
                case events.TextWithdrawn():
                    turn.add_delta(delta)
                    yield delta
                case events.Waiting(seconds, reason):
                    yield events.Waiting(seconds, replace_surrogates(reason))
                case StreamFinished():
                    return (yield from _finish(turn, prompt, state, delta, faults))
                case StreamFailed(error):
                    _log.info("%s failed: %s: %s", name, error.kind, error.message)
                    raise error
                case None:
                    problem = f"{name}: the stream broke off"
                    raise ProviderError("cut", problem, "Ask again for the rest.")


def _stops_repetition(runtime: Runtime) -> bool:
    """Whether answers that repeat themselves are stopped."""
    return runtime.settings.llm.stop_repetition and not runtime.model.searches_itself


def _stop_repetition(found: Repetition) -> StreamFinished:
    """The end of an answer that repeats a passage."""
    return StreamFinished(
        "cancelled",
        notice=f"repeated a passage of {plural(found.tokens, 'token')}, so the answer was stopped",
        hint="/retry asks again, and llm.stop_repetition = false lets it go on.",
    )


def _check_cost(
    turn: TurnInProgress, prompt: Prompt, state: ConversationState, services: SessionServices
) -> Iterator[events.Event]:
    """Before the first call of a turn: ask if it costs too much. Raises CostLimitReached."""
    runtime = turn.runtime
    limit = runtime.settings.chat.max_cost
    price = runtime.price
    is_free = price is None and not runtime.model.has_server
    if not limit or turn.sent or is_free:
        return
    answer = runtime.options.max_output_tokens or EXPECTED_ANSWER
    expected = None
    if price is not None:
        expected = price.cost(TokenCounts(prompt.usage.total_tokens, answer))
    cost = TurnCost(state.conversation.id, runtime.model.name, expected, limit)
    yield from services.costs.check(cost, state.log())


def _pending_notices(
    runtime: Runtime, prompts: PromptBuilder, faults: FaultGuard
) -> list[events.Notice]:
    """What the user has not been told yet about memory, and about what failed."""
    notices: list[events.Notice] = []
    with faults.contain("memory"):
        notices += prompts.memory(runtime).pop_notices()
    return [*notices, *faults.take_notices()]


def _finish(
    turn: TurnInProgress,
    prompt: Prompt,
    state: ConversationState,
    end: StreamFinished,
    faults: FaultGuard,
) -> Generator[events.Event, None, Reply]:
    """The reply of a successful call, after adding its cost to the turn."""
    name = turn.runtime.model.name
    calls: list[ToolCall] = []
    for call in end.calls:
        id_ = state.make_call_id_unique(replace_surrogates(call.id))
        calls.append(storable_call(call, id_))
    reply = Reply(tuple(calls), end.reason)
    thinking = None if end.thinking is None else storable_thinking(end.thinking)
    turn.finish_reply(end.level, end.request, thinking)
    if end.notice:
        yield events.Notice(f"{name}: {end.notice}", end.hint)
    turn.add_usage(end.usage, prompt, reply.calls)
    if end.usage is not None:
        reported = end.usage.prompt_tokens
        with faults.contain("calibration"):
            turn.add_count(learn_count(turn, prompt, reported))
            turn.confirm_prompt(reported)
            yield from cut_notices(turn, reported)
    _log.info("%s ended with %s, %d tool calls, %s", name, end.reason, len(calls), end.usage)
    return reply
