"""Markdown as a reader sees it: the words of a text without the marks that format it. Linear in the text."""

import html
import re
from collections.abc import Callable

_CODE_MARK = re.compile("`++")
_LITERAL = re.compile(r"\\[!-/:-@\[-`{-~]|\$(?![\s$])(?:[^$\\]++|\\.)++(?<!\s)\$(?!\d)|\$\$[^$]++\$\$")
"""An escaped character or math, in which no mark formats anything."""
_IMAGE = re.compile(r"!\[\[[^\[\]]*\]\]|!\[[^\[\]]*\](?:\([^()]*(?:\([^()]*\)[^()]*){0,3}\)|\[[^\[\]]*\])")
_WIKILINK = re.compile(r"\[\[([^\[\]|]*)(?:\|([^\[\]]*))?\]\]")
_FOOTNOTE = re.compile(r"\[\^[^\[\]]*\]:?")
_INLINE_FOOTNOTE = re.compile(r"\^\[[^\[\]]*\]")
_LINK = re.compile(r"\[([^\[\]]*)\](?:\([^()]*(?:\([^()]*\)[^()]*){0,3}\)|\[[^\[\]]*\])")
_ADDRESS = re.compile(r"<((?:https?://|mailto:)[^<>\s]*)>")
_TAG = re.compile(r"<(/?[A-Za-z][A-Za-z0-9]*)[^<>]*>")
_BLOCK_TAGS = frozenset("br p div td th tr li ul ol dl dt dd h1 h2 h3 h4 h5 h6 summary details table section hr".split())
"""Tags that separate words."""
_EMPHASIS = re.compile(r"\*++|_++|~~++|==++")
_ENTITY = re.compile(r"&(?:#\d{1,7}|#[xX][0-9a-fA-F]{1,6}|[A-Za-z][A-Za-z0-9]{1,31});")
_BLOCK_ID = re.compile(r"(?<![\w)\]}^])\^[A-Za-z0-9-]++\s*+$")
_PLACEHOLDER = re.compile("\0(\\d++)\0")
_CONTROLS = dict.fromkeys((*range(32), *range(0x7F, 0xA0)), " ")


def to_plain_text(markdown: str) -> str:
    """The words on one line: links as their texts, code without its backticks, math unchanged; no images, footnotes and block ids."""
    literals: list[str] = []

    def protect(text: str) -> str:
        literals.append(text)
        return f"\0{len(literals) - 1}\0"

    text = _protect_code(markdown.translate(_CONTROLS), protect)
    if "[" in text:
        text = _IMAGE.sub(" ", text)
        text = _WIKILINK.sub(_wikilink_text, text)
    text = _LITERAL.sub(lambda m: protect(m[0][1:] if m[0][0] == "\\" else m[0]), text)
    if "[" in text:
        text = _INLINE_FOOTNOTE.sub("", _LINK.sub(r"\1", _FOOTNOTE.sub("", text)))
    if "<" in text:
        text = _TAG.sub(lambda tag: " " if tag[1].strip("/").lower() in _BLOCK_TAGS else "", _ADDRESS.sub(r"\1", text))
    text = _EMPHASIS.sub(_literal_emphasis, _BLOCK_ID.sub("", text))
    if "&" in text:
        text = _ENTITY.sub(lambda m: html.unescape(m[0]).translate(_CONTROLS), text)
    return " ".join(_PLACEHOLDER.sub(lambda m: literals[int(m[1])], text).split())


def _protect_code(text: str, protect: Callable[[str], str]) -> str:
    """A run of backticks opens a span that the next run of the same length closes; one that nothing closes is text."""
    runs = list(_CODE_MARK.finditer(text))
    closed_by: dict[int, int] = {}
    partner = [0] * len(runs)
    for i in range(len(runs) - 1, -1, -1):
        length = len(runs[i][0])
        partner[i] = closed_by.get(length, -1)
        closed_by[length] = i
    pieces: list[str] = []
    at = i = 0
    while i < len(runs):
        if partner[i] < 0:
            i += 1
            continue
        pieces += [text[at : runs[i].start()], protect(text[runs[i].end() : runs[partner[i]].start()].strip())]
        at, i = runs[partner[i]].end(), partner[i] + 1
    return "".join([*pieces, text[at:]])


def _wikilink_text(link: re.Match[str]) -> str:
    """A wikilink as Obsidian shows it, without the folders: its alias, or the note and the heading."""
    if link[2]:
        return link[2]
    note, _, anchor = link[1].removesuffix("\\").partition("#")
    heading = anchor.rpartition("#")[2]
    parts = (note.rpartition("/")[2].strip(), "" if heading.startswith("^") else heading.strip())
    return " › ".join(part for part in parts if part)


def _literal_emphasis(marks: re.Match[str]) -> str:
    """The marks, if they cannot be emphasis (`2 * 3`, `snake_case`, `a == b`); else nothing."""
    before, after = marks.string[marks.start() - 1 : marks.start()], marks.string[marks.end() : marks.end() + 1]
    if not before.strip() and not after.strip():
        return marks[0]
    match marks[0][0]:
        case "*":
            is_literal = before.isdigit() and after.isdigit()
        case "_":
            is_literal = before.isalnum() and after.isalnum()
        case _:
            is_literal = (before + after).isascii() and before.isalnum() and after.isalnum() and marks[0][0] == "="
    return marks[0] if is_literal else ""
