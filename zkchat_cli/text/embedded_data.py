"""Data inside notes that nobody reads: pictures as data URIs, drawings, certificates, minified
code.

One picture in base64 is as long as a book, and its letters are no words. `hide_data` has `…` in its
place, with every line where it was, so that citations name the right lines.
"""

import re
from collections.abc import Iterator, Sequence
from itertools import pairwise
from typing import NamedTuple

from zkchat_cli.text.patterns import lazy_pattern

HIDDEN = "…"
# Characters of a run without spaces from which on it may be data: a key or a hash is shorter
SHORTEST_RUN = 100
# Digits of a number in hexadecimal: those of a SHA-512, which people look for, are 128
LONGEST_HASH = 128
# A line of a certificate or a wrapped file has 60 to 76 characters; so many of them are data
SHORTEST_LINE = 56
FEWEST_LINES = 3
# Minified code: in prose every sixth character is a space, and hardly any is a sign of code
SHORTEST_MINIFIED = 400
MOST_SPACES = 0.09
LEAST_SIGNS = 0.05
LEAST_BRACES = 0.01
MOST_LETTERS_OF_OTHERS = 0.1
# In random letters and digits most have a neighbour of another kind; in words hardly any
LEAST_CHANGES = 1 / 3
# Half of a run: one of the steps through a line is within it
_STEP = SHORTEST_RUN // 2
# Characters of a block in which its program is named
_HEAD = 4_000
# Characters of a run that tell what it is
_SAMPLE = 400

_DATA_URI = lazy_pattern(
    r"(?<![\w-])(?P<quote>[\"'])?data:(?:[\w.+-]+/[\w.+-]+)?(?:;[\w-]+(?:=[\w-]+)?)*,"
    r"(?:<svg\b(?:(?!</svg>|data:).)*+|(?(quote)[^\s\"']{24,}|[\w+/=%.~!$&*:@;?-]{24,}))",
    re.IGNORECASE,
)
"""A file in a link; a short one is an example in a text about them."""
_BASE64 = lazy_pattern(rf"(?<![\w+/-])[\w+/-]{{{SHORTEST_RUN},}}={{0,2}}", re.ASCII)
_HEXADECIMAL = lazy_pattern(rf"(?<![0-9a-f])[0-9a-f]{{{LONGEST_HASH + 1},}}", re.IGNORECASE)
_LINE_OF_DATA = lazy_pattern(r"[\w+/-]+={0,2}", re.ASCII)
_HEXADECIMAL_LINE = lazy_pattern(r"(?:0x)?[0-9a-f]+", re.IGNORECASE)
_SIGN = lazy_pattern(r"[{}();=\"]")
_LINK = lazy_pattern(r"\[\[|\]\(|://|\\[a-z]")
"""Links and commands of math: their signs are no code."""
_FENCE = lazy_pattern(r"[ \t>]*(?P<mark>`{3,}|~{3,})[ \t]*(?P<language>[\w-]*)")
_QUOTE_MARKS = " \t>"
_DRAWING_LANGUAGES = frozenset(
    ("compressed-json", "excalidraw", "tldraw", "drawio", "handwritten-ink", "handdrawn-ink")
)
_DRAWING_PROGRAMS = ("excalidraw", "tldraw", "compressed-json", "drawio", "-ink")
# What Excalidraw writes into each drawing for those who see the text
_HINT_OF_PROGRAM = lazy_pattern(r"==⚠\s+Switch to EXCALIDRAW VIEW")
_BEGINNINGS_OF_DRAWINGS = ("{", "[", "!!!")


class _LineRange(NamedTuple):
    """Indexes of lines: of the first, and of the one behind the last."""

    first: int
    end: int


def hide_data(text: str) -> str:
    """The text with `…` instead of data, and with as many lines."""
    may_have_drawing = any(program in text for program in _DRAWING_PROGRAMS)
    lines = text.split("\n")
    if not may_have_drawing and not any(map(_may_have_data, lines)):
        return text
    if may_have_drawing:
        for drawing in list(_drawings(lines)):
            _hide_lines(lines, drawing)
        lines = [HIDDEN if _HINT_OF_PROGRAM.match(line) else line for line in lines]
    for data in list(_runs_of_data(lines)):
        _hide_lines(lines, data)
    return "\n".join(map(_hide_in_line, lines))


