"""The summary without a model: what it keeps, what belongs together, what it leaves out, and that
it never takes more room than it has.
"""

import re
from collections.abc import Sequence

import pytest
from factories import COUNTER, exchanges, message, split_into_turns, turns
from hypothesis import given
from hypothesis import strategies as st

from zkchat_cli.context.turns import Turn
from zkchat_cli.models.messages import ZkChatMessage
from zkchat_cli.models.prompts import Calibration
from zkchat_cli.summarization.extractive import summarize
from zkchat_cli.summarization.sentence_scoring import score_sentences

CHATTER = tuple(
    (f"Tell me of the {thing}.", f"The {thing} is a fine and useful thing, people say.")
    for thing in ("harp", "lute", "oboe")
)


def summary(*exchanges: tuple[str, str], room: int = 1000, wanted: str = "") -> str:
    made = summarize(turns(*exchanges), room, COUNTER, wanted)
    return made.text if made else ""


def of(*messages: ZkChatMessage, room: int = 1000) -> str:
    made = summarize(split_into_turns(messages, COUNTER), room, COUNTER)
    return made.text if made else ""


# what the user said of it


def test_fixed_messages_are_left_out() -> None:
    assert "From now on" not in of(
        *exchanges(*CHATTER, ("From now on, cite the harp and the lute.", "So."), *CHATTER)
    )


def test_what_the_user_stated_stays_and_denials_and_source_lists_go() -> None:
    talk = (
        ("Where is the harp?", "I found nothing about this in your notes."),
        (
            "The harp stands in the attic of my aunt in Lyon.",
            "Thank you for telling me, that is a good place for a harp, dry and quiet.",
        ),
        (
            "What does the lute need?",
            "Your notes don't say what the lute needs.\n\nSources: [1] [[Lutes]], [2] [[Strings]]",
        ),
    )
    made = summary(*CHATTER, *talk, room=60)
    assert "The harp stands in the attic of my aunt in Lyon." in made
    assert "notes" not in summary(*CHATTER, *talk)
    assert "Sources" not in summary(*CHATTER, *talk)


def test_an_answer_comes_with_its_question() -> None:
    made = summary(
        *CHATTER,
        ("How long does compost take?", "About nine months, if it is turned twice."),
        room=70,
    )
    assert ("nine months" in made) <= ("How long does compost take?" in made)
    assert "user: How long does compost take?\n- assistant: About nine months" in summary(
        *CHATTER, ("How long does compost take?", "About nine months, if it is turned twice.")
    )


# who and when, in few tokens


def test_dates_and_speakers_are_written_when_they_change() -> None:
    history = [
        message("user", "The anvil stands on shelf seven.", "1", timestamp="2024-12-31T10:00:00Z"),
        message("user", "The bellows hang near the door.", "2", timestamp="2024-12-31T11:00:00Z"),
        message(
            "assistant", "Then both have found their place.", "3", timestamp="2024-12-31T11:01:00Z"
        ),
        message(
            "user", "The chisel lies beneath the bench.", "4", timestamp="2025-01-02T10:00:00Z"
        ),
        message("user", "The gouge needs a sharper edge.", "5", timestamp="2025-01-03T10:00:00Z"),
    ]
    assert of(*history) == (
        "- 31 December 2024, user: The anvil stands on shelf seven. / The bellows hang "
        "near the door.\n"
        "- assistant: Then both have found their place.\n"
        "- 2 January 2025, user: The chisel lies beneath the bench.\n"
        "- 3 January, user: The gouge needs a sharper edge."
    )


def test_names_in_an_imported_log_replace_the_role() -> None:
    history = [
        message("user", "(1:56 pm on 8 May, 2025) Zoe: I moved the anvil to Lyon.", "1"),
        message("assistant", "Max Lind: I sold the bellows to Otto.", "2"),
        message("user", "Zoe: Then the chisel stays with me.", "3"),
        message("assistant", "Max Lind: That is fair enough, the chisel was always yours.", "4"),
    ]
    assert of(*history).splitlines()[:2] == [
        "- 8 May 2025, Zoe: I moved the anvil to Lyon.",
        "- Max Lind: I sold the bellows to Otto.",
    ]


# what belongs together


