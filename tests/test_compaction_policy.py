"""What compaction decides, and how it is told."""

import pytest
from factories import COUNTER, exchanges, turns
from summary_models import numbered_exchanges

from zkchat_cli.context.compaction_policy import (
    plan_fold,
    rejection_reason,
    truncation_notice,
)
from zkchat_cli.context.turns import split_into_turns

TALK = turns(*numbered_exchanges(6))


@pytest.mark.parametrize(
    ("summary", "limit", "replaced", "problem"),
    [
        ("One two three.", 10, 10, None),
        (None, 10, 10, "has no summary"),
        ("One two three.", 2, 10, "4 tokens; at most 2 are allowed"),
        ("One two three.", 10, 4, "4 tokens and would replace 4"),
    ],
)
def test_rejection_reasons_of_a_models_summary(summary: str | None, limit: int, replaced: int, problem: str | None) -> None:
    found = rejection_reason(summary, limit, replaced, COUNTER)
    assert found == problem or (problem is not None and problem in (found or ""))


def test_folding_frees_a_turns_tokens_without_its_pinned_ones() -> None:
    pinned = [m.model_copy(update={"pinned": m.id in ("t1-u", "t2-a")}) for m in exchanges(*numbered_exchanges(6))]
    turns = split_into_turns(pinned, COUNTER)
    fold, plain = plan_fold(turns, 0, 2), plan_fold(TALK, 0, 2)
    assert fold is not None
    assert plain is not None
    assert plain.new_tokens - fold.new_tokens == sum(m.tokens for turn in turns for m in turn.fixed)


def test_the_truncation_notice_counts_and_dates_dropped_turns() -> None:
    fold = plan_fold(TALK, 0, 8)
    assert fold is not None
    assert truncation_notice(fold) == "[4 earlier messages, 2025-05-02 to 2025-05-03, are left out here without a summary.]"
    undated = split_into_turns([m.model_copy(update={"timestamp": ""}) for m in exchanges(*numbered_exchanges(2))], COUNTER)
    fold = plan_fold(undated, 0, 0)
    assert fold is not None
    assert truncation_notice(fold) == "[4 earlier messages are left out here without a summary.]"
