"""Layouts of the store: what an earlier version wrote stays readable, and an upgrade changes
everything or nothing.
"""

import json
import shutil
import sqlite3
import stat
import subprocess
import sys
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

import pytest
from conftest import Program
from next_layout import LAYOUTS, stored_words

from zkchat_cli.errors import StoreDamaged, StoreError
from zkchat_cli.exporters import json as json_format
from zkchat_cli.models.archive import ConversationArchive
from zkchat_cli.store.sqlite.chat_session_store import ChatSessionStore
from zkchat_cli.store.sqlite.database import connect, connect_to_copy
from zkchat_cli.store.sqlite.migrations import MIGRATIONS, Migration

FIXTURES = Path(__file__).with_name("fixtures")
PROGRAM = Path(__file__).with_name("next_layout.py")


@pytest.fixture
def file(tmp_path: Path) -> Path:
    """The store that version 0.1.0 wrote."""
    return shutil.copy(FIXTURES / "store-layout-1.db", tmp_path / "conversations.db")


def the_conversation() -> ConversationArchive:
    """What is in that store, as the same version exported it."""
    return ConversationArchive.model_validate_json((FIXTURES / "conversation-v3.json").read_bytes())


def stored_conversation(store: ChatSessionStore) -> ConversationArchive:
    """The only conversation of a store, as it is exported and imported."""
    [conversation] = store.conversations()
    exported = json_format.export(store.archive(conversation.id, prompts=True))
    return ConversationArchive.model_validate_json(exported)


def names(file: Path) -> list[str]:
    return sorted(each.name for each in file.parent.glob("conversations*"))


def upgrade_error(file: Path, *layouts: Migration) -> StoreError:
    with pytest.raises(StoreError) as e:
        connect(file, layouts)
    return e.value


def schema_of(db: sqlite3.Connection) -> dict[str, str]:
    """The statements that made the tables, without comments and white space."""
    found = db.execute("SELECT name, sql FROM sqlite_schema WHERE sql IS NOT NULL")
    statements: dict[str, str] = {}
    for name, sql in found:
        lines = [line.partition("--")[0] for line in sql.splitlines()]
        statements[name] = "".join(" ".join(lines).split())
    return statements


# what version 0.1.0 wrote


def test_a_store_of_layout_1_is_read_whole(file: Path) -> None:
    with closing(ChatSessionStore.open(file)) as store:
        [conversation] = store.conversations()
        assert conversation.title == "The roof and the garden"
        assert stored_conversation(store) == the_conversation()
        assert [message.role for message in store.history(conversation.id)] == [
            "user",
            "assistant",
            "tool",
            "assistant",
        ] + ["user", "assistant"] * 2
        pinned = [m.content for m in store.log(conversation.id) if m.pinned]
        assert pinned[0] == "When was the roof repaired?" and len(pinned) == 2
        assert [(fact.key, fact.content) for fact in store.facts.current(conversation.vault)] == [
            ("roofer", "roofer: Smith"),
            ("roofers-number", "The roofer's number is 0171 5550"),
        ]
        question = store.log(conversation.id)[0].id
        assert [len(sent.prompt.messages) for sent in store.prompts.sent_for(question)] == [2, 4]
        assert [note.relative_path for note in store.facts.most_used_notes(conversation.vault, 5)]
        assert "gutters" in store.search(None, "gutters cleaned")[0].message.content
    assert names(file) == ["conversations.db", "conversations.db.before-2"]


def test_the_program_continues_a_conversation_of_layout_1(zkchat: Program, file: Path) -> None:
    zkchat("sessions", "list")
    shutil.copy(file, zkchat.home / "data" / "conversations.db")
    id_ = the_conversation().conversation.id
    exported = zkchat("context", "export", id_, "--format", "json")
    assert ConversationArchive.model_validate_json(exported.out) == the_conversation()
    assert zkchat("ask", "--cid", id_, "And now?").exit_status == 0
    assert "And now?" in zkchat("sessions", "show", id_).out
    checked = {each["name"]: each for each in json.loads(zkchat("doctor", "--json").out)["checks"]}
    assert checked["store"]["ok"]


def test_a_new_store_has_the_tables_of_the_stored_one(file: Path) -> None:
    with closing(connect(file)) as stored, closing(connect(None)) as new:
        assert schema_of(new) == schema_of(stored)
        for pragma in ("user_version", "application_id"):
            query = f"PRAGMA {pragma}"
            assert new.execute(query).fetchone() == stored.execute(query).fetchone()


# an upgrade


def test_an_older_store_is_copied_and_upgraded(file: Path) -> None:
    with closing(sqlite3.connect(file)) as db:
        before = [content for (content,) in db.execute("SELECT content FROM message ORDER BY seq")]
    assert stored_words(file) == before
    copy = file.with_name("conversations.db.before-3")
    assert names(file) == [file.name, copy.name]
    assert stat.S_IMODE(copy.stat().st_mode) == 0o600
    done = subprocess.run(
        [sys.executable, PROGRAM, file], capture_output=True, text=True, check=True
    )
    assert done.stdout.splitlines() == [repr(words) for words in before]
    with closing(ChatSessionStore.open(copy)) as old:
        assert stored_conversation(old) == the_conversation()
    assert (
        "it has layout 3, and this zkchat knows layout 2"
        in upgrade_error(file, *MIGRATIONS).message
    )


