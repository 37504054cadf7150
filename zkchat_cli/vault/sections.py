"""What a link means after `#`: the section of a heading, or a block.

Names of headings are compared without case and punctuation. Hyphens count as spaces, because other
programs write `#how-to-begin`. A name that no heading has may be a slug of GitHub's.
"""

import difflib
from collections import Counter
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, NamedTuple

from zkchat_cli.errors import VaultError, nearest_names
from zkchat_cli.markdown.block_marks import LIST_MARKER
from zkchat_cli.markdown.plain_text import to_plain_text
from zkchat_cli.models.notes import ContentChunk
from zkchat_cli.text.patterns import lazy_pattern
from zkchat_cli.text.truncate import truncate
from zkchat_cli.vault.links.wikilinks import fold_name

if TYPE_CHECKING:
    from zkchat_cli.vault.markup import Heading, Markup

# Headings that an error names, how similar they must be, and the characters compared
MOST_SIMILAR = 3
LEAST_SIMILARITY = 0.4
LONGEST_COMPARED = 200
# Characters of a heading in an error
MAX_HEADING = 80
# The marks of quotations, which may stand before any line of a block
_QUOTE_MARKS = " \t>"

_PUNCTUATION = lazy_pattern(r"""[!"#$%&()*+,.:;<=>?@^_`{|}~/\[\]\\\s-]++""")
_NOT_IN_A_SLUG = lazy_pattern(r"[^\w -]++")
_BLOCK_ID = lazy_pattern(r"(?<!\S)\^([A-Za-z0-9-]++)[ \t]*+$")
_ITEM = lazy_pattern(rf"([ \t>]*){LIST_MARKER}[ \t]")


class LineSpan(NamedTuple):
    """The first and last line of something in a note."""

    first: int
    last: int


class ChunkHeading(NamedTuple):
    """A heading in a chunk, and its line in the note."""

    line: int
    text: str


def find_section(name: str, text: str, markup: "Markup") -> LineSpan | None:
    """The lines of the heading's section, or of the block (`^id` or `Heading#^id`); None if it does
    not exist.
    """
    lines = text.split("\n")
    last = name.rpartition("#")[2].strip()
    block_id = last[1:].strip().lower() if last.startswith("^") else ""
    if block_id:
        return _find_block(block_id, lines, markup)
    for heading in matching_headings(name, markup):
        end = len(lines)
        for following in markup.headings:
            if following.line > heading.line and following.level <= heading.level:
                end = following.line - 1
                break
        return LineSpan(heading.line, _without_blank_lines(heading.line, end, lines))
    return None


def matching_headings(name: str, markup: "Markup") -> "Iterator[Heading]":
    """The headings that match a name, in order; a link means the first. Without one, the heading
    with this slug.
    """
    *above, title = [folded for folded in map(_fold, name.split("#")) if folded] or [""]
    if not title:
        return
    is_found = False
    for heading in markup.headings:
        if _fold(heading.text) == title and _is_below(heading, above):
            is_found = True
            yield heading
    if not is_found and (found := _heading_with_slug(name.strip(), markup)):
        yield found


def _heading_with_slug(wanted: str, markup: "Markup") -> "Heading | None":
    """The heading with this slug."""
    for named in _slugs(markup):
        if named.slug == wanted.lower():
            return named.heading
    return None


class _NamedHeading(NamedTuple):
    slug: str
    heading: "Heading"


def _slugs(markup: "Markup") -> Iterator[_NamedHeading]:
    """The headings with the slugs that GitHub gives them: their words without punctuation, with
    hyphens, and with a number if another heading above has the same.
    """
    seen: Counter[str] = Counter()
    for heading in markup.headings:
        words = to_plain_text(heading.text).lower()
        slug = _NOT_IN_A_SLUG.sub("", words).replace(" ", "-")
        yield _NamedHeading(f"{slug}-{seen[slug]}" if seen[slug] else slug, heading)
        seen[slug] += 1


def heading_names(markup: "Markup") -> Iterator[str]:
    """The names under which a link finds the headings of a note, in order: their texts; for one
    that has the text of another above it, its slug. A heading that no such name finds is left out.
    """
    texts = {_fold(heading.text) for heading in markup.headings}
    seen: set[str] = set()
    for slug, heading in _slugs(markup):
        text = _fold(heading.text)
        is_first = text not in seen
        seen.add(text)
        if not text:
            continue
        if is_first and "#" not in heading.text:
            yield heading.text
        elif _fold(slug) not in texts or (is_first and _fold(slug) == text):
            yield slug


