"""A file's bytes as the text that is parsed, and back again with some places changed and every other byte as it was. Pure.

The parser reads `\\n` line ends and no byte order mark. What is written must have the line ends, the mark, the encoding, and even the bytes
that are no UTF-8, which the author's file has: so the text that was read is never written back, only what was changed in it.
"""

import codecs
from bisect import bisect_left
from collections.abc import Iterable
from dataclasses import dataclass
from typing import NamedTuple

_UTF16 = ((codecs.BOM_UTF16_LE, "utf-16-le"), (codecs.BOM_UTF16_BE, "utf-16-be"))
_UNREADABLE = {0: "\N{REPLACEMENT CHARACTER}"} | dict.fromkeys(range(0xDC80, 0xDD00), "\N{REPLACEMENT CHARACTER}")


class Edit(NamedTuple):
    """Characters of a text, from `start` to before `end`, with what comes in their place; none of them: an insertion."""

    start: int
    end: int
    new: str


@dataclass(frozen=True, slots=True)
class BytePreservingText:
    """`text` is what is parsed: one character for each of the file's, but for `\\r\\n`, which is one."""

    text: str
    _written: str
    _doubled: tuple[int, ...]
    _mark: bytes
    _encoding: str

    @classmethod
    def of(cls, raw: bytes) -> "BytePreservingText":
        """Raises ValueError for what begins as UTF-16 and is none."""
        mark, encoding = next((each for each in _UTF16 if raw.startswith(each[0])), (b"", "utf-8"))
        if encoding == "utf-8":
            mark = codecs.BOM_UTF8 if raw.startswith(codecs.BOM_UTF8) else b""
            written = raw[len(mark) :].decode(encoding, "surrogateescape")
        else:
            written = raw[len(mark) :].decode(encoding)
        doubled: list[int] = []
        at = written.find("\r\n")
        while at >= 0:
            doubled.append(at - len(doubled))
            at = written.find("\r\n", at + 2)
        text = written.replace("\r\n", "\n").replace("\r", "\n")
        return cls(text if text.isascii() and "\0" not in text else text.translate(_UNREADABLE), written, tuple(doubled), mark, encoding)

    @property
    def line_end(self) -> str:
        """How the file ends its first line; `\\n` where it has but one."""
        end = self.text.find("\n")
        return "\n" if end < 0 else "\r\n" if self._doubled[:1] == (end,) else self._written[end]

    def edited(self, edits: Iterable[Edit]) -> bytes:
        """The file's bytes with these edits, which do not overlap, made in `text`."""
        pieces: list[str] = []
        at = 0
        for edit in sorted(edits):
            pieces += [self._written[at : self._place(edit.start)], edit.new.replace("\n", self.line_end)]
            at = self._place(edit.end)
        pieces.append(self._written[at:])
        return self._mark + "".join(pieces).encode(self._encoding, "surrogateescape" if self._encoding == "utf-8" else "strict")

    def _place(self, at: int) -> int:
        """Where in the file's own text the character `at` of `text` stands."""
        return at + bisect_left(self._doubled, at)
