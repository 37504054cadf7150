"""Changes of notes that an answer proposes in its fenced blocks: a diff, blocks to search and
replace, or the text of a note.

Models that cannot call tools write these, in the forms that coding assistants taught them.
"""

import re
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from zkchat_cli.text.patterns import lazy_pattern
from zkchat_cli.text.unified_diff import DiffHunk, parse_unified_diff

_FENCE = lazy_pattern(r"(?P<indent> {0,12})(?P<fence>`{3,}|~{3,})[ \t]*(?P<info>[^`]*)$")
# `md title="Note.md"`, `markdown Note.md`, `md:Folder/Note.md`, `Note.md`
_NAME = lazy_pattern(
    r"(?P<quote>[\"'])(?P<quoted>.+?)(?P=quote)|(?P<path>[^\s:=\"']+\.(?:md|markdown))\b"
)
_BEFORE = lazy_pattern(
    r"(?:[-*+>#\d. ]*)(?:file(?:name)?:\s*|note:\s*)?"
    r"[*_`\[]*(?P<path>[^*`\[\]|#]+?(?:\.(?:md|markdown))?)(?:[|#][^\]]*)?[*_`\]]*:?[*_`]*\s*$",
    re.IGNORECASE,
)
# Characters of a line that is only a name
LONGEST_NAME_LINE = 300
_DIFF_LANGUAGES = ("diff", "patch", "udiff")
_NESTING = ("md", "markdown", "")
_SEARCH = lazy_pattern(r"<{5,9} ?(?:SEARCH|ORIGINAL|HEAD)?\s*$", re.IGNORECASE)
_DIVIDER = lazy_pattern(r"={5,9}\s*$")
_REPLACE = lazy_pattern(r">{5,9} ?(?:REPLACE|UPDATED)?\s*$", re.IGNORECASE)


class ProposedEdit(NamedTuple):
    """What a block proposes: the hunks of a change, or the whole new `text`. `name` is the note
    that the answer names; empty if it names none.
    """

    name: str
    hunks: tuple[DiffHunk, ...] = ()
    text: str | None = None


class _FencedBlock(NamedTuple):
    """The lines of a block, its info string, and the line above it."""

    info: str
    above: str
    lines: tuple[str, ...]


def proposed_edits(answer: str) -> list[ProposedEdit]:
    """The edits that an answer proposes, in its order."""
    edits: list[ProposedEdit] = []
    for block in _fenced_blocks(answer.split("\n")):
        edits += _edits_in(block)
    return edits


def _fenced_blocks(lines: Sequence[str]) -> Iterator[_FencedBlock]:
    """The fenced blocks; in Markdown they may have others in them. One that is cut off is no
    proposal.
    """
    at = 0
    above = ""
    while at < len(lines):
        opening = _FENCE.match(lines[at])
        end = _closing_line(lines, at, opening) if opening else None
        if opening is None or end is None:
            above = lines[at] if lines[at].strip() else above
            at += 1
            continue
        indent = len(opening["indent"])
        inside = [line.removeprefix(" " * indent) for line in lines[at + 1 : end]]
        yield _FencedBlock(opening["info"].strip(), above.strip(), tuple(inside))
        above = ""
        at = end + 1


def _closing_line(lines: Sequence[str], at: int, opening: re.Match[str]) -> int | None:
    """The index of the line that closes a block."""
    fence = opening["fence"]
    language = opening["info"].strip().split(" ")[0].lower()
    may_nest = language in _NESTING or language.endswith((".md", ".markdown"))
    depth = 1
    for number in range(at + 1, len(lines)):
        found = _FENCE.match(lines[number])
        if found is None or not found["fence"].startswith(fence[0]):
            continue
        if found["info"].strip():
            depth += may_nest and len(found["fence"]) >= len(fence)
        elif len(found["fence"]) >= len(fence):
            depth -= 1
            if not depth:
                return number
    return None


def _edits_in(block: _FencedBlock) -> list[ProposedEdit]:
    language = block.info.split(" ")[0].lower()
    text = "\n".join(block.lines)
    name = _name_of(block)
    replacements = _replacements(block.lines)
    if replacements:
        first = block.lines[0].strip()
        own_name = "" if _SEARCH.match(first) else first
        return [ProposedEdit(name or own_name, replacements)]
    is_diff = language in _DIFF_LANGUAGES or text.startswith(("--- ", "@@ "))
    if not is_diff:
        return [ProposedEdit(name, text=text)]
    changed = [file for file in parse_unified_diff(text) if file.new_name is not None]
    return [ProposedEdit(file.new_name or file.old_name or name, file.hunks) for file in changed]


def _name_of(block: _FencedBlock) -> str:
    """The note that the info string of a block names, or the line above it if that is only a
    name.
    """
    found = _NAME.search(block.info)
    if found is not None:
        return found["quoted"] or found["path"]
    above = _BEFORE.fullmatch(block.above) if len(block.above) <= LONGEST_NAME_LINE else None
    if above is None:
        return ""
    is_link = "[[" in block.above
    is_path = above["path"].lower().endswith((".md", ".markdown"))
    return above["path"].strip() if is_link or is_path else ""


def _replacements(lines: Sequence[str]) -> tuple[DiffHunk, ...]:
    """The hunks of blocks to search and replace."""
    hunks: list[DiffHunk] = []
    old: list[str] | None = None
    new: list[str] | None = None
    for line in lines:
        if _SEARCH.match(line) and old is None:
            old = []
        elif old is not None and new is None and _DIVIDER.match(line):
            new = []
        elif old is not None and new is not None and _REPLACE.match(line):
            hunks.append(DiffHunk(0, tuple(old), tuple(new)))
            old = None
            new = None
        elif new is not None:
            new.append(line)
        elif old is not None:
            old.append(line)
    return tuple(hunks)
