"""Where in a JSON text a value stands, by the way that leads to it: for the line in a message about what is wrong with the value."""

import json
import re
from collections.abc import Sequence

Way = tuple[str | int, ...]
"""Keys and places in lists, from the outermost value inwards."""

_SPACE = re.compile(r"[ \t\n\r]*")
_DECODER = json.JSONDecoder(strict=False)


def line_of(text: str, way: Sequence[str | int]) -> int:
    """The line, from 1, on which the value at the end of `way` begins, or the last value on the way that is there. `text` is valid JSON."""
    at = _after_space(text, 0)
    for step in way:
        found = _entry(text, at, step)
        if found is None:
            break
        at = found
    return text.count("\n", 0, at) + 1


def _entry(text: str, at: int, step: str | int) -> int | None:
    """Where the entry `step` of the list or object at `at` begins; of a key that is there twice the last one, which is what counts."""
    opening = text[at]
    if opening not in "[{" or (opening == "[") != isinstance(step, int):
        return None
    found, number = None, 0
    at = _after_space(text, at + 1)
    while text[at] not in "]}":
        key: str | int = number
        if opening == "{":
            key, at = _DECODER.raw_decode(text, at)
            at = _after_space(text, _after_space(text, at) + 1)  # the colon
        if key == step:
            found = at
        if found is not None and opening == "[":
            return found
        _, at = _DECODER.raw_decode(text, at)
        at = _after_space(text, at)
        at = _after_space(text, at + 1) if text[at] == "," else at
        number += 1
    return found


def _after_space(text: str, at: int) -> int:
    found = _SPACE.match(text, at)
    return found.end() if found else at
