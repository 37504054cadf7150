"""Markdown as a reader sees it: the words of a text without the marks that format it. Linear in the
text.
"""

import re
from collections.abc import Iterator, Sequence

from zkchat_cli.text.patterns import lazy_pattern

_MARK = lazy_pattern(r"[\\`$\[<^*_~=&]")
_CODE_MARK = lazy_pattern("`++")
_LITERAL = lazy_pattern(
    r"\\[!-/:-@\[-`{-~]|\$(?![\s$])(?:[^$\\]++|\\.)++(?<!\s)\$(?!\d)|\$\$[^$]++\$\$"
)
"""An escaped character or math, in which no mark formats anything."""
_IMAGE = lazy_pattern(
    r"!\[\[[^\[\]]*\]\]|!\[[^\[\]]*\](?:\([^()]*(?:\([^()]*\)[^()]*){0,3}\)|\[[^\[\]]*\])"
)
_WIKILINK = lazy_pattern(r"\[\[([^\[\]|]*)(?:\|([^\[\]]*))?\]\]")
_FOOTNOTE = lazy_pattern(r"\[\^[^\[\]]*\]:?")
_INLINE_FOOTNOTE = lazy_pattern(r"\^\[[^\[\]]*\]")
_LINK = lazy_pattern(r"\[([^\[\]]*)\](?:\([^()]*(?:\([^()]*\)[^()]*){0,3}\)|\[[^\[\]]*\])")
_ADDRESS = lazy_pattern(r"<((?:https?://|mailto:)[^<>\s]*)>")
_TAG = lazy_pattern(r"<(/?[A-Za-z][A-Za-z0-9]*)[^<>]*>")
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
    literals: list[str] = []

    def protect(text: str) -> str:
        literals.append(text)
        return f"\0{len(literals) - 1}\0"

    text = markdown if markdown.isprintable() else markdown.translate(_CONTROLS)
    if not _MARK.search(text):
        return " ".join(text.split())
    if "`" in text:
        runs = list(_CODE_MARK.finditer(text))
        pieces: list[str] = []
        at = 0
        for first, last in pair_code_marks([(len(run[0]), len(run[0])) for run in runs]):
            pieces += [
                text[at : runs[first].start()],
                protect(text[runs[first].end() : runs[last].start()].strip()),
            ]
            at = runs[last].end()
        text = "".join([*pieces, text[at:]])
    text = _WIKILINK.sub(_wikilink_text, _IMAGE.sub(" ", text))
    text = _LITERAL.sub(lambda m: protect(m[0][1:] if m[0][0] == "\\" else m[0]), text)
    text = _INLINE_FOOTNOTE.sub("", _LINK.sub(r"\1", _FOOTNOTE.sub("", text)))
    text = _BLOCK_ID.sub("", remove_tags(_ADDRESS.sub(r"\1", text)))
    text = _EMPHASIS.sub(_literal_emphasis, text)
    if "&" in text:
        import html  # 2 ms that few texts need

        text = ENTITY.sub(lambda m: html.unescape(m[0]).translate(_CONTROLS), text)
    return " ".join(_PLACEHOLDER.sub(lambda m: literals[int(m[1])], text).split())


def remove_tags(text: str) -> str:
    """The text without HTML tags; those of blocks separate words."""
    return _TAG.sub(lambda tag: " " if tag[1].strip("/").lower() in BLOCK_TAGS else "", text)


def pair_code_marks(runs: Sequence[tuple[int, int]]) -> Iterator[tuple[int, int]]:
    """The indexes of the runs of backticks that open and close a code span: the next run of the
    same length closes one. `runs`: each run's length if it opens a span, and if it closes one.
    """
    closed_by: list[int | None] = []
    next_of_length: dict[int, int] = {}
    for i in range(len(runs) - 1, -1, -1):
        closed_by.append(next_of_length.get(runs[i][0]))
        next_of_length[runs[i][1]] = i
    i = 0
    while i < len(runs):
        if (closing := closed_by[-1 - i]) is not None:
            yield i, closing
            i = closing
        i += 1


def _wikilink_text(link: re.Match[str]) -> str:
    """A wikilink as Obsidian shows it, without the folders: its alias, or the note and the
    heading.
    """
    if link[2]:
        return link[2]
    note, _, anchor = link[1].removesuffix("\\").partition("#")
    heading = anchor.rpartition("#")[2]
    return " › ".join(
        filter(
            None,
            (note.rpartition("/")[2].strip(), "" if heading.startswith("^") else heading.strip()),
        )
    )


def _literal_emphasis(marks: re.Match[str]) -> str:
    """The marks, if they cannot be emphasis (`2 * 3`, `snake_case`, `a == b`); else nothing."""
    before = marks.string[marks.start() - 1 : marks.start()]
    after = marks.string[marks.end() : marks.end() + 1]
    if not before.strip() and not after.strip():
        return marks[0]
    between = before + after
    can_be_literal = {"*": between.isdigit(), "_": True, "=": between.isascii(), "~": False}
    return marks[0] if before.isalnum() and after.isalnum() and can_be_literal[marks[0][0]] else ""
