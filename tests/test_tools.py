"""Tools: what the model may call, what it gets back, and how its mistakes are answered."""

import json
from typing import Any

import pytest
from conftest import write_notes
from factories import COUNTER, TickingClock
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from zkchat_cli import tools
from zkchat_cli.chat.tool_executor import ToolExecutor, ToolResult
from zkchat_cli.models.messages import ToolCall
from zkchat_cli.references.manager import ReferenceManager
from zkchat_cli.vault.vault import Vault

TOOLS = {tool.name: tool for tool in tools.load_tools()}


def toolbox(notes: Vault) -> ToolExecutor:
    return ToolExecutor(tuple(TOOLS.values()), notes, ReferenceManager(), COUNTER, TickingClock())


def run(notes: Vault, tool: str, room: int = 5000, **arguments: Any) -> ToolResult:
    return run_in(toolbox(notes), ToolCall(id="1", name=tool, arguments=arguments), room)


def run_in(box: ToolExecutor, call: ToolCall, room: int) -> ToolResult:
    return box.results([box.run_call(call)], room)[0]


def mistake(notes: Vault, tool: str, **arguments: Any) -> str:
    """What the model is told about a wrong call."""
    result = run(notes, tool, **arguments)
    assert not result.run.ok, result.content
    assert result.chunks == ()
    error: str = json.loads(result.content)["error"]
    assert len(error) < 500
    return error


# find_excerpts


def test_a_search_returns_numbered_excerpts(notes: Vault) -> None:
    result = run(notes, "find_excerpts", query="compost heap")
    assert (result.run.ok, result.run.tokens, result.run.duration_ms) == (
        True,
        COUNTER.count(result.content),
        1.0,
    )
    excerpt = json.loads(result.content)["excerpts"][0]
    assert (excerpt["source"], excerpt["path"], excerpt["lines"]) == (1, "Garden/Compost.md", "1-3")
    assert "needs air, water and patience" in excerpt["text"]


@pytest.mark.parametrize(
    ("tool", "arguments", "outcome"),
    [
        ("find_excerpts", {"query": "filters"}, ""),
        ("resolve_wikilink", {"wikilink": "[[filters]]"}, "Filters.md"),
        ("resolve_wikilink", {"wikilink": "[[no such thing]]"}, "no such note"),
        ("list_zk_documents", {"limit": 1}, "1 of 4 notes"),
        ("read_zk_document", {}, "read_zk_document needs relative_path"),
    ],
)
def test_a_result_has_an_outcome_for_the_user(
    notes: Vault, tool: str, arguments: dict[str, Any], outcome: str
) -> None:
    assert run(notes, tool, **arguments).run.outcome == outcome


def test_an_empty_search_suggests_other_words(notes: Vault) -> None:
    assert (
        "other words" in json.loads(run(notes, "find_excerpts", query="xylophone").content)["note"]
    )


def test_a_search_with_more_results_says_how_to_get_them(notes: Vault) -> None:
    result = run(notes, "find_excerpts", query="filter tasks compost conditions", limit=1)
    assert len(result.chunks) == 1
    assert "limit up to 20" in json.loads(result.content)["note"]


# read_zk_document


def test_some_lines_of_a_document_are_read(notes: Vault) -> None:
    result = run(
        notes, "read_zk_document", relative_path="Queries/Combining.md", start_line=3, end_line=3
    )
    assert [(c.start_line, c.end_line) for c in result.chunks] == [(3, 3)]
    assert "Each condition" not in result.content


def test_a_long_document_is_cut_and_says_how_to_read_on(notes: Vault) -> None:
    write_notes(
        notes.root,
        {
            "Long.md": "".join(
                f"# Section {i}\n\n" + f"Words of section {i}. " * 40 + "\n\n" for i in range(60)
            )
        },
    )
    result = run(notes, "read_zk_document", room=1_000_000, relative_path="Long.md")
    assert len(result.chunks) == 40
    assert f"start_line={result.chunks[-1].end_line + 1}" in result.content


def test_a_misspelt_document_is_answered_with_the_nearest(notes: Vault) -> None:
    assert "Nearest: Queries/Combining.md" in mistake(
        notes, "read_zk_document", relative_path="Combning.md"
    )


# resolve_wikilink


def test_a_broken_link_is_answered_with_the_nearest(notes: Vault) -> None:
    document = json.loads(run(notes, "resolve_wikilink", wikilink="[[Filtrs]]").content)
    assert document["path"] is None
    assert document["nearest"] == ["Filters.md"]


# mistakes


@pytest.mark.parametrize(
    ("tool", "arguments", "told"),
    [
        ("find_excerpts", {}, "find_excerpts needs query"),
        ("find_excerpts", {"query": "  \n"}, "find_excerpts needs query"),
        ("find_excerpts", {"query": 5}, "query must be of type string, not 5"),
        ("find_excerpts", {"query": ["a"]}, "query must be of type string, not ['a']"),
        ("find_excerpts", {"query": "a", "limit": True}, "limit must be of type integer, not True"),
        ("find_excerpts", {"query": "a", "limit": "5x"}, "limit must be of type integer, not '5x'"),
        ("find_excerpts", {"query": "a", "limit": [10**5] * 5000}, "limit must be of type integer"),
        (
            "find_excerpts",
            {"query": "a", "colour": "red"},
            "has no argument 'colour'; it has query, limit",
        ),
        ("find_excerpts", {"query": "a", "c" * 10_000: "red"}, "has no argument"),
        ("delete_everything", {}, "unknown tool delete_everything; the tools are "),
        ("x" * 10_000, {}, "unknown tool xxx"),
    ],
)
def test_a_wrong_call_is_answered_with_a_short_error(
    notes: Vault, tool: str, arguments: dict[str, Any], told: str
) -> None:
    assert told in mistake(notes, tool, **arguments)


@pytest.mark.parametrize("limit", ["1", " 1 ", 1.0, "1.0", 1])
def test_a_whole_number_may_be_written_in_other_ways(notes: Vault, limit: object) -> None:
    found = run(notes, "find_excerpts", query="filter", limit=limit)
    assert found.run.ok
    assert found.content == run(notes, "find_excerpts", query="filter", limit=1).content


json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=20),
    lambda v: st.lists(v, max_size=3) | st.dictionaries(st.text(max_size=5), v, max_size=3),
)


@settings(max_examples=30, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.sampled_from(sorted(TOOLS)), st.data())
def test_any_arguments_get_an_answer(notes: Vault, tool: str, data: st.DataObject) -> None:
    names = st.sampled_from([*TOOLS[tool].schema["properties"], "other"])
    arguments = data.draw(st.dictionaries(names, json_values, max_size=4))
    json.loads(
        run_in(toolbox(notes), ToolCall(id="1", name=tool, arguments=arguments), 5000).content
    )


# room


def test_a_chunk_that_was_cut_is_another_chunk_with_a_number_of_its_own(notes: Vault) -> None:
    write_notes(notes.root, {"Long.md": "Words without end. " * 60})
    box = toolbox(notes)
    call = ToolCall(id="1", name="read_zk_document", arguments={"relative_path": "Long.md"})
    cut, whole = (run_in(box, call, room).chunks[0] for room in (150, 5000))
    assert cut.number != whole.number
    assert whole.text.startswith(cut.text.partition("\n\n<!-- cut")[0])
