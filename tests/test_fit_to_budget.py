"""Reduction: of what the calls of one reply found, the window gets the most relevant, and less room
never shows more.
"""

import json
from collections.abc import Sequence

import pytest
from factories import COUNTER, TickingClock, chunk, takes_less_than
from hypothesis import example, given
from hypothesis import strategies as st

from zkchat_cli.chat.tool_executor import ToolExecutor, ToolOutcome, ToolResult
from zkchat_cli.models.messages import ToolCall
from zkchat_cli.models.notes import ContentChunk
from zkchat_cli.references.chunk_budget import CUT_MARK, FRAME_TOKENS, reduce_to_fit, truncate_chunk
from zkchat_cli.references.excerpts import chunk_tokens, format_tool_result
from zkchat_cli.references.manager import MAX_NUMBER, ReferenceManager
from zkchat_cli.tools.base import ToolOutput

COUNT = COUNTER.count
Calls = Sequence[Sequence[ContentChunk]]


def found_chunks(
    *ids: str, text: str = "Filters say which tasks you want to see.", path: str = "Filters.md"
) -> tuple[ContentChunk, ...]:
    """What a call found: chunks that say the same under other ids."""
    return tuple(chunk(None, f"{text} {id_}", id=id_, relative_path=path) for id_ in ids)


# cutting


def test_a_best_chunk_that_is_too_long_is_truncated() -> None:
    [[cut]] = reduce_to_fit(
        [[chunk(None, "one two three\n" * 1000, id="a"), chunk(None, "x", id="b")]], 200, COUNT
    )
    assert cut.text.startswith("one two three\none")
    assert cut.text.endswith(f"three{CUT_MARK}")
    assert cut.id != "a"
    assert cut.end_line < 1004


def test_a_huge_chunk_is_truncated_without_counting_all_of_it() -> None:
    counted: list[int] = []

    def count(text: str) -> int:
        counted.append(len(text))
        return len(text) // 4

    assert reduce_to_fit([[chunk(None, "word " * 1_000_000)]], 100, count)[0]
    assert max(counted) < 10_000


# whatever is found


TEXT = st.text(st.sampled_from('ab \n.漢😀"'), max_size=400) | st.builds(
    lambda word, n: word * n, st.sampled_from(["word ", "漢", " ", "-"]), st.integers(0, 900)
)


@st.composite
def replies(draw: st.DrawFn) -> Calls:
    """What some calls found; they find some of the same."""
    texts = draw(st.lists(TEXT, min_size=1, max_size=8))
    chunks = [
        chunk(None, text, id=str(i), relative_path=f"{i % 3}.md") for i, text in enumerate(texts)
    ]
    return draw(
        st.lists(
            st.lists(st.sampled_from(chunks), max_size=6, unique_by=lambda c: c.id), max_size=5
        )
    )


def original_id(cut: ContentChunk) -> str:
    """The id of the chunk that this one is, or is the start of."""
    return cut.id.partition(":")[0]


@given(replies(), st.integers(-10, 900), st.integers(0, 300))
def test_less_room_gives_a_subset(calls: Calls, room: int, more: int) -> None:
    small, large = (reduce_to_fit(calls, r, COUNT) for r in (room, room + more))
    for less, rest in zip(small, large, strict=True):
        by_id = {original_id(c): c for c in rest}
        for kept in less:
            assert original_id(kept) in by_id
            assert (
                by_id[original_id(kept)]
                .text.removesuffix(CUT_MARK)
                .startswith(kept.text.removesuffix(CUT_MARK))
            )


@given(replies(), st.integers(20, 900))
@example([[chunk(None, "word " * 900, id="0")]] * 5, 500)
def test_the_result_fits_whatever_its_numbers(calls: Calls, room: int) -> None:
    kept = reduce_to_fit(calls, room, COUNT)
    numbered = [[c.model_copy(update={"number": MAX_NUMBER}) for c in chunks] for chunks in kept]
    assert sum(COUNT(format_tool_result(chunks, {})) for chunks in numbered if chunks) <= max(
        room, 0
    )


@given(replies(), st.integers(-10, 900))
def test_chunks_are_verbatim_or_marked_as_cut(calls: Calls, room: int) -> None:
    for chunks, kept in zip(calls, reduce_to_fit(calls, room, COUNT), strict=True):
        assert [original_id(c) for c in kept] == [
            c.id for c in chunks if c.id in set(map(original_id, kept))
        ]
        for place, one in enumerate(kept):
            original = next(c for c in chunks if c.id == original_id(one))
            if one != original:
                assert place == 0
                assert original == chunks[0]
                assert one.text.endswith(CUT_MARK)
                assert original.text.startswith(one.text.removesuffix(CUT_MARK))
                assert (
                    one.end_line
                    == one.start_line + one.text.removesuffix(CUT_MARK).count("\n")
                    <= original.end_line
                )


@given(replies(), st.integers(-10, 900))
def test_each_call_keeps_its_best_chunk_if_a_few_words_of_each_fit(calls: Calls, room: int) -> None:
    kept = reduce_to_fit(calls, room, COUNT)
    served = [bool(k) for chunks, k in zip(calls, kept, strict=True) if chunks]
    assert served == sorted(served, reverse=True)
    assert all(
        original_id(k[0]) == chunks[0].id for chunks, k in zip(calls, kept, strict=True) if k
    )
    words = [
        min(
            chunk_tokens(chunks[0], COUNT), chunk_tokens(truncate_chunk(chunks[0], 0, COUNT), COUNT)
        )
        + FRAME_TOKENS
        for chunks in calls
        if chunks
    ]
    assert all(served) or sum(words) > room