def test_a_sentence_that_refers_back_brings_the_one_before() -> None:
    text = (
        "My sister Ada left Lyon. She moved to Grenoble in May 1999 with eleven suitcases and "
        "two canaries."
    )
    for room in range(10, 60):
        short = summary(*CHATTER, (text, "I see."), room=room)
        assert "She moved" not in short or "My sister Ada left Lyon. She moved" in short
    assert "She moved" in summary(*CHATTER, (text, "I see."), room=60)


def test_a_quotation_brings_its_question_and_loses_its_source_number() -> None:
    quoted = (
        "From your notes:\n\n“A filter selects tasks by their properties.” [3]\n\n“Filters are "
        "joined by AND.” [4]"
    )
    assert summary(("How do filters work?", quoted)) == (
        "- 2 May 2025, user: How do filters work?\n- assistant: “A filter selects tasks by "
        "their properties.” “Filters are joined by AND.”"
    )


# what was asked for


def test_words_of_the_instructions_come_first_unless_they_are_common() -> None:
    assert "lute" in summary(*CHATTER, room=30, wanted="the lute, please")
    many = [
        (f"Number {i} is the tool of day {i * 7}.", f"Then day {i * 13} is for {i * 19} more.")
        for i in range(1, 20)
    ]
    assert summary(*many, room=60, wanted="keep every tool") == summary(*many, room=60)


# what is left out, and other languages


def test_code_tables_and_repetitions_are_left_out() -> None:
    answer = (
        "Use a query block.\n\n```tasks\nnot done\n```\n\n| a | b |\n|---|---|\n| one | two "
        "|\n\nUse a query block."
    )
    assert (
        summary(("How do I list tasks?", answer)).partition("assistant: ")[2]
        == "Use a query block."
    )


# for every conversation


words = st.sampled_from(
    [
        "Ada",
        "lyon",
        "she",
        "He",
        "Yes,",
        "No,",
        "Actually,",
        "the",
        "anvil",
        "shelf",
        "7",
        "[[Filters]]",
        "“so”",
        "漢字。",
        "x",
    ]
)
phrases = st.lists(words, min_size=1, max_size=9).map(" ".join)
texts = st.lists(
    st.tuples(phrases, st.sampled_from([".", "?", "!", ":", " [3].", ""])).map("".join), max_size=6
).map(" ".join)
talks = st.lists(st.tuples(texts, texts), max_size=8).map(
    lambda pairs: split_into_turns(exchanges(*pairs), COUNTER)
)


@given(
    talks,
    st.integers(-5, 300),
    st.sampled_from(["", "anvil", 'keep "the anvil"', "漢字"]),
    st.sampled_from([1.0, 1.7]),
)
def test_a_summary_fits_its_budget_and_is_verbatim(
    cut: Sequence[Turn], room: int, wanted: str, factor: float
) -> None:
    counter = COUNTER.calibrated(Calibration(text=factor))
    made = summarize(cut, room, counter, wanted)
    assert summarize(cut, room, counter, wanted) == made
    if made is None:
        return
    assert 0 < counter.count(made.text) <= room
    assert [turn.id for turn in cut if turn.id in made.quoted] == list(made.quoted)
    there = [" ".join(m.content.split()) for turn in cut for m in turn.messages]
    for line in made.text.splitlines():
        said_so = line.partition(": ")[2]
        assert said_so
        contents = [m.content for turn in cut for m in turn.messages]
        pieces = {
            s.text
            for text in (*contents, *(c.partition(": ")[2] for c in contents))
            for s in score_sentences(text)
        }
        assert all(any(piece in text for text in there) for piece in pieces if piece in said_so)
        assert re.fullmatch(rf"(?:(?:{'|'.join(map(re.escape, pieces))})[ /]*)+", said_so)


@pytest.mark.parametrize(
    "text",
    [
        "(" * 100_000,
        "a" * 100_000,
        '"' * 100_000,
        "He saw it. " * 10_000,
        "A. " * 30_000,
        "[1] " * 30_000,
        "no " * 30_000,
        "漢" * 100_000,
    ],
)
def test_summaries_of_hostile_texts_fit_their_budget(text: str) -> None:
    for exchange in ((text, "The anvil is red."), ("The anvil is red.", text)):
        made = summary(exchange, room=80)
        assert "anvil" in made
        assert COUNTER.count(made) <= 80
