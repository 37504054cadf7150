"""`json`: the whole conversation, every branch, summary and past prompt, without loss; `context import` reads it again.

What was said is indented for people. The prompts of past calls are told in numbers, and each piece, tool and call of them has a line.
"""

import json
from collections.abc import Iterator, Sequence
from typing import Any

from zkchat_cli.exporters.base import Exporter
from zkchat_cli.models import ArchivedPrompts, ConversationArchive, Value

_END = b"\n}"


def export(archive: ConversationArchive) -> str:
    said = _json(archive, indent=2, exclude={"prompts"})
    prompts = _prompts(archive.prompts) if archive.prompts else [b"null"]
    parts = (memoryview(said)[: -len(_END)], b',\n  "prompts": ', *prompts, _END, b"\n")  # of some 50 MB, which are not copied for this
    return b"".join(parts).decode("utf-8", "surrogatepass")


def _prompts(prompts: ArchivedPrompts) -> Iterator[bytes]:
    lists: dict[bytes, Sequence[Value]] = {b"pieces": prompts.pieces, b"tools": prompts.tools, b"calls": prompts.calls}
    sign = b"{"
    for name, values in lists.items():
        yield sign + b'\n    "' + name + b'": ['
        yield b",".join(b"\n      " + _json(value, exclude_defaults=True) for value in values)
        yield b"\n    ]" if values else b"]"
        sign = b","
    yield b"\n  }"


def _json(value: Value, *, indent: int | None = None, **how: Any) -> bytes:
    try:
        # `model_dump_json` without a copy of it as text; a fifth of the time that Python's own encoder takes to indent
        return value.__pydantic_serializer__.to_json(value, indent=indent, **how)
    except ValueError:  # a lone surrogate, which no UTF-8 holds; what comes out of a store has none
        separators = None if indent else (",", ":")
        text = json.dumps(value.model_dump(mode="json", **how), indent=indent, separators=separators, ensure_ascii=False)
        return text.encode("utf-8", "surrogatepass")


EXPORTER = Exporter(name="json", suffix=".json", help="everything, lossless; can be imported again", export=export, prompts=True)