# whole results


def results(
    findings: Sequence[ToolOutput], room: int, manager: ReferenceManager | None = None
) -> tuple[ToolResult, ...]:
    """What the model gets; nothing is looked up, so the vault is not needed."""
    box = ToolExecutor((), None, manager or ReferenceManager(), COUNTER, TickingClock())  # type: ignore[arg-type]
    calls = (
        ToolCall(id=f"call-{i}", name="find_excerpts", arguments={}) for i in range(len(findings))
    )
    return box.results(
        [
            ToolOutcome(*each, ok=True, duration_ms=5.0)
            for each in zip(calls, findings, strict=True)
        ],
        room,
    )


def note(result: ToolResult) -> str:
    said: str = json.loads(result.content).get("note", "")
    return said


def test_results_that_fit_are_complete() -> None:
    findings = [
        ToolOutput(found_chunks("a", "b"), {"total": 2}, "More."),
        ToolOutput(found_chunks("c")),
        ToolOutput(data={"documents": ["x"] * 50}),
    ]
    # The lists are more than half of it
    first, second, third = results(findings, 335)
    assert [[c.number for c in r.chunks] for r in (first, second, third)] == [[1, 2], [3], []]
    assert (note(first), note(second), note(third)) == ("More.", "", "")
    assert json.loads(third.content)["documents"] == ["x"] * 50
    assert [r.run.tokens for r in (first, second, third)] == [
        COUNT(r.content) for r in (first, second, third)
    ]
    assert [r.run.duration_ms for r in (first, second, third)] == [5.0] * 3


def test_a_cut_result_says_where_to_continue() -> None:
    long = ToolOutput(
        tuple(
            chunk(None, f"Line {i} of the long note. " * 12, id=str(i), start_line=i + 1)
            for i in range(30)
        ),
        note="Read on.",
    )
    first, second = results([long, ToolOutput(found_chunks("a"))], 1000)
    kept = len(first.chunks)
    assert 3 < kept < 30
    assert note(first) == (
        f"Read on. Left out, because there is no room for them: {30 - kept} excerpts, the "
        f"next in Filters.md from line {kept + 1}. "
        "Ask for less at a time."
    )
    assert note(second) == ""


def test_lists_take_at_most_half_the_room() -> None:
    documents = [f"Folder/Note {i}.md" for i in range(200)]
    finding = ToolOutput(
        found_chunks(*"abcdefgh", text="words " * 60), {"documents": documents, "total": 200}
    )
    [result] = results([finding], 1200)
    shown = json.loads(result.content)
    assert shown["total"] == 200
    assert 20 < len(shown["documents"]) < 200
    assert 3 < len(result.chunks) < 8
    lost = 8 - len(result.chunks)
    assert (
        f"no room for them: {200 - len(shown['documents'])} documents; {lost} excerpts, the next in"
        in note(result)
    )


def test_without_room_each_result_says_what_it_found() -> None:
    first, second = results(
        [ToolOutput(found_chunks("a", "b")), ToolOutput(data={"documents": ["x"]})], 0
    )
    assert "2 excerpts, the next in Filters.md from line 5" in note(first)
    assert "1 documents" in note(second)
    assert first.chunks == second.chunks == ()


def findings_of(calls: Calls, lists: Sequence[int]) -> list[ToolOutput]:
    data = [
        {"documents": [f"Note {i}.md" for i in range(n)], "total": n} if n else {} for n in lists
    ]
    return [
        ToolOutput(tuple(chunks), d, "Look." if len(chunks) % 2 else "")
        for chunks, d in zip(calls, data, strict=False)
    ]


LISTS = st.lists(st.sampled_from([0, 0, 3, 80]), min_size=5, max_size=5)


@given(replies(), LISTS, st.integers(0, 1500))
@example(
    [[chunk(None, "word " * 900, id=str(i), relative_path="很长的文件夹/" * 30) for i in range(2)]]
    * 2,
    [0] * 5,
    900,
)
def test_results_fit_their_room(calls: Calls, lists: list[int], room: int) -> None:
    findings = findings_of(calls, lists)
    taken, least = (sum(r.run.tokens for r in results(findings, r)) for r in (room, 0))
    assert taken <= max(room, least)


# 500 chunks


@pytest.mark.parametrize("room", [1000, 60_000, 10**6])
def test_five_hundred_chunks_are_counted_once_each(room: int) -> None:
    counted: list[str] = []

    def count(text: str) -> int:
        counted.append(text)
        return COUNT(text)

    text = "Filters say which tasks you want to see, and in which order. " * 20
    calls = [
        [chunk(None, f"{text} {call}-{i}", id=f"{call}-{i}", start_line=i) for i in range(50)]
        for call in range(10)
    ]
    with takes_less_than(2):
        reduce_to_fit(calls, room, count)
    whole_texts = [each for each in counted if len(each) > len(text)]
    assert len(whole_texts) == len(set(whole_texts)) <= 500
    assert sum(map(len, set(counted) - set(whole_texts))) < 10 * 10 * len(text)
