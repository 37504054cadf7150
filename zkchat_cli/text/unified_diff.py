"""Unified diffs, as `git diff` writes them: of two lists of lines, and read from an answer."""

import re
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from zkchat_cli.text.patterns import lazy_pattern
from zkchat_cli.text.sequence_diff import Edit, find_edits

# Unchanged lines around a change
CONTEXT = 3
NO_NEWLINE = "\\ No newline at end of file"
DEV_NULL = "/dev/null"
_HUNK = lazy_pattern(r"@@(?: -(?P<line>\d+)[\d, +-]*@@)?")
_TIME = lazy_pattern(r"\t.*$", re.DOTALL)


def unified_diff(old: Sequence[str], new: Sequence[str]) -> list[str]:
    """The hunks that make the lines `new` of `old`, each with its header."""
    lines: list[str] = []
    for group in _groups(find_edits(old, new)):
        first = max(0, group[0].old.start - CONTEXT)
        last = min(len(old), group[-1].old.stop + CONTEXT)
        shift = group[0].new.start - group[0].old.start
        new_last = last + group[-1].new.stop - group[-1].old.stop
        lines.append(f"@@ -{_range(first, last)} +{_range(first + shift, new_last)} @@")
        at = first
        for edit in group:
            lines += [f" {line}" for line in old[at : edit.old.start]]
            lines += [f"-{line}" for line in old[edit.old.start : edit.old.stop]]
            lines += [f"+{line}" for line in new[edit.new.start : edit.new.stop]]
            at = edit.old.stop
        lines += [f" {line}" for line in old[at:last]]
    return lines


def _groups(edits: Sequence[Edit]) -> Iterator[list[Edit]]:
    """Edits are shown together if the lines around them touch."""
    group: list[Edit] = []
    for edit in edits:
        if group and edit.old.start - group[-1].old.stop > 2 * CONTEXT:
            yield group
            group = []
        group.append(edit)
    if group:
        yield group


def _range(begin: int, end: int) -> str:
    length = end - begin
    if length == 1:
        return str(begin + 1)
    return f"{begin + 1 if length else begin},{length}"


class DiffHunk(NamedTuple):
    """Lines to find, and the lines to put in their place. `line` is where they should be, from 1;
    0 if the hunk does not say it.
    """

    line: int
    old: tuple[str, ...]
    new: tuple[str, ...]


class FileDiff(NamedTuple):
    """The hunks for one file. The names are those of the diff, without `a/` and `b/`; None for a
    file that is new or deleted, empty if the diff names no file.
    """

    old_name: str | None
    new_name: str | None
    hunks: tuple[DiffHunk, ...]


def parse_unified_diff(text: str) -> list[FileDiff]:
    """The changes of files in a unified diff. Models often write wrong line numbers or none, and
    blank lines without the space in front, so the numbers of lines in a hunk's header do not count.
    """
    files: list[FileDiff] = []
    names: tuple[str | None, str | None] = ("", "")
    hunks: list[DiffHunk] = []
    lines = text.split("\n")
    at = 0
    while at < len(lines):
        if lines[at].startswith("--- ") and lines[at + 1 : at + 2] and _is_new_name(lines[at + 1]):
            if hunks:
                files.append(FileDiff(*names, tuple(hunks)))
            names = (_name(lines[at]), _name(lines[at + 1]))
            hunks = []
            at += 2
            continue
        header = _HUNK.match(lines[at])
        at += 1
        if header is not None:
            end = _end_of_hunk(lines, at)
            hunks.append(_hunk(int(header["line"] or 0), lines[at:end]))
            at = end
    if hunks:
        files.append(FileDiff(*names, tuple(hunks)))
    return files


def _is_new_name(line: str) -> bool:
    return line.startswith("+++ ")


def _name(line: str) -> str | None:
    """The name in a line `--- a/Note.md`."""
    name = _TIME.sub("", line[4:]).strip()
    if name == DEV_NULL:
        return None
    return name[2:] if name.startswith(("a/", "b/")) else name


def _end_of_hunk(lines: Sequence[str], begin: int) -> int:
    """The index of the line after a hunk: the next header, or the end without blank lines."""
    end = begin
    while end < len(lines) and lines[end][:1] in ("", " ", "-", "+", "\\"):
        following = lines[end + 1] if end + 1 < len(lines) else ""
        if lines[end].startswith("--- ") and _is_new_name(following):
            break
        end += 1
    while end > begin and not lines[end - 1]:
        end -= 1
    return end


def _hunk(line: int, lines: Sequence[str]) -> DiffHunk:
    old = [each[1:] for each in lines if each[:1] in ("", " ", "-")]
    new = [each[1:] for each in lines if each[:1] in ("", " ", "+")]
    return DiffHunk(line, tuple(old), tuple(new))
