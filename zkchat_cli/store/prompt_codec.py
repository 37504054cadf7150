"""Prompts made small: a piece of one (a message, a tool) says what the log does not, a list of pieces what the list before does not.

A prompt repeats the whole conversation, so prompts kept word for word would take room that grows with its square. Most of a prompt's
text stands in the log already, whose words never change: a packed message names places in them. And most of its pieces were in the prompt
before, in the same order: a packed list names runs of them. What is unpacked is the same, to the byte.
"""

import json
import re
import zlib
from bisect import bisect_right
from collections.abc import Callable, Iterator, Mapping, Sequence
from hashlib import blake2b
from itertools import accumulate
from typing import Any

from pydantic_core import from_json, to_json

from zkchat_cli.models import PromptMessage, PromptTool, Value

Logged = tuple[int | None, str]
"""What a message of a prompt was made from: its number in the log, if it is one, and its words."""

ANCHOR = 24
"""Characters from which on a place in the log is shorter than the words."""
MOST_READ = 6_000_000
"""Characters of its sources that are read for one message: a prompt that quotes hundreds of large ones is packed less well, not slowly."""
_A_LOOK = 250
"""What looking costs besides, in characters read."""
_APART = "\ud800"
"""Between the words of two sources, while they are looked through: it stands in none, as it cannot be stored."""
_SPEAKER = (": ", "[…] ")
"""What recall writes before the words of a message."""

_COMMON = (
    b'{"system_tokens":,"tool_tokens":,"message_tokens":,"total_tokens":,"available_tokens":,"max_context":,"effective_limit":,'
    b'"estimated":true,"estimated":false,"message_breakdown":{"summary":,"memory":,"documents":,"tool_results":,"conversation":},'
    b'"budget_status":{"system":{"used":,"budget":,"percentage":},"tools":{"used":,"budget":,"percentage":},"messages":{"used":,'
    b'"budget":,"percentage":}},"compaction":{"due":false,"at":},"window_source":"the default, as nothing says how large the model\'s is",'
    b'"components":{"content":,"tools":,"tool_calls":,"reasoning":,"overhead":},"calibration":1.0}{"model":"offline","strategy":"hybrid",'
    b'"pieces":[],"tools":[],"usage":{"prompt_tokens":,"completion_tokens":,"estimated":true},"figures":{"dropped":[{"id":"tool:","reason":"'
    b'{"at":,"content":"<recalled-conversation>\\nSaid earlier in this conversation; quoted because it may bear on the message below. '
    b'marks what is left out.\\n</recalled-conversation>","tool_call_id":"call-","call_tokens":,"kind":"memory","kind":"summary",'
    b'"kind":"documents",{"at":,"content":[[0,0,],"\\nassistant: ","\\nuser: ","role":"assistant","tool_calls":[{"id":"","name":'
    b'"find_excerpts","arguments":{"query":""}}],"kind":"tool_results","role":"tool","kind":"conversation","source_ids":[],"tokens":,"role":"user"}'
)
"""What packed texts have in common, so that none has to say it. It is part of the format: it never changes."""


_SURROGATE = re.compile("[\ud800-\udfff]")


def storable(text: str) -> str:
    """`text` with U+FFFD for each lone surrogate, which no UTF-8 file can hold."""
    try:
        text.encode()  # a hundred times as fast as to look for one, and next to never in vain
    except UnicodeEncodeError:
        return _SURROGATE.sub("\ufffd", text)
    return text


def encoded(document: object) -> bytes:
    """JSON without a blank. By pydantic's writer, which takes a fifth of the time; json's takes what that refuses: lone surrogates."""
    try:
        return to_json(document)
    except ValueError:
        return storable(json.dumps(document, ensure_ascii=False, separators=(",", ":"))).encode()


def packed(document: object) -> bytes:
    deflate = zlib.compressobj(6, zlib.DEFLATED, -15, zdict=_COMMON)
    return deflate.compress(encoded(document)) + deflate.flush()


def unpacked(body: bytes) -> Any:
    """Raises ValueError for what is not packed."""
    try:
        return decoded(zlib.decompressobj(-15, zdict=_COMMON).decompress(body))
    except zlib.error as e:
        raise ValueError(f"a piece of a prompt cannot be unpacked: {e}") from e


def decoded(document: str | bytes) -> Any:
    """JSON by pydantic's parser, which saves a fifth of the time; json's goes deeper, to all that could be written."""
    try:
        return from_json(document)
    except ValueError:
        return json.loads(document)


def pack_message(message: PromptMessage, at: int, log: Mapping[str, Logged | None]) -> bytes:
    """`log` has the messages it was made from. `at` is a message's number near theirs, from which theirs are counted."""
    found = [(id_, log[id_]) for id_ in message.source_ids]
    contents = [logged[1] for _, logged in found if logged is not None]
    if not contents:
        return packed(dumped(message))
    sources = [id_ if logged is None or logged[0] is None else at - logged[0] for id_, logged in found]
    return pack_placed(message, at, sources, list(_places(storable(message.content), contents)))


