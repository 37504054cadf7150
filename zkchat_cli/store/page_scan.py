"""The rows of a damaged SQLite file, read from its pages, whatever its header, its schema and its trees say.

A row is a cell of a leaf page: a row number and the columns, which say their types and lengths (https://sqlite.org/fileformat2.html).
Deleted rows are not found: the store fills them with zeros. A damaged row may be found; its checksum tells.
"""

import struct
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from zkchat_cli.fileio import read_file

PAGE = 4096
"""Bytes: SQLite's default, which every store has."""
MAX_BYTES = 1 << 34
_LEAF = 0x0D
_LOG_HEADER, _FRAME_HEADER = 32, 24
_INTEGER_SIZES = {1: 1, 2: 2, 3: 3, 4: 4, 5: 6, 6: 8}


def read_rows(file: Path, log: Path) -> Iterator[tuple[int, tuple[Any, ...]]]:
    """Number and columns of each row in any table; `log` is the file's -wal file. Raises OSError."""
    pages = _read_pages(file, log)
    for number, page in pages.items():
        header = 100 if number == 1 else 0
        if page[header] != _LEAF:
            continue
        [cells] = struct.unpack_from(">H", page, header + 3)
        for cell in range(min(cells, (PAGE - header - 8) // 2)):
            try:
                [start] = struct.unpack_from(">H", page, header + 8 + 2 * cell)
                yield _read_cell(pages, page, start)
            except (LookupError, ValueError, struct.error):  # damaged
                continue


def _read_pages(file: Path, log: Path) -> dict[int, bytes]:
    """The pages by number, as of the last transaction in the log."""
    raw = read_file(file, MAX_BYTES)
    pages = {number: raw[start : start + PAGE] for number, start in enumerate(range(0, len(raw) - PAGE + 1, PAGE), 1)}
    frames = read_file(log, MAX_BYTES) if log.exists() else b""
    salt, uncommitted = frames[16:24], dict[int, bytes]()
    for start in range(_LOG_HEADER, len(frames) - _FRAME_HEADER - PAGE + 1, _FRAME_HEADER + PAGE):
        number, size = struct.unpack_from(">II", frames, start)
        if frames[start + 8 : start + 16] != salt:  # of an earlier log
            break
        uncommitted[number] = frames[start + _FRAME_HEADER : start + _FRAME_HEADER + PAGE]
        if size:  # the last page of a transaction
            pages |= uncommitted
            uncommitted = {}
    return pages


def _read_cell(pages: Mapping[int, bytes], page: bytes, start: int) -> tuple[int, tuple[Any, ...]]:
    size, start = _read_varint(page, start)
    number, start = _read_varint(page, start)
    most, least = PAGE - 35, (PAGE - 12) * 32 // 255 - 23
    here = least + (size - least) % (PAGE - 4)
    here = size if size <= most else here if here <= most else least
    payload = page[start : start + here]
    overflow = page[start + here : start + here + 4]
    while len(payload) < size:
        next_page = pages[int.from_bytes(overflow)]
        payload, overflow = payload + next_page[4 : 4 + size - len(payload)], next_page[:4]
    return number, tuple(_read_columns(payload))


def _read_columns(payload: bytes) -> Iterator[Any]:
    body, at = _read_varint(payload, 0)
    end = body
    while at < end:
        kind, at = _read_varint(payload, at)
        size = _INTEGER_SIZES.get(kind, 8 if kind == 7 else max(0, kind - 12) // 2)
        value = payload[body : body + size]
        if len(value) < size:
            raise ValueError("the row is cut")
        body += size
        if kind in _INTEGER_SIZES:
            yield int.from_bytes(value, signed=True)
        elif kind == 7:
            yield struct.unpack(">d", value)[0]
        elif kind >= 12:
            yield value.decode("utf-8", "replace") if kind % 2 else value
        else:
            yield {8: 0, 9: 1}.get(kind)


def _read_varint(raw: bytes, at: int) -> tuple[int, int]:
    """A number of one to nine bytes, and where the next one begins."""
    value = 0
    for i in range(8):
        value = value << 7 | raw[at + i] & 0x7F
        if raw[at + i] < 0x80:
            return value, at + i + 1
    return value << 8 | raw[at + 8], at + 9
