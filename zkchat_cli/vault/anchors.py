"""Places within a note that a link may name: its headings and blocks, and the lines they stand for. Pure.

Obsidian compares headings by their words: case, punctuation and marks do not count, so `[[Note#How to begin?]]`, `[[Note#how to begin]]`
and the `#how-to-begin` of other programs all mean `## How to *begin*?`. Of `#one#two` the last names the heading, the others headings it
stands under.
"""

import difflib
import re

from zkchat_cli import words
from zkchat_cli.vault.markup import Heading, Markup

_NO_WORD = re.compile(r"[\W_]+")
_ITEM = re.compile(r"\s*(?:[-*+]|\d{1,9}[.)])\s")


def lines(text: str, markup: Markup, anchor: str) -> tuple[int, int] | None:
    """First and last line of what `anchor` names in a note: a heading with all under it, or a block (`^id`); None if there is none."""
    last = anchor.rpartition("#")[2].strip()
    if last.startswith("^"):
        line = {block.casefold(): line for block, line in reversed(markup.blocks)}.get(last[1:].casefold())
        return None if line is None else (_beginning(text.split("\n"), line), line)
    wanted = [_plain(part) for part in anchor.split("#") if part.strip()]
    above: list[Heading] = []
    for at, heading in enumerate(markup.headings):
        above = [h for h in above if h.level < heading.level]
        if wanted and _plain(heading.text) == wanted[-1] and _in_order(wanted[:-1], [_plain(h.text) for h in above]):
            following = (h.line - 1 for h in markup.headings[at + 1 :] if h.level <= heading.level)
            return heading.line, next(following, text.rstrip("\n").count("\n") + 1)
        above.append(heading)
    return None


def nearest(markup: Markup, anchor: str, limit: int = 3) -> tuple[str, ...]:
    """The headings (or `^ids`) of a note that `anchor` may have meant, the nearest first."""
    last = anchor.rpartition("#")[2].strip()
    if last.startswith("^"):
        names = {block.casefold(): f"^{block}" for block, _ in markup.blocks}
    else:
        names = {_plain(heading.text): heading.text for heading in markup.headings if heading.text}
    wanted = (last[1:].casefold() if last.startswith("^") else _plain(last))[:200]
    return tuple(names[near] for near in difflib.get_close_matches(wanted, names, limit, 0.4))


def _plain(heading: str) -> str:
    """A heading as it is compared: its words; what has none (`🎉`) is compared as it stands."""
    return _NO_WORD.sub(" ", words.fold(heading)).strip() or heading.strip()


def _in_order(wanted: list[str], given: list[str]) -> bool:
    """Whether all that is wanted is given, in that order, with or without others between."""
    rest = iter(given)
    return all(one in rest for one in wanted)


def _beginning(lines_of_note: list[str], line: int) -> int:
    """The line where the block that ends on `line` begins: its paragraph or list item, or the paragraph before an id that stands alone."""
    at = line
    if lines_of_note[at - 1].lstrip().startswith("^"):
        while at > 1 and not lines_of_note[at - 2].strip():
            at -= 1
        at = max(at - 1, 1)
    while at > 1 and lines_of_note[at - 2].strip() and not _ITEM.match(lines_of_note[at - 1]):
        at -= 1
    return at
