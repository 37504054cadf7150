"""A store that cannot be written, for example on a read-only disk: reading works, writing says why
it does not.
"""

import shutil
from contextlib import closing
from dataclasses import replace
from pathlib import Path

import pytest
from conftest import needs_permissions
from factories import AppFixture, message, report_of, store_conversation
from slash_results import slash_output

from zkchat_cli.errors import StoreError, StoreUnwritable
from zkchat_cli.store.sqlite.chat_session_store import ChatSessionStore


@needs_permissions
def test_reading_works_and_writing_says_why_it_does_not(tmp_path: Path) -> None:
    store = ChatSessionStore.open(tmp_path / "source" / "c.db")
    store_conversation(store, "c1", message("user", "the roof leaks", "m1"))
    for name, suffixes in (
        ("in use", ("", "-wal", "-shm")),
        ("log without -shm", ("", "-wal")),
        ("closed", ("",)),
    ):
        if name == "closed":
            store.close()
        folder = tmp_path / name
        folder.mkdir()
        for suffix in suffixes:
            shutil.copyfile(tmp_path / "source" / f"c.db{suffix}", folder / f"c.db{suffix}").chmod(
                0o444
            )
        folder.chmod(0o555)
        if name == "log without -shm":
            with pytest.raises(StoreUnwritable, match="cannot be opened: it may not be written"):
                ChatSessionStore.open_to_read(folder / "c.db")
        else:
            check_reading(folder / "c.db")
        with pytest.raises(StoreError, match="it may not be written") as e:
            ChatSessionStore.open(folder / "c.db")
        assert "--no-store" in e.value.hint
        assert {file.name for file in folder.iterdir()} == {f"c.db{suffix}" for suffix in suffixes}
        folder.chmod(0o755)


def check_reading(file: Path) -> None:
    with closing(ChatSessionStore.open_to_read(file)) as store:
        [talk] = store.conversations()
        [found] = store.search(None, "roof")
        assert ([m.id for m in store.history(talk.id)], found.message.id, store.persistent) == (
            ["m1"],
            "m1",
            False,
        )
        assert store.reopen().conversation(talk.id).id == "c1"
        for write in (
            lambda: store.update(talk.id, title="x"),
            lambda: store.delete(talk.id),
            lambda: store.facts.forget("/v", "k"),
        ):
            with pytest.raises(StoreUnwritable, match="it may not be written"):
                write()


def test_a_chat_that_is_not_stored_says_so_where_something_would_be_kept(
    app: AppFixture, tmp_path: Path
) -> None:
    for name, warning in (
        (None, "is lost when you quit: this chat is not stored."),
        ("own.db", "is stored as"),
    ):
        with closing(ChatSessionStore.open(name and tmp_path / name)) as store:
            session = replace(app, store=store).session()
            report_of(session.send("What are filters?"))
            assert ("is lost when you quit" in slash_output("/remember roof: red", session)) == (
                name is None
            )
            assert warning in slash_output("/new", session)
