"""Edits of a note's text: replace the body of a section, or append text at an end. Exact to the character."""

import re
from typing import NamedTuple

from zkchat_cli.vault.edit.byte_preserving import Edit
from zkchat_cli.vault.note_parser import ParsedNote
from zkchat_cli.vault.sections import matching_headings

_ATX = re.compile(r" {0,3}#{1,6}(?=[ \t]|$)")
_ROW = re.compile(r"[ \t]*(?:[-*+]|[0-9]{1,9}[.)])[ \t]|[ \t]*\|")
"""A list item or table row: the next one follows without a blank line."""
_WITH_LINE = re.compile(r"(.+?)[ \t]*\(line ([0-9]{1,7})\)")


class NoteSection(NamedTuple):
    """Line numbers from 1: of the heading, of the first line of the body, of the first subheading, and of the next section."""

    heading: int
    first: int
    subsections: int
    after: int


def find_section(note: ParsedNote, heading: str) -> NoteSection | None:
    """The section that `Heading`, `Heading#Subheading` or `Heading (line 7)` names. Raises ValueError with their lines if several match."""
    if "^" in heading.rpartition("#")[2]:
        return None
    found, with_line = [*matching_headings(heading, note.markup)], _WITH_LINE.fullmatch(heading)
    if not found and with_line:
        found = [h for h in matching_headings(with_line[1], note.markup) if h.line == int(with_line[2])]
    if len(found) > 1:
        raise ValueError(f"lines {', '.join(str(h.line) for h in found)}")
    if not found:
        return None
    this = found[0]
    following = [h for h in note.markup.headings if h.line > this.line]
    lines = note.text.split("\n")
    title, end = lines[this.line - 1], len(lines) + 1
    first = this.line + (1 if _ATX.match(title) or title.lstrip().startswith(">") else 2)
    after = next((h.line for h in following if h.level <= this.level), end)
    return NoteSection(this.line, first, following[0].line if following else end, after)


def replace_section(note: ParsedNote, section: NoteSection, text: str) -> Edit:
    """Replace the body with its subsections by `text`; blank lines around it stay."""
    lines = note.text.split("\n")
    body = lines[section.first - 1 : section.after - 1]
    leading, trailing = _count_blank(body), _count_blank(body[::-1])
    title, (first, _, rest) = lines[section.heading - 1], text.lstrip("\n").partition("\n")
    new = _split(rest if first.strip() == title.strip() else text)  # models repeat the heading
    if leading == len(body):
        before, after, emptied = body[:1] or [""], body[1:] or [""], body
    else:
        before, after = body[:leading], body[len(body) - trailing :]
        emptied = after or before
    return _replace_lines(lines, section.first - 1, section.after - 1, [*before, *new, *after] if new else emptied)


def append(note: ParsedNote, section: NoteSection | None, text: str) -> Edit:
    """Insert `text` at the end of the note, or of the section before its first subheading."""
    lines = note.text.split("\n")
    first, end = (section.first - 1, section.subsections - 1) if section else (note.front_matter.lines, len(lines))
    last = end - _count_blank(lines[first:end][::-1])
    above = lines[last - 1] if last else ""
    new = _split(text)
    is_adjacent = not above.strip() or not new or (last > first and _ROW.match(above) and _ROW.match(new[0]))
    return _replace_lines(lines, last, last, [*([] if is_adjacent else [""]), *new, *([] if last < end else [""])])


def keeps_headings_below(note: ParsedNote, line: int, edited: ParsedNote) -> bool:
    """Whether the headings from `line` on are still headings: an unclosed code block in the new text would swallow them."""
    below = [(h.level, h.text) for h in note.markup.headings if h.line >= line]
    return not below or [(h.level, h.text) for h in edited.markup.headings[-len(below) :]] == below


def _split(text: str) -> list[str]:
    text = text.replace("\r\n", "\n").replace("\r", "\n").strip("\n")
    return text.split("\n") if text.strip() else []


def _count_blank(lines: list[str]) -> int:
    """The number of blank lines at the beginning."""
    return next((i for i, line in enumerate(lines) if line.strip()), len(lines))


def _replace_lines(lines: list[str], begin: int, end: int, new: list[str]) -> Edit:
    """Replace the lines with index `begin` to before `end`, as the smallest edit of the joined text."""
    start, old = sum(map(len, lines[:begin])) + begin, lines[begin:end]
    if end < len(lines):
        return _smallest_edit(start, "".join(line + "\n" for line in old), "".join(line + "\n" for line in new))
    if begin and not (old and new):
        return _smallest_edit(start - 1, "".join("\n" + line for line in old), "".join("\n" + line for line in new))
    return _smallest_edit(start, "\n".join(old), "\n".join(new))


def _smallest_edit(start: int, old: str, new: str) -> Edit:
    """Without the characters that both texts begin and end with."""
    shorter = min(len(old), len(new))
    first = next((i for i in range(shorter) if old[i] != new[i]), shorter)
    last = next((i for i in range(shorter - first) if old[-1 - i] != new[-1 - i]), shorter - first)
    return Edit(start + first, start + len(old) - last, new[first : len(new) - last])
