"""The parts of the screen that are pure: the toolbar at any width, lines fitted to it, the list of sources."""

import re
from typing import Any

import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from prompt_toolkit.utils import get_cwidth

from zkchat_cli.models import (
    BudgetStatus,
    BudgetStatuses,
    Citation,
    CompactionDue,
    ContextUsage,
    DocumentReference,
    MessageBreakdown,
    Timings,
    TokenUsage,
    TurnReport,
)
from zkchat_cli.terminal import sources
from zkchat_cli.terminal.toolbar import Toolbar, clipped, shortened
from zkchat_cli.terminal.wrapping import Wrapper, fit

WORDS = st.text(st.sampled_from("ab cd. 世界、é\u0301👍\t\n|`"), max_size=200)
WIDTHS = st.integers(1, 60)


def usage(total: int, *, due: bool = False, estimated: bool = False) -> ContextUsage:
    share = BudgetStatus(used=0, budget=1, percentage=0)
    return ContextUsage(
        system_tokens=0,
        tool_tokens=0,
        message_tokens=total,
        total_tokens=total,
        available_tokens=29491 - total,
        max_context=32768,
        effective_limit=29491,
        estimated=estimated,
        message_breakdown=MessageBreakdown(conversation=total),
        budget_status=BudgetStatuses(system=share, tools=share, messages=share),
        compaction=CompactionDue(due=due),
    )


def drawn(toolbar: Toolbar, width: int) -> str:
    return "".join(text for _, text in toolbar.fragments(width))


# the toolbar


def test_a_wide_toolbar_says_everything() -> None:
    bar = drawn(Toolbar("offline", "notes", usage=usage(12_100), typed=14), 100)
    assert bar == " offline │ notes │ ██████░░░░░░░░ 41%  12.1k / 29.5k │ this line 14 │ compaction at 80%"


@pytest.mark.parametrize("width", [100, 80, 60, 50, 40, 30])
def test_the_bar_and_its_figures_stay_to_the_last(width: int) -> None:
    assert "41%  12.1k / 29.5k" in drawn(Toolbar("a-provider/with-a-model-of-a-long-name", "vault", usage=usage(12_100)), width)


@given(st.text(max_size=40), st.text(max_size=40), st.integers(0, 10**9), st.integers(0, 40_000), st.booleans(), st.integers(1, 200))
def test_the_toolbar_never_needs_a_second_line(model: str, vault: str, typed: int, total: int, due: bool, width: int) -> None:
    bar = drawn(Toolbar(model, vault, 29491, usage(total, due=due), typed), width)
    assert get_cwidth(bar) <= width
    assert "\n" not in bar


@pytest.mark.parametrize(("total", "colour"), [(20_000, "ansigreen"), (21_000, "ansiyellow"), (27_000, "ansired")])
def test_the_bar_is_green_then_yellow_then_red(total: int, colour: str) -> None:
    assert [style for style, text in Toolbar("m", "v", usage=usage(total)).fragments(80) if "█" in text] == [colour]


def test_estimates_are_marked() -> None:
    assert "~500 / " in drawn(Toolbar("m", "v", usage=usage(500, estimated=True)), 80)
    assert "this line ~7" in drawn(Toolbar("m", "v", usage=usage(500), typed=7, typed_estimated=True), 80)


def test_a_due_compaction_is_said_even_where_there_is_little_room() -> None:
    assert "compaction is due" in drawn(Toolbar("m", "v", usage=usage(25_000, due=True)), 70)


def test_before_the_first_measure_the_bar_is_empty() -> None:
    assert "░░░░  … / 29.5k" in drawn(Toolbar("m", "v", 29491), 80)


def test_without_figures_there_are_only_names() -> None:
    assert drawn(Toolbar("offline", "notes", usage=usage(500), show_tokens=False), 80) == " offline │ notes"


def test_hostile_names_are_shown_on_one_line() -> None:
    assert drawn(Toolbar("m\x1b[31m", "a\nb", show_tokens=False), 80) == " m␛[31m │ a␊b"


