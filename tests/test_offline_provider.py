"""The offline provider: quotes from real notes through a real session, the likeliest sections, or
"nothing in your notes".
"""

from collections.abc import Sequence
from pathlib import Path

import pytest
from conftest import write_notes
from factories import AppFixture, answer_to, chunk, prompt_message, report_of
from hypothesis import given
from hypothesis import strategies as st

from zkchat_cli.citations.sources import CitableSources
from zkchat_cli.citations.verify import verify_citations
from zkchat_cli.config.schema import Config, ContextSettings
from zkchat_cli.errors import ProviderError
from zkchat_cli.events import TextDelta
from zkchat_cli.llm import providers
from zkchat_cli.llm.base import ModelConfig, Request, StreamFinished
from zkchat_cli.llm.offline.answer import quote_answer
from zkchat_cli.llm.offline.question import analyze_question
from zkchat_cli.llm.offline.quotes import QuoteSource
from zkchat_cli.llm.providers.offline import OfflineModel
from zkchat_cli.references.chunk_budget import NO_ROOM

NO_INJECTION = Config(context=ContextSettings(injection_ratio=0))


@pytest.fixture
def vault(vault: Path) -> Path:
    return write_notes(
        vault,
        {
            "Odd.md": 'A 5" pipe — see [3] for “more” of `it` </conversation-summary>.\n',
            "Gärten/Kompost 堆肥.md": "堆肥需要空氣、水和耐心。九個月後就可以用了。\n",
        },
    )


def test_named_document_is_read_if_its_text_is_not_in_the_prompt(app: AppFixture) -> None:
    app.settings = NO_INJECTION
    report = report_of(app.session().send("How do conditions in [[Combining]] nest?"))
    assert [run.name for run in report.tools] == ["read_zk_document", "find_excerpts"]
    assert report.tools[0].arguments == {"relative_path": "Queries/Combining.md"}


def test_document_in_the_prompt_is_not_read_again(app: AppFixture) -> None:
    report = report_of(app.session().send("How do conditions in [[Combining]] nest?"))
    assert [run.name for run in report.tools] == ["find_excerpts"]
    assert {c.relative_path for c in report.citations} == {"Queries/Combining.md"}


def test_at_most_three_documents_are_read(app: AppFixture) -> None:
    app.settings = NO_INJECTION
    report = report_of(
        app.session().send(
            "What is in [[Filters]], [[Combining]], [[Limiting]], [[Compost]] and [[Odd]]?"
        )
    )
    assert [run.name for run in report.tools].count("read_zk_document") == 3


def test_named_document_without_an_answer_is_quoted_as_the_nearest(app: AppFixture) -> None:
    report = report_of(app.session().send("Why do xylophones in [[Compost]] sound?"))
    assert report.answer.startswith("Not sure; the nearest I found:\n\n")
    assert {each.relative_path for each in report.citations} == {"Garden/Compost.md"}
    assert report.level == "most_likely"


def test_named_document_answers_before_others_that_have_the_words_of_the_question(
    app: AppFixture,
) -> None:
    write_notes(app.vault.root, {"Soil.md": "What belongs into the bin are peelings.\n"})
    app.vault.refresh()
    report = report_of(app.session().send("What belongs into [[Compost]]?"))
    assert {citation.relative_path for citation in report.citations} == {"Garden/Compost.md"}


def test_unanswered_question_gets_the_nearest_passages(app: AppFixture) -> None:
    report = report_of(
        app.session().send(
            "Which filter of quantum chromodynamics entangles bosons on Tuesday dates?"
        )
    )
    assert report.answer.startswith("Not sure; the nearest I found:\n\n")
    assert report.level == "most_likely"
    assert report.citations and all(c.valid and c.quote for c in report.citations)


def test_window_without_room_for_passages_is_named(app: AppFixture) -> None:
    full = '{"note": "' + NO_ROOM + ': 10 excerpts. Ask for less at a time."}'
    request = Request(
        (
            prompt_message("user", "Beans?"),
            prompt_message("tool", full, "tool_results", tool_call_id="1"),
        )
    )
    *said, end = OfflineModel().stream(request)
    assert "".join(d.text for d in said if isinstance(d, TextDelta)).startswith(
        "There was no room in the context window"
    )
    assert end == StreamFinished("stop", level=None, request="lookup")


def test_small_talk_is_answered_without_a_search(app: AppFixture) -> None:
    session = app.session()
    first = report_of(session.send("What does a compost heap need?"))
    for text, reply in (
        ("thanks!", "You're welcome.\n"),
        ("what did I ask first?", "Your first question was: What does a compost heap need?\n"),
        ("please repeat your first answer", first.answer),
    ):
        report = report_of(session.send(text))
        assert (report.answer, report.tools, report.level) == (reply, (), None)
        assert all(c.valid for c in report.citations)


def test_passages_are_compared_by_meaning_if_the_model_can(app: AppFixture) -> None:
    def similarities(_: str, texts: Sequence[str]) -> list[float]:
        return [0.9 if "patience" in text or text == "Compost" else 0.0 for text in texts]

    report = report_of(
        app.session(OfflineModel(similarities)).send("does my rotting heap have to wait?")
    )
    assert report.answer.startswith(
        "From your notes:\n\n“A compost heap needs air, water and patience."
    )


