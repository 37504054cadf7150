"""The turns of a branch and their figures."""

from factories import COUNTER, message
from hypothesis import given
from hypothesis import strategies as st

from zkchat_cli.context.budget import mask_messages
from zkchat_cli.context.turns import make_turns
from zkchat_cli.models import ToolCall


@given(st.lists(st.sampled_from(["complete", "failed", "pinned"]), max_size=8), st.integers(0, 8), st.integers(0, 8))
def test_the_figures_of_a_history_are_those_of_its_turns(kinds: list[str], cut: int, position: int) -> None:
    """However it grew, and with the results of a turn masked."""
    messages = []
    for i, kind in enumerate(kinds):
        status = "failed" if kind == "failed" else "complete"
        messages += [
            message("user", "Where is the anvil?", f"q{i}", pinned=True if kind == "pinned" else None, status=status),
            message("assistant", "", f"c{i}", tool_calls=(ToolCall(id=f"{i}", name=f"tool{i % 3}"),)),
            message("tool", "Here it is. " * 200, f"r{i}", tool_call_id=f"{i}"),
            message("assistant", "On shelf seven.", f"a{i}"),
        ]
    exchanges = [messages[at : at + 4] for at in range(0, len(messages), 4)]
    grown = mask_messages(make_turns(exchanges[cut:], COUNTER, make_turns(exchanges[:cut], COUNTER)), [f"r{position}"], COUNTER)
    turns = grown.turns
    assert [turn.number for turn in grown.in_order] == list(range(1, len(kinds) + 1))
    recent = grown.since(position)
    assert recent.turns == turns[position:]
    assert recent.tokens == sum(turn.tokens for turn in turns[position:])
    assert recent.fixed_tokens == sum(turn.fixed_tokens for turn in turns[position:])
    assert [turn.number for turn in recent.fixed] == [turn.number for turn in turns[position:] if turn.fixed]
    assert (turns[-1].tools_so_far if turns else frozenset()) == {c.name for turn in turns for m in turn.messages for c in m.tool_calls}
