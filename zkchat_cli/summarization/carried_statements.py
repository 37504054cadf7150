"""Carries statements from summary to summary, whoever writes the next one: decisions of the user,
and numbers with their names. A new number says which one it replaces.

Statements that a summary leaves out are added to it, in a bounded share of its tokens: decisions
first, the newest before older ones, then the numbers that were carried longest.
"""

import math
from collections.abc import Iterable, Sequence
from typing import NamedTuple

from zkchat_cli.context.compaction_plan import FoldPlan
from zkchat_cli.context.turns import Turn, TurnHistory
from zkchat_cli.models.carried_statement import CarriedStatement
from zkchat_cli.models.compaction import Compaction
from zkchat_cli.summarization.statements import (
    StatedText,
    StatementFacts,
    is_change,
    is_decision,
    stated_in_summary,
    statement_facts,
    user_statements,
)
from zkchat_cli.text.numbers import may_count, plural
from zkchat_cli.text.sentences import split_sentences
from zkchat_cli.text.truncate import truncate
from zkchat_cli.tokens.counter import TokenCounter

# Statements that are carried; of more decisions the oldest go, of more numbers the newest
MOST_DECISIONS = 60
MOST_NUMBERS = 60
# Characters of a statement
MOST_CHARACTERS = 300
# Share of a summary's largest size that added decisions may take, and up to which numbers are added
DECISIONS_SHARE = 0.5
NUMBERS_SHARE = 0.25
# Tokens that added statements take at most
MOST_TOKENS = 1000
# Values before the present one that are named
MOST_REPLACED = 3
# Tokens of the line that says how many statements are left out
_NOTE_TOKENS = 24
# How often a summary is cut to make room for statements, which may cut others
_MOST_CUTS = 4


class RequiredStatements(NamedTuple):
    """What a summary must state: all `statements`, including the `new` decisions since the last
    summary. Every prompt has the text `beside` the summary: pinned messages.
    """

    statements: tuple[CarriedStatement, ...] = ()
    new: tuple[CarriedStatement, ...] = ()
    beside: str = ""

    @property
    def text(self) -> str:
        """The statements as lines."""
        return "\n".join(each.line for each in self.statements)

    def missing_in(self, summary: str) -> list[CarriedStatement]:
        """The statements that a prompt with this summary would not have."""
        return find_missing(summary, self.statements, self.beside)


class _Replacement(NamedTuple):
    """A number of a statement, and the one that is in its place now."""

    old: str
    new: str


def require_statements(
    previous: Compaction | None, fold: FoldPlan, history: TurnHistory
) -> RequiredStatements:
    """What the summary of a fold that follows `previous` must state; the fold is the beginning of
    the `history`.
    """
    covered = history.count_covered(previous) if previous is not None else 0
    carried = carry_statements(previous, fold.turns[covered:])
    before = previous.carried if previous is not None else ()
    new = tuple(each for each in carried if each.decided and each not in before)
    fixed: list[str] = []
    for turn in (*history.fixed, *history.failed):
        fixed += [message.content for message in turn.fixed]
    return RequiredStatements(carried, new, "\n".join(fixed))


def carry_statements(
    previous: Compaction | None, turns: Iterable[Turn]
) -> tuple[CarriedStatement, ...]:
    """What the summary that follows `previous` and covers these new turns must state, oldest
    first.
    """
    carried: list[CarriedStatement] = []
    if previous is not None:
        carried += previous.carried
        carried += _others_in_summary(previous)
    for text in user_statements(turns):
        carried = _with_statement(carried, text)
    decisions = [each for each in carried if each.decided][-MOST_DECISIONS:]
    numbers = [each for each in carried if not each.decided][:MOST_NUMBERS]
    return tuple(each for each in carried if each in decisions or each in numbers)


def _others_in_summary(previous: Compaction) -> list[CarriedStatement]:
    """The statements of a summary besides those that it carries."""
    known = StatedText("\n".join(each.line for each in previous.carried))
    stated = stated_in_summary(previous.summary or "")
    others = [text for text in stated if not known.states(statement_facts(text))]
    return [CarriedStatement(text=truncate(text, MOST_CHARACTERS)) for text in others]


def _with_statement(carried: list[CarriedStatement], text: str) -> list[CarriedStatement]:
    """The statements after the user has said this, too: it is carried if it decides something, or
    if it changes a number of what is carried.
    """
    if any(each.text == text for each in carried):
        return carried
    facts = statement_facts(text)
    kept: list[CarriedStatement] = []
    replaced: list[str] = []
    new: str | None = None
    is_carried = is_decision(text)
    for each in carried:
        older = statement_facts(each.text)
        replacement = _find_replacement(older, facts) if is_change(text) else None
        if replacement is None:
            kept.append(each)
            is_carried = is_carried or _may_change(text, facts, older)
        else:
            replaced += [*each.replaced, replacement.old]
            new = replacement.new
    if new is None and not is_carried:
        return carried
    statement = CarriedStatement(
        text=truncate(text, MOST_CHARACTERS),
        decided=True,
        replaced=tuple(dict.fromkeys(replaced))[-MOST_REPLACED:],
        value=new,
    )
    return [*kept, statement]