def test_a_long_name_loses_its_middle() -> None:
    assert shortened("scripted//tmp/a/long/path/replies.jsonl", 24) == "scripted//tm…plies.jsonl"


@example("交换机交换机", 2)
@example("a\u200d" * 20, 3)
@given(st.text(max_size=40), st.integers(1, 40))
def test_a_shortened_name_has_its_width(name: str, width: int) -> None:
    assert get_cwidth(shortened(name, width)) <= width


# wrapping


def wrapped(text: str, width: int, size: int = 3) -> str:
    """As if it had come in pieces of `size` characters."""
    wrapper = Wrapper(width)
    return "".join(wrapper.feed(text[i : i + size]) for i in range(0, len(text), size)) + wrapper.close()


def test_lines_break_between_words() -> None:
    assert wrapped("The quick brown fox jumps over the lazy dog", 16) == "The quick brown\nfox jumps over\nthe lazy dog"


def test_a_line_may_be_as_long_as_the_screen_is_wide() -> None:
    assert wrapped("exactly ten and", 11) == "exactly ten\nand"


def test_chinese_breaks_between_any_two_characters_but_not_before_a_comma() -> None:
    assert wrapped("知识花园，是一座花园。", 10) == "知识花园，\n是一座花\n园。"


def test_a_word_longer_than_the_screen_is_left_to_the_terminal() -> None:
    assert wrapped("x" * 30, 10) == "x" * 30


def test_code_and_tables_are_left_as_they_are() -> None:
    text = "Some words of prose\n```\na long line of code here\n```\n| a | table | row |\nMore words of prose"
    assert wrapped(text, 12) == "Some words\nof prose\n```\na long line of code here\n```\n| a | table | row |\nMore words\nof prose"


def test_indentation_and_empty_lines_stay() -> None:
    assert wrapped("- a\n  - b\n\n    c\r\nd", 20) == "- a\n  - b\n\n    c\nd"


def test_what_a_stream_says_is_neutralised_across_its_pieces() -> None:
    assert wrapped("a\x1b[31mb\r\nc\rd", 20, size=1) == "a␛[31mb\nc␍d"


@given(WORDS, WIDTHS, st.integers(1, 7))
def test_wrapping_changes_nothing_but_white_space(text: str, width: int, size: int) -> None:
    assert "".join(wrapped(text, width, size).split()) == "".join(text.split())


@given(st.text(st.sampled_from("ab 世、"), max_size=100), st.integers(4, 40), st.integers(1, 7))
def test_wrapped_lines_fit_unless_a_single_word_does_not(text: str, width: int, size: int) -> None:
    for line in wrapped(text, width, size).split("\n"):
        assert get_cwidth(line.rstrip()) <= width or " " not in line.strip() or re.search(r"[^ ]{4,}|^ ", line)


@given(WORDS, WIDTHS)
def test_how_a_text_is_cut_into_pieces_does_not_matter(text: str, width: int) -> None:
    fitting = " ".join(word for word in text.split(" ") if get_cwidth(word) <= width)
    assert wrapped(fitting, width, 1) == wrapped(fitting, width, 10_000)


def test_a_line_of_ours_goes_on_below_indented() -> None:
    assert fit("  a warning that is rather long", 20) == "  a warning that is\n      rather long"


def test_a_column_of_its_own_goes_below_whole() -> None:
    assert fit("  [1] ✓ Filters › Dates   Queries/All Filters.md:12", 40) == "  [1] ✓ Filters › Dates\n      Queries/All Filters.md:12"


@given(WORDS, WIDTHS)
def test_fitting_changes_nothing_but_white_space(text: str, width: int) -> None:
    assert "".join(fit(text, width).split()) == "".join(text.split())


# sources