def _may_have_data(line: str) -> bool:
    """Whether a line is worth a closer look: it has a long part without a space, or few spaces."""
    if len(line) < SHORTEST_RUN:
        return len(line) >= SHORTEST_LINE and " " not in line.strip()
    if _has_few_spaces(line):
        return True
    for at in range(0, len(line) - _STEP + 1, _STEP):
        part = line[at : at + _STEP]
        if " " not in part and part.isascii():
            return True
    return False


def _has_few_spaces(line: str) -> bool:
    return len(line) >= SHORTEST_MINIFIED and line.count(" ") <= MOST_SPACES * len(line)


def _hide_lines(lines: list[str], hidden: _LineRange) -> None:
    """Put one `…` in the place of these lines, and empty lines after it."""
    lines[hidden.first : hidden.end] = [HIDDEN, *[""] * (hidden.end - hidden.first - 1)]


def _drawings(lines: Sequence[str]) -> Iterator[_LineRange]:
    """The contents of the blocks of code that are drawings."""
    numbers = iter(range(len(lines)))
    for number in numbers:
        opening = _FENCE.match(lines[number])
        if opening is None:
            continue
        end = len(lines)
        for inside in numbers:
            if lines[inside].lstrip(_QUOTE_MARKS).startswith(opening["mark"]):
                end = inside
                break
        content = lines[number + 1 : end]
        if content and _is_drawing(opening["language"].lower(), "\n".join(content)[:_HEAD]):
            yield _LineRange(number + 1, end)


def _is_drawing(language: str, head: str) -> bool:
    if language in _DRAWING_LANGUAGES:
        return True
    if language not in ("json", "") or not head.lstrip().startswith(_BEGINNINGS_OF_DRAWINGS):
        return False
    return any(program in head.lower() for program in _DRAWING_PROGRAMS)


def _runs_of_data(lines: Sequence[str]) -> Iterator[_LineRange]:
    """Neighbouring lines of base64 or hexadecimal digits, as a certificate has them. The last may
    be shorter.
    """
    first = 0
    for number, line in enumerate([*lines, ""]):
        bare = line.strip(_QUOTE_MARKS)
        if len(bare) >= SHORTEST_LINE and _is_encoded(bare):
            continue
        if number - first >= FEWEST_LINES:
            yield _LineRange(first, number + (1 if bare and _is_encoded(bare) else 0))
        first = number + 1


def _is_encoded(run: str) -> bool:
    """Whether letters and digits are mixed as in no word, path or name."""
    if _HEXADECIMAL_LINE.fullmatch(run):
        return not run.isdecimal() and not run.isalpha()
    if not _LINE_OF_DATA.fullmatch(run):
        return False
    sample = run[:_SAMPLE]
    changes = sum(_kind(one) != _kind(other) for one, other in pairwise(sample))
    return changes > LEAST_CHANGES * len(sample)


def _kind(character: str) -> tuple[bool, bool]:
    return character.isdecimal(), character.isupper()


def _hide_in_line(line: str) -> str:
    """A line with `…` instead of the data in it."""
    if len(line) < SHORTEST_RUN or not _may_have_data(line):
        return line
    if "data:" in line:
        line = _DATA_URI.sub(lambda uri: (uri["quote"] or "") + HIDDEN, line)
    line = _HEXADECIMAL.sub(HIDDEN, line)
    line = _BASE64.sub(_hide_run, line)
    return HIDDEN if _is_minified(line) else line


def _hide_run(run: re.Match[str]) -> str:
    """`…` instead of base64; a word, or a hash that `_HEXADECIMAL` has left, as it is."""
    is_hash = _HEXADECIMAL_LINE.fullmatch(run[0]) is not None
    return HIDDEN if _is_encoded(run[0]) and not is_hash else run[0]


def _is_minified(line: str) -> bool:
    size = len(line)
    # HTML on one line has words to read
    braces = line.count("{") + line.count("}")
    if not _has_few_spaces(line) or braces < LEAST_BRACES * size:
        return False
    others = sum(not character.isascii() for character in line)
    if others > MOST_LETTERS_OF_OTHERS * size or len(_LINK.findall(line)) * SHORTEST_RUN > size:
        return False
    return len(_SIGN.findall(line)) > LEAST_SIGNS * size
