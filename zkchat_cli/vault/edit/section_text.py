"""The place of a new text in a note: its section, and the blank lines around it."""

import re

from zkchat_cli.errors import VaultError
from zkchat_cli.markdown.block_marks import LIST_MARKER
from zkchat_cli.text.truncate import truncate
from zkchat_cli.text.words import normalize_line_ends, replace_surrogates
from zkchat_cli.vault.markup import Heading
from zkchat_cli.vault.note_parser import ParsedNote
from zkchat_cli.vault.sections import matching_headings, missing_section

# Characters of a heading in an error
MAX_SHOWN_HEADING = 80
# A list item or table row: the next one follows without a blank line
_ROW = re.compile(rf"[ \t]*(?:{LIST_MARKER}[ \t]|\|)")


def needs_blank_line(lines: list[str], first: int, new: list[str]) -> bool:
    """Whether a blank line must separate the `lines` of a note from the new ones: not after a blank
    line, and not within a list or table. `first` is the index at which the section begins.
    """
    above = lines[-1] if lines else ""
    if not above.strip():
        return False
    continues_list = len(lines) > first and _ROW.match(above) and _ROW.match(new[0])
    return not continues_list


def replace_body(body: list[str], new: list[str]) -> list[str]:
    """The lines of a section with other text between the blank lines at its ends."""
    leading = count_blank(body)
    if leading == len(body):
        if not new:
            return body
        first_blank = body[:1] or [""]
        other_blanks = body[1:] or [""]
        return [*first_blank, *new, *other_blanks]
    before = body[:leading]
    after = body[len(body) - count_blank(body[::-1]) :]
    if not new:
        return after or before
    return [*before, *new, *after]


def split_text(text: str) -> list[str]:
    """The lines of a new text, without blank ones at its ends."""
    text = normalize_line_ends(replace_surrogates(text)).strip("\n")
    return text.split("\n") if text.strip() else []


def count_blank(lines: list[str]) -> int:
    """The number of blank lines at the beginning."""
    for number, line in enumerate(lines):
        if line.strip():
            return number
    return len(lines)


def next_heading(
    note: ParsedNote, section: Heading, default: int, *, with_subsections: bool
) -> int:
    """The index of the line with the next heading after a section, or `default` if there is none.
    The headings of its subsections count only if `with_subsections` is set.
    """
    for heading in note.markup.headings:
        if heading.line > section.line and (with_subsections or heading.level <= section.level):
            return heading.line - 1
    return default


def require_heading(note: ParsedNote, heading: str) -> Heading:
    """The heading that `Heading`, `# Heading` or `Heading#Subheading` names. Raises VaultError if
    there is none, or several.
    """
    if heading.startswith("#"):
        heading = heading.lstrip("# ")
    _, _, last_name = heading.rpartition("#")
    found: list[Heading] = []
    # A name with ^ is that of a block
    if "^" not in last_name:
        found += matching_headings(heading, note.markup)
    if len(found) > 1:
        lines = ", ".join(str(each.line) for each in found)
        name = truncate(heading, MAX_SHOWN_HEADING)
        raise VaultError(
            f"{note.relative_path} has several headings {name}: lines {lines}",
            "Name the one above it, too: Above#Heading.",
        )
    if not found:
        raise missing_section(note.relative_path, "heading", heading, note.markup)
    return found[0]
