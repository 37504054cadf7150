"""The check of a summary that a model made: numbers, dates, names and sources of the summary must
occur in the turns, and those of the user's decisions in the summary.

The model gets one request to correct that. Then sentences with invented facts are left out, and
`carried_statements` adds decisions word for word.
"""

import re
from collections.abc import Collection, Iterable, Sequence
from typing import NamedTuple

from zkchat_cli.context.turns import Turn
from zkchat_cli.models.carried_statement import CarriedStatement
from zkchat_cli.summarization.carried_statements import find_missing
from zkchat_cli.summarization.facts import find_facts, stems
from zkchat_cli.summarization.stated_numbers import known_numbers
from zkchat_cli.text.sentences import split_sentences

# How many wrong facts, and how many missing decisions, the request for a correction names
MOST_NAMED = 12
_HYPHENATED_WORD = re.compile(r"\w[\w’'-]*\w")


class SummaryCheck(NamedTuple):
    """What is wrong with a summary. `invented` are facts that the turns do not have; `missing` are
    decisions of the user that the summary does not have.
    """

    invented: tuple[str, ...] = ()
    missing: tuple[str, ...] = ()

    @property
    def problems(self) -> int:
        """The number of invented facts and missing decisions."""
        return len(self.invented) + len(self.missing)


def source_text(turns: Iterable[Turn], earlier: str | None = None) -> str:
    """The text that a summary of these turns is compared with: their messages, as stored and as
    sent, with their dates and sources.
    """
    texts = [earlier or ""]
    for turn in turns:
        for message in turn.messages:
            texts += [message.timestamp[:10], message.content]
            texts += [reference.wikilink for reference in message.references]
        for sent in turn.prompt:
            if sent.kind in ("documents", "tool_results"):
                texts.append(sent.content)
    return "\n".join(texts)


def check_summary(
    summary: str, source: str, decisions: Sequence[CarriedStatement] = (), beside: str = ""
) -> SummaryCheck:
    """Compare a summary with `source`, the text that its facts must be in, and with the `decisions`
    that it must have, or that the text `beside` it has.
    """
    known = {*find_facts(source), *known_numbers(source)}
    known_words = stems(source)
    invented: list[str] = []
    for fact, words in find_facts(summary).items():
        is_known = fact in known
        if words:
            is_known = words <= known_words
        if not is_known:
            invented.append(fact)
    missing = [each.text for each in find_missing(summary, decisions, beside)]
    return SummaryCheck(tuple(invented), tuple(missing))


def correction_request(check: SummaryCheck) -> str:
    """The request to the model for a corrected summary, sent after the wrong one."""
    lines = [
        "Correct this summary and answer with all of it in "
        "<conversation-summary>…</conversation-summary>."
    ]
    if check.invented:
        lines.append(
            f"The conversation does not have: {', '.join(check.invented[:MOST_NAMED])}. "
            "Leave out or correct what says so."
        )
    lines += [
        f"It lacks this decision of the user: {decision}" for decision in check.missing[:MOST_NAMED]
    ]
    return "\n".join(lines)


def repair_summary(summary: str, source: str) -> str:
    """The summary without the sentences that state invented facts."""
    invented = check_summary(summary, source).invented
    return _leave_out(summary, frozenset(invented)) if invented else summary


def _leave_out(summary: str, invented: frozenset[str]) -> str:
    """The summary without the sentences that state invented facts, and without the lines that have
    no other sentences.
    """
    kept: list[str] = []
    for line in summary.split("\n"):
        stated = split_sentences(line)
        true = [sentence for sentence in stated if not _states_any(sentence, invented)]
        if len(true) == len(stated):
            kept.append(line)
        elif true:
            kept.append(" ".join(true))
    return "\n".join(kept)


def _states_any(sentence: str, facts: Collection[str]) -> bool:
    said = {*find_facts(sentence), *_HYPHENATED_WORD.findall(sentence)}
    return not said.isdisjoint(facts)
