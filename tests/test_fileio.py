"""`atomic_write`, with which every file of zkchat is replaced."""

import os
import stat
from pathlib import Path

import pytest

from zkchat_cli.fileio import atomic_write, write_new_file


def mode(file: Path) -> int:
    return stat.S_IMODE(file.stat().st_mode)


def test_a_private_file_is_for_its_owner_alone(tmp_path: Path) -> None:
    file = tmp_path / "config" / "keys.toml"
    atomic_write(file, "a", private=True)
    assert (mode(file), mode(file.parent)) == (0o600, 0o700)
    file.chmod(0o644)
    atomic_write(file, "b", private=True)
    assert mode(file) == 0o600


@pytest.mark.parametrize("data", ["half a pair: \ud800", "x"])
def test_a_file_that_cannot_be_written_is_unchanged_or_not_there(
    tmp_path: Path, data: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = tmp_path / "notes.md"
    file.write_text("old")

    def full_disk(_: int) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "fsync", full_disk)
    with pytest.raises((OSError, UnicodeError)):
        atomic_write(file, data)
    with pytest.raises((OSError, UnicodeError)):
        write_new_file(tmp_path / "new.md", data)
    assert (file.read_text(), [f.name for f in tmp_path.iterdir()]) == ("old", ["notes.md"])
