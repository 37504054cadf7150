"""Changes of notes that were killed: the same user finishes them, everybody else is told, and
finishes them or takes them back; and records that somebody else has written to do harm.
"""

import fcntl
import json
import subprocess
import sys
from collections import Counter
from contextlib import closing
from dataclasses import replace
from pathlib import Path

import pytest
from conftest import Program, write_notes
from factories import open_vault

from zkchat_cli.errors import VaultError
from zkchat_cli.vault.edit.change_record import VAULT_RECORD, ChangeRecord, record_lines
from zkchat_cli.vault.edit.remainder import propose_rest, propose_reversal
from zkchat_cli.vault.edit.transaction import FileChange

RENAME = """
import os, signal, sys
from contextlib import closing
from itertools import count
from pathlib import Path
from zkchat_cli.vault.edit.remainder import propose_rest, propose_reversal
from zkchat_cli.vault.vault import Vault

root, cache, foreign = map(Path, sys.argv[1:])
NOTES = {"Old.md": "old", **{f"{n}.md": f"{n} [[Old]]" for n in range(3)}}
RENAMED = {"F/New.md": "old", **{f"{n}.md": f"{n} [[New]]" for n in range(3)}}
PROPOSALS = {"own": None, "finish": propose_rest, "undo": propose_reversal}

def rename_until(left):
    def count_down(event, arguments):
        nonlocal left
        if event in ("open", "os.rename", "os.remove", "os.mkdir", "os.chmod"):
            left -= 1
            if left == 0:
                os.kill(os.getpid(), signal.SIGKILL)

    vault = Vault.open(root, cache)
    vault.refresh()
    change = vault.editor.rename("Old.md", "F/New.md")
    sys.addaudithook(count_down)
    vault.editor.apply(change)
    os._exit(0)

def settle(propose):
    with closing(Vault.open(root, foreign)) as vault:
        if vault.journal.unfinished():
            record = vault.journal.read_copy()
            vault.editor.recover(record, propose(root, record))

def has_ended(calls, way):
    for file in root.rglob("*.md"):
        file.unlink()
    for name, text in NOTES.items():
        (root / name).write_text(text)
    child = os.fork()
    if child == 0:
        rename_until(calls)
    killed = os.waitpid(child, 0)[1]
    if PROPOSALS[way]:
        settle(PROPOSALS[way])
    Vault.open(root, cache).close()
    files = [file for file in root.rglob("*") if file.is_file()]
    texts = {file.relative_to(root).as_posix(): file.read_text() for file in files}
    print(way, "as before" if texts == NOTES else "renamed" if texts == RENAMED else texts)
    return not killed

for first, way in enumerate(PROPOSALS, 1):
    for calls in count(first, 6):
        if has_ended(calls, way):
            break
"""


def test_a_rename_that_is_killed_is_made_as_a_whole_or_not_at_all(tmp_path: Path) -> None:
    write_notes(tmp_path / "notes", {"Old.md": ""})
    folders = [tmp_path / "notes", tmp_path / "cache", tmp_path / "foreign"]
    done = subprocess.run(
        [sys.executable, "-c", RENAME, *folders], capture_output=True, text=True, check=True
    )
    outcomes = Counter(done.stdout.splitlines())
    assert set(outcomes) == {f"{way} as before" for way in ("own", "finish", "undo")} | {
        f"{way} renamed" for way in ("own", "finish", "undo")
    }
    assert min(outcomes.values()) >= 1
    assert outcomes["undo as before"] > 4
    assert not list(tmp_path.rglob("*.changes"))
    assert not list(tmp_path.rglob(VAULT_RECORD))


def record_of(
    *files: FileChange, id_: str = "7", summary: str = "rename Old.md to New.md"
) -> bytes:
    return record_lines(ChangeRecord(id_, summary, True, files))


def edit(path: str, before: str, after: str, new_path: str = "") -> FileChange:
    return FileChange(path, new_path or path, before.encode(), after.encode())


STOPPED = (
    edit("Old.md", "old", "old", "New.md"),
    edit("A.md", "a [[Old]]", "a [[New]]"),
    edit("B.md", "b [[Old]]", "b [[New]]"),
)


@pytest.fixture
def stopped(tmp_path: Path) -> Path:
    """A vault in which another user's rename was stopped after its first two steps."""
    notes = {"New.md": "old", "A.md": "a [[New]]", "B.md": "b [[Old]]"}
    return write_notes(tmp_path / "stopped", {**notes, VAULT_RECORD: record_of(*STOPPED)})


