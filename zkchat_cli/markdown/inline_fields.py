"""Properties within a text, as Dataview writes them: `key:: value` as a line or a list item, and
`[key:: value]` or `(key:: value)` anywhere. Those in code are none.
"""

from collections.abc import Iterator
from typing import NamedTuple

from zkchat_cli.markdown import inline
from zkchat_cli.markdown.blocks import GAP, blocks
from zkchat_cli.text.patterns import lazy_pattern

_KEY = r"[^\W\d_](?:[\w /-]{0,38}\w)?"
WHOLE_LINE = rf"(?:\[.\][ \t]+)?[*_]{{0,3}}{_KEY}[*_]{{0,3}}::(?=\s|$|\[\[)"
"""The key of a field that takes the whole line, as a part of other patterns."""
_WHOLE_LINE = lazy_pattern(
    rf"(?:\[.\][ \t]+)?[*_]{{0,3}}(?P<key>{_KEY})[*_]{{0,3}}::(?=\s|$|\[\[)(?P<value>.*)"
)
_VALUE = r"(?:[^\[\]()\n]++|\[\[[^\[\]\n]*+\]\]|\[[^\[\]\n]*+\]\([^()\n]*+\)|\([^()\n]*+\))*+"
_IN_BRACKETS = lazy_pattern(
    rf"\[(?P<key>{_KEY})::(?P<value>{_VALUE})\]|\((?P<other>{_KEY})::(?P<given>{_VALUE})\)"
)
_WITHOUT_FIELDS = frozenset(("code", "indented"))


class InlineField(NamedTuple):
    """A property as it is written; `name` is folded."""

    name: str
    value: str


def inline_fields(text: str) -> Iterator[InlineField]:
    """The fields of a text, in its order."""
    if "::" not in text:
        return
    for block in blocks(text):
        if block.kind not in _WITHOUT_FIELDS:
            for line in block.lines:
                yield from _fields_of_line(line)


def _fields_of_line(line: str) -> Iterator[InlineField]:
    if "::" not in line:
        return
    line = _without_code(line.replace(GAP, ""))
    whole = _WHOLE_LINE.match(line)
    if whole:
        value = _IN_BRACKETS.sub("", whole["value"])
        yield InlineField(whole["key"].casefold(), value.strip())
    for found in _IN_BRACKETS.finditer(line):
        name = found["key"] or found["other"]
        value = found["value"] if found["key"] else found["given"]
        yield InlineField(name.casefold(), value.strip())


def _without_code(line: str) -> str:
    pieces: list[str] = []
    at = 0
    for span in inline.code_spans(line):
        pieces.append(line[at : span.start])
        at = span.end
    return "".join([*pieces, line[at:]])
