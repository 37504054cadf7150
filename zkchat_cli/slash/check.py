"""/check: ask the model whether each cited sentence of the last answer is supported by its passage.

One short call, which is not part of the conversation. Without a language model, zkchat compares words, numbers, names and negations, as it
does after each answer; where these do not decide and the notes are searched by meaning, it compares the meaning.
"""

from collections.abc import Generator, Mapping, Sequence

from zkchat_cli.chat.citation_check import judge_by_model, judge_unclear
from zkchat_cli.chat.session import ZkChatSession
from zkchat_cli.citations.verify import CitedSentence, cited_sentences
from zkchat_cli.events import Event, TextDelta
from zkchat_cli.models import Support
from zkchat_cli.slash import base
from zkchat_cli.slash.base import CommandResult, SlashCommand
from zkchat_cli.text.numbers import plural
from zkchat_cli.views.token_usage import usage_text

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
        judged = [judge_unclear(each, passages, session.vault.similarities) for each in sentences]
        shown = _verdict_text(judged, sentences, _MARKS)
        return CommandResult(f"By words, numbers, names and negations; only a language model can check what they mean (/model).\n{shown}")
    return CommandResult(turn=_check_events(session, sentences, passages))


def _check_events(session: ZkChatSession, sentences: Sequence[CitedSentence], passages: Mapping[int, str]) -> Generator[Event, None, None]:
    """The call as events: the screen shows delays, and Ctrl-C stops it."""
    runtime = session.runtime
    checked, usage = yield from judge_by_model(runtime, sentences, passages)
    yield TextDelta(f"{_verdict_text(checked, sentences, _REFUTED)} {runtime.model.name}: {usage_text(usage)}.")


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
