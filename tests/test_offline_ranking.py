"""Which passages answer, and how surely: relevance, novelty, levels; and extractive summaries."""

import textwrap
from collections.abc import Sequence

import pytest
from factories import prompt_message

from zkchat_cli.llm.offline.question import AnalyzedQuestion, analyze_question
from zkchat_cli.llm.offline.quotes import QuoteSource
from zkchat_cli.llm.offline.ranking import RankedPassages, rank_passages
from zkchat_cli.llm.offline.selection import (
    MAX_QUOTES,
    MAX_ROWS,
    MAX_ROWS_WITH_SOURCES,
    MAX_SOURCES,
    SOURCES_ON_SCREEN,
    add_code,
    nearest_quotes,
    select_quotes,
)
from zkchat_cli.llm.offline.summary import summarize_excerpts
from zkchat_cli.models.notes import Similarities

GARDEN = """# Garden

A heap needs air. It must not get wet.

## Thistles

They hate shade.
"""


def question(text: str) -> AnalyzedQuestion:
    return analyze_question([prompt_message("user", text)], 0)


def note(text: str, source: int = 1, title: str = "Garden") -> QuoteSource:
    return QuoteSource(source, f"{title}.md", title, None, text, source - 1)


def meaning(**similar: float) -> Similarities:
    """A sentence model for which texts with these words are so similar to any question, and others
    hardly.
    """
    return lambda _, texts: [
        max((value for word, value in similar.items() if word in text), default=0.1)
        for text in texts
    ]


def quotes(ranked: RankedPassages) -> list[str]:
    return [quote.text for quote in select_quotes(ranked.on_topic)]


def test_what_only_repeats_the_question_is_not_quoted_first() -> None:
    chores = note("- Spare key of the cellar door\n- Roof\n", title="Chores")
    house = note("The neighbours have the spare key of the cellar door.", 2, "House")
    ranked = rank_passages(question("who has the spare key of the cellar door?"), [chores, house])
    assert quotes(ranked)[0].startswith("The neighbours")


def test_a_row_of_figures_answers_a_question_about_its_year() -> None:
    text = "Our harvest was poor.\n\n| Year | Harvest |\n|-|-|\n| 2022 | 31 |\n| 2023 | 44.5 |"
    assert (
        quotes(rank_passages(question("how large was the harvest in 2023?"), [note(text)]))[0]
        == "2023 | 44.5"
    )


def test_rare_word_decides() -> None:
    text = (
        "- A heap needs air.\n- A heap needs water.\n- A heap hates thistles.\n- A heap needs time."
    )
    assert (
        quotes(rank_passages(question("Does a heap need thistles?"), [note(text)]))[0]
        == "A heap hates thistles."
    )


def test_the_first_quotation_is_the_nearest_one_with_the_names_above_it() -> None:
    text = "## July\n\nTwo litres a day keep it green.\n\n## Winter\n\nGrass wants only a rest."

    def similar(_: str, texts: Sequence[str]) -> list[float]:
        return [0.9 if "Winter: " in text else 0.4 for text in texts]

    found = quotes(rank_passages(question("what does the lawn need"), [note(text)], similar))
    assert found == ["Grass wants only a rest.", "Two litres a day keep it green."]


def test_meaning_decides_where_no_word_is_shared() -> None:
    text = "- A heap needs air.\n- Snails eat young plants."
    ranked = rank_passages(
        question("Who nibbles my seedlings?"), [note(text)], meaning(Snails=0.6, Garden=0.5)
    )
    assert quotes(ranked) == ["Snails eat young plants."]


def test_passage_without_a_rare_word_or_the_meaning_of_the_question_is_left_out() -> None:
    text = (
        "- A heap needs air.\n- A heap needs water.\n- A heap needs time.\n- A heap needs "
        "worms.\n- A heap needs thistles."
    )
    assert quotes(rank_passages(question("Does a heap need thistles?"), [note(text)])) == [
        "A heap needs thistles."
    ]


def test_opening_of_a_section_follows_its_heading_and_then_the_rest() -> None:
    ranked = rank_passages(
        question("thistles"), [note(GARDEN + "\n- Cut them in June.")], meaning(Thistles=0.8)
    )
    assert quotes(ranked) == ["They hate shade.", "Cut them in June."]


