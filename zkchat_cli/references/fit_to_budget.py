"""Which excerpts the model gets if the tool calls of one reply found more than the window holds. Pure.

A chunk's relevance is its rank within its own call: every tool returns its best result first, and scores of different searches cannot be
compared. So chunks are taken round by round, the first of each call, then the second of each. Chunks that another call ranks better come
last, because the model would read them twice. Each result contains its own text and never refers to another's, because results are
stored, folded and sent one by one.
"""

from bisect import bisect_right
from collections.abc import Sequence

from zkchat_cli.models import ContentChunk
from zkchat_cli.references.chunk_format import FRAME_TOKENS, Count, chunk_tokens, min_chunk_tokens, truncate_chunk

MAX_CHARACTERS_PER_TOKEN = 30
"""A text with more characters per token of room is too long without counting; prose has about four."""


def reduce_to_fit(calls: Sequence[Sequence[ContentChunk]], room: int, count: Count) -> tuple[tuple[ContentChunk, ...], ...]:
    """The chunks of each call, in its own order, that take at most `room` tokens together.

    The least relevant are dropped first; less room always gives a subset. The best chunk of each call stays, truncated if need be. Only if
    there is no room for a few words of each, the last calls get nothing.
    """
    found = [call for call, chunks in enumerate(calls) if chunks]
    room -= FRAME_TOKENS * len(found)
    best = {call: _chunk_cost(calls[call][0], room, count) for call in found}
    kept: list[list[int]] = [[] for _ in calls]
    if sum(best.values()) > room:
        cut = _truncated_chunks(calls, best, room, count)
        return tuple((cut[call],) if call in cut else () for call in range(len(calls)))
    for call, rank in rank_chunks(calls):
        room -= _chunk_cost(calls[call][rank], room, count) if rank else best[call]
        if room < 0:
            break
        kept[call].append(rank)
    return tuple(tuple(chunks[rank] for rank in sorted(ranks)) for chunks, ranks in zip(calls, kept, strict=True))


def rank_chunks(calls: Sequence[Sequence[ContentChunk]]) -> list[tuple[int, int]]:
    """Call and rank of every chunk, the most relevant first."""
    rounds = sorted((rank, call) for call, chunks in enumerate(calls) for rank in range(len(chunks)))
    seen: set[str] = set()
    first: list[tuple[int, int]] = []
    repeated: list[tuple[int, int]] = []
    for rank, call in rounds:
        id_ = calls[call][rank].id
        (repeated if rank and id_ in seen else first).append((call, rank))
        seen.add(id_)
    return first + repeated


def share_evenly(wanted: Sequence[int], room: int, least: Sequence[int]) -> list[int]:
    """Equal shares of `room`, but no share above its `wanted` or below its `least`; the sum of `least` must fit.

    With more room no share gets smaller.
    """

    def shares(level: int) -> list[int]:
        return [min(want, max(low, level)) for want, low in zip(wanted, least, strict=True)]

    return shares(bisect_right(range(room + 1), room, key=lambda level: sum(shares(level))) - 1)


def _chunk_cost(chunk: ContentChunk, room: int, count: Count) -> int:
    """The chunk's tokens; for a text that cannot fit, any number above `room`."""
    return chunk_tokens(chunk, count) if len(chunk.text) <= MAX_CHARACTERS_PER_TOKEN * room else max(room, 0) + 1


def _truncated_chunks(calls: Sequence[Sequence[ContentChunk]], wanted: dict[int, int], room: int, count: Count) -> dict[int, ContentChunk]:
    """The best chunk of each call, truncated to a share of the room; of the first calls only if a few words of each do not fit."""
    shares = {call: min(want, min_chunk_tokens(calls[call][0], count)) for call, want in wanted.items()}
    if sum(shares.values()) <= room:
        shares = dict(zip(wanted, share_evenly([*wanted.values()], room, [*shares.values()]), strict=True))
    while shares and sum(shares.values()) > room:
        shares.popitem()
    best = {call: calls[call][0] for call in shares}
    return {call: best[call] if wanted[call] <= share else truncate_chunk(best[call], share, count) for call, share in shares.items()}
