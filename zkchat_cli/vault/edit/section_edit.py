"""What an edit changes in a note's text: the body of a section replaced, a text added at an end. Pure, and exact to the character."""

import re
from typing import NamedTuple

from zkchat_cli.vault.edit.byte_preserving import Edit
from zkchat_cli.vault.note_parser import ParsedNote
from zkchat_cli.vault.sections import matching_headings

_ATX = re.compile(r" {0,3}#{1,6}(?=[ \t]|$)")
_ROW = re.compile(r"[ \t]*(?:[-*+]|[0-9]{1,9}[.)])[ \t]|[ \t]*\|")
"""A list's item or a table's row: another of its kind follows without an empty line."""


_NUMBERED = re.compile(r"(.+?)[ \t]*\(line ([0-9]{1,7})\)")


class NoteSection(NamedTuple):
    """Where a section stands, in lines from 1: its heading begins on `heading`, its body on `first`, the next section on `after`; the text
    that is its own, without that of headings within, ends before `own`."""

    heading: int
    first: int
    own: int
    after: int


def section(note: ParsedNote, heading: str) -> NoteSection | None:
    """The section that `Heading`, `Heading#Heading within` or `Heading (line 7)` names; None if there is none. Raises ValueError when
    several are named so, which says on which lines they are.
    """
    if "^" in heading.rpartition("#")[2]:
        return None
    found, numbered = [*matching_headings(heading, note.markup)], _NUMBERED.fullmatch(heading)
    if not found and numbered:
        found = [h for h in matching_headings(numbered[1], note.markup) if h.line == int(numbered[2])]
    if len(found) > 1:
        raise ValueError(f"lines {', '.join(str(h.line) for h in found)}")
    if not found:
        return None
    this = found[0]
    following = [h for h in note.markup.headings if h.line > this.line]
    lines = note.text.split("\n")
    end = len(lines) + 1
    first = this.line + (1 if _ATX.match(lines[this.line - 1]) or lines[this.line - 1].lstrip().startswith(">") else 2)
    after = next((h.line for h in following if h.level <= this.level), end)
    return NoteSection(this.line, first, following[0].line if following else end, after)


def replaced(note: ParsedNote, place: NoteSection, text: str) -> Edit:
    """The body of a section, headings within it included, replaced by `text`; the empty lines around it stay."""
    lines = note.text.split("\n")
    body = lines[place.first - 1 : place.after - 1]
    leading, trailing = _blank(body), _blank(body[::-1])
    new = _lines(_without_heading(text, lines[place.heading - 1]))
    if leading == len(body):
        before, after = body[:1] or [""], body[1:] or [""]
        kept = body
    else:
        before, after = body[:leading], body[len(body) - trailing :]
        kept = after or before
    return _spliced(lines, place.first - 1, place.after - 1, [*before, *new, *after] if new else kept)


def appended(note: ParsedNote, place: NoteSection | None, text: str) -> Edit:
    """`text` at the end of the note, or of what stands under a heading before the next one."""
    lines = note.text.split("\n")
    first, end = (place.first - 1, place.own - 1) if place else (note.front_matter.lines, len(lines))
    last = end - _blank(lines[first:end][::-1])
    above = lines[last - 1] if last else ""
    new = _lines(text)
    joined = not above.strip() or (last > first and _ROW.match(above) and new and _ROW.match(new[0]))
    closed = last < end
    return _spliced(lines, last, last, [*([] if joined or not new else [""]), *new, *([] if closed else [""])])


def keeps_below(note: ParsedNote, line: int, edited: ParsedNote) -> bool:
    """Whether the headings from `line` on are headings still: a block of code that is begun and not closed would take them in."""
    below = [(h.level, h.text) for h in note.markup.headings if h.line >= line]
    return not below or [(h.level, h.text) for h in edited.markup.headings[-len(below) :]] == below


def _lines(text: str) -> list[str]:
    text = text.replace("\r\n", "\n").replace("\r", "\n").strip("\n")
    return text.split("\n") if text.strip() else []


def _blank(lines: list[str]) -> int:
    """How many of them, from the first on, are empty."""
    return next((i for i, line in enumerate(lines) if line.strip()), len(lines))


def _without_heading(text: str, heading: str) -> str:
    """Models repeat the heading they were asked to leave."""
    first, _, rest = text.lstrip("\n").partition("\n")
    return rest if first.strip() == heading.strip() else text


def _spliced(lines: list[str], begin: int, end: int, new: list[str]) -> Edit:
    """The lines from index `begin` to before `end` replaced, as the least edit of the text that they are when joined."""
    start = sum(map(len, lines[:begin])) + begin
    old = lines[begin:end]
    if end < len(lines):
        return _least(start, "".join(line + "\n" for line in old), "".join(line + "\n" for line in new))
    if begin and not (old and new):
        return _least(start - 1, "".join("\n" + line for line in old), "".join("\n" + line for line in new))
    return _least(start, "\n".join(old), "\n".join(new))


def _least(start: int, old: str, new: str) -> Edit:
    """What makes `old`, which begins at `start`, into `new`, without what they begin and end with alike."""
    shorter = min(len(old), len(new))
    first = next((i for i in range(shorter) if old[i] != new[i]), shorter)
    last = next((i for i in range(shorter - first) if old[-1 - i] != new[-1 - i]), shorter - first)
    return Edit(start + first, start + len(old) - last, new[first : len(new) - last])
