"""A change of a note in pieces that can be made one by one.

A hunk has lines as bytes, with their ends: what is not in a hunk that was taken stays byte for byte
as it is, whatever its line ends, byte order mark or missing last newline.
"""

import codecs
import re
from collections.abc import Iterable, Sequence
from typing import NamedTuple

from zkchat_cli.text.sequence_diff import find_edits
from zkchat_cli.text.unified_diff import CONTEXT, NO_NEWLINE
from zkchat_cli.vault.edit.transaction import FileChange, split_lines

_LINE_END = re.compile(rb"\r\n|\r|\n")
EDIT_HINT = """\
# Edit the change of {path}. Lines beginning with # are ignored.
#   +  a new line: change it, delete it, add others
#   -  a line that is removed: put a space in place of the - to keep it
# The other lines are around the change and must stay as they are.
# If you delete everything, nothing is changed and you are asked again.
"""


class HunkError(ValueError):
    """An edited hunk does not fit the note; the text says why."""


class Hunk(NamedTuple):
    """Lines of a note that are replaced by others. `start` is the index of the first one in the
    note; `before` and `after` are unchanged lines around them.
    """

    start: int
    old: tuple[bytes, ...]
    new: tuple[bytes, ...]
    before: tuple[bytes, ...] = ()
    after: tuple[bytes, ...] = ()

    @property
    def line(self) -> int:
        """The line of the note where the change begins, from 1."""
        return self.start + 1


def divide(file: FileChange) -> tuple[Hunk, ...]:
    """The hunks of a file's change, in their order: lines that change without one between them
    that stays. In a note, a line is often a paragraph.
    """
    old = split_lines(file.before)
    new = split_lines(file.after)
    hunks: list[Hunk] = []
    for edit in find_edits(old, new):
        start = edit.old.start
        end = edit.old.stop
        hunks.append(
            Hunk(
                start,
                tuple(old[start:end]),
                tuple(new[edit.new.start : edit.new.stop]),
                tuple(old[max(0, start - CONTEXT) : start]),
                tuple(old[end : end + CONTEXT]),
            )
        )
    return tuple(hunks)


def join(file: FileChange, hunks: Iterable[Hunk]) -> FileChange:
    """The change of the file with only these of its hunks, which may be edited."""
    old = split_lines(file.before)
    parts: list[bytes] = []
    at = 0
    for hunk in sorted(hunks, key=lambda each: each.start):
        parts += old[at : hunk.start]
        parts += hunk.new
        at = hunk.start + len(hunk.old)
    return file._replace(after=b"".join([*parts, *old[at:]]))


def line_text(line: bytes) -> str:
    """A line without its end, and without the byte order mark of a note's first line."""
    return _LINE_END.sub(b"", line).removeprefix(codecs.BOM_UTF8).decode("utf-8", "replace")


def has_line_end(line: bytes) -> bool:
    """Whether the line has an end: only the last one of a note may have none."""
    return line.endswith((b"\n", b"\r"))


# editing


def editable_text(hunk: Hunk, path: str) -> str:
    """A hunk as text for an editor, as `git add -p` shows it."""
    lines = [EDIT_HINT.format(path=path).removesuffix("\n")]
    for mark, marked in ((" ", hunk.before), ("-", hunk.old), ("+", hunk.new), (" ", hunk.after)):
        for line in marked:
            lines.append(f"{mark}{line_text(line)}")
            if not has_line_end(line):
                lines.append(NO_NEWLINE)
    return "\n".join(lines) + "\n"


def parse_edited(hunk: Hunk, text: str) -> Hunk:
    """The hunk with the new lines of an edited text. Raises HunkError if its other lines are not
    those of the note.
    """
    lines = _marked_lines(text)
    if not lines:
        raise HunkError("nothing is left of it")
    first = len(hunk.before)
    last = len(lines) - len(hunk.after)
    _require_context(hunk.before, lines[:first])
    _require_context(hunk.after, lines[max(first, last) :])
    changed = lines[first:last]
    kept = [line.text for line in changed if line.mark != "+"]
    if kept != [line_text(line) for line in hunk.old]:
        raise HunkError("the lines with - or a space are not those of the note")
    return hunk._replace(new=_encode_lines(hunk, [line for line in changed if line.mark != "-"]))


class _MarkedLine(NamedTuple):
    """A line of an edited hunk: its mark, its text, and whether it ends."""

    mark: str
    text: str
    ends: bool = True


def _marked_lines(text: str) -> list[_MarkedLine]:
    """The lines of an edited hunk. Raises HunkError for one without a mark."""
    lines: list[_MarkedLine] = []
    for number, line in enumerate(text.replace("\r\n", "\n").removesuffix("\n").split("\n"), 1):
        if line.startswith("#"):
            continue
        if line.startswith("\\"):
            if lines:
                lines[-1] = lines[-1]._replace(ends=False)
        elif line[:1] in ("", " ", "+", "-"):
            # Editors remove the space of an empty line
            lines.append(_MarkedLine(line[:1] or " ", line[1:]))
        else:
            raise HunkError(f"line {number} begins with none of +, - and a space")
    return lines if any(line.text or line.mark != " " for line in lines) else []


def _require_context(expected: Sequence[bytes], lines: Sequence[_MarkedLine]) -> None:
    """Raise HunkError unless these are the lines around the change."""
    same = [line_text(line) for line in expected] == [line.text for line in lines]
    if not same or any(line.mark != " " for line in lines):
        raise HunkError("the lines around the change are not as they were")


def _encode_lines(hunk: Hunk, lines: Sequence[_MarkedLine]) -> tuple[bytes, ...]:
    """These lines as bytes, with the ends of the lines in the hunk."""
    present = [*hunk.new, *hunk.old, *hunk.before, *hunk.after]
    known = {line_text(line): line for line in reversed(present)}
    ends = [found[0] for found in map(_LINE_END.search, present) if found]
    line_end = ends[0] if ends else b"\n"
    encoded: list[bytes] = []
    for number, line in enumerate(lines, 1):
        may_be_last = number == len(lines) and not hunk.after
        raw = known.get(line.text, line.text.encode("utf-8", "replace") + line_end)
        if may_be_last and not line.ends:
            raw = _LINE_END.sub(b"", raw)
        elif not has_line_end(raw):
            raw += line_end
        encoded.append(raw)
    if encoded and hunk.start == 0 and not hunk.before:
        mark = codecs.BOM_UTF8 if hunk.new[:1] and hunk.new[0].startswith(codecs.BOM_UTF8) else b""
        encoded[0] = mark + encoded[0].removeprefix(codecs.BOM_UTF8)
    return tuple(encoded)
