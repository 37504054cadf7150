"""What compaction decides, and how it is told."""

import pytest
from building import COUNTER, a_compaction, talk, turns
from folding import things

from zkchat_cli.chat.command_hints import UNSTORED
from zkchat_cli.context.compaction_policy import (
    SummaryCoverage,
    plan_fold,
    recently_failed,
    rejection_reason,
    summary_coverage,
    truncation_notice,
)
from zkchat_cli.context.turns import split_into_turns
from zkchat_cli.models import Compaction, TokenUsage
from zkchat_cli.views.context_usage import describe, saved, standing

TALK = turns(*things(6))


@pytest.mark.parametrize(
    ("summary", "limit", "replaced", "problem"),
    [
        ("One two three.", 10, 10, None),
        (None, 10, 10, "held no summary"),
        ("One two three.", 2, 10, "4 tokens; at most 2 are allowed"),
        ("One two three.", 10, 4, "4 tokens and would stand for 4"),
    ],
)
def test_a_models_summary_is_taken_only_if_it_is_there_and_small_enough(
    summary: str | None, limit: int, replaced: int, problem: str | None
) -> None:
    found = rejection_reason(summary, limit, replaced, COUNTER)
    assert found == problem or (problem is not None and problem in (found or ""))


def test_folding_a_turn_frees_what_is_not_kept_of_it_anyway() -> None:
    pinned = [m.model_copy(update={"pinned": m.id in ("t1-u", "t2-a")}) for m in talk(*things(6))]
    turns = split_into_turns(pinned, COUNTER)
    fold, plain = plan_fold(turns, 0, 2), plan_fold(TALK, 0, 2)
    assert fold is not None
    assert plain is not None
    assert plain.tokens - fold.tokens == sum(m.tokens for turn in turns for m in turn.fixed)
    assert fold.new_tokens == fold.tokens


def test_what_is_left_out_says_how_much_and_when() -> None:
    fold = plan_fold(TALK, 0, 8)
    assert fold is not None
    assert truncation_notice(fold) == "[4 earlier messages, 2025-05-02 to 2025-05-03, are left out here without a summary.]"
    undated = split_into_turns([m.model_copy(update={"timestamp": ""}) for m in talk(*things(2))], COUNTER)
    fold = plan_fold(undated, 0, 0)
    assert fold is not None
    assert truncation_notice(fold) == "[4 earlier messages are left out here without a summary.]"


def test_what_a_summary_covers_is_counted_in_turns_messages_and_days() -> None:
    assert summary_coverage(a_compaction("So.", "t3-a"), TALK) == SummaryCoverage(3, 6, "2025-05-02", "2025-05-04")
    assert summary_coverage(a_compaction(None, "t3-a", mode="masked"), TALK) == SummaryCoverage(0, 0, None, None)
    assert summary_coverage(a_compaction("So.", "of another branch"), TALK) == SummaryCoverage(0, 0, None, None)


def asked(mode: str = "extractive", after: str | None = "t4-a", tokens: int = 1000, calls: int = 2) -> Compaction:
    return a_compaction("So.", "t2-a", mode=mode, model_calls=calls, made_after=after, tokens_before=tokens)


def test_a_model_that_failed_is_asked_again_after_a_tenth_more_has_come() -> None:
    since = sum(turn.tokens for turn in TALK[4:])
    assert recently_failed([asked(tokens=10 * since + 10)], TALK, automatic=True)
    assert not recently_failed([asked(tokens=10 * since)], TALK, automatic=True)


def test_a_user_gets_it_asked_again_after_any_news() -> None:
    assert recently_failed([asked(after="t6-a")], TALK, automatic=False)
    assert not recently_failed([asked(after="t5-a", tokens=1_000_000)], TALK, automatic=False)


@pytest.mark.parametrize(
    "compactions",
    [
        [],
        [asked(calls=0)],
        [asked("full", "t6-a")],
        [asked("extractive", "t6-a"), asked("simple", "t6-a"), asked("masked", "t6-a", calls=0)],
        [asked(after="of another branch")],
        [asked(after=None)],
    ],
)
def test_a_model_that_did_not_fail_lately_is_asked(compactions: list[Compaction]) -> None:
    assert not recently_failed(compactions, TALK, automatic=True)


# in words


def told(**more: object) -> Compaction:
    return a_compaction("So.", "x", tokens_before=1000, tokens_after=400, messages_folded=8).model_copy(update=more)


@pytest.mark.parametrize(
    ("compaction", "words"),
    [
        (told(mode="extractive"), "folded 8 messages into a summary of 2 tokens of its own sentences: the prompt went from 1000 to 400"),
        (told(mode="full", model_calls=1, usage=TokenUsage(prompt_tokens=90, completion_tokens=9)), "the model (1 model call, 99 tokens):"),
        (told(mode="simple", model_calls=2, problem="it failed."), "(2 model calls): the prompt went from 1000 to 400 tokens. The"),
        (told(mode="simple", problem="it failed."), "The model's summary failed: it failed. Nothing is deleted; /compact undo takes it"),
        (told(mode="masked", results_masked=3, messages_folded=0), "Compaction shortened 3 old results and documents: the prompt went"),
        (
            told(mode="full", results_masked=3, preview=True),
            "by the model and would shorten 3 old results and documents:",
        ),
        (told(mode="full", preview=True), "Nothing is deleted; nothing was changed."),
        (told(mode="truncated"), "folded 8 messages into a note that they are left out: the prompt"),
        (told(mode="none"), "Nothing to compact: there are no older turns that a summary would make smaller."),
    ],
)
def test_a_compaction_is_described(compaction: Compaction, words: str) -> None:
    assert words in describe(compaction)


@pytest.mark.parametrize(
    ("compaction", "words"),
    [
        (
            told(mode="full", model_calls=1),
            "8 messages folded into a summary written by the model (1 model call), 600 tokens saved; /compact",
        ),
        (
            told(mode="masked", messages_folded=0, results_masked=3),
            "3 old results shortened, 600 tokens saved; /compact undo",
        ),
        (told(mode="extractive", problem="too slow"), "600 tokens saved; the model's summary failed: too slow; /compact undo"),
        (told(mode="truncated"), "8 messages left out, 600 tokens saved"),
        (told(mode="none", messages_folded=0), "nothing could be made smaller"),
        (told(mode="none", messages_folded=0, problem="too slow"), "nothing could be made smaller; too slow"),
    ],
)
def test_a_compaction_is_told_in_one_line(compaction: Compaction, words: str) -> None:
    assert words in saved(compaction)
    assert "undo" not in saved(compaction, UNSTORED)


def test_what_stands_is_told() -> None:
    covers = SummaryCoverage(3, 6, "2025-05-02", "2025-05-04")
    assert standing(told(mode="full"), covers) == "3 turns (6 messages), 2025-05-02 to 2025-05-04, in 2 tokens (full):"
    assert standing(told(masked=("r",)), covers).endswith("(extractive); 1 old results and documents without their middles:")
    assert standing(told(summary=None, masked=("r", "s")), covers) == "No summary; 2 old results and documents without their middles."
