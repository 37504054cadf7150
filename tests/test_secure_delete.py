"""What stays on disk, proved by the bytes of every file: nothing of a deleted conversation or with
--no-store, nothing for other users.
"""

import json
import sqlite3
import stat
import subprocess
import sys
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

import pytest
from conftest import Program
from factories import NOON, message, store_conversation
from prompt_toolkit.history import FileHistory

from zkchat_cli.errors import StoreError, StoreUnwritable
from zkchat_cli.models.compaction import Compaction
from zkchat_cli.models.conversations import Conversation
from zkchat_cli.models.facts import Fact
from zkchat_cli.models.notes import ContentChunk, DocumentReference
from zkchat_cli.store import input_history
from zkchat_cli.store.sqlite import secure_delete
from zkchat_cli.store.sqlite.chat_session_store import ChatSessionStore
from zkchat_cli.store.sqlite.database import connect_to_copy
from zkchat_cli.store.sqlite.store_connection import StoreConnection

SECRET = "zymurgist"
KILLER = Path(__file__).with_name("deletion_killer.py")


def store_talk(store: ChatSessionStore, id_: str, word: str, turns: int = 20) -> None:
    """A conversation with the word in every field that has text, in short and long messages,
    updated after they were stored.
    """
    store.start(Conversation(id=id_, vault="/notes", created_at=NOON, updated_at=NOON))
    parent = None
    for n in range(turns):
        path = f"{word}.md"
        piece = ContentChunk(
            id="c",
            relative_path=path,
            title=word,
            start_line=1,
            end_line=1,
            text=f"{word} " * 900,
            number=1,
        )
        reference = DocumentReference(
            wikilink=f"[[{word}]]", relative_path=path, reference_type="direct"
        )
        question = message(
            "user",
            f"the {word} {n}? " * (1 + n * 50),
            f"{id_}-q{n}",
            parent_id=parent,
            status="pending",
            references=(reference,),
        )
        found = message(
            "tool",
            f"{word} found",
            f"{id_}-t{n}",
            parent_id=question.id,
            tool_name="read",
            chunks=(piece,),
        )
        answer = message(
            "assistant",
            f"about {word} " * 30,
            f"{id_}-a{n}",
            parent_id=found.id,
            reasoning=f"hm, {word}",
        )
        store.add(id_, question)
        done = question.model_copy(update={"status": "complete"})
        store.commit(id_, done, [found, answer], updated_at=NOON, title=f"All about {word}")
        store.mark(id_, [answer.model_copy(update={"pinned": True, "model": word * 9})])
        parent = answer.id
    summary = f"They spoke of {word}"
    store.compact(
        id_,
        Compaction(
            id=f"{id_}-s",
            created_at=NOON,
            tokens_before=2,
            tokens_after=1,
            messages_folded=2,
            summary=summary,
            mode="full",
        ),
    )


def files_with(folder: Path, word: str) -> list[str]:
    return sorted(
        file.name
        for file in folder.rglob("*")
        if file.is_file() and word.encode() in file.read_bytes().lower()
    )


def test_no_file_contains_a_word_of_a_deleted_conversation(
    store: ChatSessionStore, tmp_path: Path
) -> None:
    store_talk(store, "kept", "philatelist")
    store_talk(store, "gone", SECRET)
    store.search(None, SECRET)  # indexes it
    store_talk(store, "later", SECRET, turns=2)  # not indexed yet
    other = ChatSessionStore.open(tmp_path / "store.db")
    assert other.history("gone"), "another process has the same store open"
    assert files_with(tmp_path, SECRET)
    before = store.archive("kept")
    store.delete("gone", "later", "gone")
    assert files_with(tmp_path, SECRET) == []
    with pytest.raises(StoreError, match="there is no conversation gone"):
        # One unknown id, and nothing is deleted
        store.delete("kept", "gone")
    assert [c.id for c in other.conversations()] == ["kept"]
    assert store.archive("kept") == before
    assert {found.conversation_id for found in store.search(None, "philatelist", limit=100)} == {
        "kept"
    }
    assert [note.relative_path for note in store.facts.most_used_notes("/notes", 9)] == [
        "philatelist.md"
    ]
    other.close()


def test_a_fact_outlasts_the_conversation_it_comes_from(store: ChatSessionStore) -> None:
    store_talk(store, "gone", SECRET, turns=1)
    store.facts.remember(
        "/notes",
        Fact(
            key="k",
            content="kept",
            source="user",
            conversation_id="gone",
            message_id="gone-q0",
            created_at=NOON,
        ),
    )
    store.delete("gone")
    [fact] = store.facts.current("/notes")
    assert (fact.content, fact.conversation_id, fact.message_id, fact.title) == (
        "kept",
        None,
        None,
        None,
    )


