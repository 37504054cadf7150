"""How documents and damaged columns are written and read: JSON, compression and checksums."""

import json
import zlib
from typing import Any

from pydantic_core import from_json, to_json

from zkchat_cli.text.words import replace_surrogates

UNREADABLE = (ValueError, LookupError, TypeError, AttributeError, ArithmeticError, RecursionError)
"""What reading a damaged row may raise: any column may hold anything."""
# Bytes of JSON
MIN_COMPRESSED = 300
_NOT_COMPRESSED = 0
_FASTEST = 1


def encode(document: object) -> bytes:
    """Compact JSON. pydantic's writer takes a fifth of the time of json's, but refuses lone
    surrogates.
    """
    try:
        return to_json(document)
    except ValueError:
        text = json.dumps(document, ensure_ascii=False, separators=(",", ":"))
        return replace_surrogates(text).encode()


def decode(document: str | bytes) -> Any:
    """The value of a JSON text. Raises ValueError. pydantic's parser is faster, json's allows
    deeper nesting.
    """
    try:
        return from_json(document)
    except ValueError:
        return json.loads(document)


def compress(document: dict[str, Any]) -> bytes:
    """A document in zlib's format, which has a checksum. A short one is not compressed, because
    half of the time of an export is decompressing.
    """
    encoded = encode(document)
    level = _NOT_COMPRESSED if len(encoded) < MIN_COMPRESSED else _FASTEST
    return zlib.compress(encoded, level)


def decompress(body: bytes) -> Any:
    """The document that `compress` wrote. Raises ValueError if it is damaged."""
    try:
        return decode(zlib.decompress(body))
    except zlib.error as e:
        raise ValueError(f"a compressed column is damaged: {e}") from e


def decode_leniently(text: bytes) -> str:
    """The `text_factory` of a store's connections, because SQLite's own refuses damaged text. It
    costs 0.1 µs for each text.
    """
    return text.decode("utf-8", "replace")


def checksum(blob: bytes | None, *texts: str | None) -> int:
    """CRC-32 of stored columns, also of damaged ones of any type. It finds damage, not forgery."""
    start = zlib.crc32(blob) if isinstance(blob, bytes) else 0
    return zlib.crc32("\0".join([str(text or "") for text in texts]).encode(), start)
