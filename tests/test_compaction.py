"""Compaction: older turns give way to a summary, nothing is deleted, and it can be taken back to
the byte.
"""

from typing import Any

import pytest
from factories import (
    COUNTER,
    AppFixture,
    DeltaModel,
    exchanges,
    message,
    reply,
    report_of,
    resume,
    split_into_turns,
    turns,
)
from hypothesis import given
from hypothesis import strategies as st

from zkchat_cli.chat.session import ZkChatSession
from zkchat_cli.config.schema import Config, ContextSettings
from zkchat_cli.context.compaction_plan import plan_fold
from zkchat_cli.summarization.extractive import MAX_SUMMARY_SHARE, extract_summary, summarize

THINGS = [
    "anvil",
    "bellows",
    "chisel",
    "drill",
    "easel",
    "file",
    "gouge",
    "hammer",
    "inkwell",
    "jigsaw",
    "kettle",
    "lathe",
]
MOVES = tuple(
    (
        f"On day {i} I moved the {thing} to shelf {i * 7}, for a reason that only day {i} knows.",
        f"Noted: {thing}, shelf {i * 7}. Well done.",
    )
    for i, thing in enumerate(THINGS, 1)
)


@pytest.fixture
def session(app: AppFixture) -> ZkChatSession:
    return resume(app, exchanges(*MOVES))


# what to fold

some_turns = st.lists(st.integers(1, 4), max_size=12).map(
    lambda sizes: split_into_turns(
        [
            message("user" if j == 0 else "assistant", "word " * (j + 1), f"m{i}-{j}")
            for i, size in enumerate(sizes)
            for j in range(size)
        ],
        COUNTER,
    )
)


@given(some_turns, st.integers(-1, 30), st.none() | st.integers(0, 60), st.data())
def test_the_oldest_turns_are_folded_whole(
    cut: Any, keep: int, room: int | None, data: st.DataObject
) -> None:
    covered = data.draw(st.integers(0, len(cut)))
    fold = plan_fold(cut, covered, keep, budget=room)
    if fold is None:
        return
    assert fold.turns == tuple(cut[: len(fold.turns)])
    assert fold.new == tuple(cut[covered : len(fold.turns)])
    assert fold.new
    kept = sum(len(turn.messages) for turn in cut[len(fold.turns) :])
    assert kept >= keep or (room is not None and kept > 0) or keep <= 0


def test_fewer_turns_are_kept_when_they_do_not_fit() -> None:
    cut = turns(*MOVES[:6])
    assert len(plan_fold(cut, 0, 20, budget=100_000).turns) == 1  # type: ignore[union-attr]
    assert len(plan_fold(cut, 0, 10, budget=cut[-1].tokens + cut[-2].tokens).turns) == 4  # type: ignore[union-attr]


# the extractive summary


def test_tool_results_and_failed_turns_are_not_summarised() -> None:
    history = [
        *exchanges(("The anvil is red.", "Yes, it is red.")),
        message("tool", "The result is a secret.", "r", tool_call_id="1"),
        message("user", "This one failed badly.", "u", status="failed"),
    ]
    summary = summarize(split_into_turns(history, COUNTER), 1000, COUNTER)
    assert summary and not any(word in summary.text for word in ("secret", "failed"))


def test_a_summary_is_clearly_smaller_than_what_it_replaces() -> None:
    fold = plan_fold(turns(*MOVES), 0, 4)
    assert fold is not None
    summary = extract_summary(fold, 100_000, COUNTER)
    assert summary and COUNTER.count(summary.text) <= MAX_SUMMARY_SHARE * sum(
        turn.tokens for turn in fold.turns
    )


# a session compacts


def test_a_second_extractive_summary_is_made_from_quoted_and_new_turns(app: AppFixture) -> None:
    app.max_context = 2000
    session = resume(
        app,
        exchanges(
            *(
                (f"On day {i} I moved thing{i} to shelf {i * 7}.", f"Noted, thing{i}.")
                for i in range(48)
            )
        ),
    )
    turns = [turn.id for turn in session.stored_state().turns(session.runtime.counter).turns]
    first = session.compact(keep=24)
    assert 0 < len(first.quoted) < 36
    done = app.reopen(session).compact(keep=4)
    assert set(done.quoted) <= {*first.quoted, *turns[36:46]}
    assert set(done.quoted) & {*first.quoted} and set(done.quoted) & {*turns[36:46]}


def test_a_summary_never_takes_more_than_its_share_whatever_the_target(app: AppFixture) -> None:
    app.max_context = 2000
    session = resume(app, exchanges(*MOVES * 6))
    assert session.compact(target=100_000, keep=0).summary_tokens <= 0.3 * 1800
    session.prompt("And now?")


def test_the_discard_strategy_compacts_nothing(app: AppFixture) -> None:
    done = resume(
        app, exchanges(*MOVES), strategy="discard", model=DeltaModel([reply("So.")])
    ).compact()
    assert (done.mode, done.model_calls) == (
        "none",
        0,
    ) and "the strategy discard sends no summaries" in str(done.problem)


def test_failed_turns_are_neither_folded_nor_counted(app: AppFixture) -> None:
    history = (
        *exchanges(*MOVES[:6]),
        message("user", "It failed.", "f", parent_id="t6-a", status="failed"),
    )
    session = resume(app, history)
    assert session.compact(keep=2).messages_folded == 10


# when the window fills


def test_automatic_compaction_can_be_turned_off(app: AppFixture) -> None:
    app.max_context = 3000
    app.settings = Config(context=ContextSettings(auto_summarize=False))
    session = resume(
        app, exchanges(*((q * 4, a * 4) for q, a in MOVES)), model=DeltaModel([reply("Fine.")])
    )
    report = report_of(session.send("And now?"))
    assert report.compaction is None and report.context.compaction.due


def test_a_summary_too_large_for_a_smaller_window_is_made_anew(app: AppFixture) -> None:
    session = resume(app, exchanges(*((q * 4, a * 4) for q, a in MOVES * 4)))
    large = session.compact(keep=2)
    app.max_context = 2000
    resumed = app.reopen(session, DeltaModel([reply("Fine.")]))
    assert resumed.usage.compaction.due
    report = report_of(resumed.send("And now?"))
    assert report.compaction and report.compaction.summary_tokens <= 540 < large.summary_tokens
    assert report.context.message_breakdown["summary"] > 0
