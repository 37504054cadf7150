"""A compaction leaves room for several turns, so that the next one is not due soon."""

import random
from itertools import pairwise
from statistics import median

import pytest
from conftest import write_notes
from factories import (
    COUNTER,
    AppFixture,
    DeltaModel,
    find_call,
    make_compaction,
    reply,
    run_turn,
    tool_reply,
)
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st
from summary_models import failing_reply, is_for_summary

from zkchat_cli.chat.session import ZkChatSession
from zkchat_cli.context.compaction_room import CompactionRoom
from zkchat_cli.context.masks import SHORT_MASK, find_maskable, mask_messages
from zkchat_cli.events import CompactionDone, TurnCompleted
from zkchat_cli.llm.base import Delta, Request
from zkchat_cli.models.compaction import Compaction

FIVE = 5
NAMES = "anvil bellows chisel drill easel forge gouge hinge lathe mallet".split()


def write_long_notes(app: AppFixture) -> None:
    notes = {
        f"{name}.md": f"# {name}\n\n" + f"The {name} of the workshop needs oil and care. " * 60
        for name in NAMES
    }
    write_notes(app.vault.root, notes)
    app.vault.refresh()


def talker(words: int, seed: int, *, searches: bool) -> DeltaModel:
    """A model that answers in about so many words, and may search before each answer."""
    chance = random.Random(seed)

    def answer(request: Request) -> list[Delta]:
        if is_for_summary(request):
            return failing_reply("server")
        if searches and request.messages[-1].role != "tool":
            return tool_reply(find_call(chance.choice(NAMES)))
        size = chance.randint(words // 2, words + words // 2)
        said = [f"{chance.choice(NAMES)} {chance.randint(10, 99)} holds." for _ in range(size // 3)]
        return reply(" ".join(said))

    return DeltaModel(answer=answer)


def hold_talk(session: ZkChatSession, turns: int) -> list[Compaction | None]:
    """The compaction of each turn, None for a turn without one."""
    compactions: list[Compaction | None] = []
    for number in range(turns):
        events, last = run_turn(session.send(f"What about the {NAMES[number % 10]} no. {number}?"))
        assert isinstance(last, TurnCompleted)
        done = [event.compaction for event in events if isinstance(event, CompactionDone)]
        compactions.append(done[-1] if done else None)
    return compactions


def turns_that_fit(session: ZkChatSession, compaction: Compaction) -> float:
    """How many turns of the usual size, as the next prompts have them, fit after a compaction. The
    turn that it made room for, which is there already, is one of them, however large.
    """
    turns = session.state.turns(COUNTER)
    if compaction.masks_later:
        ids = find_maskable(turns.turns, COUNTER, SHORT_MASK)
        turns = mask_messages(turns, ids, COUNTER, SHORT_MASK)
    usage = session.usage
    used = sum(
        usage.message_breakdown[kind] for kind in ("summary", "conversation", "tool_results")
    )
    sizes = [turn.tokens for turn in turns.turns]
    return (usage.message_budget - used + sizes[-1]) / median(sizes)


@given(
    st.sampled_from([4000, 6000, 8000, 16000]),
    st.integers(10, 120),
    st.integers(0, 1000),
    st.booleans(),
)
# The fourth turn, in which it compacts, is larger than the three before it
@example(window=4000, words=94, seed=2, searches=True)
@settings(max_examples=6, suppress_health_check=list(HealthCheck))
def test_after_a_compaction_five_turns_of_median_size_fit(
    app: AppFixture, window: int, words: int, seed: int, searches: bool
) -> None:
    write_long_notes(app)
    session = app.session(
        talker(words, seed, searches=searches),
        max_context=window,
        retrieval="tools" if searches else "none",
    )
    for _ in range(60):
        [done] = hold_talk(session, 1)
        if done is not None:
            break
    if done is not None:
        assert turns_that_fit(session, done) >= FIVE


@pytest.mark.untraced
def test_turns_with_searches_in_a_small_window_seldom_compact(app: AppFixture) -> None:
    write_long_notes(app)
    session = app.session(talker(60, 1, searches=True), max_context=6000)
    compactions = hold_talk(session, 40)
    compacted = [number for number, done in enumerate(compactions) if done is not None]
    gaps = [after - before for before, after in pairwise(compacted)]
    assert compacted
    assert min(gaps, default=FIVE) >= FIVE


def test_results_of_later_turns_stay_short_in_another_process(app: AppFixture) -> None:
    write_long_notes(app)
    session = app.session(talker(60, 1, searches=True), max_context=6000)
    while not session.state.compactions:
        hold_talk(session, 1)
    hold_talk(session, 2)
    assert session.state.compaction is not None
    assert session.state.compaction.masks_later
    results = [m for m in session.prompt().messages if m.kind == "tool_results"]
    assert len(results) > 1
    assert all("left out" in message.content for message in results[:-1])
    again = app.reopen(session, max_context=6000)
    assert again.prompt().model_dump() == session.prompt().model_dump()


def test_undoing_a_compaction_gives_the_later_results_back(app: AppFixture) -> None:
    write_long_notes(app)
    session = app.session(talker(60, 1, searches=True), max_context=6000)
    while not session.state.compactions:
        hold_talk(session, 1)
    hold_talk(session, 1)
    session.stored_state().undo_compaction()
    contents = [m.content for m in session.prompt().messages if m.kind == "tool_results"]
    assert contents
    assert not any("left out" in content for content in contents)


def test_a_summary_needs_part_of_what_is_new_and_all_of_the_earlier_one() -> None:
    earlier = make_compaction("It is on shelf 7. " * 50, "m1")
    room = CompactionRoom(9000, new_turns=0, masks_later=False, summary=3000, least_summary=100)
    assert room.needed_summary(None, folded=1000) == 500
    assert room.needed_summary(earlier, folded=1000) == earlier.summary_tokens + 500
    assert room.needed_summary(None, folded=10) == 100
    assert room.needed_summary(earlier, folded=10_000) == 3000
