"""Deleting a conversation, for good: the proof is in the bytes of every file of the store."""

import json
import sqlite3
import stat
import subprocess
import sys
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest
from prompt_toolkit.history import FileHistory

from tests.test_store_faults import contents
from zkchat_cli.errors import StoreError
from zkchat_cli.models import Compaction, ContentChunk, Conversation, DocumentReference, Fact, ZkChatMessage
from zkchat_cli.store import input_history, message_search, secure_delete
from zkchat_cli.store.chat_session_store import ChatSessionStore
from zkchat_cli.store.database import connect
from zkchat_cli.store.migrations import SCRIPTS

NOON = "2025-05-08T12:00:00+00:00"
SECRET = "zymurgist"
FORGETTING = Path(__file__).parent / "forgetting.py"


def said(name: str, content: str, parent: str | None = None, role: str = "user", **more: object) -> ZkChatMessage:
    return ZkChatMessage.model_validate({"id": name, "parent_id": parent, "role": role, "content": content, "timestamp": NOON, **more})


def talk(store: ChatSessionStore, id_: str, word: str, turns: int = 20) -> None:
    """A conversation with the word wherever a conversation has text, in short and in long messages, and changed after it was stored."""
    store.start(Conversation(id=id_, vault="/notes", created_at=NOON, updated_at=NOON))
    parent = None
    for n in range(turns):
        path = f"{word}.md"
        piece = ContentChunk(id="c", relative_path=path, title=word, start_line=1, end_line=1, text=f"{word} " * 900, number=1)
        reference = DocumentReference(wikilink=f"[[{word}]]", relative_path=path, reference_type="direct")
        question = said(f"{id_}-q{n}", f"the {word} {n}? " * (1 + n * 50), parent, status="pending", references=(reference,))
        found = said(f"{id_}-t{n}", f"{word} found", question.id, "tool", tool_name="read", chunks=(piece,))
        answer = said(f"{id_}-a{n}", f"about {word} " * 30, found.id, "assistant", reasoning=f"hm, {word}")
        store.add(id_, question)
        done = question.model_copy(update={"status": "complete"})
        store.commit(id_, done, [found, answer], updated_at=NOON, title=f"All about {word}")
        store.mark(id_, [answer.model_copy(update={"pinned": True, "model": word * 9})])
        parent = answer.id
    summary = f"They spoke of {word}"
    store.compact(
        id_, Compaction(id=f"{id_}-s", created_at=NOON, tokens_before=2, tokens_after=1, messages_folded=2, summary=summary, mode="full")
    )


def where(folder: Path, word: str) -> list[str]:
    return [name for name, held in contents(folder).items() if word.encode() in held.lower()]


@pytest.fixture
def store(tmp_path: Path) -> Iterator[ChatSessionStore]:
    opened = ChatSessionStore.open(tmp_path / "c.db")
    yield opened
    opened.close()


def test_no_file_of_the_store_holds_a_word_of_a_deleted_conversation(store: ChatSessionStore, tmp_path: Path) -> None:
    talk(store, "kept", "philatelist")
    talk(store, "gone", SECRET)
    store.search(None, SECRET)  # which makes it searchable
    talk(store, "later", SECRET, turns=2)  # and this waits for it
    other = ChatSessionStore.open(tmp_path / "c.db")
    assert other.history("gone"), "another zkchat has the same store open"
    assert where(tmp_path, SECRET)
    before = store.archive("kept")
    store.delete("gone", "later")
    assert where(tmp_path, SECRET) == []
    assert [c.id for c in other.conversations()] == ["kept"]
    assert store.archive("kept") == before
    assert {found.conversation_id for found in store.search(None, "philatelist", limit=100)} == {"kept"}
    assert store.mentions("/notes", "philatelist.md") and not store.mentions("/notes", f"{SECRET}.md")
    other.close()


@pytest.mark.parametrize("searched", [True, False])
def test_a_deletion_that_is_broken_off_is_finished_when_the_store_is_opened_next(
    store: ChatSessionStore, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, searched: bool
) -> None:
    talk(store, "gone", SECRET)
    talk(store, "kept", "philatelist")
    store.search(None, SECRET)
    with monkeypatch.context() as patched:
        patched.setattr(secure_delete.Rewriting, "step", stopped)
        with pytest.raises(KeyboardInterrupt):
            store.delete("gone")
    assert where(tmp_path, SECRET)
    if searched:
        assert store.search(None, SECRET) == ()
    ChatSessionStore.open(tmp_path / "c.db").close()
    assert where(tmp_path, SECRET) == []