def _find_replacement(older: StatementFacts, newer: StatementFacts) -> _Replacement | None:
    """The number of a statement that a newer one about exactly the same replaces; None in doubt:
    then both are carried.
    """
    if older.words != newer.words or older.names != newer.names:
        return None
    gone = _telling_numbers(older.numbers - newer.numbers)
    come = _telling_numbers(newer.numbers - older.numbers)
    # With several, nobody knows which new one replaces which old one
    if len(gone) != 1 or len(come) != 1:
        return None
    return _Replacement(gone[0], come[0])


def _telling_numbers(numbers: frozenset[str]) -> list[str]:
    """The numbers that count nothing, or all if there are none."""
    return [number for number in numbers if not may_count(number)] or list(numbers)


def _may_change(text: str, newer: StatementFacts, older: StatementFacts) -> bool:
    """Whether a sentence changes a number, perhaps that of this statement."""
    has_number = not all(map(may_count, newer.numbers))
    return has_number and is_change(text) and not newer.words.isdisjoint(older.words)


def find_missing(
    summary: str, statements: Iterable[CarriedStatement], beside: str = ""
) -> list[CarriedStatement]:
    """The statements that neither the summary states nor the text `beside` it in each prompt."""
    stated = StatedText(f"{summary}\n{beside}")
    missing: list[CarriedStatement] = []
    for each in statements:
        is_there = each.line in summary
        if not is_there and not stated.states(statement_facts(each.text), each.replaced):
            missing.append(each)
    return missing


def select_statements(
    statements: Sequence[CarriedStatement], limit: int, counter: TokenCounter
) -> list[CarriedStatement]:
    """The statements that may be added to a summary of at most `limit` tokens, in their order."""
    decisions = [each for each in reversed(statements) if each.decided]
    numbers = [each for each in statements if not each.decided]
    room = min(int(DECISIONS_SHARE * limit), MOST_TOKENS)
    for_numbers = min(int(NUMBERS_SHARE * limit), MOST_TOKENS)
    used = 0
    chosen: list[CarriedStatement] = []
    for each in (*decisions, *numbers):
        most = room if each.decided else for_numbers
        size = counter.count(each.line) + 1
        if used + size <= most:
            used += size
            chosen.append(each)
    return [each for each in statements if each in chosen]


def least_summary(
    statements: Sequence[CarriedStatement], largest: int, counter: TokenCounter
) -> int:
    """Tokens that a summary needs, so that it has room for the same statements as one of the
    `largest` size.
    """
    decided = 0
    all_tokens = 0
    has_numbers = False
    for each in select_statements(statements, largest, counter):
        size = counter.count(each.line) + 1
        all_tokens += size
        if each.decided:
            decided += size
        else:
            has_numbers = True
    needed = decided / DECISIONS_SHARE
    if has_numbers:
        needed = max(needed, all_tokens / NUMBERS_SHARE)
    return min(largest, math.ceil(needed))


def add_statements(
    summary: str, required: RequiredStatements, limit: int, counter: TokenCounter
) -> str:
    """The summary with the statements that it lacks, in at most `limit` tokens. It loses its last
    sentences if there is no room for both.
    """
    body = summary
    for _ in range(_MOST_CUTS):
        missing = required.missing_in(body)
        if not missing:
            return body
        added = _added_lines(missing, limit, counter)
        whole = f"{body}\n{added}".strip("\n")
        over = counter.count(whole) - limit
        if over <= 0:
            return whole
        body = _without_end(body, counter.count(body) - over, counter)
    return body


def _added_lines(missing: Sequence[CarriedStatement], limit: int, counter: TokenCounter) -> str:
    chosen = select_statements(missing, limit, counter)
    if len(chosen) == len(missing):
        return "\n".join(each.line for each in chosen)
    chosen = select_statements(missing, max(0, limit - 2 * _NOTE_TOKENS), counter)
    left_out = plural(len(missing) - len(chosen), "earlier statement is", "earlier statements are")
    return "\n".join([*(each.line for each in chosen), f"- {left_out} only in the log"])


def _without_end(text: str, size: int, counter: TokenCounter) -> str:
    """The first sentences of a text, in at most `size` tokens."""
    kept: list[str] = []
    for line in text.split("\n"):
        sentences = split_sentences(line)
        while sentences and counter.count("\n".join([*kept, " ".join(sentences)])) > size:
            sentences.pop()
        if sentences:
            kept.append(" ".join(sentences))
        if len(sentences) < len(split_sentences(line)):
            break
    return "\n".join(kept)
