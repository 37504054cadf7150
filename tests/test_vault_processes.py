"""Several processes read, write and rebuild one index."""

import subprocess
import sys

import pytest
from notes_folder import NotesFolder


@pytest.fixture
def notes(tmp_path):
    made = NotesFolder(tmp_path, Alpha="The beginning of it all.\n")
    made.vault.refresh()
    yield made
    made.vault.close()


WRITE = """
import sys
from pathlib import Path
from zkchat_cli.vault.vault import Vault
root, cache, seed, turns, often = Path(sys.argv[1]), Path(sys.argv[2]), *map(int, sys.argv[3:])
vault = Vault.open(root, cache)
for turn in range(turns):
    line = f"turn {turn} of {seed} [[note {1 - seed} {turn % 4}]]\\n"
    (root / f"note {seed} {turn % 4}.md").write_text(line * (turn % 12 + 1))
    vault.refresh(full=turn % often == often - 1)
    assert vault.search(f"turn {turn}")
vault.close()
"""

READ = """
import sys
from pathlib import Path
from zkchat_cli.vault.vault import Vault
vault = Vault.open(Path(sys.argv[1]), Path(sys.argv[2]))
while not Path(sys.argv[1], "done").exists():
    assert vault.search("beginning")
    vault.status()
vault.close()
"""


def start(notes, program, *numbers):
    return subprocess.Popen(
        [sys.executable, "-c", program, notes.root, notes.cache, *map(str, numbers)]
    )


def test_an_index_is_read_while_it_is_written_and_rebuilt(notes):
    reading = [start(notes, READ) for _ in range(2)]
    writing = [start(notes, WRITE, 0, 6, 1), start(notes, WRITE, 1, 30, 1000)]
    try:
        assert [process.wait(60) for process in writing] == [0, 0]
    finally:
        # A reader that nobody ends would run for ever
        notes.write("done", "")
    assert [process.wait(60) for process in reading] == [0, 0]
    notes.vault.refresh()
    notes.check()