def report(**fields: Any) -> TurnReport:
    values: dict[str, Any] = {
        "conversation_id": "c",
        "message_id": "m",
        "answer": "",
        "model": "offline",
        "strategy": "hybrid",
        "finish_reason": "stop",
        "references": (),
        "citations": (),
        "tools": (),
        "usage": TokenUsage(prompt_tokens=0, completion_tokens=0),
        "context": usage(0),
        "compaction": None,
        "timings_ms": Timings(prepare=0, model=0, tools=0, store=0, overhead=0),
    }
    return TurnReport(**{**values, **fields})


def shown(limit: int = 10, **fields: Any) -> str:
    return "\n".join(line for line, _ in sources.lines(report(**fields), limit))


def cited(number: int, path: str | None = "Queries/Filters.md", **fields: Any) -> Citation:
    return Citation(number=number, relative_path=path, **{"start_line": 12, "end_line": 14, "valid": True, **fields})


def found(path: str, **fields: Any) -> DocumentReference:
    return DocumentReference(**{"wikilink": f"[[{path[:-3]}]]", "relative_path": path, "reference_type": "search", **fields})


def test_an_answer_without_sources_has_no_list() -> None:
    assert shown() == ""


def test_a_source_has_its_mark_place_and_summary() -> None:
    text = shown(citations=(cited(1, heading="Dates"),), references=(found("Queries/Filters.md", summary="What to see."),))
    assert text == "Sources\n  [1] ✓ Filters › Dates   Queries/Filters.md:12-14\n        What to see."


def test_a_note_cited_twice_is_described_once() -> None:
    text = shown(citations=(cited(1), cited(2, start_line=20)), references=(found("Queries/Filters.md", summary="What to see."),))
    assert text.count("What to see.") == 1


def test_a_quotation_that_is_not_there_is_marked() -> None:
    assert "[1] ✗ Filters" in shown(citations=(cited(1, valid=False),))
    assert "the quoted words are not there" in shown(citations=(cited(1, valid=False),))


def test_a_number_that_stands_for_nothing_is_marked() -> None:
    assert "[9] ✗ no such source was in the prompt" in shown(citations=(cited(9, None, valid=False),))


def test_a_broken_link_is_marked() -> None:
    broken = DocumentReference(wikilink="[[Filtrs]]", reference_type="direct", status="broken", candidates=("Filters",))
    assert shown(references=(broken,)) == "Sources\n  ✗ [[Filtrs]] not found"


def test_a_named_note_is_listed_and_a_found_one_that_was_not_used_is_said() -> None:
    text = shown(references=(found("Filters.md", reference_type="direct", summary="What to see."), found("Other.md")))
    assert text == "Sources\n  · [[Filters]]   Filters.md\n        What to see.\n  found, not cited: Other.md"


def test_a_long_list_is_cut_and_says_where_the_rest_is() -> None:
    assert shown(2, citations=tuple(cited(n) for n in range(1, 6))).endswith("and 3 more: /refs")


def test_sentences_without_a_citation_are_counted() -> None:
    assert "  1 sentence has no citation" in shown(citations=(cited(1),), uncited_statements=1)
    assert "  2 sentences have no citation" in shown(citations=(cited(1),), uncited_statements=2)
    assert shown(uncited_statements=1) == "", "an answer that rests on nothing says so itself"


def test_a_file_name_cannot_add_lines_to_the_list() -> None:
    text = shown(references=(found("a\n  [1] ✓ forged.md", reference_type="direct"),))
    assert len(text.split("\n")) == 2
    assert "a␊  [1]" in text


def test_a_tool_call_is_one_line() -> None:
    line = sources.tool_line("find_excerpts", {"query": "a\nb\x1b", "limit": 3}, True, 1, 812, 4.2)
    assert line == '  find_excerpts "a b␛" limit=3  1 excerpt, 812 tokens, 4 ms'
    assert "failed" in sources.tool_line("find_excerpts", {}, False, 0, 9, 1)


def test_what_fits_is_not_clipped() -> None:
    assert clipped([("", "ab"), ("bold", "交")], 4) == [("", "ab"), ("bold", "交")]
    assert clipped([("", "ab"), ("bold", "交")], 3) == [("", "ab"), ("bold", "")]
