"""The turns of a branch."""

import pytest
from factories import COUNTER, message

from zkchat_cli.context.turns import make_turns


@pytest.mark.parametrize(("first", "numbers"), [("user", [1, 2, 3]), ("assistant", [0, 1, 2])])
def test_turns_are_numbered_by_their_questions_however_the_history_grew(
    first: str, numbers: list[int]
) -> None:
    failed = message("user", "And the chisel?", "q2", status="failed")
    messages = [
        [message(first, "Here.", "q1")],
        [failed],
        [message("user", "Where is the anvil?", "q3")],
    ]
    grown = make_turns(messages[1:], COUNTER, make_turns(messages[:1], COUNTER))
    assert [turn.number for turn in grown.all_turns] == numbers
    assert [turn.number for turn in grown.turns] == [numbers[0], numbers[2]]
