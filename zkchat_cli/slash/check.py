"""/check: ask the model whether each cited sentence of the last answer is supported by its passage.

One short call, which is not part of the conversation. Without a language model, zkchat compares words, numbers, names and negations, as it
does after each answer; where these do not decide and the notes are searched by meaning, it compares the meaning.
"""

from collections.abc import Generator, Mapping, Sequence

from zkchat_cli.chat.session import ZkChatSession
from zkchat_cli.citations.support import Similarities, judge_by_meaning
from zkchat_cli.citations.support_check import read_verdicts, support_request
from zkchat_cli.citations.verify import CitedSentence, cited_sentences
from zkchat_cli.errors import ProviderError
from zkchat_cli.events import Event, TextDelta
from zkchat_cli.llm.base import Options, Request
from zkchat_cli.llm.tasks import collect
from zkchat_cli.models import Support, TokenUsage
from zkchat_cli.slash import base
from zkchat_cli.slash.base import CommandResult, SlashCommand
from zkchat_cli.text.numbers import plural

LINE_TOKENS = 60
"""Tokens of the model's answer for each sentence."""
THINKING_TOKENS = 1000
_REFUTED: dict[Support, str] = {"does_not_support": "✗"}
_MARKS: dict[Support, str] = {"supports": "✓ supported:", "does_not_support": "✗ not supported:", "unclear": "○ unclear:"}


def _check(session: ZkChatSession, _: str) -> CommandResult:
    last = base.last_answer(session)
    chunks = {citation.number: session.references.chunk(citation.number) for citation in last.answer.citations}
    passages = {number: chunk.text for number, chunk in chunks.items() if chunk}
    sentences = [each for each in cited_sentences(last.answer.content, last.answer.citations) if passages.keys() & set(each.numbers)]
    if not sentences:
        return CommandResult("No sentence of the last answer cites a passage.")
    if not session.runtime.can_summarize:
        judged = [_judge_unclear(each, passages, session.vault.similarities) for each in sentences]
        shown = _verdict_text(judged, sentences, _MARKS)
        return CommandResult(f"By words, numbers, names and negations; only a language model can check what they mean (/model).\n{shown}")
    return CommandResult(turn=_check_events(session, sentences, passages))


def _judge_unclear(sentence: CitedSentence, passages: Mapping[int, str], similarities: Similarities) -> CitedSentence:
    """The sentence, judged by meaning if its words do not tell."""
    if sentence.support != "unclear":
        return sentence
    cited = [passages[number] for number in sentence.numbers if number in passages]
    judged = judge_by_meaning(sentence.text, cited, similarities)
    return sentence._replace(support=judged, reason="its passages are about something else" if judged != "unclear" else "")


def _check_events(session: ZkChatSession, sentences: Sequence[CitedSentence], passages: Mapping[int, str]) -> Generator[Event, None, None]:
    """The call as events: the screen shows delays, and Ctrl-C stops it. What does not fit into the window is not checked."""
    runtime = session.runtime
    count, limit = len(sentences), runtime.budget.effective_limit
    while (tokens := _prompt_tokens(session, sentences[:count], passages)) + _answer_tokens(count) > limit and count > 1:
        count -= 1
    options = Options(_answer_tokens(count), reasoning_effort=runtime.options.light_effort)
    request = Request(support_request(sentences[:count], passages), options=options, window=runtime.window.tokens)
    answer = yield from collect(runtime.model, request)
    checked = read_verdicts(answer.text, sentences)
    if not checked:
        raise ProviderError("bad_answer", f"the sentences were not checked: {answer.problem or 'the model gave no verdicts'}")
    usage = answer.usage or TokenUsage(prompt_tokens=tokens, completion_tokens=runtime.counter.count(answer.text), estimated=True)
    yield TextDelta(f"{_verdict_text(checked, sentences, _REFUTED)} {runtime.model.name}: {base.cost_text(usage)}")


def _answer_tokens(sentences: int) -> int:
    return THINKING_TOKENS + LINE_TOKENS * sentences


def _prompt_tokens(session: ZkChatSession, sentences: Sequence[CitedSentence], passages: Mapping[int, str]) -> int:
    return sum(session.runtime.counter.count(message.content) for message in support_request(sentences, passages))


def _verdict_text(checked: Sequence[CitedSentence], sentences: Sequence[CitedSentence], marks: Mapping[Support, str]) -> str:
    """A line for each sentence with a mark for its verdict, and how many were checked."""
    lines = [
        f"- {marks[each.support]} {each.text} {list(each.numbers)}{f': {each.reason}' if each.reason else ''}"
        for each in checked
        if each.support in marks
    ]
    refuted, unclear = (sum(each.support == support for each in checked) for support in ("does_not_support", "unclear"))
    counts = f"{len(checked)} of {plural(len(sentences), 'cited sentence')} checked: {refuted} not supported, {unclear} unclear."
    return "\n".join([*lines, *([""] if lines else []), counts])


COMMAND = SlashCommand(_check)
