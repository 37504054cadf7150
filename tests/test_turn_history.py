"""Turn histories: their running totals equal what reading all turns gives."""

from collections.abc import Sequence
from dataclasses import replace

from factories import COUNTER, message
from hypothesis import given, settings
from hypothesis import strategies as st

from zkchat_cli.context.turn_history import TurnHistory
from zkchat_cli.context.turns import Turn, split_into_turns
from zkchat_cli.models import ToolCall


def make_turns(*kinds: str) -> tuple[Turn, ...]:
    """A turn of each kind: `f` failed, `t` with a tool call, else without."""
    messages = []
    for i, kind in enumerate(kinds):
        messages.append(message("user", f"Question {i}?", f"u{i}", status="failed" if kind == "f" else "complete"))
        if kind == "t":
            messages.append(message("assistant", "", f"c{i}", tool_calls=(ToolCall(id=f"k{i}", name=f"tool_{i}"),)))
            messages.append(message("tool", "Found.", f"r{i}", tool_call_id=f"k{i}"))
        messages.append(message("assistant", f"Answer {i}.", f"a{i}"))
    return split_into_turns(messages, COUNTER)


def check_totals(history: TurnHistory, known: Sequence[Turn]) -> None:
    """Compare everything a history answers with its turns."""
    good = [turn for turn in known if not turn.failed]
    assert (len(history), list(history), history[:]) == (len(known), list(known), tuple(known))
    assert history.called_tools == {call.name for turn in known for m in turn.messages for call in m.tool_calls}
    for first in range(len(known) + 1):
        after = tuple(turn for turn in known[first:] if not turn.failed)
        assert history.sendable_turns(first) == after
        assert history.count_sendable(first) == sum(not turn.failed for turn in known[:first])
        assert history.tokens(first) == sum(turn.tokens for turn in after)
    assert history.tokens() == sum(turn.tokens for turn in good)
    for i, turn in enumerate(known):
        assert all(history.count_through(m.id) == i + 1 for m in turn.messages)
    assert history.count_through(None) == history.count_through("elsewhere") == 0


@settings(deadline=None)
@given(st.lists(st.sampled_from("fts"), max_size=12), st.lists(st.integers(0, 3), max_size=4))
def test_totals_are_right_while_a_history_grows(kinds: list[str], pieces: list[int]) -> None:
    known = make_turns(*kinds)
    history, at, earlier = TurnHistory(), 0, []
    for piece in pieces:
        earlier.append((history, at))
        history, at = history.with_turns(known[at : at + piece]), min(at + piece, len(known))
    check_totals(history.with_turns(known[at:]), known)
    for each, length in earlier:  # the shorter histories have not changed
        check_totals(each, known[:length])
        shorter = {at: replace(known[at], prompt=known[at].prompt[:1]) for at in range(length) if at % 3 == 1}
        check_totals(each.with_replaced(shorter), [shorter.get(at, turn) for at, turn in enumerate(known[:length])])
