"""Pictures of every format for tests, made without a library for pictures."""

import struct
import zlib


def png(width: int = 64, height: int = 48, gray: int = 120) -> bytes:
    """A gray PNG."""
    rows = (b"\0" + bytes([gray]) * width) * height
    header = struct.pack(">IIBBBBB", width, height, 8, 0, 0, 0, 0)
    return (
        b"\x89PNG\r\n\x1a\n"
        + _png_chunk(b"IHDR", header)
        + _png_chunk(b"IDAT", zlib.compress(rows))
        + _png_chunk(b"IEND", b"")
    )


def _png_chunk(kind: bytes, data: bytes) -> bytes:
    checksum = zlib.crc32(kind + data)
    return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", checksum)


def jpeg(width: int = 64, height: int = 48) -> bytes:
    """The structure of a JPEG: a comment, a frame with the size, a scan and an end."""
    comment = b"\xff\xfe" + struct.pack(">H", 6) + b"note"
    frame = b"\xff\xc0" + struct.pack(">HBHHB", 11, 8, height, width, 1) + b"\x01\x11\x00"
    scan = b"\xff\xda" + struct.pack(">H", 8) + b"\x01\x01\x00\x00\x3f\x00" + b"\x2a" * 20
    return b"\xff\xd8" + comment + frame + scan + b"\xff\xd9"


def gif(width: int = 64, height: int = 48) -> bytes:
    """The structure of a GIF."""
    return b"GIF89a" + struct.pack("<HHBBB", width, height, 0, 0, 0) + b"\x2c" * 20 + b";"


def webp(width: int = 64, height: int = 48) -> bytes:
    """The structure of a lossy WebP."""
    frame = b"\x30\x01\x00\x9d\x01\x2a" + struct.pack("<HH", width, height) + b"\0" * 20
    part = b"VP8 " + struct.pack("<I", len(frame)) + frame
    return b"RIFF" + struct.pack("<I", len(part) + 4) + b"WEBP" + part