def test_a_search_while_it_is_deleted_brings_no_word_back(store: ChatSessionStore, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    talk(store, "gone", SECRET)
    store.search(None, SECRET)
    rewrite = secure_delete.Rewriting.step

    def searching(rewriting: secure_delete.Rewriting, connection: sqlite3.Connection) -> int:
        if written := rewrite(rewriting, connection):
            return written
        message_search.index(connection)  # as another zkchat does that comes between
        return 0

    monkeypatch.setattr(secure_delete.Rewriting, "step", searching)
    store.delete("gone")
    assert where(tmp_path, SECRET) == []


def stopped(*_: object) -> int:
    raise KeyboardInterrupt


def test_a_deletion_reaches_the_backups_that_migrations_made(tmp_path: Path) -> None:
    file = tmp_path / "c.db"
    old = connect(file, SCRIPTS[:4])
    for id_, word in (("kept", "philatelist"), ("gone", SECRET)):
        old.execute("INSERT INTO conversation (id, vault, created_at, updated_at) VALUES (?, '/notes', ?, ?)", (id_, NOON, NOON))
        for n in range(30):
            values = (f"{id_}{n}", id_, f"{word} " * n, NOON)
            columns = "(id, conversation_id, role, content, status, timestamp, rest)"
            seq = old.execute(f"INSERT INTO message {columns} VALUES (?, ?, 'user', ?, '', ?, '{{}}')", values).lastrowid
            old.execute("INSERT INTO spoken (rowid, words) VALUES (?, ?)", (seq, word))
    old.close()
    store = ChatSessionStore.open(file)
    assert {"c.db", "c.db.v4.bak"} <= {*where(tmp_path, SECRET)}
    store.delete("gone")
    assert where(tmp_path, SECRET) == []
    [backup] = tmp_path.glob("*.bak")
    kept = sqlite3.connect(backup)
    assert kept.execute("SELECT id FROM conversation").fetchall() == [("kept",)]
    kept.close()
    store.close()


def test_what_was_deleted_in_an_older_version_is_gone_after_the_migration(tmp_path: Path) -> None:
    file = tmp_path / "c.db"
    old = connect(file, SCRIPTS[:4])
    old.execute("PRAGMA secure_delete = OFF")
    old.execute("INSERT INTO conversation (id, vault, title, created_at, updated_at) VALUES ('c', '/notes', ?, '', '')", (SECRET * 900,))
    old.execute("DELETE FROM conversation")
    old.close()
    assert where(tmp_path, SECRET) == ["c.db"]
    ChatSessionStore.open(file).close()
    assert where(tmp_path, SECRET) == []


def test_a_fact_outlasts_the_conversation_it_comes_from(store: ChatSessionStore) -> None:
    talk(store, "gone", SECRET, turns=1)
    store.remember("/notes", Fact(key="k", content="kept", source="user", conversation_id="gone", message_id="gone-q0", created_at=NOON))
    store.delete("gone")
    [fact] = store.facts("/notes")
    assert (fact.content, fact.conversation_id, fact.message_id, fact.title) == ("kept", None, None, None)


def test_a_deletion_of_what_is_not_there_changes_nothing(store: ChatSessionStore) -> None:
    talk(store, "kept", "philatelist", turns=1)
    with pytest.raises(StoreError, match="there is no conversation nobody"):
        store.delete("kept", "nobody")
    assert [c.id for c in store.conversations()] == ["kept"]


def test_a_log_file_that_a_reader_keeps_is_told_and_emptied_when_the_store_is_opened_next(tmp_path: Path) -> None:
    file = tmp_path / "c.db"
    store = ChatSessionStore.open(file)
    talk(store, "gone", SECRET, turns=1)
    archive = store.archive("gone")
    reader = sqlite3.connect(file, isolation_level=None)
    reader.execute("BEGIN")
    reader.execute("SELECT count(*) FROM message").fetchone()
    with pytest.raises(StoreError, match=r"is deleted, but .*c\.db-wal still holds its words"):
        store.delete("gone")
    reader.execute("COMMIT")
    assert where(tmp_path, SECRET) == ["c.db-wal"]
    ids = map("fresh{}".format, range(9))
    assert store.restore(archive, lambda: next(ids)).id.startswith("fresh"), "lest it be taken for what was deleted"

    ChatSessionStore.open(file).close()

    assert not secure_delete.is_left(store._db)
    assert [len(store.log(conversation.id)) for conversation in store.conversations()] == [3]
    store.delete(*(conversation.id for conversation in store.conversations()))
    assert where(tmp_path, SECRET) == []
    reader.close()
    store.close()


def test_a_deletion_that_was_killed_at_any_moment_is_finished_by_the_next_command(tmp_path: Path) -> None:
    program = subprocess.run([sys.executable, FORGETTING, tmp_path], capture_output=True, text=True, timeout=120, check=True)
    told = json.loads(program.stdout)
    assert told["held"] == 3 and told["killed"] > 30 and told["words left behind"] > 20
    assert (told["held on"], told["lost"]) == ([], 0)


def test_a_backup_that_cannot_be_changed_is_named(store: ChatSessionStore, tmp_path: Path) -> None:
    talk(store, "gone", SECRET, turns=1)
    (tmp_path / "c.db.v3.bak").write_text("no database at all, and long enough to look like one " * 20)
    with pytest.raises(StoreError, match=r"is deleted, but the backup .*c\.db\.v3\.bak may still hold it"):
        store.delete("gone")
    assert store.conversations() == [] and where(tmp_path, SECRET) == []


def test_a_list_has_the_figures_of_each_conversation(store: ChatSessionStore) -> None:
    store.start(Conversation(id="c", vault="/notes", created_at=NOON, updated_at=NOON))
    assert [(each.messages, each.tokens, each.first_line) for each in store.overviews("/notes")] == [(0, 0, None)]
    question = said("q", "\n  What is it?\nSay it. " + "x" * 999, status="pending", token_count=4)
    store.add("c", question)
    answer = said("a", "That.", "q", "assistant", token_count=2)
    store.commit("c", question.model_copy(update={"token_count": 5}), [answer], updated_at=NOON)
    store.add("c", said("q2", "And now?", "a", token_count=10**30))
    [listed] = store.overviews()
    assert listed == store.overview("c")
    assert (listed.id, listed.updated_at) == ("c", NOON)
    assert (listed.messages, listed.tokens) == (3, 1_000_000_007)
    assert listed.first_line == "What is it?"
    assert store.overviews("/other") == [] and store.overviews(None, 0) == []


def test_the_search_goes_through_all_vaults_or_one(store: ChatSessionStore) -> None:
    for id_, vault in (("here", "/notes"), ("there", "/other")):
        store.start(Conversation(id=id_, vault=vault, created_at=NOON, updated_at=NOON))
        store.add(id_, said(f"{id_}-q", f"a {SECRET} is a brewer"))
    assert {found.conversation_id for found in store.search(None, SECRET)} == {"here", "there"}
    assert [found.conversation_id for found in store.search("/other", SECRET)] == ["there"]


def test_the_questions_of_a_deleted_conversation_go_from_the_lines_that_were_typed(tmp_path: Path) -> None:
    store = ChatSessionStore.open(tmp_path / "c.db")
    for id_, *asked in (("c1", f"what is a {SECRET}?", f"first\n\n+{SECRET}\r\nlast"), ("c2", "and a roof?")):
        store.start(Conversation(id=id_, vault="/notes", created_at=NOON, updated_at=NOON))
        for number, question in enumerate(asked):
            store.add(id_, said(f"{id_}-{number}", question))
    file = input_history.file_of(tmp_path, "/notes")
    file.parent.mkdir()
    lines = FileHistory(str(file))
    there = [f"what is a {SECRET}? ", "/search what is it?", f"first\n\n+{SECRET}\r\nlast", "and a roof?", "# +x"]
    for line in there:
        lines.store_string(line)

    store.delete("c1")

    assert [*lines.load_history_strings()] == ["# +x", "and a roof?", "/search what is it?"]
    assert SECRET.encode() not in file.read_bytes()
    assert stat.S_IMODE(file.stat().st_mode) == 0o600 and [*file.parent.iterdir()] == [file]
    before = file.stat().st_mtime_ns
    store.delete("c2")
    lines.store_string("one more")
    assert [*lines.load_history_strings()] == ["one more", "# +x", "/search what is it?"]
    assert file.stat().st_mtime_ns > before
    store.close()


@pytest.mark.parametrize("line", ["/edit 1 {}", "/e 12  {}", "/solve {}", "/solve 3 {}", "/rename {}"])
def test_so_do_those_of_commands_that_said_or_named_it(tmp_path: Path, line: str) -> None:
    with closing(ChatSessionStore.open(tmp_path / "c.db")) as store:
        store.start(Conversation(id="c", vault="/notes", created_at=NOON, updated_at=NOON, title=f"a {SECRET}\nat work"))
        store.add("c", said("q", "a roof!" if "rename" in line else f"a {SECRET}\nat work"))
        file = input_history.file_of(tmp_path, "/notes")
        file.parent.mkdir()
        lines = FileHistory(str(file))
        for each in (line.format(f"a {SECRET}\nat work"), "/edit 1 a roof", "/undo", "/solve"):
            lines.store_string(each)
        store.delete("c")
    assert [*lines.load_history_strings()] == ["/solve", "/undo", "/edit 1 a roof"]


def test_lines_that_cannot_be_cleared_are_named(tmp_path: Path) -> None:
    store = ChatSessionStore.open(tmp_path / "c.db")
    store.start(Conversation(id="c1", vault="/notes", created_at=NOON, updated_at=NOON))
    store.add("c1", said("q", SECRET))
    file = input_history.file_of(tmp_path, "/notes")
    file.mkdir(parents=True)
    with pytest.raises(StoreError, match=f"deleted, but {file} may still hold what was typed in it: Is a directory"):
        store.delete("c1")
    assert store.conversations() == []
    store.close()
