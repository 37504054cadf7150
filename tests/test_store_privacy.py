"""What is kept of conversations, for how long, and who may read it; and that nothing is kept when nobody wants it."""

import stat
from collections.abc import Callable, Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from conftest import Program

from zkchat_cli.config.schema import Config, StoreSettings
from zkchat_cli.models import Conversation
from zkchat_cli.store.chat_session_store import ChatSessionStore
from zkchat_cli.store.retention import Retention

NOW = "2026-05-30T12:00:00+00:00"


@pytest.fixture
def store(tmp_path: Path) -> Iterator[ChatSessionStore]:
    opened = ChatSessionStore.open(tmp_path / "c.db")
    for id_, updated in (("old", "2026-05-01T11:00:00+00:00"), ("zone", "2026-05-20T12:30:00+02:00"), ("new", "2026-05-20T12:30:00Z")):
        opened.start(Conversation(id=id_, vault="/notes", created_at=updated, updated_at=updated))
    yield opened
    opened.close()


def kept_for(days: int) -> Config:
    return Config(store=StoreSettings(keep_days=days))


def ids(store: ChatSessionStore) -> set[str]:
    return {conversation.id for conversation in store.conversations()}


def test_conversations_are_kept_for_ever_unless_somebody_says_otherwise(store: ChatSessionStore) -> None:
    old = Retention(store, Config(), NOW)
    old.run()
    assert old.notice is None and ids(store) == {"old", "zone", "new"}


def test_what_nobody_went_on_with_for_too_long_is_deleted_and_told(store: ChatSessionStore) -> None:
    old = Retention(store, kept_for(10), NOW)
    assert set(old.ids) == {"old", "zone"}
    assert old.notice == (
        "2 conversations that were not gone on with for 10 days are deleted",
        "zkchat config set store.keep_days 0 keeps all",
    )
    old.run()
    assert ids(store) == {"new"}
    assert Retention(store, kept_for(10), NOW).notice is None


def test_the_conversation_at_hand_is_never_deleted(store: ChatSessionStore) -> None:
    old = Retention(store, kept_for(1), NOW, but="old")
    assert set(old.ids) == {"zone", "new"}


def test_one_conversation_is_told_as_one(store: ChatSessionStore) -> None:
    old = Retention(store, kept_for(15), NOW)
    assert old.notice is not None and old.notice[0] == "1 conversation that was not gone on with for 15 days is deleted"


def test_a_chat_deletes_them_meanwhile(store: ChatSessionStore) -> None:
    Retention(store, kept_for(10), NOW).start().join()
    assert ids(store) == {"new"}


def test_two_that_delete_at_once_are_content(store: ChatSessionStore) -> None:
    both = Retention(store, kept_for(10), NOW), Retention(store, kept_for(10), NOW)
    both[0].run()
    both[1].start().join()
    assert ids(store) == {"new"}


def test_the_setting_works_where_conversations_are_listed_and_in_a_chat(zkchat: Program, script: Callable[..., str]) -> None:
    model = script({"text": "So."})
    zkchat("ask", "What was it?", "--model", model)
    long_ago = (datetime.now(UTC) - timedelta(days=40)).isoformat()
    file = zkchat.home / "data" / "conversations.db"

    def age() -> None:
        store = ChatSessionStore.open(file)
        store._db.execute("UPDATE conversation SET updated_at = ?", (long_ago,))
        store.close()

    age()
    assert len(zkchat("sessions", "list", "--json").json) == 1
    zkchat("config", "set", "store.keep_days", "30")
    listed = zkchat("sessions", "list", "--json")
    assert listed.json == [] and "1 conversation that was not gone on with for 30 days is deleted" in listed.err
    zkchat("ask", "What was it?", "--model", model)
    age()
    chat = zkchat("chat", "--model", model, stdin="Hello?\n")
    assert "1 conversation that was not gone on with" in chat.err
    assert [c["messages"] for c in zkchat("sessions", "list", "--json").json] == [2]


def test_a_vault_does_not_decide_what_is_deleted(zkchat: Program) -> None:
    (zkchat.vault / ".zkchat.toml").write_text("[store]\nkeep_days = 1\n")
    refused = zkchat("sessions", "list")
    assert refused.exit_status == 2 and "which conversations are deleted" in refused.err


def holds(folder: Path, word: str) -> list[str]:
    return sorted(
        str(file.relative_to(folder)) for file in folder.rglob("*") if file.is_file() and word.encode() in file.read_bytes().lower()
    )


def test_without_a_store_no_file_anywhere_has_a_word_of_it(zkchat: Program, script: Callable[..., str], tmp_path: Path) -> None:
    model = script({"text": "The zymurgist brews."})
    before = {path for path in tmp_path.rglob("*") if path.is_file()}
    for command in (("ask", "Who is the zymurgist?"), ("chat",)):
        said = zkchat(*command, "--no-store", "--model", model, stdin="Who is the zymurgist?\n/remember who: the zymurgist\n")
        assert "zymurgist" in said.out
    found = {path for path in tmp_path.rglob("*") if path.is_file()} - before
    assert [name for name in holds(tmp_path, "zymurgist") if name in {str(path.relative_to(tmp_path)) for path in found}] == []
    assert {path.relative_to(zkchat.home).parts[0] for path in found if zkchat.home in path.parents} <= {"cache"}


def test_only_their_owner_may_read_what_is_kept(zkchat: Program, script: Callable[..., str]) -> None:
    zkchat("ask", "Who?", "--model", script({"text": "I."}))
    store = ChatSessionStore.open(zkchat.home / "data" / "conversations.db")
    store.start(Conversation(id="x", vault="/notes", created_at=NOW, updated_at=NOW))  # so that its log file is there
    modes = {path.name: stat.S_IMODE(path.stat().st_mode) for path in (zkchat.home / "data").iterdir()}
    assert modes == dict.fromkeys(("conversations.db", "conversations.db-wal", "conversations.db-shm"), 0o600)
    assert stat.S_IMODE((zkchat.home / "data").stat().st_mode) == 0o700
    store.close()