@pytest.mark.parametrize(
    ("text", "is_answer", "matches"),
    [
        ("What does a heap need?", True, True),
        ("Which heap did Napoleon conquer in 1806?", False, True),
        ("Napoleon in 1806", False, False),
    ],
)
def test_levels_by_words(text: str, is_answer: bool, matches: bool) -> None:
    ranked = rank_passages(question(text), [note("A heap needs air. A heap needs water.")])
    assert (ranked.is_answer, ranked.matches) == (is_answer, matches)


def test_filler_that_the_notes_do_not_have_is_not_missing() -> None:
    text = (
        "Ein Zettelkasten ist ein Denkwerkzeug und kein Archiv, wie man es von einem Kasten "
        "mit Zetteln erwartet."
    )
    assert rank_passages(
        question("Was habe ich über Zettelkästen geschrieben?"), [note(text)]
    ).is_answer


def test_the_language_of_a_question_is_one_of_the_notes_that_are_too_short_to_tell_theirs() -> None:
    assert rank_passages(
        question("Was ist mit dem Haus?"), [note("Häuser stehen am Fluss.")]
    ).matches


def test_forms_of_a_word_are_found_in_the_language_of_the_notes() -> None:
    text = (
        "- Der Komposthaufen braucht viel Luft und etwas Wasser.\n- Die Blätter der Bäume "
        "werden nicht gegossen, weil sie sonst faulen."
    )
    assert quotes(rank_passages(question("Blatt eines Baumes gießen?"), [note(text)]))[
        0
    ].startswith("Die Blätter der Bäume")


@pytest.mark.parametrize(
    "text",
    [
        "Wann öle ich die Fahrradkette?",
        "Braucht ein Komposthaufn Luft?",
        "Was hilft gegen Schmerzen?",
    ],
)
def test_compounds_and_typos_are_found_as_the_search_finds_them(text: str) -> None:
    notes = [
        "Die Kette des Fahrrads ist nach einer Woche im Regen nicht mehr die beste.",
        "Ein Komposthaufen ist auch im Winter warm, wenn er mit Luft versorgt wird.",
        "Rückenschmerzen sind die Folge, wenn man sich nach dem Sitzen nicht bewegt.",
    ]
    ranked = rank_passages(
        question(text), [note(each, n, f"Notiz {n}") for n, each in enumerate(notes, 1)]
    )
    assert ranked.matches
    assert (
        quotes(ranked)[0][:5]
        in {"Wann öle": "Die K", "Braucht ": "Ein K", "Was hilf": "Rücke"}[text[:8]]
    )


@pytest.mark.parametrize(("title", "is_answer"), [("晚上睡不着怎么办", True), ("机票", False)])
def test_title_with_characters_of_a_chinese_question_makes_an_answer(
    title: str, is_answer: bool
) -> None:
    text = "- 睡前三小时不要吃东西，咖啡也不要喝。\n- 房间要黑。\n- 晚上少看屏幕。"
    assert (
        rank_passages(
            question("晚上老睡不着，有什么办法睡好一点"), [note(text, title=title)]
        ).is_answer
        is is_answer
    )


def test_an_item_that_says_something_else_without_its_heading_is_quoted_with_it() -> None:
    text = "### Beds that need no rake\n\n- The bed of moss below the firs.\n- The bed of thyme.\n"
    ranked = rank_passages(question("Which bed has thyme?"), [note(text)])
    assert quotes(ranked)[0] == (
        "Beds that need no rake • The bed of moss below the firs. • The bed of thyme."
    )


def test_quotes_fit_a_screen() -> None:
    words = [" ".join(f"{letter}{i}{letter}" for i in range(25)) for letter in "abcdefgh"]
    ranked = rank_passages(
        question("Do beans need poles?"),
        [
            note(f"Beans need poles: {each}.", n, f"What note {n} says about beans")
            for n, each in enumerate(words, 1)
        ],
    )
    for found in (select_quotes(ranked.all), nearest_quotes(ranked.all)):
        assert 1 < len(found) < MAX_QUOTES
        rows = [len(textwrap.wrap(f"“{quote.text}” [1]", 78)) for quote in found]
        # Each source has two rows; two of them fit below the question
        assert sum(rows) + 2 * SOURCES_ON_SCREEN <= MAX_ROWS + 1
        assert sum(rows) + 2 * len(found) <= MAX_ROWS_WITH_SOURCES + 1