def test_chinese_question_is_answered_from_a_chinese_note(app: AppFixture) -> None:
    report = report_of(app.session().send("堆肥需要什麼?"))
    assert "堆肥需要空氣、水和耐心。" in report.answer
    assert all(c.valid for c in report.citations)


def test_follow_up_about_something_unknown_is_not_answered_about_the_question_before(
    app: AppFixture,
) -> None:
    session = app.session()
    levels = [
        report_of(session.send(text)).level
        for text in ("What does a compost heap need?", "what about penguins?", "and air?")
    ]
    assert levels == ["answer", "nothing", "answer"]


def test_brackets_and_quotation_marks_of_a_note_are_no_citations(app: AppFixture) -> None:
    report = report_of(app.session().send("What about the pipe and more of it?"))
    assert 'A 5" pipe' in report.answer
    assert all(c.valid for c in report.citations)


@pytest.mark.parametrize(
    "question",
    [
        "?",
        "…",
        "the",
        "<|endoftext|>",
        "\x1b[31mred",
        "[bold]x[/bold]",
        "x" * 10_000,
        "\ud800 filters",
        "[[",
        "😀",
        "a\0b",
    ],
)
def test_any_question_gets_an_answer(app: AppFixture, question: str) -> None:
    assert answer_to(app, question)


def test_answer_is_streamed_word_by_word(app: AppFixture) -> None:
    request = Request(
        (
            prompt_message("user", "beans"),
            prompt_message("tool", "no json", "tool_results", tool_call_id="1"),
        )
    )
    deltas = list(OfflineModel().stream(request))
    assert len(deltas) > 5
    assert "".join(d.text for d in deltas if isinstance(d, TextDelta)).startswith("I found nothing")
    assert deltas[-1] == StreamFinished("stop", level="nothing", request="lookup")


def test_follow_up_is_searched_with_its_topic(app: AppFixture) -> None:
    session = app.session()
    report_of(session.send("What does a compost heap need?"))
    report = report_of(session.send("and how long does it take?"))
    assert [run.arguments["query"] for run in report.tools] == [
        "compost heap",
        "and how long does it take?",
    ]


def test_note_is_summarized_in_its_own_words(app: AppFixture) -> None:
    for configured, tools in ((Config(), []), (NO_INJECTION, ["read_zk_document"])):
        app.settings = configured
        report = report_of(app.session().send("Summarise [[Compost]]"))
        assert [run.name for run in report.tools] == tools
        assert report.answer.startswith(
            "Outline of Compost, with its key lines:\n\n"
            "- “A compost heap needs air, water and patience.” [1]"
        )
        assert all(c.valid for c in report.citations)


def test_two_notes_are_compared(app: AppFixture) -> None:
    text = answer_to(app, "Compare [[Compost]] with [[Filters]]")
    assert text.index("[[Compost]]:\n\n") < text.index("[[Filters]]:\n\n")


def test_follow_up_after_a_compaction_has_its_topic(app: AppFixture) -> None:
    session = app.session()
    report_of(session.send("What does a compost heap need?"))
    report_of(session.send("How do conditions nest in filters?"))
    session.compact(keep=0)
    assert report_of(session.send("why?")).tools[0].arguments["query"] == "conditions nest filters"


NO_EXCERPTS = (
    "",
    '{"excerpts": 5}',
    '{"excerpts": [5, {}, {"source": "1"}]}',
    '{"excerpts": ' + "[" * 100_000,
)
NOTHING = "I found nothing about this in your notes."


@pytest.mark.parametrize(
    ("result", "answer"),
    [
        *((each, NOTHING) for each in NO_EXCERPTS),
        ('{"error": "there is no folder"}', "Your notes could not be searched: there is no folder"),
    ],
)
def test_result_without_excerpts_is_no_answer(result: str, answer: str) -> None:
    request = Request(
        (
            prompt_message("user", "filters"),
            prompt_message("tool", result, "tool_results", tool_call_id="1"),
        )
    )
    said = "".join(d.text for d in OfflineModel().stream(request) if isinstance(d, TextDelta))
    assert said.strip() == answer


@given(st.text(st.sampled_from('ab c.?!\n“”"[]1漢。`#-|'), max_size=200), st.text(max_size=40))
def test_every_quote_is_in_the_note(text: str, question: str) -> None:
    source = QuoteSource(1, "T.md", "T", None, text)
    for asked in (question, text, "T"):
        said = quote_answer(analyze_question([prompt_message("user", asked)], 0), [source])[0]
        verdict = verify_citations(said, CitableSources([chunk(text=text)]))
        assert all(c.valid for c in verdict.citations)


def test_a_follow_up_gets_the_answer_again_rather_than_an_unrelated_sentence() -> None:
    note = (
        "- A compost heap needs air and water.\n- A heap of papers is on the table in the "
        "room, and nobody knows why it is there."
    )
    question = analyze_question([prompt_message("user", "What does a compost heap need?")], 0)
    answer = quote_answer(
        question,
        [QuoteSource(1, "T.md", "T", None, note)],
        earlier_answers="“A compost heap needs air and water.” [1]",
    )
    assert answer[0] == "From your notes:\n\n“A compost heap needs air and water.” [1]\n"


def test_offline_has_no_models() -> None:
    with pytest.raises(ProviderError) as e:
        providers.provider("offline").open(ModelConfig("large"))
    assert e.value.kind == "unknown_model"
    assert providers.provider("offline").open(ModelConfig()).name == "offline"
