"""The lines that the part of a link after `#` means (a heading's section, or a block with an id), and the heading above a line.

Names are compared as Obsidian does, without case and punctuation. Hyphens count as spaces, because other programs write `#how-to-begin`.
"""

import difflib
from collections.abc import Iterator

from zkchat_cli.errors import VaultError
from zkchat_cli.markdown.scanner import LIST_MARKER
from zkchat_cli.text.patterns import lazy_pattern
from zkchat_cli.text.truncate import truncate
from zkchat_cli.vault.links.wikilinks import fold_name
from zkchat_cli.vault.markup import Heading, Markup, read_markup

_PUNCTUATION = lazy_pattern(r"""[!"#$%&()*+,.:;<=>?@^_`{|}~/\[\]\\\s-]++""")
_BLOCK_ID = lazy_pattern(r"(?<!\S)\^([A-Za-z0-9-]++)[ \t]*+$")
_ITEM = lazy_pattern(rf"([ \t>]*){LIST_MARKER}[ \t]")


def find_section(name: str, text: str, markup: Markup) -> tuple[int, int] | None:
    """The first and last line of the heading's section or the block; None if it does not exist."""
    lines = text.split("\n")
    if block := _block_id(name):
        return _find_block(block, lines, markup)
    for heading in matching_headings(name, markup):
        following = (h.line for h in markup.headings if h.line > heading.line and h.level <= heading.level)
        return heading.line, _without_blank_lines(heading.line, next(following, len(lines) + 1) - 1, lines)
    return None


def matching_headings(name: str, markup: Markup) -> Iterator[Heading]:
    """The headings that match a name, in order; a link means the first."""
    *above, title = [folded for part in name.split("#") if (folded := _fold(part))] or [""]
    for heading in markup.headings:
        path = map(_fold, heading.path)
        if title and _fold(heading.text) == title and all(part in path for part in above):  # in order; some may be left out
            yield heading


def missing_section(path: str, kind: str, name: str, markup: Markup) -> VaultError:
    """The error for a heading or block (`kind`) that a note does not have, with the nearest that it has."""
    near = ", ".join(truncate(heading, 80) for heading in similar_headings(name, markup))
    return VaultError(f"{path} has no {kind} {truncate(name, 80)}", f"Nearest: {near}" if near else "Leave it out for the whole note.")


def similar_headings(name: str, markup: Markup) -> tuple[str, ...]:
    """The headings of a note that are similar to `name`, the nearest first."""
    names = {_fold(heading.text): heading.text for heading in markup.headings if heading.text}
    return tuple(names[near] for near in difflib.get_close_matches(_fold(name.rpartition("#")[2])[:200], names, 3, 0.4))


def _block_id(name: str) -> str:
    """The lowercase `id` of `^id` or `Heading#^id`; empty if `name` is not a block."""
    last = name.rpartition("#")[2].strip()
    return last[1:].strip().lower() if last.startswith("^") else ""


def chunk_headings(text: str, heading: str | None) -> tuple[Heading, ...]:
    """The headings in a chunk below `heading`; none if it begins within a section: they may be comments in a script."""
    found = read_markup(text).headings
    return found if heading is None or any(each.text == heading for each in found) else ()


def heading_above(line: int, text: str, first_line: int = 1, heading: str | None = None) -> str | None:
    """The last heading of a chunk's `text` at or above the note's `line`, else the chunk's `heading`. `text` begins on `first_line`."""
    above = [each for each in chunk_headings(text, heading) if first_line + each.line - 1 <= line]
    return above[-1].text or heading if above else heading


def _fold(heading: str) -> str:
    return fold_name(_PUNCTUATION.sub(" ", heading).strip())


def _without_blank_lines(first: int, last: int, lines: list[str]) -> int:
    while last > first and not lines[last - 1].strip():
        last -= 1
    return last


def _find_block(block_id: str, lines: list[str], markup: Markup) -> tuple[int, int] | None:
    """The paragraph, the list item with its content, or, if the id is a line of its own, the block above it."""
    line = next((n for n, text in enumerate(lines, 1) if (found := _BLOCK_ID.search(text)) and found[1].lower() == block_id), None)
    if line is None or any(begin <= line <= end for begin, end in markup.code):
        return None
    titles = {heading.line for heading in markup.headings}
    first, last = line, line
    is_alone = _strip_marks(lines[line - 1]).startswith("^")
    if is_alone:
        above = next((n for n in range(line - 1, 0, -1) if _strip_marks(lines[n - 1])), line)
        first = line if above in titles else next((begin for begin, end in markup.code if begin <= above <= end), above)
    while first > 1 and first - 1 not in titles and _strip_marks(lines[first - 2]) and (is_alone or not _ITEM.match(lines[first - 1])):
        first -= 1
    if not is_alone and (item := _ITEM.match(lines[first - 1])):
        while last < len(lines) and (not lines[last].strip() or len(lines[last]) - len(lines[last].lstrip(" \t>")) > len(item[1])):
            last += 1
    return first, _without_blank_lines(line, last, lines)


def _strip_marks(line: str) -> str:
    return line.strip(" \t>")
