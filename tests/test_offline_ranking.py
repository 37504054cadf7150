"""Which passages answer: relevance, novelty, headings, the topic of the conversation; and extractive summaries."""

from building import prompt_message

from zkchat_cli.llm.offline.question import AnalyzedQuestion, analyze_message
from zkchat_cli.llm.offline.ranking import (
    MAX_SOURCES,
    QuoteSource,
    first_statements,
    missing_words,
    rank_passages,
    select_quotes,
    summarize_excerpts,
)


def question(text: str, *before: str) -> AnalyzedQuestion:
    messages = [prompt_message("user", said) for said in (*before, text)]
    return analyze_message(messages, len(before)).questions[0]


def note(text: str, source: int = 1, title: str = "Garden", heading: str | None = None, line: int = 1) -> QuoteSource:
    return QuoteSource(source, f"{title}.md", title, heading, text, source - 1, line)


def best(text: str, *excerpts: QuoteSource) -> str:
    return rank_passages(question(text), excerpts)[0][0].text


def test_rare_word_decides() -> None:
    text = "A heap needs air. A heap needs water. A heap hates thistles. A heap needs time."
    assert best("Does a heap need thistles?", note(text)) == "A heap hates thistles."


def test_a_heading_like_the_question_answers_with_its_sections_beginning() -> None:
    text = "# Watering by night\n\nSnails come out then.\n\n# Other\n\nWatering needs a can by day or night."
    assert best("Watering by night", note(text)) == "Snails come out then."


def test_a_title_like_the_question_answers_with_its_notes_beginning() -> None:
    begins, later = note("Rotten leaves, mostly.", 2, "Leaf mould"), note("More of it.", 3, "Leaf mould", line=90)
    assert best("What is leaf mould?", begins, later) == "Rotten leaves, mostly."


def test_coverage_of_the_question() -> None:
    garden = note("A heap needs air. A heap needs water.")
    assert rank_passages(question("What does a heap need?"), [garden])[1] > 0.9
    assert rank_passages(question("Which heap did Napoleon conquer in 1806?"), [garden])[1] < 0.4
    assert missing_words(question("heap Napoleon"), [garden]) == {"napoleon"}


def test_same_sentence_in_several_notes_is_one_quote_with_several_sources() -> None:
    notes = [note("Beans need poles.", n, f"Note {n}") for n in range(1, 7)]
    (quote,) = select_quotes(rank_passages(question("Do beans need poles?"), notes)[0])
    assert quote.sources == tuple(range(1, MAX_SOURCES + 1))


def test_repetitions_and_much_worse_passages_are_left_out() -> None:
    text = "Beans need poles of wood. Beans need poles of wood too. Poles exist."
    assert [q.text for q in select_quotes(rank_passages(question("beans need poles"), [note(text)])[0])] == ["Beans need poles of wood."]


def test_summary_starts_with_the_beginning_and_repeats_nothing() -> None:
    text = "Beans are fine. Beans are fine.\n\n# Soil\n\nWarm soil helps beans grow. Cold soil kills beans in spring.\n\n# Also\n\n[[Link]]"
    assert [q.text for q in summarize_excerpts([note(text)], 3)] == [
        "Beans are fine.",
        "Warm soil helps beans grow.",
        "Cold soil kills beans in spring.",
    ]
    assert summarize_excerpts([note("Beans grow.")], 5, lambda _excerpt, _piece: 0.0) == []
    assert summarize_excerpts([], 3) == []


def test_first_statements_exclude_lead_ins_and_code() -> None:
    assert [q.text for q in first_statements([note("You need:\n\n```\ncode here\n```\n\nBeans grow fast.")])] == ["Beans grow fast."]
