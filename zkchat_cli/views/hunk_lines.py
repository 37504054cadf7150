"""A hunk of a change as lines with the changed words marked, as `git diff --word-diff` shows it.

Nothing that changes is hidden: invisible characters, blanks at an end and the end of a line become
visible. Only what stays is shortened.
"""

from collections import Counter
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from zkchat_cli.text.numbers import plural
from zkchat_cli.text.patterns import lazy_pattern
from zkchat_cli.text.sanitize import reveal_invisible
from zkchat_cli.text.sequence_diff import Edit, find_edits, join_edits
from zkchat_cli.text.truncate import truncate
from zkchat_cli.vault.edit.hunk_review import HunkQuestion
from zkchat_cli.vault.edit.hunks import Hunk, has_line_end, line_text
from zkchat_cli.views.text import StyledLine, StyledSpan, styled_line

# Characters of unchanged text between two changes of a line, and of a line around a hunk
LONGEST_UNCHANGED = 300
# Characters of removed or added text in a line: nobody reads more, and an editor shows it all
LONGEST_CHANGED = 20_000
# Lines of a hunk that are shown
MOST_LINES = 1000
# Removed and added lines of a hunk among which similar ones are looked for
MOST_TO_PAIR = 200
# How many lines further a similar line can be, and the share of its words that must be the same
PAIR_WITHIN = 8
SIMILAR = 0.4
_COMBINING = "\u0300-\u036f\u200d\ufe00-\ufe0f\U000e0100-\U000e01ef"
_TOKEN = lazy_pattern(
    rf"[ \t]+|[\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af][{_COMBINING}]*|"
    rf"[^\s!-/:-@\[-`{{-~\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af]+|.[{_COMBINING}]*"
)
_MARKS = {"red": ("[-", "-]"), "green": ("{+", "+}")}
_LAST_BLANKS = lazy_pattern(r"[ \t\u00a0]+$")
_VISIBLE_BLANKS = str.maketrans({" ": "·", "\t": "→", "\u00a0": "⍽"})
_INDENT = 4


class _LinePair(NamedTuple):
    """A removed line and the line in its place; one of them may be missing."""

    old: bytes | None
    new: bytes | None


def hunk_title(question: HunkQuestion) -> str:
    """`Filters.md, line 11`"""
    return f"{reveal_invisible(question.file.new_path)}, line {question.hunk.line}"


def hunk_lines(hunk: Hunk, *, marks: bool) -> Iterator[StyledLine]:
    """A hunk with the lines around it. `marks` puts removed words between [- and -], added ones
    between {+ and +}, for a screen without colors.
    """
    for line in hunk.before:
        yield _context_line(line)
    pairs = _pair_lines(hunk.old, hunk.new)
    for pair in pairs[:MOST_LINES]:
        yield _pair_line(pair, marks=marks)
    if len(pairs) > MOST_LINES:
        more = plural(len(pairs) - MOST_LINES, "more line")
        yield styled_line(f"  … {more}; e shows them in your editor", "yellow")
    for line in hunk.after:
        yield _context_line(line)


def _context_line(line: bytes) -> StyledLine:
    return styled_line(f"  {reveal_invisible(truncate(line_text(line), LONGEST_UNCHANGED))}", "dim")


def _pair_lines(old: Sequence[bytes], new: Sequence[bytes]) -> list[_LinePair]:
    """Removed lines beside the similar ones in their place, in the order of both."""
    if max(len(old), len(new)) > MOST_TO_PAIR:
        return [*(_LinePair(line, None) for line in old), *(_LinePair(None, line) for line in new)]
    pairs: list[_LinePair] = []
    at = 0
    for line in old:
        found = _find_similar(line, new[at : at + PAIR_WITHIN])
        if found is None:
            pairs.append(_LinePair(line, None))
        else:
            pairs += [_LinePair(None, each) for each in new[at : at + found]]
            pairs.append(_LinePair(line, new[at + found]))
            at += found + 1
    return [*pairs, *(_LinePair(None, each) for each in new[at:])]


def _find_similar(line: bytes, candidates: Sequence[bytes]) -> int | None:
    """The number of the most similar line; None if none has enough of the same words."""
    words = Counter(line_text(line).split())
    best: int | None = None
    best_share = SIMILAR
    for number, candidate in enumerate(candidates):
        others = Counter(line_text(candidate).split())
        total = words.total() + others.total()
        share = 2 * (words & others).total() / total if total else 0.0
        if share > best_share:
            best = number
            best_share = share
    return best