def test_a_log_file_in_use_is_reported_and_emptied_at_the_next_opening(
    store: ChatSessionStore, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(secure_delete, "LOG_TIMEOUT", 0.05)
    store_talk(store, "gone", SECRET, turns=1)
    with closing(sqlite3.connect(tmp_path / "store.db", isolation_level=None)) as reader:
        reader.execute("BEGIN")
        reader.execute("SELECT count(*) FROM message").fetchone()
        with pytest.raises(StoreError, match=r"Deleted, but .*store\.db-wal still has the words"):
            store.delete("gone")
        ChatSessionStore.open(tmp_path / "store.db").close()
        assert files_with(tmp_path, SECRET) == ["store.db-wal"]
        reader.execute("COMMIT")
        ChatSessionStore.open(tmp_path / "store.db").close()
        assert files_with(tmp_path, SECRET) == []


def test_a_deletion_that_is_killed_at_any_moment_is_finished_by_the_next_command(
    tmp_path: Path,
) -> None:
    program = subprocess.run(
        [sys.executable, KILLER, tmp_path], capture_output=True, text=True, timeout=120, check=True
    )
    result = json.loads(program.stdout)
    assert result["killed"] > 20 and result["words left behind"] > 3
    assert (result["words after reopening"], result["lost"]) == ([], 0)


def test_the_questions_of_a_deleted_conversation_leave_the_input_history(
    store: ChatSessionStore, tmp_path: Path
) -> None:
    file = input_history.history_file(tmp_path, "/notes")
    file.parent.mkdir()
    lines = FileHistory(str(file))
    for id_, *asked in (
        ("c1", f"what is a {SECRET}?", f"first\n\n+{SECRET}\r\nlast", f"{SECRET} \udcff"),
        ("c2", "and a roof?"),
    ):
        store_conversation(
            store,
            id_,
            *(message("user", question, f"{id_}-{n}") for n, question in enumerate(asked)),
        )
    store.update("c1", title=f"On the {SECRET}")
    commands = f"/edit 1 what is a {SECRET}?", f"/ren On the {SECRET}"
    for line in (
        f"what is a {SECRET}? ",
        "/search what is it?",
        f"first\n\n+{SECRET}\r\nlast",
        *commands,
        "and a roof?",
        "# +x",
    ):
        lines.store_string(line)
    input_history.append_line(file, f"{SECRET} \udcff")
    stored = file.read_bytes()
    file_of_store = tmp_path / "store.db"
    copy = ChatSessionStore(
        StoreConnection(
            connect_to_copy(file_of_store), file_of_store, StoreUnwritable("Unwritable: full")
        )
    )
    with pytest.raises(StoreUnwritable):
        copy.delete("c1")
    assert file.read_bytes() == stored

    store.delete("c1")

    assert [*lines.load_history_strings()] == ["# +x", "and a roof?", "/search what is it?"]
    assert files_with(tmp_path, SECRET) == []
    assert stat.S_IMODE(file.stat().st_mode) == 0o600
    store.delete("c2")
    lines.store_string("one more")
    assert [*lines.load_history_strings()] == ["one more", "# +x", "/search what is it?"]


def test_an_input_history_that_cannot_be_changed_is_named(
    store: ChatSessionStore, tmp_path: Path
) -> None:
    store_conversation(store, "c1", message("user", SECRET, "q"))
    file = input_history.history_file(tmp_path, "/notes")
    file.mkdir(parents=True)
    with pytest.raises(
        StoreError,
        match=f"{file}, which may have what you typed, cannot be changed: is a directory",
    ):
        store.delete("c1")
    assert len(store.conversations()) == 1


def test_with_no_store_no_file_contains_a_word_of_the_conversation(
    zkchat: Program, script: Callable[..., str], tmp_path: Path
) -> None:
    model = script({"text": "The zymurgist brews."})
    before = {path for path in tmp_path.rglob("*") if path.is_file()}
    for command in (("ask", "Who is the zymurgist?"), ("chat",)):
        done = zkchat(
            *command,
            "--no-store",
            "--model",
            model,
            stdin="Who is the zymurgist?\n/remember who: the zymurgist\n",
        )
        assert "zymurgist" in done.out
    new = {path for path in tmp_path.rglob("*") if path.is_file()} - before
    assert [path for path in new if b"zymurgist" in path.read_bytes().lower()] == []
    assert {
        path.relative_to(zkchat.home).parts[0] for path in new if zkchat.home in path.parents
    } <= {"cache"}
