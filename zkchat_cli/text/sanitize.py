"""Make text from notes, models and file names harmless for a terminal, and mask keys in messages
and logs.

Control characters become pictures (an escape is shown as ␛). Bidi overrides, which can make text
read differently from what it is (CVE-2021-42574), become a replacement mark. Secrets are found
without separators and with escapes decoded, eight characters in a row.
"""

import base64
import re
from collections.abc import Iterable
from typing import Any

from zkchat_cli.text.hidden_characters import find_unneeded, without_unneeded
from zkchat_cli.text.patterns import lazy_pattern

_PICTURES: dict[int, str] = {c: chr(0x2400 + c) for c in range(32) if chr(c) not in "\n\t"} | {
    0x7F: "\u2421"
}
_BIDI = (*range(0x202A, 0x202F), *range(0x2066, 0x206A), 0x2028, 0x2029, 0x200E, 0x200F, 0x061C)
_PICTURES |= dict.fromkeys(
    (*range(0x80, 0xA0), *_BIDI, *range(0xFFF9, 0xFFFC), *range(0xD800, 0xE000)), "\ufffd"
)
_CONTROL = lazy_pattern(r"[\0-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\ud800-\udfff]")


def sanitize(text: str) -> str:
    """`text` with every control character but newline and tab made visible and harmless; CRLF
    counts as a newline.
    """
    return text.replace("\r\n", "\n").translate(_PICTURES)


def show_controls(text: str) -> str:
    """`text` with pictures of the control characters that no text needs, for a model: NUL, escape
    and their kind. Ends of lines, tabs and marks of direction stay.
    """
    return _CONTROL.sub(lambda found: _PICTURES[ord(found[0])], text)


def show_controls_in(value: Any) -> Any:
    """A JSON value with `show_controls` of each of its texts."""
    match value:
        case str():
            return show_controls(value)
        case list():
            return [show_controls_in(each) for each in value]
        case dict():
            return {show_controls(key): show_controls_in(each) for key, each in value.items()}
    return value


def sanitize_name(name: str) -> str:
    """A name on one line, with newlines and tabs visible, too, because a file name must not add
    lines to a list, and without characters that do not show and that it does not need.
    """
    return sanitize_shown(name).replace("\n", "\u240a").replace("\t", "\u2409")


def sanitize_shown(text: str) -> str:
    """`sanitize` without the characters that do not show and that the text does not need."""
    return without_unneeded(sanitize(text))


def is_safe_name(name: str) -> bool:
    """Whether `sanitize_name` leaves the name as it is."""
    return sanitize_name(name) == name


def reveal_invisible(text: str) -> str:
    """`sanitize` with invisible characters shown as `<U+200B>` or `<120 unseen characters>`, for
    changes that the user has to approve.
    """
    safe = sanitize(text)
    pieces: list[str] = []
    end = 0
    for run in _runs(find_unneeded(safe)):
        pieces += [safe[end : run.start], _describe_hidden(safe[run.start : run.stop])]
        end = run.stop
    return "".join([*pieces, safe[end:]])


def _runs(places: Iterable[int]) -> list[range]:
    """Places that follow each other, as ranges."""
    runs: list[range] = []
    for place in places:
        if runs and runs[-1].stop == place:
            runs[-1] = range(runs[-1].start, place + 1)
        else:
            runs.append(range(place, place + 1))
    return runs


def _describe_hidden(characters: str) -> str:
    """What is shown instead of invisible characters."""
    if len(characters) == 1:
        return f"<U+{ord(characters):04X}>"
    return f"<{len(characters)} unseen characters>"


# Servers without keys are given "EMPTY" or "x": removing such a short text from messages would
# garble them
MIN_SECRET = 6
MASK = "…"
_RUN = 8
# Placeholders such as `no-key-required` are made of words, which are masked as a whole only
_TELLING = lazy_pattern("[0-9A-Z]")
_UNIT = lazy_pattern(
    r"(?:%|\\x|\\u00)(?P<code>[0-9A-Fa-f]{2})|(?P<separator>\\[rnt]|[\s\"'`\\,;:+<>|*])|.",
    re.DOTALL,
)
"""A character, plain or escaped, or something that a dump may put between two characters of a key.
"""


class SecretMask:
    """Masks these secrets; shorter ones than `MIN_SECRET` are no secrets."""

    def __init__(self, secrets: Iterable[str]) -> None:
        # Texts to mask, by their first `MIN_SECRET` characters
        self._parts: dict[str, set[str]] = {}
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
        masked = []
        end = 0
        for found in re.finditer(b"1+", secret):
            start, _ = places[found.start()]
            masked += [text[end:start], MASK]
            _, end = places[found.end() - 1]
        return "".join([*masked, text[end:]])


def _spellings(secret: str) -> Iterable[str]:
    """The secret without separators, as it is, in hexadecimal, and in base64 at each of the three
    places in a longer text.
    """
    raw = secret.encode("utf-8", "surrogateescape")
    texts = [secret, raw.hex(), raw.hex().upper()]
    for offset in range(3):
        code = base64.b64encode(bytes(offset) + raw).decode().rstrip("=")
        # The characters that hold nothing but bits of the secret
        code = code[(0, 2, 3)[offset] : (offset + len(raw)) * 8 // 6]
        if len(code) >= _RUN:
            texts += [code, code.replace("+", "-").replace("/", "_")]
    compact = [_compact(text)[0] for text in texts] if len(secret) >= MIN_SECRET else []
    return [text for text in compact if len(text) >= MIN_SECRET]


def _compact(text: str) -> tuple[str, list[tuple[int, int]]]:
    """The text without separators and with its escapes decoded, and the place of each character in
    the original.
    """
    characters = []
    places = []
    for unit in _UNIT.finditer(text):
        character = chr(int(unit["code"], 16)) if unit["code"] else unit[0]
        if unit["separator"] is None and _UNIT.fullmatch(character)["separator"] is None:  # type: ignore[index]  # it matches any one
            characters.append(character)
            places.append(unit.span())
    return "".join(characters), places
