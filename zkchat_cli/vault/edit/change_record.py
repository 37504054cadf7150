"""A change of notes as it is recorded while it is made: JSON lines, the first with what the change
is, the others with a file each.
"""

import json
from pathlib import Path
from typing import NamedTuple

from zkchat_cli.fileio import SCRATCH_PREFIX, read_file
from zkchat_cli.text.truncate import truncate
from zkchat_cli.vault.edit.transaction import FileChange

# The copy in the vault
VAULT_RECORD = f"{SCRATCH_PREFIX}change.jsonl"
# Bytes of a record
MAX_RECORD = 100_000_000
# Characters of a summary in a record
LONGEST_SUMMARY = 1000


class ChangeRecord(NamedTuple):
    """A change as it was recorded. `in_vault`: a copy with the same id was put into the vault."""

    id: str
    summary: str
    in_vault: bool
    files: tuple[FileChange, ...]


class RecordHeader(NamedTuple):
    """The first line of a record, with the number of its files."""

    id: str
    summary: str
    in_vault: bool
    files: int


def parse_header(line: bytes) -> RecordHeader | None:
    """The header of a record; None if it is not complete, or something else."""
    try:
        header = RecordHeader(**json.loads(line))
    except (ValueError, TypeError, RecursionError):
        return None
    is_valid = isinstance(header.id, str) and isinstance(header.summary, str)
    return header if is_valid and isinstance(header.files, int) else None


def record_lines(record: ChangeRecord) -> bytes:
    """A record as JSON lines: the first says what the change is, the others have a file each."""
    header = {
        "id": record.id,
        "summary": truncate(record.summary, LONGEST_SUMMARY),
        "in_vault": record.in_vault,
        "files": len(record.files),
    }
    lines: list[object] = [header]
    for file in record.files:
        texts = {"before": file.before.decode(), "after": file.after.decode()}
        lines.append({"path": file.path, "new_path": file.new_path, **texts})
    return "".join(f"{json.dumps(line)}\n" for line in lines).encode()


def read_record(file: Path) -> ChangeRecord | None:
    """A record with all its files; None if it is not complete, or something else. Raises
    OSError.
    """
    first, *lines = read_file(file, MAX_RECORD).split(b"\n")
    header = parse_header(first)
    if header is None:
        return None
    try:
        files = tuple(_parse_file(line) for line in lines if line)
    except (ValueError, TypeError, LookupError, AttributeError, RecursionError):
        return None
    if len(files) != header.files:
        return None
    return ChangeRecord(header.id, header.summary, header.in_vault is True, files)


def _parse_file(line: bytes) -> FileChange:
    """A file of a record. Raises ValueError, TypeError, LookupError or AttributeError for
    anything else.
    """
    fields = json.loads(line)
    path = fields["path"]
    new_path = fields["new_path"]
    if not isinstance(new_path, str) or not isinstance(path, str | None):
        raise TypeError("a path is a text")
    return FileChange(path, new_path, fields["before"].encode(), fields["after"].encode())