def pack_placed(message: PromptMessage, at: int, sources: Sequence[int | str], content: Sequence[str | tuple[int, int, int]]) -> bytes:
    """What `pack_message` makes, where it is known already in which places the words stand."""
    return packed(dumped(message) | {"at": at, "source_ids": sources, "content": content})


def unpack_message(body: bytes, log: Callable[[int | str], tuple[str, str | None]]) -> PromptMessage:
    """`log` tells id and words by the number in the log, or by the id of what has none. Raises ValueError."""
    document = unpacked(body)
    if "at" in document:
        at = document.pop("at")
        sources = [log(at - each if isinstance(each, int) else each) for each in document["source_ids"]]
        contents = [content for _, content in sources if content is not None]
        document["source_ids"] = [id_ for id_, _ in sources]
        document["content"] = "".join(
            part if isinstance(part, str) else contents[part[0]][part[1] : part[1] + part[2]] for part in document["content"]
        )
    return PromptMessage.model_validate(document)


def fingerprint(piece: PromptMessage | PromptTool) -> bytes:
    """The hash by which a piece is found again: of all that it says."""
    return blake2b(encoded(dumped(piece)), digest_size=16).digest()


def dumped(piece: PromptMessage | PromptTool | Value) -> dict[str, Any]:
    return piece.model_dump(mode="json", exclude_defaults=True)


def _places(text: str, sources: Sequence[str]) -> Iterator[str | tuple[int, int, int]]:
    """`text` as a row of words and of places (source, start, length) that hold the words."""
    head = _shared(text, sources[0])
    tail = _shared(text[head:][::-1], sources[0][::-1]) if head < len(text) else 0
    if head + tail == len(text) or head >= ANCHOR:  # as it was said, cut short, or with its middle left out
        yield 0, 0, head
        if head + tail < len(text):
            yield text[head : len(text) - tail]
        if tail:
            yield 0, len(sources[0]) - tail, tail
        return
    yield from _quoted(text, sources)


def _quoted(text: str, sources: Sequence[str]) -> Iterator[str | tuple[int, int, int]]:
    """The same for a text whose lines quote several messages, most often in their order."""
    log = _APART.join(sources)[:MOST_READ]
    starts = [0, *accumulate(len(source) + len(_APART) for source in sources)][:-1]
    said = line = nearest = 0
    left = MOST_READ
    while line < len(text) and left > 0:
        left -= _A_LOOK
        for start in _beginnings(text, line):
            left -= _A_LOOK + len(log)
            anchor = text[start : start + ANCHOR]
            at = log.find(anchor, nearest)
            at = log.find(anchor, 0, nearest + ANCHOR) if at < 0 else at
            if at >= 0:
                source = bisect_right(starts, at) - 1
                where = at - starts[source]
                while where and start > said and text[start - 1] == sources[source][where - 1]:  # the mark is theirs
                    start, where = start - 1, where - 1
                length = _shared(text[start:], sources[source][where : where + len(text) - start])
                if said < start:
                    yield text[said:start]
                yield source, where, length
                nearest, said = starts[source], start + length
                line = said
                break
        line = (text.find("\n", line) + 1) or len(text)
    if said < len(text):
        yield text[said:]


def _beginnings(text: str, line: int) -> Iterator[int]:
    """Where in the line that begins at `line` the words of a message may begin, if enough of them follow: most often behind a mark."""
    for mark in _SPEAKER:
        place = text.find(mark, line, line + ANCHOR)
        if 0 <= place <= len(text) - ANCHOR - len(mark):
            yield place + len(mark)
    if line <= len(text) - ANCHOR:
        yield line


def _shared(one: str, other: str) -> int:
    """How many characters both begin with."""
    low, high = 0, min(len(one), len(other))
    if one[:high] == other[:high]:
        return high
    while low < high:
        middle = (low + high + 1) // 2
        if one[low:middle] == other[low:middle]:
            low = middle
        else:
            high = middle - 1
    return low


def difference(before: Sequence[int], now: Sequence[int]) -> list[int]:
    """`now` as runs, three numbers each: 0, a place in `before`, a length; or 1, a number, and how many count up from it."""
    places = {piece: place for place, piece in enumerate(before)}
    runs: list[int] = []
    i = 0
    while i < len(now):
        place = places.get(now[i])
        length = 1
        if place is not None:
            while i + length < len(now) and place + length < len(before) and now[i + length] == before[place + length]:
                length += 1
            runs += (0, place, length)
        else:
            while i + length < len(now) and now[i + length] == now[i] + length and now[i + length] not in places:
                length += 1
            runs += (1, now[i], length)
        i += length
    return runs


def applied(before: Sequence[int], runs: Sequence[int]) -> list[int]:
    """The list of which `difference` made the runs."""
    now: list[int] = []
    for kind, start, length in zip(runs[::3], runs[1::3], runs[2::3], strict=True):
        now += before[start : start + length] if kind == 0 else range(start, start + length)
    return now