def _pair_line(pair: _LinePair, *, marks: bool) -> StyledLine:
    """A removed line, an added one, or a line with its changed words."""
    if pair.old is not None and pair.new is not None:
        return StyledLine(
            (StyledSpan("~ ", "cyan"), *_word_spans(pair.old, pair.new, marks)), indent=_INDENT
        )
    if pair.old is not None:
        spans = (StyledSpan("- ", "red"), *_changed(_shown(pair.old), "red", marks))
    else:
        spans = (StyledSpan("+ ", "green"), *_changed(_shown(pair.new or b""), "green", marks))
    return StyledLine(spans, indent=_INDENT)


def _shown(line: bytes) -> str:
    """A line's text; a note may end without the end of its last line."""
    text = line_text(line)
    return text if has_line_end(line) else f"{text} (no newline at the end)"


def _word_spans(old: bytes, new: bytes, marks: bool) -> Iterator[StyledSpan]:
    old_text = line_text(old)
    new_text = line_text(new)
    old_words = _TOKEN.findall(old_text)
    new_words = _TOKEN.findall(new_text)
    at = 0
    for edit in _readable_edits(old_words, new_words):
        yield from _unchanged("".join(old_words[at : edit.old.start]))
        removed = "".join(old_words[edit.old.start : edit.old.stop])
        added = "".join(new_words[edit.new.start : edit.new.stop])
        yield from _changed(removed, "red", marks, ends_line=edit.old.stop == len(old_words))
        yield from _changed(added, "green", marks, ends_line=edit.new.stop == len(new_words))
        at = edit.old.stop
    yield from _unchanged("".join(old_words[at:]))
    if _end_name(old) != _end_name(new):
        yield from _changed(_end_name(old), "red", marks)
        yield from _changed(_end_name(new), "green", marks)


def _end_name(line: bytes) -> str:
    """What is shown for the end of a line if that changes."""
    if not has_line_end(line):
        return " (no newline at the end)"
    return " (CRLF)" if line.endswith(b"\r\n") else " (newline)"


def _readable_edits(old: Sequence[str], new: Sequence[str]) -> list[Edit]:
    """The changes of a line. Two with less text between them than in each are one: a word that
    stays in the middle of a new sentence only makes it hard to read.
    """
    joined: list[Edit] = []
    for edit in find_edits(old, new):
        while joined:
            between = len("".join(old[joined[-1].old.stop : edit.old.start]))
            if between > min(_size(joined[-1], old, new), _size(edit, old, new)):
                break
            edit = join_edits(joined.pop(), edit)
        joined.append(edit)
    return joined


def _size(edit: Edit, old: Sequence[str], new: Sequence[str]) -> int:
    """The characters of the longer side of an edit."""
    removed = "".join(old[edit.old.start : edit.old.stop])
    added = "".join(new[edit.new.start : edit.new.stop])
    return max(len(removed), len(added))


def _unchanged(text: str) -> Iterator[StyledSpan]:
    """Text that stays, without its middle if it is long."""
    if len(text) > LONGEST_UNCHANGED:
        half = LONGEST_UNCHANGED // 2
        text = f"{text[:half]} … {text[-half:]}"
    if text:
        yield StyledSpan(reveal_invisible(text))


def _changed(text: str, style: str, marks: bool, *, ends_line: bool = True) -> Iterator[StyledSpan]:
    """Removed or added text. Blanks are visible where they have nothing behind them."""
    if not text:
        return
    blanks = _LAST_BLANKS.search(text)
    if blanks and (ends_line or not blanks.start()):
        text = text[: blanks.start()] + blanks[0].translate(_VISIBLE_BLANKS)
    if len(text) > LONGEST_CHANGED:
        half = LONGEST_CHANGED // 2
        hidden = len(text) - 2 * half
        text = f"{text[:half]} … {hidden:,} characters; e shows them … {text[-half:]}"
    shown = reveal_invisible(text)
    begin, end = _MARKS[style] if marks else ("", "")
    yield StyledSpan(f"{begin}{shown}{end}", style)
