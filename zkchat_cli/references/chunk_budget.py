"""Chooses the chunks that fit into a number of tokens: the most relevant ones; of a long one, the
beginning. Pure.

A chunk's relevance is its rank within its own call, because scores of different searches cannot be
compared.
"""

from bisect import bisect_right
from collections.abc import Mapping, Sequence
from typing import NamedTuple

from zkchat_cli.models.notes import ContentChunk
from zkchat_cli.references.excerpts import Count, chunk_tokens

# Tokens of the JSON around a result's excerpts
FRAME_TOKENS = 8
# The beginning of a result's note about what did not fit into the window
NO_ROOM = "Left out, because there is no room for them"
# The end of a text that was cut: a comment, so that it cannot be mistaken for the note's own words
CUT_MARK = "\n\n<!-- cut: too long for the context window -->"
# Characters of a text that are shown in any case: a few words
MIN_CHARACTERS = 60
# Characters per token that no text has (prose has about four): a text with more characters than so
# many for each token of room is known to be too long without counting
MAX_CHARACTERS_PER_TOKEN = 30
# Characters in which a space to cut at is looked for. Scripts without spaces are cut anywhere.
_LONGEST_WORD = 40


class ChunkRank(NamedTuple):
    """A chunk of one of several calls, by its position among what that call found."""

    call: int
    rank: int


def reduce_to_fit(
    calls: Sequence[Sequence[ContentChunk]], room: int, count: Count
) -> tuple[tuple[ContentChunk, ...], ...]:
    """The chunks of each call, in its own order, that take at most `room` tokens together.

    The least relevant are dropped first; less room always gives a subset. The best chunk of each
    call stays, truncated if need be. Only if there is no room for a few words of each, the last
    calls get nothing.
    """
    room -= FRAME_TOKENS * sum(map(bool, calls))
    best_costs: dict[int, int] = {}
    for call, chunks in enumerate(calls):
        if chunks:
            best_costs[call] = _chunk_cost(chunks[0], room, count)
    kept: list[dict[int, ContentChunk]] = [{} for _ in calls]
    if sum(best_costs.values()) > room:
        for call, chunk in _cut_best_chunks(calls, best_costs, room, count).items():
            kept[call][0] = chunk
    else:
        for call, rank in rank_chunks(calls):
            chunk = calls[call][rank]
            room -= best_costs[call] if rank == 0 else _chunk_cost(chunk, room, count)
            if room < 0:
                break
            kept[call][rank] = chunk
    return tuple(_sorted_by_rank(by_rank) for by_rank in kept)


def _sorted_by_rank(by_rank: Mapping[int, ContentChunk]) -> tuple[ContentChunk, ...]:
    return tuple(by_rank[rank] for rank in sorted(by_rank))


def _cut_best_chunks(
    calls: Sequence[Sequence[ContentChunk]], costs: Mapping[int, int], room: int, count: Count
) -> dict[int, ContentChunk]:
    """The best chunk of each call that gets a share of the room, cut to its share. `costs`: the
    tokens of the best chunks as they are.
    """
    fitted: dict[int, ContentChunk] = {}
    for call, share in _share_room(calls, costs, room, count).items():
        chunk = calls[call][0]
        if costs[call] > share:
            chunk = truncate_chunk(chunk, share, count)
        fitted[call] = chunk
    return fitted


def _share_room(
    calls: Sequence[Sequence[ContentChunk]], costs: Mapping[int, int], room: int, count: Count
) -> dict[int, int]:
    """The tokens that the best chunk of each call gets. Without room for a few words of each, only
    the first calls get theirs.
    """
    least: dict[int, int] = {}
    for call, cost in costs.items():
        few_words = _prefix(calls[call][0], MIN_CHARACTERS)
        least[call] = min(cost, chunk_tokens(few_words, count))
    if sum(least.values()) <= room:
        shares = share_evenly([*costs.values()], room, [*least.values()])
        return dict(zip(costs, shares, strict=True))
    while least and sum(least.values()) > room:
        least.popitem()
    return least


def rank_chunks(calls: Sequence[Sequence[ContentChunk]]) -> list[ChunkRank]:
    """Every chunk, the most relevant first: the best of each call, then the second of each, and so
    on. A chunk that an earlier call has already found comes last, unless it is the best of its own.
    """
    ranks: list[ChunkRank] = []
    for call, chunks in enumerate(calls):
        ranks += [ChunkRank(call, rank) for rank in range(len(chunks))]
    ranks.sort(key=lambda each: each.rank)
    seen: set[str] = set()
    first: list[ChunkRank] = []
    repeated: list[ChunkRank] = []
    for each in ranks:
        id_ = calls[each.call][each.rank].id
        if each.rank > 0 and id_ in seen:
            repeated.append(each)
        else:
            first.append(each)
        seen.add(id_)
    return first + repeated


def share_evenly(wanted: Sequence[int], room: int, least: Sequence[int]) -> list[int]:
    """Equal shares of `room`, but no share above its `wanted` or below its `least`; the sum of
    `least` must fit. With more room no share gets smaller.
    """

    def shares(level: int) -> list[int]:
        return [min(want, max(low, level)) for want, low in zip(wanted, least, strict=True)]

    def total(level: int) -> int:
        return sum(shares(level))

    highest = bisect_right(range(room + 1), room, key=total) - 1
    return shares(highest)


def truncate_chunk(chunk: ContentChunk, room: int, count: Count) -> ContentChunk:
    """The beginning of a chunk that fits `room` tokens, marked as cut; a few words even if they do
    not fit.

    It gets its own id, because another text is another chunk with another number. Less room gives a
    prefix of what more room gives. However long the text is, at most about twice the result is
    counted.
    """
    longest = len(chunk.text) - 1
    fits = min(MIN_CHARACTERS, longest)
    reach = fits
    while reach < longest and chunk_tokens(_prefix(chunk, reach), count) <= room:
        fits = reach
        reach = min(2 * reach, longest)

    def tokens(length: int) -> int:
        return chunk_tokens(_prefix(chunk, length), count)

    fits += bisect_right(range(fits + 1, reach + 1), room, key=tokens)
    return _prefix(chunk, fits)


def _prefix(chunk: ContentChunk, length: int) -> ContentChunk:
    """The first `length` characters of a chunk or fewer, cut after a word if possible."""
    earliest = max(0, length - _LONGEST_WORD)
    last_space = max(chunk.text.rfind(white, earliest, length) for white in " \n")
    if last_space > 0:
        length = last_space
    text = chunk.text[:length].rstrip()
    return chunk.model_copy(
        update={
            "id": f"{chunk.id}:{len(text)}",
            "text": text + CUT_MARK,
            "end_line": chunk.start_line + text.count("\n"),
        }
    )


def _chunk_cost(chunk: ContentChunk, room: int, count: Count) -> int:
    """The chunk's tokens; for a text that cannot fit, any number above `room`."""
    if len(chunk.text) > MAX_CHARACTERS_PER_TOKEN * room:
        return max(room, 0) + 1
    return chunk_tokens(chunk, count)
