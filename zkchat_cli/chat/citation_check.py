"""Asks the model whether the sentences of an answer are supported by the passages that they cite: one short call, which is not stored."""

from collections.abc import Generator, Mapping, Sequence

from zkchat_cli.chat.runtime import Runtime
from zkchat_cli.citations.support_check import read_verdicts, support_request
from zkchat_cli.citations.verify import CitedSentence
from zkchat_cli.errors import ProviderError
from zkchat_cli.events import Event
from zkchat_cli.llm.base import Options, Request
from zkchat_cli.llm.tasks import collect
from zkchat_cli.models import TokenUsage
from zkchat_cli.tokens.counter import TokenCounter

LINE_TOKENS = 60
"""Tokens of the model's answer for each sentence."""
THINKING_TOKENS = 1000


def judge_by_model(
    runtime: Runtime, sentences: Sequence[CitedSentence], passages: Mapping[int, str]
) -> Generator[Event, None, tuple[list[CitedSentence], TokenUsage]]:
    """The sentences with the model's verdicts, and the cost of the call. What does not fit into the window is not checked.

    Raises ProviderError if the model judged none.
    """
    count, limit = len(sentences), runtime.budget.effective_limit
    while (tokens := _prompt_tokens(sentences[:count], passages, runtime.counter)) + _answer_tokens(count) > limit and count > 1:
        count -= 1
    options = Options(_answer_tokens(count), reasoning_effort=runtime.options.light_effort)
    request = Request(support_request(sentences[:count], passages), options=options, window=runtime.window.tokens)
    answer = yield from collect(runtime.model, request)
    checked = read_verdicts(answer.text, sentences)
    if not checked:
        raise ProviderError("bad_answer", f"the sentences were not checked: {answer.problem or 'the model gave no verdicts'}")
    usage = answer.usage or TokenUsage(prompt_tokens=tokens, completion_tokens=runtime.counter.count(answer.text), estimated=True)
    return checked, usage


def _answer_tokens(sentences: int) -> int:
    return THINKING_TOKENS + LINE_TOKENS * sentences


def _prompt_tokens(sentences: Sequence[CitedSentence], passages: Mapping[int, str], counter: TokenCounter) -> int:
    return sum(counter.count(message.content) for message in support_request(sentences, passages))
