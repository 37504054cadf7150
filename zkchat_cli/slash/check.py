"""/check: ask the model whether each cited sentence of the last answer is supported by its passage.

One short call, which is not part of the conversation. Without a language model, zkchat compares words, numbers, names and negations, as it
does after each answer; where these do not decide and the notes are searched by meaning, it compares the meaning.
"""

from collections.abc import Generator, Sequence

from zkchat_cli.chat.citation_check import judge_by_model, judge_unclear
from zkchat_cli.chat.session import ZkChatSession
from zkchat_cli.citations.verify import CitedSentence, cited_sentences
from zkchat_cli.events import Event, TextDelta
from zkchat_cli.slash.base import CommandResult, last_answer, slash_command
from zkchat_cli.text.numbers import plural
from zkchat_cli.views.text import usage_text

_MARKS = {"does_not_support": "✗ not supported:", "unclear": "○ unclear:"}


@slash_command()
def run(session: ZkChatSession, _: str) -> CommandResult | str:
    last = last_answer(session)
    chunks = {citation.number: session.references.chunk(citation.number) for citation in last.answer.citations}
    passages = {number: chunk.text for number, chunk in chunks.items() if chunk}
    sentences = [each for each in cited_sentences(last.answer.content, last.answer.citations) if passages.keys() & set(each.numbers)]
    if not sentences:
        return "No sentence of the last answer cites a passage."

    def ask_model() -> Generator[Event, None, None]:  # as events: the screen shows delays, and Ctrl-C stops it
        checked, usage = yield from judge_by_model(session.runtime, sentences, passages)
        yield TextDelta(f"{_verdict_text(checked, len(sentences))} {session.runtime.model.name}: {usage_text(usage)}.")

    if session.runtime.can_summarize:
        return CommandResult(turn=ask_model())
    judged = [judge_unclear(each, passages, session.vault.similarities) for each in sentences]
    by_words = "By words, numbers, names and negations; only a language model can check what they mean (/model)."
    return f"{by_words}\n{_verdict_text(judged, len(sentences))}"


def _verdict_text(checked: Sequence[CitedSentence], count: int) -> str:
    """A line for each sentence that is not supported or unclear, and how many were checked."""
    lines = [
        f"- {_MARKS[each.support]} {each.text} {list(each.numbers)}{f': {each.reason}' if each.reason else ''}"
        for each in checked
        if each.support in _MARKS
    ]
    refuted, unclear = (sum(each.support == support for each in checked) for support in _MARKS)
    counts = f"{len(checked)} of {plural(count, 'cited sentence')} checked: {refuted} not supported, {unclear} unclear."
    return "\n".join([*lines, *([""] if lines else []), counts])
