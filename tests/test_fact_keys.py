"""Keys of facts: which older fact a newer one replaces."""

import pytest
from factories import takes_less_than
from hypothesis import given
from hypothesis import strategies as st

from zkchat_cli.memory.fact_keys import MAX_KEY, suggest_key

REPLACED = [
    ("The deadline is 1 May", "The deadline is 3 June"),
    ("wifi password: hunter2", "wifi password: swordfish"),
    ("My favourite colour is green", "My favourite colour is dark blue"),
    ("The rent is 900 euros", "Rent: 950 euros"),
    ("Roofer: Kunze, 0171 5550", "Roofer: Ito, 0171 5551"),
    ("budget = 5000", "budget = 6000"),
    ("截止日期是5月1日", "截止日期是6月3日"),
    ("电话：555", "电话：556"),
]
BOTH_STAY = [
    ("I like tea", "I like coffee"),
    ("Anna is a doctor", "Anna is my neighbour"),
    ("Note: buy milk", "Note: call the roofer"),
    ("I live in Berlin", "I live with two cats"),
    ("The deadline of the roof is 1 May", "The deadline of the garden is 3 June"),
    ("The roofer's number is 0171 5550", "The plumber's number is 0171 5551"),
    ("When I write German, answer in German", "When I write English, answer in English"),
    ("我是医生", "我是中国人"),
    (
        "Internationalization documentation responsibilities moved",
        "Internationalization documentation responsibilities grew",
    ),
]


def remember(*facts: str) -> dict[str, str]:
    remembered: dict[str, str] = {}
    for fact in facts:
        remembered[suggest_key(fact, remembered)] = fact
    return remembered


@pytest.mark.parametrize(("older", "newer"), REPLACED)
def test_a_new_value_replaces_the_old_one(older: str, newer: str) -> None:
    assert list(remember(older, newer).values()) == [newer]


@pytest.mark.parametrize(("older", "newer"), BOTH_STAY)
def test_facts_that_can_both_be_true_both_stay(older: str, newer: str) -> None:
    assert list(remember(older, newer, older).values()) == [older, newer]


@given(st.text(max_size=80), st.text(max_size=80))
def test_every_fact_gets_a_short_key_and_the_same_one_again(one: str, other: str) -> None:
    assert all(0 < len(key) <= MAX_KEY for key in remember(one, other))
    assert remember(one, one) == {suggest_key(one, {}): one}


@pytest.mark.parametrize("hostile", [" is" * 10**5, "not " * 10**5, "1" * 10**5, ": " * 10**5])
def test_long_hostile_facts_get_a_key_in_under_a_second(hostile: str) -> None:
    with takes_less_than(1):
        remember(hostile, f"{hostile}x", f"x {hostile}")
