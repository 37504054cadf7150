"""A model's summary is compared with the turns that it replaces, and put right."""

import pytest
from factories import COUNTER, exchanges, split_into_turns

from zkchat_cli.models.carried_statement import CarriedStatement
from zkchat_cli.summarization.carried_statements import RequiredStatements, add_statements
from zkchat_cli.summarization.learning_points import find_learning_points
from zkchat_cli.summarization.statements import find_decisions
from zkchat_cli.summarization.summary_check import (
    check_summary,
    repair_summary,
    source_text,
)


def decided(text: str) -> CarriedStatement:
    return CarriedStatement(text=text, decided=True)


SOURCE = """2025-03-07
We decided to pay 1,250 euros of rent to Mrs Lindqvist from 2025-04-01 on, \
as [[Flat in Uppsala|the lease]] says [3].
The desk is 160 cm wide."""


@pytest.mark.parametrize(
    ("summary", "invented"),
    [
        ("The rent is 1250 euros, to Lindqvist, from 1 April 2025 on.", ()),
        ("1. Goals and Next Steps: find a desk\n2. **Open Questions**\nIt has two drawers.", ()),
        ("The rent is " + "1" * 5000, ("1" * 5000,)),
        ("The rent goes to Mrs Lindgren.", ("Lindgren",)),
        ("It begins on 15 April 2026.", ("15", "2026")),
        ("See [[Flat in Uppsala]] [3].", ()),
        ("See [[House in Lund]] [4].", ("[[house in lund]]", "[4]")),
        (
            "Der Vertrag ist mit der Vermieterin für die Wohnung in Uppsala und nicht für "
            "den Keller.",
            (),
        ),
    ],
)
def test_facts_that_the_turns_do_not_have_are_found(
    summary: str, invented: tuple[str, ...]
) -> None:
    assert check_summary(summary, SOURCE).invented == invented


def test_decisions_are_the_users_statements_with_facts() -> None:
    said = (
        "We decided to pay 1,250 euros. It rained. We decided that it is fine. Was the 3 May "
        "decided? Ask me in 2 days."
    )
    turns = split_into_turns(exchanges((said, "You decided on 9 chairs.")), COUNTER)
    assert find_decisions(turns) == ("We decided to pay 1,250 euros.",)


@pytest.mark.parametrize(
    ("summary", "missing"),
    [
        ("From 1 April on they pay Lindqvist 1250.", 0),
        ("From 1 April on they pay Lindqvist.", 1),
        ("From 1 April on they pay 1250.", 1),
    ],
)
def test_a_decision_is_in_the_summary_if_its_facts_are(summary: str, missing: int) -> None:
    decision = decided("We decided to pay 1,250 euros to Mrs Lindqvist from 04-01 on.")
    assert len(check_summary(summary, SOURCE, [decision]).missing) == missing


def test_invented_sentences_are_left_out_and_missing_decisions_added_word_for_word() -> None:
    decision = decided("We decided to pay 1,250 euros of rent.")
    required = RequiredStatements((decision,))
    summary = "- The desk is 160 cm wide. It was made in 1950.\n- Rent: 1,350 euros."
    repaired = repair_summary(summary, SOURCE)
    assert repaired == "- The desk is 160 cm wide."
    whole = add_statements(repaired, required, 100, COUNTER)
    assert whole == f"{repaired}\n- user: {decision.text}"


def test_a_summary_may_state_what_documents_and_the_earlier_summary_say() -> None:
    turns = split_into_turns(exchanges(("How wide is the desk?", "160 cm.")), COUNTER)
    assert not check_summary(
        "The desk is 160 cm wide and costs 99 euros.", source_text(turns, "It costs 99 euros.")
    ).problems


@pytest.mark.parametrize(
    ("message", "points"),
    [
        (
            "What is a filter? The deadline is 3 June. Thanks, that helps.",
            ("The deadline is 3 June.",),
        ),
        ("No, it is Friday. No, thanks.", ("No, it is Friday.",)),
        ("The name is Zora, not Sara.", ("The name is Zora, not Sara.",)),
        (
            "Please summarize it. Please remember that I am vegetarian.",
            ("Please remember that I am vegetarian.",),
        ),
        (
            "Let's use Postgres. The project is called Helios.",
            ("Let's use Postgres.", "The project is called Helios."),
        ),
        ("Das Projekt heißt Helios. Erkläre mir, wie es heißt.", ("Das Projekt heißt Helios.",)),
    ],
)
def test_learning_points_are_what_the_user_states_decides_or_corrects(
    message: str, points: tuple[str, ...]
) -> None:
    assert find_learning_points(message) == points
