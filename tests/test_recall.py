"""Recall: earlier messages that are relevant to the new one are found, however old, and quoted with
date and speaker.
"""

import random
import string
from collections.abc import Sequence

import pytest
from factories import COUNTER, exchanges, message, recall_texts, split_into_turns, turns
from history_strategies import EXAMPLES
from hypothesis import given, settings
from hypothesis import strategies as st

from zkchat_cli.context.passages import (
    MAX_WHOLE,
    PART_SIZE,
    format_passages,
    split_into_passages,
    split_message,
)
from zkchat_cli.context.recall import MAX_MISFITS, RecallIndex, recall_passages
from zkchat_cli.context.turns import Turn
from zkchat_cli.models.messages import ZkChatMessage

CHATTER = [(f"Chatter number {i}, is it?", f"Indeed, {i} it is.") for i in range(12)]


def messages_of(day: str, *contents: str) -> list[ZkChatMessage]:
    """What a user said on a day."""
    return [
        message("user", text, f"{day}-{i}", timestamp=f"{day}T12:00:00Z")
        for i, text in enumerate(contents)
    ]


def recalled_texts(messages: Sequence[ZkChatMessage], question: str, room: int = 1000) -> list[str]:
    return recall_texts(question, split_into_turns(messages, COUNTER), room)


# what is found


def test_rare_words_count_for_more_than_common_ones() -> None:
    some = turns(*CHATTER, ("An anvil.", "Ah."), *CHATTER)
    assert "user: An anvil." in recall_texts("chatter about an anvil", some, 60)


def test_words_have_the_forms_of_the_conversations_languages() -> None:
    german = (
        "Sind die Häuser und die Gärten nicht verkauft?",
        "Die Häuser sind verkauft, die Gärten nicht.",
    )
    assert recall_texts("das Haus", turns(german, *CHATTER))[0] == f"user: {german[0]}"
    some = RecallIndex()
    some.update(
        turns(("The word house is not the word Haus, and that is it.", "It is not."), *CHATTER)
    )
    # Another branch, in another language
    some.update(split_into_turns(exchanges(german, *CHATTER, prefix="other"), COUNTER))
    assert [p.text for p in recall_passages(some, "das Haus", 1, 1000, COUNTER)[0]] == list(german)


def test_neighbours_of_a_hit_are_recalled() -> None:
    assert recall_texts(
        "anvil", turns(*CHATTER, ("Where is the anvil?", "On shelf seven."), *CHATTER), 75
    ) == [
        "user: Where is the anvil?",
        "assistant: On shelf seven.",
    ]


@pytest.mark.parametrize("mark", ["?", "？"])
def test_an_answer_ranks_before_other_neighbours_of_a_question(mark: str) -> None:
    spoken = ("Once more it rained.", f"Where is the anvil{mark}", "On shelf number seven.")
    some = split_into_turns(
        [message("user", text, f"u{i}") for i, text in enumerate((*spoken, *sum(CHATTER, ())))],
        COUNTER,
    )
    assert recall_texts("anvil", some, 67) == [
        f"user: Where is the anvil{mark}",
        "user: On shelf number seven.",
    ]


def test_passages_keep_their_order_and_fit_the_budget() -> None:
    some = turns(("The anvil is red.", "Yes."), *CHATTER, ("The anvil is blue.", "Yes."))
    lines = recall_texts("anvil", some)
    assert lines.index("user: The anvil is red.") < lines.index("user: The anvil is blue.")
    assert recall_texts("anvil", some, 45) == []


def test_smaller_passages_fill_the_budget() -> None:
    some = turns(("anvil " * 100, "So."), *((f"anvil {'x' * i}", "So.") for i in range(30)))
    lines = recall_texts("anvil", some, 100)
    assert 0 < len(lines) < MAX_MISFITS
    assert COUNTER.count("\n".join(lines)) <= 60
    assert all("anvil anvil" not in line for line in lines)


def test_fixed_messages_are_not_recalled() -> None:
    history = [
        message("user", "Always cite the anvil.", "a"),
        message("user", "The anvil is red.", "b", pinned=True),
        *messages_of("2025-05-01", "An anvil!"),
    ]
    assert recalled_texts([*history, message("user", "Never mention anvils.", "c")], "anvil") == [
        "user: An anvil!"
    ]


# long messages


LONG = "\n".join(
    f"Line {i} says that item {i} weighs {i} pounds and has a colour of its own."
    for i in range(300)
)


def test_relevant_lines_of_a_long_message_are_quoted_with_gaps_marked() -> None:
    history = split_into_turns(
        [message("user", LONG, "a"), message("assistant", "Noted.", "b")], COUNTER
    )
    index = RecallIndex()
    index.update(history)
    text = format_passages(recall_passages(index, "How heavy is item 150?", 1, 400, COUNTER)[0])
    assert "Line 150 says that item 150 weighs 150 pounds" in text
    # What the introduction says of it, and both ends
    assert text.count("[…]") >= 3
    assert COUNTER.count(text) <= 400


