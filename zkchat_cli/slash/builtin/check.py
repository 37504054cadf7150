"""Has the cited sentences of the last answer judged."""

from collections import Counter
from collections.abc import Generator, Sequence

from zkchat_cli.chat.sentence_judge import judge_by_model, judge_unclear
from zkchat_cli.chat.session import ZkChatSession
from zkchat_cli.citations.cited_sentences import CitedSentence, cited_sentences
from zkchat_cli.events import Event, TextDelta
from zkchat_cli.slash.base import CommandResult, Topic, declare_command
from zkchat_cli.slash.lookups import last_answer
from zkchat_cli.text.numbers import plural
from zkchat_cli.views.text import usage_text

_MARKS = {"does_not_support": "✗ not supported:", "unclear": "○ unclear:"}
_BY_WORDS = (
    "By words, numbers, names and negations; only a language model can check what they mean "
    "(/model)."
)


def check(session: ZkChatSession, _: str) -> CommandResult | str:
    """Ask the model whether each cited sentence of the last answer is supported by its passage.

    One short call, which is not part of the conversation. Without a language model, zkchat compares
    words, quantities, names, opposites and negations, as it does after each answer; where these do
    not decide and the notes are searched by meaning, it compares the meaning.
    """
    answer = last_answer(session).answer
    passages = {}
    for citation in answer.citations:
        chunk = session.state.references.chunk(citation.number)
        if chunk:
            passages[citation.number] = chunk.text
    cited = cited_sentences(answer.content, answer.citations)
    sentences = [each for each in cited if not passages.keys().isdisjoint(each.numbers)]
    if not sentences:
        return "No sentence of the last answer cites a passage."

    # As events: the screen shows delays, and Ctrl-C stops it
    def ask_model() -> Generator[Event, None, None]:
        checked, usage = yield from judge_by_model(session.runtime, sentences, passages)
        verdicts = _verdict_text(checked, len(sentences))
        yield TextDelta(f"{verdicts} {session.runtime.model.name}: {usage_text(usage)}.")

    if session.runtime.model.summarizes:
        return CommandResult(turn=ask_model())
    judged = [judge_unclear(each, passages, session.vault.similarities) for each in sentences]
    return f"{_BY_WORDS}\n{_verdict_text(judged, len(sentences))}"


def _verdict_text(checked: Sequence[CitedSentence], count: int) -> str:
    """A line for each sentence that is not supported or unclear, and how many of `count` sentences
    were checked.
    """
    lines = []
    counts: Counter[str] = Counter()
    for each in checked:
        counts[each.support] += 1
        if each.support in _MARKS:
            why = f": {each.reason}" if each.reason else ""
            lines.append(f"- {_MARKS[each.support]} {each.text} {list(each.numbers)}{why}")
    if lines:
        lines.append("")
    lines.append(
        f"{len(checked)} of {plural(count, 'cited sentence')} checked: "
        f"{counts['does_not_support']} not supported, {counts['unclear']} unclear."
    )
    return "\n".join(lines)


COMMAND = declare_command(check, Topic.SOURCES, order=40)