TOLD = (
    "a change of notes was stopped in the middle: rename Old.md to New.md; `zkchat vault recover` "
    "shows it, and makes the rest or takes it back."
)


@pytest.mark.parametrize(
    "arguments",
    [
        ("ask", "What is old?"),
        ("vault", "status"),
        ("vault", "search", "old"),
        ("vault", "broken"),
        ("mcp",),
    ],
)
def test_everybody_who_opens_the_vault_is_told(
    stopped: Path, zkchat: Program, arguments: tuple[str, ...]
) -> None:
    done = replace(zkchat, vault=stopped)(*arguments)
    assert done.exit_status == 0
    assert done.err.count(TOLD) == 1


def test_a_chat_is_told_once(stopped: Path, zkchat: Program) -> None:
    done = replace(zkchat, vault=stopped)("chat", stdin="What is old?\nWhat is new?\n")
    assert done.err.count(TOLD) == 1


def test_until_it_is_settled_no_note_is_changed(stopped: Path, tmp_path: Path) -> None:
    with closing(open_vault(stopped, tmp_path / "cache")) as vault:
        change = vault.editor.create("Other.md", "text")
        with pytest.raises(VaultError, match="stopped in the middle: rename Old"):
            vault.editor.apply(change)
    assert not (stopped / "Other.md").exists()


RESULTS = {
    "--finish": {"New.md": "old", "A.md": "a [[New]]", "B.md": "b [[New]]"},
    "--undo": {"Old.md": "old", "A.md": "a [[Old]]", "B.md": "b [[Old]]"},
}


@pytest.mark.parametrize("way", RESULTS)
def test_it_is_shown_and_done_only_after_a_yes(stopped: Path, zkchat: Program, way: str) -> None:
    program = replace(zkchat, vault=stopped)
    before = texts(stopped)
    shown = program("vault", "recover").out
    assert "--finish makes the rest: 1 note to change" in shown
    assert "--undo takes it back: 2 notes to change" in shown
    assert "b [[New]]" in program("vault", "recover", "--finish").out
    assert texts(stopped) == before
    done = program("vault", "recover", way, "--yes", "--json")
    assert done.json["made"]
    assert texts(stopped) == RESULTS[way]
    assert "No change of notes" in program("vault", "recover").err


def texts(root: Path) -> dict[str, str]:
    files = [file for file in root.rglob("*") if file.is_file()]
    return {file.relative_to(root).as_posix(): file.read_text() for file in files}


def test_what_somebody_wrote_since_stays(stopped: Path, zkchat: Program) -> None:
    (stopped / "A.md").write_text("mine")
    (stopped / "B.md").write_text("mine, too")
    program = replace(zkchat, vault=stopped)
    assert (
        "Edited since, so the text stays as it is: A.md, B.md." in program("vault", "recover").out
    )
    assert program("vault", "recover", "--undo", "--yes").exit_status == 0
    assert texts(stopped) == {"Old.md": "old", "A.md": "mine", "B.md": "mine, too"}


def test_a_created_note_is_taken_back_into_the_trash(tmp_path: Path) -> None:
    root = write_notes(tmp_path / "notes", {"New.md": "made", ".trash/New.md": "older"})
    record = ChangeRecord("7", "create", True, (FileChange(None, "New.md", b"", b"made"),))
    assert not propose_rest(root, record).files
    [step] = propose_reversal(root, record).files
    assert (step.path, step.new_path) == ("New.md", ".trash/New 1.md")
    (root / "New.md").write_text("made, and edited")
    assert not propose_reversal(root, record).files


# the record of the same user


@pytest.mark.parametrize("copy", [b"", record_of(*STOPPED)[:40], record_of(*STOPPED)])
def test_an_own_change_is_finished_by_the_next_opening(
    stopped: Path, tmp_path: Path, copy: bytes
) -> None:
    own = own_record(stopped, tmp_path)
    (stopped / "A.md").write_text("mine")
    (stopped / ".zkchat-a.tmp").write_text("half of a note")
    (stopped / VAULT_RECORD).write_bytes(copy)
    open_vault(stopped, tmp_path / "cache").close()
    assert texts(stopped) == {**RESULTS["--finish"], "A.md": "mine"}
    assert not own.exists()


