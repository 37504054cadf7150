"""HTML as text that cannot be anything else: `text` escapes, `element` escapes its attributes, and nothing else here makes a tag."""

import re
from functools import cache
from html import escape

_MARKUP = re.compile("[&<>\"']")
"""What `escape` looks for in five walks: a page has 200 000 short texts, and next to none of them has any."""
_VOID = frozenset(("meta", "br", "hr"))

_PICTURES: dict[int, str] = {c: chr(0x2400 + c) for c in range(32) if chr(c) not in "\n\t"} | {0x7F: "\u2421"}
_BIDI = (*range(0x202A, 0x202F), *range(0x2066, 0x206A))
_NONCHARACTERS = (*range(0xFDD0, 0xFDF0), *(plane + last for plane in range(0, 0x110000, 0x10000) for last in (0xFFFE, 0xFFFF)))
HARMFUL = _PICTURES | dict.fromkeys((*range(0x80, 0xA0), *_BIDI, *_NONCHARACTERS, *range(0xD800, 0xE000)), "\ufffd")
_HARM = re.compile("[\0-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069\ud800-\udfff\ufdd0-\ufdef]|[\ufffe\uffff\U0001fffe-\U0010ffff]")
"""What any of them is found by. Most texts have none, and ranges are looked for twenty times faster than each character is replaced."""


def harmless(html: str) -> str:
    """A page without what acts before any markup is read: control characters become pictures, and what makes text read other than it is
    (bidi overrides), what no file can hold (lone surrogates) and what HTML forbids (noncharacters) becomes U+FFFD."""
    html = html.replace("\r\n", "\n")
    return html.translate(HARMFUL) if _HARM.search(html) else html


def text(words: object) -> str:
    """`words` as they are, whatever they are."""
    said = str(words)
    return escape(said) if _MARKUP.search(said) else said


def element(tag: str, *content: str, **attributes: str | int | None) -> str:
    """An element around `content`, which is HTML; attributes are text, `class_` and `aria_label` are spelled so, None is left out."""
    if not attributes:
        return f"<{tag}>{''.join(content)}</{tag}>" if tag not in _VOID else f"<{tag}>"
    given = "".join([f' {_name(key)}="{text(value)}"' for key, value in attributes.items() if value is not None])
    return f"<{tag}{given}>" if tag in _VOID else f"<{tag}{given}>{''.join(content)}</{tag}>"


@cache
def _name(key: str) -> str:
    return key.rstrip("_").replace("_", "-")


def folded(summary: str, *content: str, class_: str, open_: bool = False) -> str:
    """Content under one line, to be unfolded; `open_` ones are when the page is opened, and so when it is printed."""
    return element("details", element("summary", summary), *content, class_=class_, open="" if open_ else None)
