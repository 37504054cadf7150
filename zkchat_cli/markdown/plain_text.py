"""Markdown as a reader sees it: the words of a text without the marks that format it. Linear in the
text.
"""

import re

from zkchat_cli.markdown import inline
from zkchat_cli.text.patterns import lazy_pattern

_MARK = lazy_pattern(r"[\\`$\[<^*_~=&]")
_LITERAL = lazy_pattern(rf"{inline.ESCAPE}|{inline.MATH}|\$\$[^$]++\$\$")
"""An escaped character or math, in which no mark formats anything."""
_IMAGE = lazy_pattern(rf"!(?:{inline.WIKILINK}|{inline.LOOSE_LINK}|{inline.REFERENCE_LINK})")
_FOOTNOTE = lazy_pattern(rf"{inline.FOOTNOTE}:?")
_INLINE_FOOTNOTE = lazy_pattern(r"\^\[[^\[\]]*\]")
_ADDRESS = lazy_pattern(inline.AUTOLINK)
_TAG = lazy_pattern(inline.HTML_TAG)
_TAG_NAME = lazy_pattern(r"</?([A-Za-z][A-Za-z0-9]*)")
BLOCK_TAGS = frozenset(
    "br p div td th tr li ul ol dl dt dd h1 h2 h3 h4 h5 h6 summary details table section hr".split()
)
"""Tags that separate words."""
_EMPHASIS = lazy_pattern(r"\*++|_++|~~++|==++")
ENTITY = lazy_pattern(r"&(?:#\d{1,7}|#[xX][0-9a-fA-F]{1,6}|[A-Za-z][A-Za-z0-9]{1,31});")
_BLOCK_ID = lazy_pattern(r"(?<![\w)\]}^])\^[A-Za-z0-9-]++\s*+$")
_PLACEHOLDER = lazy_pattern("\0(\\d++)\0")
_CONTROLS = dict.fromkeys((*range(32), *range(0x7F, 0xA0)), " ")


def to_plain_text(markdown: str) -> str:
    """The words on one line: links as their texts, code without its backticks, math unchanged; no
    images, footnotes and block ids.
    """
    text = markdown if markdown.isprintable() else markdown.translate(_CONTROLS)
    if not _MARK.search(text):
        return " ".join(text.split())
    literals: list[str] = []

    def protect(literal: str) -> str:
        literals.append(literal)
        return f"\0{len(literals) - 1}\0"

    def protect_literal(found: re.Match[str]) -> str:
        return protect(found[0].removeprefix("\\"))

    pieces: list[str] = []
    at = 0
    for span in inline.code_spans(text):
        pieces += [text[at : span.start], protect(span.code(text).strip())]
        at = span.end
    text = "".join([*pieces, text[at:]])
    text = inline.replace_wikilinks(_IMAGE.sub(" ", text), inline.Wikilink.shown)
    text = _FOOTNOTE.sub("", _LITERAL.sub(protect_literal, text))
    text = _INLINE_FOOTNOTE.sub("", inline.show_links(text, references=True))
    text = _ADDRESS.sub(lambda address: address[0][1:-1], text)
    text = _EMPHASIS.sub(_literal_emphasis, _BLOCK_ID.sub("", remove_tags(text)))
    if "&" in text:
        # 2 ms that few texts need
        import html

        text = ENTITY.sub(lambda entity: html.unescape(entity[0]).translate(_CONTROLS), text)
    return " ".join(_PLACEHOLDER.sub(lambda found: literals[int(found[1])], text).split())


def remove_tags(text: str) -> str:
    """The text without HTML tags; those of blocks separate words."""
    return _TAG.sub(_tag_text, text)


def _tag_text(tag: re.Match[str]) -> str:
    name = _TAG_NAME.match(tag[0])
    return " " if name and name[1].lower() in BLOCK_TAGS else ""


def _literal_emphasis(marks: re.Match[str]) -> str:
    """The marks, if they cannot be emphasis (`2 * 3`, `snake_case`, `a == b`); else nothing."""
    before = marks.string[marks.start() - 1 : marks.start()]
    after = marks.string[marks.end() : marks.end() + 1]
    if not before.strip() and not after.strip():
        return marks[0]
    between = before + after
    can_be_literal = {"*": between.isdigit(), "_": True, "=": between.isascii(), "~": False}
    return marks[0] if before.isalnum() and after.isalnum() and can_be_literal[marks[0][0]] else ""
