"""What the bytes of a picture say: its format and its size in pixels, and whether they are whole.

Pure. Only headers and the structure are read, so that no library for pictures is needed; whether
the pixels can be decoded is the server's business.
"""

import zlib
from collections.abc import Callable, Iterator
from typing import NamedTuple

from zkchat_cli.models.images import MediaType

_PNG = b"\x89PNG\r\n\x1a\n"
_JPEG = b"\xff\xd8\xff"
_GIF = (b"GIF87a", b"GIF89a")
# Bytes of a PNG chunk besides its data: length, type and checksum
_PNG_FRAME = 12
_JPEG_END = b"\xff\xd9"
# Markers of a JPEG that are followed by no length: a restart, the start, and padding
_BARE_MARKERS = frozenset({0x01, *range(0xD0, 0xD9), 0xFF})
# Markers that begin a frame, which has the size; 0xC4, 0xC8 and 0xCC are tables
_FRAME_MARKERS = frozenset(range(0xC0, 0xD0)) - {0xC4, 0xC8, 0xCC}
# Formats by their first bytes, or by the brand of an ISO media file, that models do not take
_OTHER_FORMATS = {b"BM": "BMP", b"II*\0": "TIFF", b"MM\0*": "TIFF", b"\0\0\1\0": "ICO"}
_BRANDS = {b"heic": "HEIC", b"heix": "HEIC", b"mif1": "HEIC", b"avif": "AVIF"}
ENDS_EARLY = "it ends before its last part"
NO_SIZE = "it has no size"


class ImageHeader(NamedTuple):
    """The format of a picture, and its size in pixels."""

    media_type: MediaType
    width: int
    height: int


def read_header(data: bytes) -> ImageHeader:
    """The header of a whole picture. Raises ValueError with what is wrong, to continue "it is
    damaged:" or "it cannot be sent:".
    """
    for matches, read in _READERS:
        if matches(data):
            header = read(data)
            if not (header.width and header.height):
                raise ValueError(NO_SIZE)
            return header
    raise ValueError("it is not a PNG, JPEG, GIF or WebP picture")


def other_format(data: bytes) -> str | None:
    """The name of a format that models do not take; None for any other data."""
    if data[4:8] == b"ftyp":
        return _BRANDS.get(data[8:12])
    for beginning, name in _OTHER_FORMATS.items():
        if data.startswith(beginning):
            return name
    return None


def _read_png(data: bytes) -> ImageHeader:
    chunks = _png_chunks(data)
    kind, first = next(chunks)
    if kind != b"IHDR" or len(first) < 8:
        raise ValueError("it does not begin with its size")
    width = int.from_bytes(first[:4])
    height = int.from_bytes(first[4:8])
    for kind, _ in chunks:
        if kind == b"IEND":
            return ImageHeader("image/png", width, height)
    raise ValueError(ENDS_EARLY)


def _png_chunks(data: bytes) -> Iterator[tuple[bytes, bytes]]:
    """The types and data of the chunks. Raises ValueError for a wrong checksum."""
    position = len(_PNG)
    while True:
        length = int.from_bytes(data[position : position + 4])
        end = position + length + _PNG_FRAME
        if end > len(data):
            raise ValueError(ENDS_EARLY)
        content = data[position + 4 : end - 4]
        if zlib.crc32(content) != int.from_bytes(data[end - 4 : end]):
            raise ValueError("a part of it has changed since it was written")
        yield content[:4], content[4:]
        position = end


def _read_jpeg(data: bytes) -> ImageHeader:
    position = 2
    while position + 4 <= len(data):
        if data[position] != 0xFF:
            raise ValueError("its parts do not follow each other")
        marker = data[position + 1]
        if marker in _BARE_MARKERS:
            position += 1 if marker == 0xFF else 2
            continue
        if marker in _FRAME_MARKERS:
            height = int.from_bytes(data[position + 5 : position + 7])
            width = int.from_bytes(data[position + 7 : position + 9])
            if data.rfind(_JPEG_END, position) < 0:
                raise ValueError(ENDS_EARLY)
            return ImageHeader("image/jpeg", width, height)
        position += 2 + int.from_bytes(data[position + 2 : position + 4])
    raise ValueError(ENDS_EARLY)


def _read_gif(data: bytes) -> ImageHeader:
    if not data.rstrip(b"\0").endswith(b";"):
        raise ValueError(ENDS_EARLY)
    width = int.from_bytes(data[6:8], "little")
    height = int.from_bytes(data[8:10], "little")
    return ImageHeader("image/gif", width, height)


def _read_webp(data: bytes) -> ImageHeader:
    size = int.from_bytes(data[4:8], "little")
    # The header of the file, and that of the first part with its size
    if len(data) < max(size + 8, 30):
        raise ValueError(ENDS_EARLY)
    match data[12:16]:
        case b"VP8X":
            width = 1 + int.from_bytes(data[24:27], "little")
            height = 1 + int.from_bytes(data[27:30], "little")
        case b"VP8L":
            bits = int.from_bytes(data[21:25], "little")
            width = 1 + (bits & 0x3FFF)
            height = 1 + (bits >> 14 & 0x3FFF)
        case b"VP8 ":
            width = int.from_bytes(data[26:28], "little") & 0x3FFF
            height = int.from_bytes(data[28:30], "little") & 0x3FFF
        case _:
            raise ValueError(NO_SIZE)
    return ImageHeader("image/webp", width, height)


def _is_png(data: bytes) -> bool:
    return data.startswith(_PNG)


def _is_jpeg(data: bytes) -> bool:
    return data.startswith(_JPEG)


def _is_gif(data: bytes) -> bool:
    return data.startswith(_GIF)


def _is_webp(data: bytes) -> bool:
    return data[:4] == b"RIFF" and data[8:12] == b"WEBP"


_READERS: tuple[tuple[Callable[[bytes], bool], Callable[[bytes], ImageHeader]], ...] = (
    (_is_png, _read_png),
    (_is_jpeg, _read_jpeg),
    (_is_gif, _read_gif),
    (_is_webp, _read_webp),
)
