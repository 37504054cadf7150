"""The lines of a chunk that show why it was found."""

from collections.abc import Collection, Sequence
from typing import NamedTuple

from zkchat_cli.text import words
from zkchat_cli.text.case_folder import fold
from zkchat_cli.text.literals import written_form
from zkchat_cli.text.patterns import lazy_pattern
from zkchat_cli.text.truncate import truncate_around
from zkchat_cli.text.word_lists import ENGLISH
from zkchat_cli.vault.index.word_match import is_part

# Characters of a snippet
WIDTH = 160
# Marks of quotations, list items, tasks and headings at the beginning of a line
_MARKS = lazy_pattern(r"^[\s>]*(?:[-*+]\s(?:\[.\]\s)?|\d+[.)]\s|#{1,6}\s)?[\s>]*")


class Snippet(NamedTuple):
    """Lines of a note (numbers from 1) without list and heading marks; cut text has ellipses."""

    line: int
    end_line: int
    text: str


def snippet(
    text: str,
    first_line: int,
    terms: Collection[str],
    width: int = WIDTH,
    languages: tuple[str, ...] = (ENGLISH,),
) -> Snippet:
    """The line of `text` (which begins on `first_line`) with the most `terms` in any form, and what
    fits into `width` of the next lines. Words are compared by their stems. Of equal lines the first
    that is not a heading, because a result names its heading anyway.
    """
    lines = text.split("\n")
    stems = {words.stem(term, languages) for term in terms}
    best = _best_line(lines, stems, languages)
    line = _without_marks(lines[best])
    result = truncate_around(line, _first_place(line, stems.union(terms)), width)
    last = best
    for following in lines[best + 1 :]:
        added = _without_marks(following)
        if not following.strip() or len(result) + len(added) >= width:
            break
        result = f"{result} {added}".strip()
        last += 1
    return Snippet(first_line + best, first_line + last, result)


def _best_line(lines: Sequence[str], stems: set[str], languages: tuple[str, ...]) -> int:
    """The place of the line with most of the words; of equal ones the first with text that is no
    heading.
    """
    characters = [stem for stem in stems if is_part(stem)]

    def rank(place: int) -> tuple[int, bool, int]:
        line = lines[place]
        present = [*words.terms(line), *words.literals(line)]
        shown = stems.intersection(words.stem(term, languages) for term in present)
        shown.update(character for character in characters if character in line)
        is_bare = not _without_marks(line) or line.startswith("#")
        return -len(shown), is_bare, place

    return min(range(len(lines)), key=rank)


def _first_place(line: str, wanted: Collection[str]) -> int:
    """The position of the first of these words in the line; 0 if the line has none of them as it is
    written.
    """
    # Folding may change its length by a few characters, which does not matter
    folded = fold(line)
    places = [folded.find(written_form(term)) for term in wanted]
    return min((place for place in places if place >= 0), default=0)


def _without_marks(line: str) -> str:
    return _MARKS.sub("", line)
