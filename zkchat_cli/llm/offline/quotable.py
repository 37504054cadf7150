"""An excerpt of a note cut into pieces that can be quoted: sentences, list items, table rows and lines of code.

What is quoted stands word for word in the note, so a piece is never put together from lines that do not follow one another. Headings,
rules, images, comments and marks of structure are no pieces: headings say what the pieces under them are about.
"""

import re
from collections.abc import Iterator, Sequence
from typing import Literal, NamedTuple

from zkchat_cli.text.sentences import sentences
from zkchat_cli.text.truncate import truncate

Kind = Literal["prose", "item", "row", "code", "links"]
LONGEST = 320
"""Characters of a piece; a longer one is cut at a word and marked with an ellipsis."""
_GAP = "\0"
_COMMENTS = (("<!--", "-->"), ("%%", "%%"))
_FENCE = re.compile(r"(`{3,}|~{3,})")
_QUOTED = re.compile(r"^\s*(?:>\s?)+")
_CALLOUT = re.compile(r"\[![^\]]*\][+-]?\s*")
_HEADING = re.compile(r"(#{1,6})\s+(.*)")
_ITEM = re.compile(r"(?:(?:[-*+]|\d{1,9}[.)])\s+(?:\[.\]\s+)?)+")
_RULED = re.compile(r"(?=[^-]*-)[\s:|-]+$")
_NOTHING = re.compile(
    r"(?:[-*_=]\s*){3,}$|\^[\w-]+$|!\[\[[^\[\]]*\]\]$|!\[[^\[\]]*\]\([^()]*\)$|<[^<>]*>$|<!--|\$\$$|\[[^\[\]]+\]:\s|!\[\[[^\[\]]*\]\]\s*\^"
)
_LINK = re.compile(
    r"<[^<>]*>|!?\[\[[^\[\]]*\]\]|!?\[[^\[\]]*\]\([^()]*(?:\([^()]*\)[^()]*)*\)|https?://\S+|(?<![^\s>])#[^\s#<]+|(?<![\w-])[\w-]+::"
)
_NUMBERED = re.compile(r"\[\s*\d")
_WORD = re.compile(r"[^\W\d_]{2}")


class QuotablePassage(NamedTuple):
    """What may be quoted: `text` on one line, the headings it stands under within the excerpt (the innermost last), and its place among
    the pieces of its section. The kind `links` is text that consists of links and next to nothing else."""

    text: str
    kind: Kind
    headings: tuple[str, ...]
    place: int


class _TextBlock(NamedTuple):
    """Lines that belong together, without what marks their structure; of a heading (`level` from 1) its text."""

    kind: Kind
    text: str
    last_line: int
    level: int = 0


def quotable_passages(text: str, heading: str | None = None) -> list[QuotablePassage]:
    """The pieces of an excerpt, in its order. `heading` is what its first line stands under, unless that is a heading itself."""
    bare = _without_comments(text)
    lines = [_QUOTED.sub("", line, count=1).strip() for line in bare.split("\n")]
    found: list[QuotablePassage] = []
    over: list[tuple[int, str]] = [(0, heading)] if heading else []
    place = 0
    for block in _blocks(lines):
        if block.level:
            over = [*((level, name) for level, name in over if 0 < level < block.level), (block.level, block.text)]
            place = 0
            continue
        for said, kind in _said(block, lines):
            if len(said) < 10 and _NUMBERED.search(said):
                continue  # too short to be checked as a quotation, what it holds would be taken for a citation
            found.append(QuotablePassage(said, kind, tuple(name for _, name in over), place))
            place += 1
    return found


def _without_comments(text: str) -> str:
    """The text with a mark where each comment was, and as many lines."""
    for opens, closes in _COMMENTS:
        parts: list[str] = []
        at = 0
        while (start := text.find(opens, at)) >= 0 and (end := text.find(closes, start + len(opens))) >= 0:
            end += len(closes)
            parts += [text[at:start], _GAP, "\n" * text.count("\n", start, end)]
            at = end
        text = "".join([*parts, text[at:]])
    return text


def _blocks(lines: Sequence[str]) -> Iterator[_TextBlock]:
    gathered: list[str] = []
    kind: Kind = "prose"
    fence = ""
    for number, line in enumerate((*lines, "")):
        mark = _FENCE.match(line)
        item = None if fence or mark else _ITEM.match(line)
        alone = bool(fence or mark or _GAP in line or line.startswith(("|", "#", "[!")) or _NOTHING.match(line))
        if gathered and (alone or item or not line):
            yield _TextBlock(kind, " ".join(gathered), number - 1)
            gathered = []
        if fence or mark:
            if not fence and mark:
                fence = mark[1]
            elif line.startswith(fence) and not line.strip(fence[0]):
                fence = ""
            elif _GAP not in line:
                yield _TextBlock("code", line, number)
        elif alone:
            yield from _alone(line, number, lines)
        elif line:
            kind = "item" if item else kind if gathered else "prose"
            gathered.append(line[item.end() :].strip() if item else line)


def _alone(line: str, number: int, lines: Sequence[str]) -> Iterator[_TextBlock]:
    """A line that goes with no other: a heading, a callout's title, a row of a table, a line with a comment in it, or nothing to quote."""
    heading = _HEADING.match(line)
    if heading:
        yield _TextBlock("prose", heading[2].rstrip(" #\t"), number, len(heading[1]))
    elif _NOTHING.match(line):
        return
    elif line.startswith("|"):
        ruled = number + 1 < len(lines) and _RULED.match(lines[number + 1])
        if not ruled and not _RULED.match(line) and _GAP not in line:
            yield _TextBlock("row", line, number)
    else:
        said = max((part.strip() for part in line.split(_GAP)), key=len)
        marker = _CALLOUT.match(said) or _ITEM.match(said)
        yield _TextBlock("prose", said[marker.end() :] if marker else said, number)


def _said(block: _TextBlock, lines: Sequence[str]) -> Iterator[tuple[str, Kind]]:
    if block.kind in ("row", "code"):
        if any(c.isalnum() for c in block.text):
            linked = block.kind == "row" and not _WORD.search(_LINK.sub("", block.text))
            yield _cut(block.text), "links" if linked else block.kind
        return
    said = [s.text for s in sentences(block.text)]
    for i, text in enumerate(said):
        if not _WORD.search(_LINK.sub("", text)):
            yield _cut(text), "links"
        elif i == len(said) - 1 and text.endswith((":", "：")):
            yield _cut(_with_items(text, lines, block.last_line + 1)), block.kind
        else:
            yield _cut(text), block.kind


def _with_items(lead: str, lines: Sequence[str], start: int) -> str:
    """A lead-in with as many of the list items right below it as fit; an ellipsis says that there are more."""
    text = lead
    for line in lines[start:]:
        if not line:
            continue
        if not _ITEM.match(line) or _GAP in line:
            break
        longer = f"{text} {' '.join(line.split())}"
        if len(longer) >= LONGEST or len(sentences(longer)) > 1:
            return f"{text} …" if text != lead else text
        text = longer
    return text


def _cut(text: str) -> str:
    return truncate(text, LONGEST) if len(text) > LONGEST else " ".join(text.split())