@pytest.mark.parametrize(
    ("text", "similarity", "is_answer", "matches"),
    [
        ("Does the heap want breath?", 0.7, True, True),
        ("Does the heap want breath?", 0.25, False, True),
        ("Breathing?", 0.4, False, True),
        ("Breathing?", 0.1, False, False),
        ("Who won the world cup in air racing?", 0.1, False, False),
        ("Air?", 0.4, True, True),
        ("Air?", 0.1, False, True),
        ("Wie ist die Luft?", 0.2, False, True),
    ],
)
def test_levels_by_meaning(text: str, similarity: float, is_answer: bool, matches: bool) -> None:
    ranked = rank_passages(
        question(text), [note("A heap needs air.")], meaning(air=similarity, Garden=similarity)
    )
    assert (ranked.is_answer, ranked.matches) == (is_answer, matches)


def test_the_nearest_quotes_begin_with_the_best_and_have_code_only_if_there_is_nothing_else() -> (
    None
):
    text = (
        "# Heap\n\nA heap is warm.\n\n- Worms come.\n- Snails eat a heap.\n\n```\nsnails = 3\n```"
    )
    ranked = rank_passages(question("snails"), [note(text)])
    assert [quote.text for quote in nearest_quotes(ranked.all)] == ["Snails eat a heap."]
    only_code = rank_passages(question("snails"), [note("```\nsnails = 3\n```")])
    assert [quote.text for quote in nearest_quotes(only_code.all)] == ["snails = 3"]


@pytest.mark.parametrize(
    "ends",
    [
        " is",
        " is now and why that is so, ask the group that it belongs to, which lists its members:",
    ],
)
def test_the_line_above_code_is_quoted_with_the_code(ends: str) -> None:
    text = (
        f"The consumer is behind.\n\nHow far behind a consumer{ends}\n\n```sh\ngroups "
        "--describe\nls\n```"
    )
    ranked = rank_passages(question("how far behind is the consumer?"), [note(text)])
    found = add_code(select_quotes(ranked.all, limit=1), ranked.all)
    assert [quote.text for quote in found] == [
        f"How far behind a consumer{ends}",
        "groups --describe",
        "ls",
    ]


def test_same_sentence_in_several_notes_is_one_quote_with_several_sources() -> None:
    notes = [note("Beans need poles.", n, f"Note {n}") for n in range(1, 7)]
    (quote,) = select_quotes(rank_passages(question("Do beans need poles?"), notes).all)
    assert quote.sources == tuple(range(1, MAX_SOURCES + 1))


def test_repetitions_and_much_worse_passages_are_left_out() -> None:
    text = "- Beans need poles of wood.\n- Beans need poles of wood too.\n- Poles exist."
    ranked = rank_passages(question("beans need poles"), [note(text)])
    assert [q.text for q in select_quotes(ranked.all)] == ["Beans need poles of wood."]


def test_summary_starts_with_the_beginning_and_repeats_nothing() -> None:
    text = (
        "Beans are fine, really. Beans are fine, really.\n\n# S\n\nWarm soil helps beans. Cold "
        "soil kills beans in spring.\n\n[[Link]]"
    )
    summary = [
        "Beans are fine, really.",
        "Warm soil helps beans.",
        "Cold soil kills beans in spring.",
    ]
    assert [q.text for q in summarize_excerpts([note(text)], 3)] == summary
    assert summarize_excerpts([], 3) == []


def test_two_characters_that_no_passage_has_make_a_chinese_question_unsure() -> None:
    def similarities(_: str, texts: list[str]) -> list[float]:
        # Nearer to any passage without the name of the program
        return [0.55 if "剪映" in text else 0.65 for text in texts]

    asked = question("怎么用剪映给视频加字幕")
    other = rank_passages(asked, [note("给视频加字幕，要先下载字幕文件。")], similarities)
    assert not other.is_answer
    named = rank_passages(asked, [note("用剪映给视频加字幕，要先下载字幕文件。")], similarities)
    assert named.is_answer
