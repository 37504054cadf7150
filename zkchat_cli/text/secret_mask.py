"""Masking of keys and other secrets in messages and logs, however a server has written them.

A text is compared without separators and with its escapes decoded, and eight characters in a row of a secret are enough.
"""

import base64
import re
from collections.abc import Iterable

MIN_SECRET = 6
"""Servers without keys are given "EMPTY" or "x". Removing such a short text from messages would garble them."""
MASK = "…"
_RUN = 8
_TELLING = re.compile("[0-9A-Z]")  # Placeholders such as `no-key-required` are made of words, which are masked as a whole only
_UNIT = re.compile(r"(?:%|\\x|\\u00)(?P<code>[0-9A-Fa-f]{2})|(?P<separator>\\[rnt]|[\s\"'`\\,;:+<>|*])|.", re.DOTALL)
"""A character, plain or escaped, or something that a dump may put between two characters of a key."""


class SecretMask:
    """Masks these secrets; shorter ones than `MIN_SECRET` are no secrets."""

    def __init__(self, secrets: Iterable[str]) -> None:
        self._parts: dict[str, set[str]] = {}  # Texts to mask, by their first `MIN_SECRET` characters
        for secret in secrets:
            for written in _spellings(secret):
                runs = (written[start : start + _RUN] for start in range(len(written) - _RUN + 1))
                for part in (written, *filter(_TELLING.search, runs)):
                    self._parts.setdefault(part[:MIN_SECRET], set()).add(part)

    def __call__(self, text: str) -> str:
        """The text with `MASK` in place of each part of a secret."""
        if not self._parts:
            return text
        compact, places = _compact(text)
        secret = bytearray(len(compact))
        for start in range(len(compact)):
            for part in self._parts.get(compact[start : start + MIN_SECRET], ()):
                if compact.startswith(part, start):
                    secret[start : start + len(part)] = b"1" * len(part)
        masked, end = [], 0
        for found in re.finditer(b"1+", secret):
            masked += [text[end : places[found.start()][0]], MASK]
            end = places[found.end() - 1][1]
        return "".join([*masked, text[end:]])


def _spellings(secret: str) -> Iterable[str]:
    """The secret without separators, as it is, in hexadecimal, and in base64 at each of the three places in a longer text."""
    raw = secret.encode("utf-8", "surrogateescape")
    texts = [secret, raw.hex(), raw.hex().upper()]
    for offset in range(3):
        code = base64.b64encode(bytes(offset) + raw).decode().rstrip("=")
        code = code[(0, 2, 3)[offset] : (offset + len(raw)) * 8 // 6]  # the characters that hold nothing but bits of the secret
        if len(code) >= _RUN:
            texts += [code, code.replace("+", "-").replace("/", "_")]
    compact = [_compact(text)[0] for text in texts] if len(secret) >= MIN_SECRET else []
    return [text for text in compact if len(text) >= MIN_SECRET]


def _compact(text: str) -> tuple[str, list[tuple[int, int]]]:
    """The text without separators and with its escapes decoded, and the place of each character in the original."""
    characters, places = [], []
    for unit in _UNIT.finditer(text):
        character = chr(int(unit["code"], 16)) if unit["code"] else unit[0]
        if unit["separator"] is None and _UNIT.fullmatch(character)["separator"] is None:  # type: ignore[index]  # it matches any one
            characters.append(character)
            places.append(unit.span())
    return "".join(characters), places
