"""Which passages answer: relevance, novelty, coverage; and extractive summaries."""

from building import prompt_message

from zkchat_cli.llm.offline.question import AnalyzedQuestion, analyze_question
from zkchat_cli.llm.offline.ranking import MAX_SOURCES, QuoteSource, first_statements, rank_passages, select_quotes, summarize_excerpts


def question(text: str) -> AnalyzedQuestion:
    return analyze_question([prompt_message("user", text)], 0)


def note(text: str, source: int = 1, title: str = "Garden") -> QuoteSource:
    return QuoteSource(source, f"{title}.md", title, None, text, source - 1)


def test_rare_word_decides() -> None:
    text = "A heap needs air. A heap needs water. A heap hates thistles. A heap needs time."
    assert rank_passages(question("Does a heap need thistles?"), [note(text)])[0][0].text == "A heap hates thistles."


def test_coverage_of_the_question() -> None:
    garden = note("A heap needs air. A heap needs water.")
    assert rank_passages(question("What does a heap need?"), [garden])[1] > 0.9
    assert rank_passages(question("Which heap did Napoleon conquer in 1806?"), [garden])[1] < 0.4


def test_same_sentence_in_several_notes_is_one_quote_with_several_sources() -> None:
    notes = [note("Beans need poles.", n, f"Note {n}") for n in range(1, 7)]
    (quote,) = select_quotes(rank_passages(question("Do beans need poles?"), notes)[0])
    assert quote.sources == tuple(range(1, MAX_SOURCES + 1))


def test_repetitions_and_much_worse_passages_are_left_out() -> None:
    text = "Beans need poles of wood. Beans need poles of wood too. Poles exist."
    assert [q.text for q in select_quotes(rank_passages(question("beans need poles"), [note(text)])[0])] == ["Beans need poles of wood."]


def test_summary_starts_with_the_beginning_and_repeats_nothing() -> None:
    text = "Beans are fine, really. Beans are fine, really.\n\n# S\n\nWarm soil helps beans. Cold soil kills beans in spring.\n\n[[Link]]"
    assert [q.text for q in summarize_excerpts([note(text)], 3)] == [
        "Beans are fine, really.",
        "Warm soil helps beans.",
        "Cold soil kills beans in spring.",
    ]
    assert summarize_excerpts([], 3) == []


def test_first_statements_exclude_lead_ins_and_code() -> None:
    assert [q.text for q in first_statements([note("You need:\n\n```\ncode here\n```\n\nBeans grow fast.")])] == ["Beans grow fast."]
