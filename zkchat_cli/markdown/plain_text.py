"""Markdown as one reads it: the words of a piece of text without the marks that format it. Linear in the text, whatever it is."""

import html
import re
from collections.abc import Callable

_RUN = re.compile("`++")
_LITERAL = re.compile(r"\\[!-/:-@\[-`{-~]|\$(?![\s$])(?:[^$\\]++|\\.)++(?<!\s)\$(?!\d)|\$\$[^$]++\$\$")
"""An escaped character, or math: what stands in them formats nothing."""
_IMAGE = re.compile(r"!\[\[[^\[\]]*\]\]|!\[[^\[\]]*\](?:\([^()]*(?:\([^()]*\)[^()]*){0,3}\)|\[[^\[\]]*\])")
_WIKILINK = re.compile(r"\[\[([^\[\]|]*)(?:\|([^\[\]]*))?\]\]")
_FOOTNOTE = re.compile(r"\[\^[^\[\]]*\]:?")
_INLINE_FOOTNOTE = re.compile(r"\^\[[^\[\]]*\]")
_LINK = re.compile(r"\[([^\[\]]*)\](?:\([^()]*(?:\([^()]*\)[^()]*){0,3}\)|\[[^\[\]]*\])")
_ADDRESS = re.compile(r"<((?:https?://|mailto:)[^<>\s]*)>")
_TAG = re.compile(r"<(/?[A-Za-z][A-Za-z0-9]*)[^<>]*>")
_APART = frozenset("br p div td th tr li ul ol dl dt dd h1 h2 h3 h4 h5 h6 summary details table section hr".split())
"""Tags between which words stand apart."""
_EMPHASIS = re.compile(r"\*++|_++|~~++|==++")
_ENTITY = re.compile(r"&(?:#\d{1,7}|#[xX][0-9a-fA-F]{1,6}|[A-Za-z][A-Za-z0-9]{1,31});")
_BLOCK_ID = re.compile(r"(?<![\w)\]}^])\^[A-Za-z0-9-]++\s*+$")
_KEPT = re.compile("\0(\\d++)\0")
_CONTROLS = dict.fromkeys((*range(32), *range(0x7F, 0xA0)), " ")


def plain(markdown: str) -> str:
    """The words on one line: links as their texts, code without its backticks, math as it is; images, footnotes and block ids left out."""
    kept: list[str] = []

    def keep(text: str) -> str:
        kept.append(text)
        return f"\0{len(kept) - 1}\0"

    text = _code_kept(markdown.translate(_CONTROLS), keep)
    if "[" in text:
        text = _IMAGE.sub(" ", text)
        text = _WIKILINK.sub(_shown, text)
    text = _LITERAL.sub(lambda m: keep(m[0][1:] if m[0][0] == "\\" else m[0]), text)
    if "[" in text:
        text = _LINK.sub(r"\1", _FOOTNOTE.sub("", text))
        text = _INLINE_FOOTNOTE.sub("", text)
    if "<" in text:
        text = _TAG.sub(_parted, _ADDRESS.sub(r"\1", text))
    text = _EMPHASIS.sub(_unformatted, _BLOCK_ID.sub("", text))
    if "&" in text:
        text = _ENTITY.sub(lambda m: html.unescape(m[0]).translate(_CONTROLS), text)
    return " ".join(_KEPT.sub(lambda m: kept[int(m[1])], text).split())


def _code_kept(text: str, keep: Callable[[str], str]) -> str:
    """A run of backticks opens a span that the next run of the same length closes; one that nothing closes is text."""
    runs = list(_RUN.finditer(text))
    closing: dict[int, int] = {}
    partner = [0] * len(runs)
    for i in range(len(runs) - 1, -1, -1):
        length = len(runs[i][0])
        partner[i] = closing.get(length, -1)
        closing[length] = i
    pieces: list[str] = []
    at = i = 0
    while i < len(runs):
        if partner[i] < 0:
            i += 1
            continue
        pieces += [text[at : runs[i].start()], keep(text[runs[i].end() : runs[partner[i]].start()].strip())]
        at, i = runs[partner[i]].end(), partner[i] + 1
    return "".join([*pieces, text[at:]])


def _shown(link: re.Match[str]) -> str:
    """A wikilink as Obsidian shows it, without the folders: its alias, or the note and the heading."""
    if link[2]:
        return link[2]
    note, _, anchor = link[1].removesuffix("\\").partition("#")
    heading = anchor.rpartition("#")[2]
    parts = (note.rpartition("/")[2].strip(), "" if heading.startswith("^") else heading.strip())
    return " › ".join(part for part in parts if part)


def _parted(tag: re.Match[str]) -> str:
    return " " if tag[1].strip("/").lower() in _APART else ""


def _unformatted(marks: re.Match[str]) -> str:
    """Nothing for marks that format; as it is what cannot: `2 * 3`, `snake_case`, `a == b`."""
    before, after = marks.string[marks.start() - 1 : marks.start()], marks.string[marks.end() : marks.end() + 1]
    if not before.strip() and not after.strip():
        return marks[0]
    match marks[0][0]:
        case "*":
            within = before.isdigit() and after.isdigit()
        case "_":
            within = before.isalnum() and after.isalnum()
        case _:
            within = (before + after).isascii() and before.isalnum() and after.isalnum() and marks[0][0] == "="
    return marks[0] if within else ""
