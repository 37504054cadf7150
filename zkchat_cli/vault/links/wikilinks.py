"""The syntax of links, reading and writing them, and the names that files have in links. Pure.

A file is looked up by its *key*: the last segment of its path without `.md`, lower case and in one Unicode form.
"""

import unicodedata
from collections.abc import Iterator
from typing import Literal, NamedTuple
from urllib.parse import quote, unquote

from zkchat_cli.text.patterns import lazy_pattern

NOTE_SUFFIXES = (".md", ".markdown")

LinkKind = Literal["wikilink", "markdown"]


class WrittenLink(NamedTuple):
    """A link as the text has it. `text` is its trimmed target: `a` for `[[a#h|b]]`; empty for a link to the note itself."""

    raw: str
    kind: LinkKind
    text: str
    heading: str | None = None
    alias: str | None = None
    embed: bool = False
    line: int = 1
    end: int = 0  # the position after the link
    place: tuple[int, int] = (0, 0)
    """Start and end of a Markdown link's destination, or of what is between the brackets of a wikilink."""


# Possessive repetitions (`++`, `*+`) never back up, and each scan stops at the next opening: that keeps one note one linear pass.
# The group is atomic because `*+` with a condition in it finds nothing in Python 3.11.2. It takes memory per repetition, hence the limit.
_WIKILINK = lazy_pattern(r"\[\[((?>(?:[^\[\]\n]++|\[(?!\[)|\](?!\])){0,500}))\]\]")
_LABEL = r"(?:[^\[\]\n\\]++|\\.|!?\[(?:[^\[\]\n\\]++|\\.)*+\](?:\([^()\n]*+\))?)*+"
_DESTINATION = r"(?:<([^<>\n]*+)>|((?:[^\s()<\\]++|\\.|\((?:[^\s()\\]++|\\.)*+\))*+))"
_TITLE = r"""(?:[ \t]++(?:"[^"\n]*+"|'[^'\n]*+'|\([^()\n]*+\)))?"""
_MARKDOWN_LINK = lazy_pattern(rf"\[({_LABEL})\]\([ \t]*+{_DESTINATION}{_TITLE}[ \t]*+\)")
_ADDRESS = lazy_pattern(r"[A-Za-z][A-Za-z0-9+.-]+:|//")
_ESCAPED = lazy_pattern(r"\\([!-/:-@\[-`{-~])")
_NOT_IN_A_LINK = lazy_pattern(r"[\[\]#|^\x00-\x1f\x7f]|%%")
_NOT_IN_A_HEADING = lazy_pattern(r"(?:[\[\]#|^\s]|%%)+")


def parse_wikilink(text: str, position: int, end: int, line: int) -> WrittenLink | None:
    """The wikilink whose `[[` is at `position`; None if there is none."""
    match = _WIKILINK.match(text, position, end)
    target, heading, alias = split_target(match[1]) if match else ("", None, None)
    if not match or not (target or heading):
        return None
    embed = _is_embed(text, position)
    return WrittenLink("!" * embed + match[0], "wikilink", target, heading, alias, embed, line, match.end(), match.span(1))


def parse_markdown_link(text: str, position: int, end: int, line: int) -> WrittenLink | None:
    """The Markdown link whose `[` is at `position`; None if there is none, or for a web address."""
    match = _MARKDOWN_LINK.match(text, position, end)
    if not match:
        return None
    quoted, bare = match[2], match[3]
    destination = quoted if quoted is not None else _ESCAPED.sub(r"\1", bare) if "\\" in bare else bare
    if not destination or _ADDRESS.match(destination):
        return None
    target, _, heading = destination.partition("#")
    if "%" in destination:
        target, heading = unquote(target), unquote(heading)
    embed = _is_embed(text, position)
    written, alias, place = "!" * embed + match[0], match[1].strip() or None, match.span(3 if quoted is None else 2)
    return WrittenLink(written, "markdown", target.strip(), heading.strip() or None, alias, embed, line, match.end(), place)


def split_target(inner: str) -> tuple[str, str | None, str | None]:
    """`a#b#c|d` as `("a", "b#c", "d")`; in a table the bar is escaped, and that escape belongs to the bar."""
    target, bar, alias = inner.partition("|")
    if bar and target.endswith("\\"):
        target = target[:-1]
    name, _, heading = target.partition("#")
    return name.strip(), heading.strip() or None, alias.strip() or None


def _is_embed(text: str, position: int) -> bool:
    """Whether an unescaped `!` precedes the position."""
    backslashes = position - 1
    while backslashes > 0 and text[backslashes - 1] == "\\":
        backslashes -= 1
    return position > 0 and text[position - 1] == "!" and (position - 1 - backslashes) % 2 == 0


def fold_name(name: str) -> str:
    """`name` in lower case and one Unicode form (NFC), because file systems and people mix them; diacritics count."""
    return name.lower() if name.isascii() else unicodedata.normalize("NFC", unicodedata.normalize("NFC", name).casefold())


def note_name(path: str) -> str:
    """What a link calls the file at `path`: its name, without the suffix if it is a note."""
    return strip_suffix(path.rpartition("/")[2])


def link_key(target: str) -> str:
    """What a link's target is looked up by; empty for a folder (`Folder/`) and for the note itself."""
    return fold_name(note_name(target))


def strip_suffix(path: str) -> str:
    """`path` without a note's suffix."""
    if path[-9:].lower().endswith(NOTE_SUFFIXES):
        return path[: path.rindex(".")] or path
    return path


def possible_names(path: str) -> Iterator[str]:
    """What a link may call the file at `path`, the shortest first: its name, then with its folders one by one, then with its suffix."""
    folders = strip_suffix(path).split("/")
    yield from ("/".join(folders[start:]) for start in range(len(folders) - 1, -1, -1))
    yield path


def write_link(path: str, name: str = "", heading: str | None = None) -> str:
    """A wikilink to the file at `path` under this `name` (default: its path), and to a heading. A Markdown link if wikilinks cannot have
    the name's characters; only the file's name for a file outside the vault (`../`)."""
    if path.startswith("../"):
        return path.rpartition("/")[2]
    target = name or strip_suffix(path)
    if _NOT_IN_A_LINK.search(target):
        label = " ".join(_NOT_IN_A_LINK.sub(" ", note_name(path)).split())
        return f"[{label}]({quote(path, errors='replace')})"
    section = _NOT_IN_A_HEADING.sub(" ", heading or "").strip()
    return f"[[{target}#{section}]]" if section and section != note_name(path) else f"[[{target}]]"
