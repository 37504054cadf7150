"""A change of a text as a unified diff, as `git diff` would show it. Pure, and in time linear in the texts but for a short middle.

What is edited here is a place in a note, or links on some of its lines: lines of equal number are compared pairwise, and of others only
what lies between their common beginning and end is compared line with line, if that is little.
"""

import difflib
from collections.abc import Iterator, Sequence
from typing import NamedTuple

AROUND = 3
"""Lines shown before and after a change."""
MOST_COMPARED = 400
"""Lines of a middle that are compared with as many others; of more, all are shown as taken out and put in."""


class DiffPart(NamedTuple):
    """Lines `a` to before `b` of the old text that are lines `c` to before `d` of the new one; `same` if they are equal."""

    same: bool
    a: int
    b: int
    c: int
    d: int


def unified_diff(old: str, new: str, old_path: str | None, new_path: str | None) -> str:
    """The diff, with the names of the files in its head (None: there is no such file); only the head if the texts are equal."""
    before, after = _lines(old), _lines(new)
    head = [f"--- {'/dev/null' if old_path is None else 'a/' + old_path}", f"+++ {'/dev/null' if new_path is None else 'b/' + new_path}"]
    pieces = list(_pieces(before, after))
    return "\n".join([*head, *(line for hunk in _hunks(pieces) for line in _shown(hunk, before, after))]) + "\n"


def _lines(text: str) -> list[str]:
    """A text's lines, the last one marked where it has no end."""
    lines = text.split("\n")
    last = lines.pop()
    return [*lines, last + "\n\\ No newline at end of file"] if last else lines


def _pieces(a: Sequence[str], b: Sequence[str]) -> Iterator[DiffPart]:
    if len(a) == len(b):
        yield from _pairwise(a, b)
        return
    shorter = min(len(a), len(b))
    first = next((i for i in range(shorter) if a[i] != b[i]), shorter)
    last = next((i for i in range(shorter - first) if a[-1 - i] != b[-1 - i]), shorter - first)
    if first:
        yield DiffPart(True, 0, first, 0, first)
    ends = len(a) - last, len(b) - last
    if max(ends[0] - first, ends[1] - first) <= MOST_COMPARED:
        matcher = difflib.SequenceMatcher(None, a[first : ends[0]], b[first : ends[1]], autojunk=False)
        for kind, *at in matcher.get_opcodes():
            yield DiffPart(kind == "equal", *(first + i for i in at))
    else:
        yield DiffPart(False, first, ends[0], first, ends[1])
    if last:
        yield DiffPart(True, ends[0], len(a), ends[1], len(b))


def _pairwise(a: Sequence[str], b: Sequence[str]) -> Iterator[DiffPart]:
    begin = 0
    for i in range(1, len(a) + 1):
        same = a[begin] == b[begin]
        if i == len(a) or (a[i] == b[i]) != same:
            yield DiffPart(same, begin, i, begin, i)
            begin = i


def _hunks(pieces: Sequence[DiffPart]) -> Iterator[list[DiffPart]]:
    """The pieces with what changed, what is equal around them cut to a few lines; changes near to each other are one hunk."""
    hunk: list[DiffPart] = []
    for i, piece in enumerate(pieces):
        if not piece.same:
            hunk.append(piece)
            continue
        is_last, size = i + 1 == len(pieces), piece.b - piece.a
        if hunk and (is_last or size > 2 * AROUND):
            kept = min(AROUND, size)
            yield [*hunk, DiffPart(True, piece.a, piece.a + kept, piece.c, piece.c + kept)]
            hunk = []
        if not is_last:
            kept = size if hunk else min(AROUND, size)
            hunk.append(DiffPart(True, piece.b - kept, piece.b, piece.d - kept, piece.d))
    if any(not piece.same for piece in hunk):
        yield hunk


def _shown(hunk: Sequence[DiffPart], before: Sequence[str], after: Sequence[str]) -> Iterator[str]:
    a, b, c, d = hunk[0].a, hunk[-1].b, hunk[0].c, hunk[-1].d
    yield f"@@ -{_span(a, b)} +{_span(c, d)} @@"
    for piece in hunk:
        if piece.same:
            yield from (f" {line}" for line in before[piece.a : piece.b])
        else:
            yield from (f"-{line}" for line in before[piece.a : piece.b])
            yield from (f"+{line}" for line in after[piece.c : piece.d])


def _span(begin: int, end: int) -> str:
    return f"{begin + 1 if end > begin else begin},{end - begin}" if end - begin != 1 else str(begin + 1)
