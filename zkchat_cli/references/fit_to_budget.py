"""Which excerpts the model gets when a reply's tool calls found more than the window holds. Pure.

Relevance is a chunk's place within its own call. Every tool puts its best first, and a note is read from where the model asked to; the
scores of two searches cannot be compared, nor a score with a line of a note, but places can (as vault/fusion.py has it). So excerpts are
taken round by round: the first of each call, then the second of each, in the order of the calls. What another call shows at a better place
comes after all that: the model would only read it twice. Whether there is room or not, each result shows its own text and never points to
another's, for results are stored, folded and sent one by one.
"""

from bisect import bisect_right
from collections.abc import Sequence

from zkchat_cli.models import ContentChunk
from zkchat_cli.references.chunk_format import FRAME_TOKENS, Count, chunk_tokens, min_chunk_tokens, truncate_chunk

MOST_CHARACTERS = 30
"""Characters per token beyond which a text is taken to be too long without counting it; prose has four."""


def reduce_to_fit(calls: Sequence[Sequence[ContentChunk]], room: int, count: Count) -> tuple[tuple[ContentChunk, ...], ...]:
    """What each call of a reply keeps, in its own order, so that the excerpts of all take at most `room` tokens together.

    The least relevant go first; with less room what is kept is always a part of what is kept with more. The best of each call stays, cut
    and marked if there is no room for those best ones as they are. Only when there is not even room for some words of each, the last
    calls are left without.
    """
    found = [call for call, chunks in enumerate(calls) if chunks]
    room -= FRAME_TOKENS * len(found)
    best = {call: _cost(calls[call][0], room, count) for call in found}
    kept: list[list[int]] = [[] for _ in calls]
    if sum(best.values()) > room:
        cut = _share(calls, best, room, count)
        return tuple((cut[call],) if call in cut else () for call in range(len(calls)))
    for call, rank in rank_chunks(calls):
        room -= _cost(calls[call][rank], room, count) if rank else best[call]
        if room < 0:
            break
        kept[call].append(rank)
    return tuple(tuple(chunks[rank] for rank in sorted(ranks)) for chunks, ranks in zip(calls, kept, strict=True))


def rank_chunks(calls: Sequence[Sequence[ContentChunk]]) -> list[tuple[int, int]]:
    """Call and place of every chunk, the most relevant first."""
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
    """Shares of `room`, equal ones except that nobody gets more than is `wanted`, nor less than the `least`, which there is room for.

    More room is nobody's loss.
    """

    def shares(height: int) -> list[int]:
        return [min(want, max(low, height)) for want, low in zip(wanted, least, strict=True)]

    return shares(bisect_right(range(room + 1), room, key=lambda height: sum(shares(height))) - 1)


def _cost(chunk: ContentChunk, room: int, count: Count) -> int:
    """Its tokens; of one that cannot fit, too many."""
    return chunk_tokens(chunk, count) if len(chunk.text) <= MOST_CHARACTERS * room else max(room, 0) + 1


def _share(calls: Sequence[Sequence[ContentChunk]], wanted: dict[int, int], room: int, count: Count) -> dict[int, ContentChunk]:
    """The best chunk of each call, cut to a share of the room; of the first calls only, when each could not have some words."""
    least: dict[int, int] = {}
    spare = room
    for call, want in wanted.items():
        words = min(want, min_chunk_tokens(calls[call][0], count))
        spare -= words
        if spare < 0:
            break
        least[call] = words
    served = list(least)
    lows = list(least.values())
    everybody = len(served) == len(wanted)
    shares = share_evenly([wanted[call] for call in served], room, lows) if everybody else lows
    return {
        call: calls[call][0] if wanted[call] <= share else truncate_chunk(calls[call][0], share, count)
        for call, share in zip(served, shares, strict=True)
    }
