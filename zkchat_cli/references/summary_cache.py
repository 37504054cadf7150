"""The summaries of notes that a model has written, in a file beside the index, and what they cost.

A summary is found by a hash of the note's text, so a changed note needs another one, and a renamed
one none. Each process appends to the file and reads what others have appended.
"""

import json
import os
from collections.abc import Iterable
from contextlib import suppress
from hashlib import blake2b
from pathlib import Path
from threading import Lock
from typing import NamedTuple

from zkchat_cli.fileio import atomic_write, make_private_folder, read_file
from zkchat_cli.models.messages import TokenUsage, sum_usage

# Records that are kept; the file is written anew when it has a tenth more
MOST_RECORDS = 5000
REWRITTEN_AT = 1.1
MAX_BYTES = 20_000_000
# Calls for one text without a usable answer, after which there are no more
MOST_FAILURES = 2


class WrittenSummary(NamedTuple):
    """What calls of a model have given for the text with this `key`: a summary, or a `problem`.

    A record without a key has the cost of older ones.
    """

    key: str
    text: str = ""
    problem: str = ""
    usage: TokenUsage = TokenUsage(prompt_tokens=0, completion_tokens=0)
    calls: int = 1


class SummaryCost(NamedTuple):
    """The calls for summaries of the notes of a vault, and their tokens."""

    calls: int
    usage: TokenUsage


class _FileStamp(NamedTuple):
    """Tells whether the file has changed."""

    changed_at: int
    size: int


def summary_key(title: str, text: str) -> str:
    """The key of a note's text."""
    return blake2b(f"{title}\n{text}".encode(errors="replace"), digest_size=16).hexdigest()


class SummaryCache:
    """The records of one vault, in a `file` or in memory (None). Any thread may use it."""

    def __init__(self, file: Path | None = None) -> None:
        self._file = file
        self._lock = Lock()
        self._records: list[WrittenSummary] = []
        self._texts: dict[str, str] = {}
        self._failures: dict[str, int] = {}
        self._stamp: _FileStamp | None = None

    def find(self, key: str) -> str | None:
        """The summary of a text; None if there is none."""
        with self._lock:
            self._read_changes()
            return self._texts.get(key)

    def needs(self, key: str) -> bool:
        """Whether a model should be called for a text: it has no summary, and there were not too
        many useless answers.
        """
        with self._lock:
            self._read_changes()
            return key not in self._texts and self._failures.get(key, 0) < MOST_FAILURES

    @property
    def cost(self) -> SummaryCost:
        """What all calls took, those of other processes included."""
        with self._lock:
            self._read_changes()
            calls = sum(record.calls for record in self._records)
            return SummaryCost(calls, sum_usage(record.usage for record in self._records))

    def add(self, record: WrittenSummary) -> None:
        """Add a record. Raises OSError if the file cannot be written; it counts in this process
        all the same.
        """
        with self._lock:
            self._read_changes()
            self._take(record)
            is_full = len(self._records) > MOST_RECORDS * REWRITTEN_AT
            if is_full:
                self._use(_without_oldest(self._records))
            if self._file is None:
                return
            if is_full:
                lines = "".join(map(_line, self._records))
                atomic_write(self._file, lines, private=True)
            else:
                make_private_folder(self._file.parent)
                flags = os.O_WRONLY | os.O_APPEND | os.O_CREAT
                with os.fdopen(os.open(self._file, flags, 0o600), "a", encoding="utf-8") as out:
                    out.write(_line(record))
            self._stamp = self._current_stamp()

    def _read_changes(self) -> None:
        """Read the file again if another process has changed it."""
        stamp = self._current_stamp()
        if self._file is None or stamp == self._stamp:
            return
        self._stamp = stamp
        records: list[WrittenSummary] = []
        # A file that cannot be read costs nothing but calls
        with suppress(OSError):
            text = read_file(self._file, MAX_BYTES).decode("utf-8", "replace")
            for line in text.splitlines():
                # A process may be writing the last line, or it was killed
                with suppress(ValueError, KeyError, TypeError):
                    records.append(_parse_line(line))
        self._use(records)

    def _current_stamp(self) -> _FileStamp | None:
        if self._file is None:
            return None
        with suppress(OSError):
            found = self._file.stat()
            return _FileStamp(found.st_mtime_ns, found.st_size)
        return None

    def _use(self, records: list[WrittenSummary]) -> None:
        self._records = []
        self._texts = {}
        self._failures = {}
        for record in records:
            self._take(record)

    def _take(self, record: WrittenSummary) -> None:
        self._records.append(record)
        if record.text:
            self._texts[record.key] = record.text
        if record.problem:
            self._failures[record.key] = self._failures.get(record.key, 0) + 1


def _without_oldest(records: list[WrittenSummary]) -> list[WrittenSummary]:
    """The newest records, after one with the cost of the others."""
    older = records[:-MOST_RECORDS]
    calls = sum(record.calls for record in older)
    cost = WrittenSummary("", usage=sum_usage(record.usage for record in older), calls=calls)
    return [cost, *records[-MOST_RECORDS:]]


def _line(record: WrittenSummary) -> str:
    document = {**record._asdict(), "usage": record.usage.model_dump(mode="json")}
    return json.dumps(document, ensure_ascii=False) + "\n"


def _parse_line(line: str) -> WrittenSummary:
    """The record of a line. Raises ValueError, KeyError or TypeError."""
    document = json.loads(line)
    texts: Iterable[object] = (document["key"], document["text"], document["problem"])
    if not all(isinstance(text, str) for text in texts) or not isinstance(document["calls"], int):
        raise ValueError(line)
    return WrittenSummary(**{**document, "usage": TokenUsage.model_validate(document["usage"])})
