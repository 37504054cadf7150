"""Whether a quotation that a note contains leaves out what changes its words: before and behind
them, where an ellipsis joins its parts, and where it runs cells or items of a list together.
"""

from bisect import bisect_left, bisect_right
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

from zkchat_cli.citations.blocks import Blocks
from zkchat_cli.citations.cut_sentences import (
    changes_between,
    changes_what_follows,
    changes_what_precedes,
    joins_clauses,
    negates_list,
    without_operators,
)
from zkchat_cli.citations.normalized_text import NormalizedText
from zkchat_cli.text.sentences import statement_ends

# What joins two halves of a word: "vice-president", "and/or", "R&D", "C++"
_JOINTS = frozenset("-/&@")
_SENTENCE_ENDINGS = ".!?…！？。؟'\")]*"
_SUFFIX_SIGNS = frozenset("+#")
# Characters of a note that show its language
_SAMPLE = 500
# Characters around an ellipsis that show the language
_AROUND = 100


@dataclass(frozen=True)
class QuotedPassage:
    """Where the parts of a quotation are in a text."""

    text: NormalizedText
    parts: Sequence[NormalizedText]
    found: Sequence[int]
    blocks: Blocks

    @cached_property
    def ends(self) -> list[int]:
        return [at + len(part.text) for at, part in zip(self.found, self.parts, strict=True)]

    @property
    def written(self) -> str:
        return self.text.written

    @cached_property
    def block_borders(self) -> list[int]:
        """Where blocks begin."""
        return sorted({self.text.starts[line] for line in self.blocks.begins})

    @cached_property
    def borders(self) -> list[int]:
        """Where blocks, and the cells of rows, begin."""
        return sorted({*self.block_borders, *self.text.cells})

    @property
    def sample(self) -> str:
        """The beginning of the note, which shows its language if a sentence does not."""
        return self.written[:_SAMPLE]

    def start_of_line(self, line: int) -> int:
        """Where a line begins; the text's end behind the last one."""
        starts = self.text.starts
        return starts[line] if line < len(starts) else len(self.text.text)

    def first_border(self, start: int, end: int) -> int | None:
        """The first border in this range."""
        at = bisect_left(self.borders, start)
        return self.borders[at] if at < len(self.borders) and self.borders[at] < end else None


def is_cut(passage: QuotedPassage) -> bool:
    """Whether a quotation leaves out words that negate, restrict or weaken it, or joins what the
    note does not join.
    """
    indexes = range(len(passage.parts))
    return (
        any(_halves_word(passage, index) for index in indexes)
        or _is_changed_around(passage)
        or any(_runs_blocks_together(passage, index) for index in indexes)
        or any(_is_splice(passage, index) for index in indexes[1:])
    )


def _halves_word(passage: QuotedPassage, index: int) -> bool:
    """Whether a part begins or ends at a joint of a word: "president" of "vice-president"."""
    text = passage.text.text
    begin = passage.found[index]
    end = passage.ends[index]
    if begin >= 2 and text[begin - 1] in _JOINTS and text[begin - 2].isalnum():
        return True
    following = text[end : end + 2]
    if following[:1] in _SUFFIX_SIGNS and not following[1:].isalnum():
        return text[end - 1].isalnum()
    return following[:1] in _JOINTS and text[end - 1].isalnum() and following[1:].isalnum()


def _is_changed_around(passage: QuotedPassage) -> bool:
    """Whether words before or behind the quotation in its block, or what introduces its list,
    change what it says.
    """
    text = passage.text
    written = passage.written
    first_line = text.line_at(passage.found[0])
    begin, after_block = passage.blocks.range(first_line, text.line_at(passage.ends[-1] - 1))
    if any(map(negates_list, passage.blocks.list_leads(first_line))):
        return True
    block = passage.blocks.text(begin, after_block)
    start = passage.found[0]
    end = passage.ends[-1]
    # What ends a sentence may be quoted
    end = start + len(written[start:end].rstrip(_SENTENCE_ENDINGS)) or end
    before = without_operators(written[passage.start_of_line(begin) : start], block)
    after = without_operators(written[end : passage.start_of_line(after_block)], block)
    first_words = written[start : passage.ends[0]]
    last_words = written[passage.found[-1] : end]
    return changes_what_follows(before, first_words, passage.sample) or changes_what_precedes(
        after, last_words, passage.sample
    )


def _runs_blocks_together(passage: QuotedPassage, index: int) -> bool:
    """Whether a part runs over the border of two blocks or cells, which it neither separates nor
    quotes as a whole.
    """
    begin = passage.found[index]
    part = passage.parts[index]
    separators = {begin + at for at in (*part.starts, *part.cells) if at}
    for borders in (passage.block_borders, passage.borders):
        for at in range(bisect_right(borders, begin), bisect_left(borders, passage.ends[index])):
            if borders[at] not in separators and _runs_over(passage, index, borders, at):
                return True
    return False


def _runs_over(passage: QuotedPassage, index: int, borders: Sequence[int], at: int) -> bool:
    """Whether a part has only some of the words between a border and the one before or behind
    it.
    """
    text = passage.text.text
    begin = passage.found[index]
    end = passage.ends[index]
    border = borders[at]
    if not _says(text[begin:border]) or not _says(text[border:end]):
        return False
    if _ends_statement(passage, border):
        return False
    before = borders[at - 1] if at else 0
    following = borders[at + 1] if at + 1 < len(borders) else len(text)
    return _says(text[before:begin]) or _says(text[end:following])


def _says(text: str) -> bool:
    return any(map(str.isalnum, text))


def _ends_statement(passage: QuotedPassage, border: int) -> bool:
    """Whether a statement ends before a border, so that what follows is another sentence."""
    before = passage.text.text[:border].rstrip(" '\")]*")
    return before.endswith((".", "!", "?", ":", ";", "。", "…"))


def _is_splice(passage: QuotedPassage, index: int) -> bool:
    """Whether an ellipsis joins parts that are no parts of one sentence, or leaves out words that
    change what it says.
    """
    start = passage.ends[index - 1]
    end = passage.found[index]
    written = passage.written
    gap = written[start:end]
    if not _says(gap) and passage.first_border(start, end + 1) is None:
        return False
    begins = [start + mark.start for mark in statement_ends(gap)]
    last = [start + mark.end for mark in statement_ends(gap)]
    border = passage.first_border(start + 1, end + 1)
    while border is not None:
        begins.append(border)
        last.append(border)
        border = passage.first_border(border + 1, end + 1)
    if begins:
        return _says(written[start : min(begins)]) or _says(written[max(last) : end])
    before = written[max(passage.found[index - 1], start - _AROUND) : start]
    after = written[end : min(passage.ends[index], end + _AROUND)]
    sample = f"{before} {after} {passage.sample}"
    return changes_between(gap, sample) or joins_clauses(gap, after, sample)
