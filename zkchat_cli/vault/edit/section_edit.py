"""Edits of a note's text: replace the body of a section, or append text at an end. Pure."""

import re
from typing import NamedTuple

from zkchat_cli.errors import VaultError
from zkchat_cli.markdown.scanner import LIST_MARKER
from zkchat_cli.text.truncate import truncate
from zkchat_cli.text.words import normalize_line_ends
from zkchat_cli.vault.note_parser import ParsedNote
from zkchat_cli.vault.sections import matching_headings, missing_section

_ROW = re.compile(rf"[ \t]*(?:{LIST_MARKER}[ \t]|\|)")  # a list item or table row: the next one follows without a blank line


class NoteSection(NamedTuple):
    """Line numbers from 1: of the heading, of the first line of the body, of the first subheading, and of the next section."""

    heading: int
    first: int
    subsections: int
    after: int


def require_section(note: ParsedNote, heading: str) -> NoteSection:
    """The section that `Heading`, `# Heading` or `Heading#Subheading` names. Raises VaultError if there is none, or several."""
    heading = heading.lstrip("# ") if heading.startswith("#") else heading
    found = [*matching_headings(heading, note.markup)] if "^" not in heading.rpartition("#")[2] else []
    if len(found) > 1:
        lines_found = ", ".join(str(h.line) for h in found)
        several = f"{note.relative_path} has several headings {truncate(heading, 80)}: lines {lines_found}"
        raise VaultError(several, "Name the one above it, too: Above#Heading.")
    if not found:
        raise missing_section(note.relative_path, "heading", heading, note.markup)
    this = found[0]
    following = [h for h in note.markup.headings if h.line > this.line]
    first, end = this.line + (2 if this.underlined else 1), note.text.count("\n") + 2
    after = next((h.line for h in following if h.level <= this.level), end)
    return NoteSection(this.line, first, following[0].line if following else end, after)


def replace_section(note: ParsedNote, section: NoteSection, text: str) -> str:
    """The note with another body of a section, subsections included; blank lines around it stay."""
    lines = note.text.split("\n")
    body = lines[section.first - 1 : section.after - 1]
    first, _, rest = text.lstrip("\n").partition("\n")
    new = _split_lines(rest if first.strip() == lines[section.heading - 1].strip() else text)  # models repeat the heading
    leading, trailing = _count_blank(body), _count_blank(body[::-1])
    if leading == len(body):
        before, after, emptied = body[:1] or [""], body[1:] or [""], body
    else:
        before, after = body[:leading], body[len(body) - trailing :]
        emptied = after or before
    changed = [*before, *new, *after] if new else emptied
    return "\n".join([*lines[: section.first - 1], *changed, *lines[section.after - 1 :]])


def append_text(note: ParsedNote, section: NoteSection | None, text: str) -> str:
    """The note with `text` at its end, or at the end of a section before its first subheading."""
    lines = note.text.split("\n")
    first, end = (section.first - 1, section.subsections - 1) if section else (note.front_matter.lines, len(lines))
    last = end - _count_blank(lines[first:end][::-1])
    above = lines[last - 1] if last else ""
    new = _split_lines(text)
    is_adjacent = not above.strip() or not new or (last > first and _ROW.match(above) and _ROW.match(new[0]))
    return "\n".join([*lines[:last], *([] if is_adjacent else [""]), *new, *([] if last < end else [""]), *lines[last:]])


def _split_lines(text: str) -> list[str]:
    text = normalize_line_ends(text).strip("\n")
    return text.split("\n") if text.strip() else []


def _count_blank(lines: list[str]) -> int:
    """The number of blank lines at the beginning."""
    return next((i for i, line in enumerate(lines) if line.strip()), len(lines))