def test_passages_are_grouped_by_day() -> None:
    messages = [
        *messages_of("2025-05-08", "One.", "Two."),
        *messages_of("2025-05-09", "Three."),
        message("user", "Four.", "d", timestamp="once upon a time"),
    ]
    passages = tuple(p for i, m in enumerate(messages) for p in split_into_passages(m, i, COUNTER))
    assert format_passages(passages).splitlines()[1:] == [
        "Thursday, 8 May 2025:",
        *("user: One.", "user: Two."),
        "Friday, 9 May 2025:",
        "user: Three.",
        "once upon :",
        "user: Four.",
    ]


@pytest.mark.parametrize(
    ("content", "quoted"),
    [
        ("It was late.\nSo we left.", "It was late. So we left."),
        ("A photo! \n  [image: a dog]", "A photo! [image: a dog]"),
        ("Two paragraphs.\n\nStay two.", "Two paragraphs.\n\nStay two."),
        ("This it needs.\n- an anvil\n- a hammer", "This it needs.\n- an anvil\n- a hammer"),
        ("apples\npears", "apples\npears"),
        (
            "Run it.\n```\nprint('.')\nprint('Done.')\nexit()\n```",
            "Run it.\n```\nprint('.')\nprint('Done.')\nexit()\n```",
        ),
    ],
    ids=["sentences", "a caption", "paragraphs", "a list", "lines that end no sentence", "code"],
)
def test_a_paragraph_is_quoted_on_one_line(content: str, quoted: str) -> None:
    [passage] = split_into_passages(message("user", content, "a"), 0, COUNTER)
    assert passage.text_with_speaker == f"user: {quoted}"


@given(st.text(st.sampled_from("ab漢😀 \n\t\ud800."), max_size=200), st.integers(1, 60))
def test_parts_hold_everything_that_is_not_blank(text: str, times: int) -> None:
    found = split_message(text * times)
    assert "".join("".join(found).split()) == "".join((text * times).split())
    assert all(len(piece.encode("utf-8", "surrogatepass")) <= MAX_WHOLE for piece in found)
    assert len(found) <= 1 or all(len(piece) <= PART_SIZE for piece in found)


def test_a_book_length_message_is_indexed_in_linear_time() -> None:
    index = RecallIndex()
    index.update(
        split_into_turns(
            [
                message(
                    "user",
                    "x" * 300_000 + " anvil " + "漢" * 100_000 + " \n" * 100_000,
                    "a",
                    token_count=200_000,
                )
            ],
            COUNTER,
        )
    )
    assert any(
        "anvil" in p.text
        for p in recall_passages(index, "anvil? " + "y " * 200_000, 1, 500, COUNTER)[0]
    )


# the index


def state(index: RecallIndex, question: str) -> list[tuple[str, str]]:
    return [
        (p.message.id, p.text) for p in recall_passages(index, question, 10**6, 1000, COUNTER)[0]
    ]


@given(
    st.lists(
        st.tuples(
            st.integers(0, 20),
            st.lists(st.sampled_from("anvil anchor apple adopt adoption".split()), max_size=4),
        ),
        max_size=8,
    )
)
def test_an_updated_index_equals_a_new_one(moves: list[tuple[int, list[str]]]) -> None:
    """Each move goes back to some turn and says other things from there: what undo, retry and edit
    do to a branch.
    """
    kept = RecallIndex()
    history = list[Turn]()
    for number, (back, words) in enumerate(moves):
        history = history[:back] + list(
            split_into_turns(
                [message("user", f"{w} {number}", f"{number}-{i}") for i, w in enumerate(words)],
                COUNTER,
            )
        )
        kept.update(history)
        fresh = RecallIndex()
        fresh.update(history)
        for question in ("anvil or adoption?", "apples 1"):
            assert state(kept, question) == state(fresh, question)


def test_an_index_that_was_updated_takes_the_same_of_many_related_words_as_a_new_one() -> None:
    turns = split_into_turns([message("user", f"anvil{i:02}", f"m{i}") for i in range(99)], COUNTER)
    kept = RecallIndex()
    fresh = RecallIndex()
    kept.update(turns[::-1])
    for index in (kept, fresh):
        index.update(turns)
    assert state(kept, "anvils?") == state(fresh, "anvils?")


@pytest.mark.parametrize("longest", [5, 40, 150])
@settings(max_examples=EXAMPLES)
@given(seed=st.integers(0, 2**32), size=st.integers(1, 25), data=st.data())
def test_a_fact_with_a_unique_word_is_always_found(
    longest: int, seed: int, size: int, data: st.DataObject
) -> None:
    """In a message of up to `longest` words among others like it."""
    dice = random.Random(seed)
    common = ["anvil", "shelf", "note", "garden", "filter", "漢字", "Überblick"]
    fact = "".join(dice.choices(string.ascii_lowercase + string.digits, k=10))
    where = data.draw(st.integers(0, size - 1))
    messages = []
    for i in range(size):
        words = dice.choices(common, k=dice.randint(1, longest))
        if i == where:
            words.insert(dice.randint(0, len(words)), fact)
        messages.append(message(dice.choice(["user", "assistant"]), " ".join(words), f"m{i}"))
    lines = recalled_texts(messages, f"What was it with {fact} and the note?", room=500)
    assert any(fact in line for line in lines)
