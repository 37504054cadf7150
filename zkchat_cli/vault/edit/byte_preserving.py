"""A file's bytes as parsed text, and back with some places edited and every other byte unchanged.

The parser reads `\\n` line ends and no byte order mark. The file keeps its own line ends, mark, encoding and even invalid bytes: the parsed
text is never written back, only the edits are.
"""

import codecs
from bisect import bisect_left
from collections.abc import Iterable
from dataclasses import dataclass
from typing import NamedTuple

_UTF16 = ((codecs.BOM_UTF16_LE, "utf-16-le"), (codecs.BOM_UTF16_BE, "utf-16-be"))
_REPLACEMENTS = {0: "\N{REPLACEMENT CHARACTER}"} | dict.fromkeys(range(0xDC80, 0xDD00), "\N{REPLACEMENT CHARACTER}")


class Edit(NamedTuple):
    """Replace the characters from `start` to before `end`; equal numbers insert."""

    start: int
    end: int
    new: str


@dataclass(frozen=True, slots=True)
class BytePreservingText:
    """`text` is what the parser reads. It has one character for each of `_original`, except `\\r\\n`, which is one."""

    text: str
    _original: str
    _crlf: tuple[int, ...]
    """Where in `text` a `\\n` is `\\r\\n` in the file."""
    _mark: bytes
    _encoding: str

    @classmethod
    def of(cls, raw: bytes) -> "BytePreservingText":
        """Raises ValueError for bytes that begin like UTF-16 and are not."""
        mark, encoding = next((each for each in _UTF16 if raw.startswith(each[0])), (b"", "utf-8"))
        if encoding == "utf-8" and raw.startswith(codecs.BOM_UTF8):
            mark = codecs.BOM_UTF8
        original = raw[len(mark) :].decode(encoding, "surrogateescape" if encoding == "utf-8" else "strict")
        crlf: list[int] = []
        at = original.find("\r\n")
        while at >= 0:
            crlf.append(at - len(crlf))
            at = original.find("\r\n", at + 2)
        text = original.replace("\r\n", "\n").replace("\r", "\n")
        return cls(text if text.isascii() and "\0" not in text else text.translate(_REPLACEMENTS), original, tuple(crlf), mark, encoding)

    @property
    def line_end(self) -> str:
        """The file's first line end; `\\n` if it has none."""
        end = self.text.find("\n")
        return "\n" if end < 0 else "\r\n" if self._crlf[:1] == (end,) else self._original[end]

    def apply(self, edits: Iterable[Edit]) -> bytes:
        """The file's bytes after edits of `text` that do not overlap."""
        parts: list[str] = []
        at = 0
        for edit in sorted(edits):
            parts += [self._original[at : self._original_position(edit.start)], edit.new.replace("\n", self.line_end)]
            at = self._original_position(edit.end)
        parts.append(self._original[at:])
        return self._mark + "".join(parts).encode(self._encoding, "surrogateescape" if self._encoding == "utf-8" else "strict")

    def _original_position(self, position: int) -> int:
        return position + bisect_left(self._crlf, position)
