"""What every prompt promises, for dozens of random histories (`tests/bench/properties.py` tries as many more as one likes)."""

import pytest
from history_strategies import any_history_makes_a_prompt_that_keeps_all_promises
from hypothesis import settings

HISTORIES = 75


@pytest.mark.untraced
def test_any_history_makes_a_prompt_that_keeps_all_promises() -> None:
    settings(max_examples=HISTORIES, deadline=None)(any_history_makes_a_prompt_that_keeps_all_promises)()