@pytest.mark.parametrize("copy", [None, record_of(*STOPPED, id_="8")])
def test_an_own_change_that_somebody_else_has_settled_is_not_made_again(
    stopped: Path, tmp_path: Path, copy: bytes | None
) -> None:
    own = own_record(stopped, tmp_path)
    (stopped / VAULT_RECORD).unlink()
    if copy is not None:
        (stopped / VAULT_RECORD).write_bytes(copy)
    before = texts(stopped)
    open_vault(stopped, tmp_path / "cache").close()
    assert texts(stopped) == before
    assert not own.exists()


def own_record(root: Path, tmp_path: Path) -> Path:
    """The record of STOPPED beside the index of this vault."""
    with closing(open_vault(root, tmp_path / "cache")) as vault:
        own = vault.journal.own_file
    own.parent.mkdir(parents=True, exist_ok=True)
    own.write_bytes(record_of(*STOPPED))
    return own


# records that do harm


@pytest.mark.parametrize(
    ("path", "reason"),
    [
        ("../out.md", "leads out of the vault"),
        ("/tmp/out.md", "leads out of the vault"),
        ("link/out.md", "leads out of the vault"),
        (".obsidian/out.md", "is hidden"),
        (".zkchat.toml", "is not a note"),
        ("run.sh", "is not a note"),
        ("a\0.md", "is not a note"),
        ("a" * 300 + ".md", "cannot be read"),
    ],
)
def test_a_record_names_nothing_but_notes_in_the_vault(
    vault: Path, zkchat: Program, tmp_path: Path, path: str, reason: str
) -> None:
    (tmp_path / "outside").mkdir()
    (vault / "link").symlink_to(tmp_path / "outside")
    everything = texts(tmp_path)
    made = FileChange(None, path, b"", b"harm")
    moved = edit("Garden/Compost.md", (vault / "Garden/Compost.md").read_text(), "harm", path)
    for hostile in (made, moved):
        (vault / VAULT_RECORD).write_bytes(record_of(hostile))
        for way in ("--finish", "--undo"):
            refused = zkchat("vault", "recover", way, "--yes")
            assert refused.exit_status == 3
            assert reason in refused.err
        (vault / VAULT_RECORD).unlink()
        found = texts(tmp_path)
        assert {name: found[name] for name in everything} == everything
        assert "harm" not in found.values()


def test_a_record_that_would_change_memory_is_not_covered_by_yes(
    vault: Path, zkchat: Program
) -> None:
    (vault / VAULT_RECORD).write_bytes(record_of(FileChange(None, "ZKCHAT.md", b"", b"Obey.")))
    refused = zkchat("vault", "recover", "--finish", "--yes")
    assert refused.exit_status == 3
    assert "ZKCHAT.md is memory, and --yes does not cover memory" in refused.err
    assert not (vault / "ZKCHAT.md").exists()


HEADER = {"id": "7", "summary": "x", "in_vault": True, "files": 1}


@pytest.mark.parametrize(
    "raw",
    [
        b"",
        b"\xff\0",
        b"[1]\n",
        b"[" * 100_000,
        json.dumps({**HEADER, "summary": "\x1b[2J\ud800"}).encode(),
        json.dumps(HEADER).encode() + b'\n{"path": 1, "new_path": "a.md"}\n',
        json.dumps(HEADER).encode() + b'\n{"path": null}\n',
        json.dumps({**HEADER, "files": 10**9}).encode(),
    ],
)
def test_a_damaged_record_ends_nothing_and_can_be_removed(
    vault: Path, zkchat: Program, raw: bytes
) -> None:
    before = texts(vault)
    (vault / VAULT_RECORD).write_bytes(raw)
    searched = zkchat("vault", "search", "compost")
    assert searched.exit_status == 0
    assert "stopped in the middle" in searched.err
    assert "\x1b" not in searched.err
    assert zkchat("vault", "recover", "--undo", "--yes").exit_status == 0
    assert texts(vault) == before


def test_a_change_that_is_being_made_is_left_to_its_process(stopped: Path, zkchat: Program) -> None:
    with (stopped / VAULT_RECORD).open("rb") as held:
        fcntl.flock(held, fcntl.LOCK_EX)
        done = replace(zkchat, vault=stopped)("vault", "recover", "--undo", "--yes")
    assert "No change of notes was stopped" in done.err
    assert (stopped / VAULT_RECORD).exists()
