"""Which passages answer: relevance, novelty, headings, the topic of the conversation; and extractive summaries."""

from building import prompt_message

from zkchat_cli.llm.offline.question import AnalyzedQuestion, analyze_message
from zkchat_cli.llm.offline.ranking import (
    MAX_QUOTES,
    MAX_SOURCES,
    QuoteSource,
    first_statements,
    heading_similarity,
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


def test_section_whose_heading_is_the_question_answers_with_its_beginning() -> None:
    text = "# Watering by night\n\nSnails come out then.\n\n# Other\n\nWatering needs a can by day or night."
    assert best("Watering by night", note(text)) == "Snails come out then."


def test_note_whose_title_is_the_question_answers_with_its_beginning() -> None:
    begins, later = note("Rotten leaves, mostly.", 2, "Leaf mould"), note("More of it.", 3, "Leaf mould", line=90)
    assert best("What is leaf mould?", begins, later) == "Rotten leaves, mostly."


def test_word_order_decides_between_the_same_words() -> None:
    assert best("water the cold frame", note("Cold water, then a frame. We water the cold frame.")) == "We water the cold frame."


def test_similar_word_counts() -> None:
    assert best("recurring", note("Nothing here. The recurrence is weekly.")) == "The recurrence is weekly."
    assert rank_passages(question("recurring"), [note("Records are kept.")]) == ([], 0.0)


def test_coverage_of_the_question() -> None:
    garden = note("A heap needs air. A heap needs water.")
    assert rank_passages(question("What does a heap need?"), [garden])[1] > 0.9
    assert rank_passages(question("Which heap did Napoleon conquer in 1806?"), [garden])[1] < 0.4
    assert missing_words(question("heap Napoleon"), [garden]) == {"napoleon"}


def test_chinese_characters_of_two_words_weigh_less_than_a_missing_word() -> None:
    garden = note("堆肥要水。空氣也要。")
    assert rank_passages(question("堆肥空氣"), [garden])[1] > rank_passages(question("堆肥汽車"), [garden])[1]


def test_same_sentence_in_several_notes_is_one_quote_with_several_sources() -> None:
    notes = [note("Beans need poles.", n, f"Note {n}") for n in range(1, 7)]
    (quote,) = select_quotes(rank_passages(question("Do beans need poles?"), notes)[0])
    assert quote.sources == tuple(range(1, MAX_SOURCES + 1))


def test_repetitions_and_much_worse_passages_are_left_out() -> None:
    text = "Beans need poles of wood. Beans need poles of wood too. Poles exist."
    assert [q.text for q in select_quotes(rank_passages(question("beans need poles"), [note(text)])[0])] == ["Beans need poles of wood."]


def test_quotes_of_one_excerpt_stay_together_in_its_order() -> None:
    text = "Beans love warm soil. The rest. Beans hate cold wind. Beans fear late frost. Beans drink much rain. Beans climb tall poles."
    quotes = select_quotes(rank_passages(question("beans"), [note(text)])[0])
    assert len(quotes) == MAX_QUOTES
    assert [text.index(q.text) for q in quotes] == sorted(text.index(q.text) for q in quotes)


def test_question_with_a_pronoun_needs_the_topic() -> None:
    about = question("and how do I water them?", "What do tall beans need?")
    assert about.needs_topic
    assert about.topic == {"tall", "bean"}
    assert rank_passages(about, [note("We water lilies.")])[1] == 0.0
    quotes, coverage = rank_passages(about, [note("We water lilies. We water tall beans.")])
    assert quotes[0].text == "We water tall beans."
    assert coverage > 0.9


def test_additional_question_does_not_need_the_topic() -> None:
    about = question("what about lilies?", "What do tall beans need?")
    assert not about.needs_topic
    assert rank_passages(about, [note("We water lilies.")])[1] > 0.9


def test_passage_with_a_preference_of_zero_is_left_out() -> None:
    assert rank_passages(question("beans"), [note("Beans grow.")], lambda _excerpt, _piece: 0.0)[0] == []


def test_question_without_words_finds_nothing() -> None:
    assert rank_passages(question("?!"), [note("Beans grow.")]) == ([], 0.0)
    assert heading_similarity(question("?!"), "Beans") == 0.0


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
