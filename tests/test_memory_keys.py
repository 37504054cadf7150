"""Which older fact a newer one takes the place of: one that cannot hold beside it; all others stay."""

import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from zkchat_cli.memory.fact_keys import contradicts, suggest_key

CORRECTIONS = [
    ("The deadline is 1 May", "The deadline is 3 June"),
    ("The deadline of the roof is 1 May", "Deadline of the roof: 3 June"),
    ("wifi password: hunter2", "wifi password: swordfish"),
    ("The wifi password is hunter2", "The wifi password is swordfish"),
    ("My favourite colour is green", "My favourite colour is dark blue"),
    ("My favourite tea is green tea", "My favourite tea is oolong"),
    ("The door is red", "The door is blue"),
    ("The rent is 900 euros", "The rent is 950 euros"),
    ("Anna is 34", "Anna is 35"),
    ("Anna is 170 cm tall", "Anna is 172 cm tall"),
    ("The roofer is Kunze", "The roofer is Dr. Ito"),
    ("Roofer: Kunze, 0171 5550", "Roofer: Ito, 0171 5551"),
    ("budget = 5000", "budget = 6000"),
    ("The meeting is on Tuesday", "The meeting is on Friday"),
    ("The train leaves: 10:15", "The train leaves: 10:45"),
    ("The key is under the mat", "The key is in the drawer"),
    ("I live in Berlin", "I live in Munich"),
    ("Anna works for Siemens", "Anna works for Bosch"),
    ("The shop opens at 9", "The shop opens at 10"),
    ("The ticket costs 49 euros", "The ticket costs 58 euros"),
    ("I like tea", "I don't like tea"),
    ("Anna likes tea in the morning", "Anna does not like tea in the morning"),
    ("The anvil is not red", "The anvil is red"),
    ("The gate is locked", "The gate isn't locked"),
    ("I can eat nuts", "I can't eat nuts"),
    ("The capital of the project is Bonn", "The capital of the project is Berlin"),
    ("The status of the order is open", "The status of the order is shipped"),
    ("截止日期是5月1日", "截止日期是6月3日"),
    ("我的密码是abc", "我的密码是xyz"),
    ("电话：555", "电话：556"),
    ("My shoe size is 43", "Please remember my shoe size is 44"),
]
BOTH_STAY = [
    ("I like tea in the morning", "I like tea in the evening"),
    ("I like tea", "I like coffee"),
    ("The anvil is red", "The anvil is heavy"),
    ("Anna is a doctor", "Anna is my neighbour"),
    ("Anna is French", "Anna is Catholic"),
    ("Anna is 34", "Anna is 170 cm tall"),
    ("Anna is in Berlin", "Anna is 34"),
    ("The meeting is on Tuesday", "The meeting is in Berlin"),
    ("Note: buy milk", "Note: call the roofer"),
    ("TODO: mow the lawn", "TODO: paint the gate"),
    ("Tuesday: dentist", "Tuesday: choir"),
    ("I am vegetarian", "I am tall"),
    ("My sister is a teacher", "My sister is very kind"),
    ("Anna moved to Lisbon with two cats and a piano", "Anna moved to Lisbon with two cats and a harp"),
    ("I live in Berlin", "I live with two cats"),
    ("I live in Berlin", "Anna lives in Munich"),
    ("The deadline of the roof is 1 May", "The deadline of the garden is 3 June"),
    ("The roofer's number is 0171 5550", "The plumber's number is 0171 5551"),
    ("When I write German, answer in German", "When I write English, answer in English"),
    ("The report goes to Anna on Mondays", "The report goes to Ben on Mondays"),
    ("Never water the cactus in winter", "Never water the orchid in winter"),
    ("Use metric units in recipes", "Use metric units in reports"),
    ("Ben is allergic to nuts", "Ben is allergic to pollen"),
    ("The house has a red door", "The house has a red roof"),
    ("我是医生", "我是中国人"),
    ("x" * 60 + " a: 1", "x" * 60 + " b: 2"),
]


def kept(*facts: str) -> dict[str, str]:
    """What is remembered after one fact after the other."""
    taken: dict[str, str] = {}
    for fact in facts:
        taken[suggest_key(fact, taken)] = fact
    return taken


@pytest.mark.parametrize(("older", "newer"), CORRECTIONS)
def test_a_correction_takes_the_place_of_what_it_corrects(older: str, newer: str) -> None:
    assert list(kept(older, newer).values()) == [newer]
    assert list(kept(newer, older).values()) == [older]


@pytest.mark.parametrize(("older", "newer"), BOTH_STAY)
def test_what_can_hold_beside_another_leaves_it(older: str, newer: str) -> None:
    assert list(kept(older, newer).values()) == [older, newer]
    assert list(kept(newer, older, newer).values()) == [newer, older]


def test_of_several_facts_of_one_thing_the_one_that_is_meant_is_corrected() -> None:
    facts = kept("The anvil is red", "The anvil is heavy", "The anvil is in the yard", "The anvil is in the shed", "The anvil is blue")
    assert facts == {"anvil": "The anvil is blue", "anvil-2": "The anvil is heavy", "anvil-3": "The anvil is in the shed"}


def test_a_key_that_somebody_gave_says_what_its_fact_is_about() -> None:
    assert suggest_key("The deadline is 3 June", {"deadline": "1 May, firmly"}) == "deadline"
    assert suggest_key("The anvil is heavy", {"anvil": "in the yard"}) == "anvil-2"


@given(st.text(max_size=80), st.text(max_size=80))
def test_no_fact_corrects_itself_and_every_pair_has_keys(one: str, other: str) -> None:
    assert not contradicts(one, one)
    assert len(kept(one, other)) in (1, 2)
    assert kept(one, one) == {suggest_key(one, {}): one}


@pytest.mark.parametrize("hostile", [" is" * 10**5, "not " * 10**5, "isn't " * 10**5, "a lives in " * 10**4, "1" * 10**5, ": " * 10**5])
def test_hostile_facts_are_compared_in_no_time(hostile: str) -> None:
    begin = time.process_time()
    kept(hostile, f"{hostile}x", f"x {hostile}")
    assert time.process_time() - begin < 1
