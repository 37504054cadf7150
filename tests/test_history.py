"""The history of a conversation: what is noted of its turns is what looking through all of them would find."""

import gc
from collections.abc import Sequence
from dataclasses import replace

import pytest
from building import COUNTER, said, talk, turns
from hypothesis import given, settings
from hypothesis import strategies as st

from zkchat_cli.context.turn_history import MANY, TurnHistory, long_lived_allocation
from zkchat_cli.context.turns import Turn, split_into_turns
from zkchat_cli.models import ToolCall


def some(*kinds: str) -> tuple[Turn, ...]:
    """A turn each: `f` one that failed, `t` one with a tool call, anything else one without."""
    messages = []
    for i, kind in enumerate(kinds):
        messages.append(said("user", f"Question {i}?", f"u{i}", status="failed" if kind == "f" else "complete"))
        if kind == "t":
            messages.append(said("assistant", "", f"c{i}", tool_calls=(ToolCall(id=f"k{i}", name=f"tool_{i}"),)))
            messages.append(said("tool", "Found.", f"r{i}", tool_call_id=f"k{i}"))
        messages.append(said("assistant", f"Answer {i}.", f"a{i}"))
    return split_into_turns(messages, COUNTER)


def looked_through(history: TurnHistory, known: Sequence[Turn]) -> None:
    """Everything that a history says, beside what its turns say."""
    good = [turn for turn in known if not turn.failed]
    assert (len(history), list(history), history[:]) == (len(known), list(known), tuple(known))
    assert history.failed_turns == tuple(turn for turn in known if turn.failed)
    assert history.called_tools == {call.name for turn in known for m in turn.messages for call in m.tool_calls}
    for first in range(len(known) + 1):
        after = tuple(turn for turn in known[first:] if not turn.failed)
        assert history.sendable_turns(first) == after
        before = tuple(turn for turn in known[:first] if not turn.failed)
        assert (history.sendable_turns(last=first), history.count_sendable(first)) == (before, len(before))
        assert history.tokens(first) == sum(turn.tokens for turn in after)
    assert history.tokens() == sum(turn.tokens for turn in good)
    for i, turn in enumerate(known):
        assert all(history.count_through(m.id) == i + 1 and history.find_message(m.id) is m for m in turn.messages)
    assert history.count_through(None) == history.count_through("elsewhere") == 0
    assert history.find_message("elsewhere") is None


@settings(deadline=None)
@given(st.lists(st.sampled_from("fts"), max_size=12), st.lists(st.integers(0, 3), max_size=4))
def test_a_history_knows_what_looking_through_its_turns_would_find(kinds: list[str], pieces: list[int]) -> None:
    known = some(*kinds)
    history, at, earlier = TurnHistory(), 0, []
    for piece in pieces:
        earlier.append((history, at))
        history, at = history.with_turns(known[at : at + piece]), min(at + piece, len(known))
    looked_through(history.with_turns(known[at:]), known)
    for each, length in earlier:  # those it grew from have not changed
        looked_through(each, known[:length])


def test_two_histories_that_grew_from_one_do_not_see_each_others_turns() -> None:
    first, left, right = some("s", "t", "f")
    trunk = TurnHistory([first])
    one, other = trunk.with_turns([left]), trunk.with_turns([right])
    looked_through(one, [first, left])
    looked_through(other, [first, right])


def test_turns_are_found_by_their_place() -> None:
    one, two = turns(("a?", "b"), ("c?", "d"))
    history = TurnHistory([one]).with_turns([two])
    assert (history[0], history[-1], history[1:], history[-1:], history[5:]) == (one, two, (two,), (two,), ())
    assert (history[::-1], history.with_turns([one])[:-1]) == ((two, one), (one, two))
    with pytest.raises(IndexError):
        history[2]


def test_a_history_of_a_history_is_itself() -> None:
    history = TurnHistory(split_into_turns(talk(("a?", "b")), COUNTER))
    assert TurnHistory.from_turns(history) is history
    assert list(TurnHistory.from_turns(tuple(history))) == list(history)


@settings(deadline=None)
@given(st.lists(st.sampled_from("fts"), max_size=10), st.sets(st.integers(0, 9)), st.integers(0, 10))
def test_other_turns_may_stand_at_some_places(kinds: list[str], places: set[int], length: int) -> None:
    known = some(*kinds)
    history = TurnHistory(known[:length]).with_turns(known[length:])
    others = {place: replace(turn, prompt=()) for place, turn in enumerate(known) if place in places}
    instead = [others.get(place, turn) for place, turn in enumerate(known)]
    looked_through(history.with_replaced(others), instead)
    looked_through(history, known)
    looked_through(history.with_replaced(others).with_turns(some("s", "t")[:0]), instead)


def test_much_that_lasts_is_not_looked_through_for_garbage_again() -> None:
    def collected_from() -> int:
        return len(gc.get_objects())

    try:
        with long_lived_allocation():
            few = [[n] for n in range(1000)]
        known = collected_from()
        with long_lived_allocation():
            assert not gc.isenabled()
            many = [[n] for n in range(MANY + 1)]
        assert gc.isenabled()
        assert collected_from() < len(many)
        assert known > len(few)
    finally:
        gc.unfreeze()
        gc.collect()
        gc.freeze()  # as it was, see conftest
