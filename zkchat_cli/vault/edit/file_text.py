"""A note's text as the parser reads it, and back to bytes with the file's usual line ends and byte order mark."""

import codecs
from collections.abc import Iterable
from dataclasses import dataclass
from typing import NamedTuple

from zkchat_cli.text.words import normalize_line_ends


class Edit(NamedTuple):
    """Replace the characters from `start` to before `end`; equal numbers insert."""

    start: int
    end: int
    new: str


@dataclass(frozen=True, slots=True)
class FileText:
    """`text` has `\\n` line ends and no byte order mark."""

    text: str
    _line_end: str = "\n"
    _mark: bytes = b""

    @classmethod
    def decode(cls, raw: bytes) -> "FileText":
        """Raises UnicodeDecodeError for bytes that are not UTF-8."""
        mark = codecs.BOM_UTF8 if raw.startswith(codecs.BOM_UTF8) else b""
        text = raw[len(mark) :].decode()
        line_end = "\r\n" if 2 * text.count("\r\n") > text.count("\n") else "\n"
        return cls(normalize_line_ends(text), line_end, mark)

    def encode(self, text: str) -> bytes:
        """Another text as the bytes of this file."""
        return self._mark + text.replace("\n", self._line_end).encode()


def apply_edits(text: str, edits: Iterable[Edit]) -> str:
    """The text after edits that do not overlap."""
    pieces: list[str] = []
    at = 0
    for edit in sorted(edits):
        pieces += [text[at : edit.start], edit.new]
        at = edit.end
    return "".join([*pieces, text[at:]])
