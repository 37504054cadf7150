"""Which conversations are stored, for how long, and who may read them; and that nothing is stored with --no-store."""

import stat
from collections.abc import Callable, Iterator
from contextlib import closing
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
    with closing(ChatSessionStore.open(tmp_path / "c.db")) as opened:
        for id_, updated in (("old", "2026-05-01T11:00:00+00:00"), ("zone", "2026-05-20T12:30:00+02:00"), ("new", "2026-05-20T12:30:00Z")):
            opened.start(Conversation(id=id_, vault="/notes", created_at=updated, updated_at=updated))
        yield opened


def keep(days: int) -> Config:
    return Config(store=StoreSettings(keep_days=days))


def ids(store: ChatSessionStore) -> set[str]:
    return {conversation.id for conversation in store.conversations()}


def test_conversations_are_kept_by_default(store: ChatSessionStore) -> None:
    retention = Retention(store, Config(), NOW)
    retention.run()
    assert retention.notice is None and ids(store) == {"old", "zone", "new"}


def test_old_conversations_are_deleted_with_a_notice(store: ChatSessionStore) -> None:
    one, two = Retention(store, keep(15), NOW), Retention(store, keep(10), NOW)
    assert one.notice is not None and one.notice[0] == "Deleting 1 conversation last used more than 15 days ago"
    assert two.notice == ("Deleting 2 conversations last used more than 10 days ago", "zkchat config set store.keep_days 0 keeps all")
    two.run()
    assert ids(store) == {"new"}
    one.start().join()  # finds its conversation deleted already
    assert Retention(store, keep(10), NOW).notice is None


def test_the_current_conversation_is_never_deleted(store: ChatSessionStore) -> None:
    assert set(Retention(store, keep(1), NOW, current="old").ids) == {"zone", "new"}


def test_a_chat_deletes_old_conversations_in_a_thread(store: ChatSessionStore) -> None:
    Retention(store, keep(10), NOW).start().join()
    assert ids(store) == {"new"}


def test_the_setting_works_for_sessions_list_and_chat(zkchat: Program, script: Callable[..., str]) -> None:
    model = script({"text": "So."})
    zkchat("ask", "What was it?", "--model", model)
    long_ago = (datetime.now(UTC) - timedelta(days=40)).isoformat()

    def make_old() -> None:
        with closing(ChatSessionStore.open(zkchat.home / "data" / "conversations.db")) as store:
            store._db.execute("UPDATE conversation SET updated_at = ?", (long_ago,))

    make_old()
    assert len(zkchat("sessions", "list", "--json").json) == 1
    zkchat("config", "set", "store.keep_days", "30")
    listed = zkchat("sessions", "list", "--json")
    assert listed.json == [] and "Deleting 1 conversation last used more than 30 days ago" in listed.err
    zkchat("ask", "What was it?", "--model", model)
    make_old()
    chat = zkchat("chat", "--model", model, stdin="Hello?\n")
    assert "Deleting 1 conversation" in chat.err
    assert [c["messages"] for c in zkchat("sessions", "list", "--json").json] == [2]


def test_a_vault_cannot_set_how_long_conversations_are_kept(zkchat: Program) -> None:
    (zkchat.vault / ".zkchat.toml").write_text("[store]\nkeep_days = 1\n")
    assert zkchat("sessions", "list").exit_status == 2


def test_with_no_store_no_file_contains_a_word_of_the_conversation(zkchat: Program, script: Callable[..., str], tmp_path: Path) -> None:
    model = script({"text": "The zymurgist brews."})
    before = {path for path in tmp_path.rglob("*") if path.is_file()}
    for command in (("ask", "Who is the zymurgist?"), ("chat",)):
        done = zkchat(*command, "--no-store", "--model", model, stdin="Who is the zymurgist?\n/remember who: the zymurgist\n")
        assert "zymurgist" in done.out
    new = {path for path in tmp_path.rglob("*") if path.is_file()} - before
    assert [path for path in new if b"zymurgist" in path.read_bytes().lower()] == []
    assert {path.relative_to(zkchat.home).parts[0] for path in new if zkchat.home in path.parents} <= {"cache"}


def test_only_the_owner_can_read_the_store(zkchat: Program, script: Callable[..., str]) -> None:
    zkchat("ask", "Who?", "--model", script({"text": "I."}))
    with closing(ChatSessionStore.open(zkchat.home / "data" / "conversations.db")) as store:
        store.start(Conversation(id="x", vault="/notes", created_at=NOW, updated_at=NOW))  # creates the log file
        modes = {path.name: stat.S_IMODE(path.stat().st_mode) for path in (zkchat.home / "data").iterdir()}
    assert modes == dict.fromkeys(("conversations.db", "conversations.db-wal", "conversations.db-shm"), 0o600)
    assert stat.S_IMODE((zkchat.home / "data").stat().st_mode) == 0o700
