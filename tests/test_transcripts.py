"""Each transcript is what the program says today; see playing.py for how one is written.

`python test_transcripts.py [NAME …]` writes them anew as far as they have changed, for reading them again.
"""

import sys
import tempfile
from pathlib import Path

import pytest
from playing import agrees, played

TRANSCRIPTS = Path(__file__).with_name("transcripts")
ELSEWHERE = ("citations",)
"""What another test plays in its own way."""


def transcripts() -> list[Path]:
    return sorted(file for file in TRANSCRIPTS.glob("*.txt") if file.stem not in ELSEWHERE)


@pytest.mark.parametrize("file", transcripts(), ids=lambda file: file.stem)
def test_what_is_typed_shows_what_is_seen(file: Path, tmp_path: Path) -> None:
    text = file.read_text(encoding="utf-8")
    assert played(text, tmp_path) == text


@pytest.mark.parametrize(
    ("expected", "seen", "same"),
    [
        ("a\nb", "a\nb", True),
        ("a\nb", "a\nb\nc", False),
        ("a\n⋮\nc", "a\nb\nb\nc", True),
        ("a\n⋮\nc", "a\nb", False),
        ("a\n⋮", "a\nb", True),
        ("⋮\nb", "a\nb", True),
        ("⋮\nb", "b\na", False),
        ("b\n⋮", "a\nb", False),
        ("", "a", False),
    ],
)
def test_three_dots_stand_for_any_lines(expected: str, seen: str, same: bool) -> None:
    assert agrees(expected, seen) == same


if __name__ == "__main__":
    for file in transcripts():
        if not sys.argv[1:] or file.stem in sys.argv[1:]:
            with tempfile.TemporaryDirectory() as folder:
                before = file.read_text(encoding="utf-8")
                after = played(before, Path(folder))
            if after != before:
                file.write_text(after, encoding="utf-8")
                sys.stdout.write(f"written: {file.name}; read it\n")