def test_an_upgrade_goes_through_every_layout_between(file: Path) -> None:
    def rename_stars(db: sqlite3.Connection) -> None:
        db.execute("ALTER TABLE conversation RENAME COLUMN starred TO favourite")

    with closing(connect(file, (*LAYOUTS, rename_stars))) as db:
        assert db.execute("SELECT sum(favourite) FROM conversation").fetchone() == (0,)
    with closing(connect(None, (*LAYOUTS, rename_stars))) as new:
        assert new.execute("SELECT sum(favourite) FROM conversation").fetchone() == (None,)
    assert names(file) == ["conversations.db", "conversations.db.before-4"]


def test_a_copy_never_replaces_another_one(file: Path) -> None:
    other = file.with_name("conversations.db.before-3")
    other.write_text("kept by the user")
    stored_words(file)
    assert other.read_text() == "kept by the user"
    with closing(connect(file.with_name("conversations.db.before-3-1"))) as db:
        assert db.execute("SELECT count(*) FROM conversation").fetchone() == (1,)


def forget_a_summary(db: sqlite3.Connection) -> None:
    db.execute("DELETE FROM compaction")


def change_a_word(db: sqlite3.Connection) -> None:
    db.execute("UPDATE conversation SET title = 'Another title'")


def change_a_figure(db: sqlite3.Connection) -> None:
    db.execute("UPDATE message SET rest = '{}' WHERE seq = 1")


def leave_an_orphan(db: sqlite3.Connection) -> None:
    db.execute("UPDATE piece SET conversation_seq = 99 WHERE seq = 1")


def name_a_missing_table(db: sqlite3.Connection) -> None:
    db.execute("ALTER TABLE missing ADD COLUMN starred")


def fill_the_disk(db: sqlite3.Connection) -> None:
    db.execute(f"PRAGMA max_page_count = {db.execute('PRAGMA page_count').fetchone()[0]}")
    db.execute("CREATE TABLE large AS SELECT randomblob(1000000) AS filling")


@pytest.mark.parametrize(
    ("migration", "why"),
    [
        (forget_a_summary, "afterwards the table compaction had 0 rows instead of 1"),
        (change_a_word, "afterwards not every word was the same"),
        (change_a_figure, "afterwards 1 messages did not match their checksums"),
        (leave_an_orphan, "afterwards a row belongs to another one that is missing"),
        (name_a_missing_table, "no such table: missing"),
        (fill_the_disk, "the disk is full"),
    ],
)
def test_an_upgrade_that_fails_changes_nothing(
    file: Path, migration: Callable[[sqlite3.Connection], None], why: str
) -> None:
    error = upgrade_error(file, *LAYOUTS, migration)
    assert f"The store {file} cannot be upgraded from layout 1 to 4: " in error.message
    assert why in error.message
    assert error.hint
    assert names(file) == ["conversations.db"]
    with closing(ChatSessionStore.open(file)) as store:
        assert stored_conversation(store) == the_conversation()


def test_a_damaged_store_is_not_upgraded_but_repaired(zkchat: Program, file: Path) -> None:
    with closing(sqlite3.connect(file)) as db:
        page = db.execute("SELECT rootpage FROM sqlite_schema WHERE name = 'piece'").fetchone()[0]
        size = db.execute("PRAGMA page_size").fetchone()[0]
    content = bytearray(file.read_bytes())
    content[(page - 1) * size : page * size] = bytes(size)
    file.write_bytes(content)
    error = upgrade_error(file, *LAYOUTS)
    assert isinstance(error, StoreDamaged) and "zkchat doctor --repair" in error.hint
    assert names(file) == ["conversations.db"]

    zkchat("sessions", "list")
    shutil.copy(file, zkchat.home / "data" / "conversations.db")
    assert (
        "the store was damaged: saved 1 conversation, 10 messages"
        in zkchat("doctor", "--repair").err
    )
    assert stored_words(zkchat.home / "data" / "conversations.db")


def test_processes_that_open_an_old_store_at_once_upgrade_it_once(file: Path) -> None:
    running = [
        subprocess.Popen([sys.executable, PROGRAM, file], stdout=subprocess.PIPE) for _ in range(3)
    ]
    outputs = {process.communicate()[0] for process in running}
    assert [process.returncode for process in running] == [0, 0, 0]
    assert len(outputs) == 1
    assert names(file) == ["conversations.db", "conversations.db.before-3"]


def test_an_old_store_that_cannot_be_written_is_upgraded_in_memory(file: Path) -> None:
    before = file.read_bytes()
    with closing(connect_to_copy(file, LAYOUTS)) as db:
        assert db.execute("SELECT sum(starred) FROM conversation").fetchone() == (0,)
    assert (file.read_bytes(), names(file)) == (before, ["conversations.db"])


# what is not read


@pytest.mark.parametrize("number", [1, 9, 13])
def test_a_store_of_a_development_version_is_refused_with_a_next_step(
    file: Path, number: int
) -> None:
    with closing(sqlite3.connect(file)) as db:
        db.execute(f"PRAGMA user_version = {number}")
    before = file.read_bytes()
    error = upgrade_error(file, *MIGRATIONS)
    assert f"a development version of zkchat (number {number})" in error.message
    assert "zkchat context import --file FILE" in error.hint
    assert file.read_bytes() == before
