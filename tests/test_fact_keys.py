"""Keys of facts: which older fact a newer one replaces."""

import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from zkchat_cli.memory.fact_keys import contradicts, suggest_key

REPLACED = [
    ("The deadline is 1 May", "The deadline is 3 June"),
    ("The deadline of the roof is 1 May", "Deadline of the roof: 3 June"),
    ("wifi password: hunter2", "wifi password: swordfish"),
    ("My favourite colour is green", "My favourite colour is dark blue"),
    ("The rent is 900 euros", "The rent is 950 euros"),
    ("Anna is 34", "Anna is 35"),
    ("Anna is 170 cm tall", "Anna is 172 cm tall"),
    ("Roofer: Kunze, 0171 5550", "Roofer: Ito, 0171 5551"),
    ("budget = 5000", "budget = 6000"),
    ("The capital of the project is Bonn", "The capital of the project is Berlin"),
    ("截止日期是5月1日", "截止日期是6月3日"),
    ("我的密码是abc", "我的密码是xyz"),
    ("电话：555", "电话：556"),
    ("My shoe size is 43", "Please remember my shoe size is 44"),
]
BOTH_STAY = [
    ("I like tea", "I like coffee"),
    ("The anvil is red", "The anvil is heavy"),
    ("Anna is a doctor", "Anna is my neighbour"),
    ("Anna is 34", "Anna is 170 cm tall"),
    ("The meeting is on Tuesday", "The meeting is in Berlin"),
    ("Note: buy milk", "Note: call the roofer"),
    ("Tuesday: dentist", "Tuesday: choir"),
    ("My sister is a teacher", "My sister is very kind"),
    ("I live in Berlin", "I live with two cats"),
    ("The deadline of the roof is 1 May", "The deadline of the garden is 3 June"),
    ("The roofer's number is 0171 5550", "The plumber's number is 0171 5551"),
    ("When I write German, answer in German", "When I write English, answer in English"),
    ("我是医生", "我是中国人"),
    ("x" * 60 + " a: 1", "x" * 60 + " b: 2"),
]


def remember(*facts: str) -> dict[str, str]:
    remembered: dict[str, str] = {}
    for fact in facts:
        remembered[suggest_key(fact, remembered)] = fact
    return remembered


@pytest.mark.parametrize(("older", "newer"), REPLACED)
def test_a_new_value_replaces_the_old_one(older: str, newer: str) -> None:
    assert list(remember(older, newer).values()) == [newer]
    assert list(remember(newer, older).values()) == [older]


@pytest.mark.parametrize(("older", "newer"), BOTH_STAY)
def test_facts_that_can_both_be_true_both_stay(older: str, newer: str) -> None:
    assert list(remember(older, newer).values()) == [older, newer]
    assert list(remember(newer, older, newer).values()) == [newer, older]


def test_a_key_given_by_the_user_names_its_fact() -> None:
    assert suggest_key("The deadline is 3 June", {"deadline": "1 May, firmly"}) == "deadline"
    assert suggest_key("The anvil is heavy", {"anvil": "in the yard"}) == "anvil-2"


@given(st.text(max_size=80), st.text(max_size=80))
def test_a_fact_never_contradicts_itself_and_always_gets_a_key(one: str, other: str) -> None:
    assert not contradicts(one, one)
    assert len(remember(one, other)) in (1, 2)
    assert remember(one, one) == {suggest_key(one, {}): one}


@pytest.mark.parametrize("hostile", [" is" * 10**5, "not " * 10**5, "1" * 10**5, ": " * 10**5])
def test_long_hostile_facts_are_compared_in_under_a_second(hostile: str) -> None:
    begin = time.process_time()
    remember(hostile, f"{hostile}x", f"x {hostile}")
    assert time.process_time() - begin < 1