def _is_below(heading: "Heading", names: Sequence[str]) -> bool:
    """Whether these headings are above it, in order; some may be left out."""
    path = map(_fold, heading.path)
    # Each search goes on where the one before has stopped
    return all(name in path for name in names)


def missing_section(path: str, kind: str, name: str, markup: "Markup") -> VaultError:
    """The error for a heading or block (`kind`) that a note does not have, with the nearest
    headings that it has.
    """
    names = {_fold(heading.text): heading.text for heading in markup.headings if heading.text}
    wanted = _fold(name.rpartition("#")[2])[:LONGEST_COMPARED]
    similar = difflib.get_close_matches(wanted, names, MOST_SIMILAR, LEAST_SIMILARITY)
    near = [truncate(names[each], MAX_HEADING) for each in similar]
    return VaultError(
        f"{path} has no {kind} {truncate(name, MAX_HEADING)}",
        nearest_names(near, "Leave it out for the whole note.", label="Nearest"),
    )


def chunk_headings(chunk: ContentChunk) -> list[ChunkHeading]:
    """The headings in a chunk with their lines in the note; none if it begins within a section:
    they may be comments in a script.
    """
    from zkchat_cli.vault.markup import read_markup  # 3 ms

    found = [
        ChunkHeading(chunk.start_line + heading.line - 1, heading.text)
        for heading in read_markup(chunk.text).headings
    ]
    if chunk.heading is None or any(heading.text == chunk.heading for heading in found):
        return found
    return []


def _fold(heading: str) -> str:
    return fold_name(_PUNCTUATION.sub(" ", heading).strip())


def _without_blank_lines(first: int, last: int, lines: Sequence[str]) -> int:
    """The last line without the blank ones at the end."""
    while last > first and not lines[last - 1].strip():
        last -= 1
    return last


def _find_block(block_id: str, lines: Sequence[str], markup: "Markup") -> LineSpan | None:
    """The paragraph, the list item with its content, or, if the id is a line of its own, the block
    above it.
    """
    line = _line_of_id(block_id, lines)
    if line is None or _code_around(line, markup):
        return None
    titles = {heading.line for heading in markup.headings}
    if _without_marks(lines[line - 1]).startswith("^"):
        first = _block_above(line, lines, markup, titles)
        while _continues(first, lines, titles):
            first -= 1
        return LineSpan(first, _without_blank_lines(line, line, lines))
    first = line
    while _continues(first, lines, titles) and not _ITEM.match(lines[first - 1]):
        first -= 1
    last = _end_of_item(first, line, lines)
    return LineSpan(first, _without_blank_lines(line, last, lines))


def _line_of_id(block_id: str, lines: Sequence[str]) -> int | None:
    """The first line that ends with the id of a block."""
    for line, text in enumerate(lines, 1):
        found = _BLOCK_ID.search(text)
        if found and found[1].lower() == block_id:
            return line
    return None


def _code_around(line: int, markup: "Markup") -> LineSpan | None:
    """The block of code that the line is in."""
    for begin, end in markup.code:
        if begin <= line <= end:
            return LineSpan(begin, end)
    return None


def _block_above(line: int, lines: Sequence[str], markup: "Markup", titles: set[int]) -> int:
    """The last line of the block above a line, or the first one of a block of code; the line itself
    below a heading.
    """
    above = line
    for number in range(line - 1, 0, -1):
        if _without_marks(lines[number - 1]):
            above = number
            break
    if above in titles:
        return line
    code = _code_around(above, markup)
    return code.first if code else above


def _continues(line: int, lines: Sequence[str], titles: set[int]) -> bool:
    """Whether the line above belongs to the same block."""
    return line > 1 and line - 1 not in titles and bool(_without_marks(lines[line - 2]))


def _end_of_item(first: int, last: int, lines: Sequence[str]) -> int:
    """The last line of the list item that begins in `first`, if one does, with what is indented
    below it.
    """
    item = _ITEM.match(lines[first - 1])
    if item is None:
        return last
    indent = len(item[1])
    while last < len(lines):
        text = lines[last]
        if text.strip() and len(text) - len(text.lstrip(_QUOTE_MARKS)) <= indent:
            break
        last += 1
    return last


def _without_marks(line: str) -> str:
    return line.strip(_QUOTE_MARKS)
