"""A store that cannot be written, for example on a read-only disk: reading works, writing says why it does not."""

import shutil
import tempfile
from contextlib import closing
from dataclasses import replace
from pathlib import Path

from factories import NOON, make_app, message, report_of
from test_store_errors import output_of, python

from zkchat_cli import slash
from zkchat_cli.models import Conversation
from zkchat_cli.store.chat_session_store import ChatSessionStore

READ = """
    import os, sys
    from pathlib import Path
    from zkchat_cli.errors import StoreUnwritable
    from zkchat_cli.store.chat_session_store import ChatSessionStore
    from zkchat_cli.text.words import stem

    stem("roof")  # imports the stemmer, which the other user may not be able to read
    folders = [*map(Path, sys.argv[1:])]
    for folder in folders:
        for file in folder.iterdir():
            file.chmod(0o444)
        folder.chmod(0o555)
    if os.geteuid() == 0:
        os.setuid(65534)
    for folder in folders:
        try:
            store = ChatSessionStore.open_to_read(folder / "c.db")
        except StoreUnwritable as e:
            print(e.message.rpartition("/")[2].partition(" (")[0])
            continue
        [talk] = store.conversations()
        [said] = store.history(talk.id)
        [found] = store.search(None, "roof")
        print(said.content, found.message.id, store.persistent, store.reopen().conversation(talk.id).id, sep=", ")
        for write in (lambda: store.rename(talk.id, "x"), lambda: store.delete(talk.id), lambda: store.forget("/v", "k")):
            try:
                write()
            except StoreUnwritable as e:
                print(e.message.rpartition("/")[2].partition(" (")[0])
"""


def test_reading_works_and_writing_says_why_it_does_not() -> None:
    with tempfile.TemporaryDirectory() as folder:
        Path(folder).chmod(0o755)
        store = ChatSessionStore.open(Path(folder, "source", "c.db"))
        store.start(Conversation(id="c1", vault="/v", created_at=NOON, updated_at=NOON))
        store.add("c1", message("user", "the roof leaks", "m1"))
        copies = []
        for name, suffixes in (("in use", ("", "-wal", "-shm")), ("log without -shm", ("", "-wal")), ("closed", ("",))):
            if name == "closed":
                store.close()
            copies.append(Path(folder, name))
            copies[-1].mkdir(mode=0o755)
            for suffix in suffixes:
                shutil.copyfile(Path(folder, "source", f"c.db{suffix}"), copies[-1] / f"c.db{suffix}")
        before = [{file.name for file in copy.iterdir()} for copy in copies]

        output = output_of(python(READ, *copies)).splitlines()

        works = ["the roof leaks, m1, False, c1"]
        works += [f"c.db cannot {what}: it may not be written" for what in ("rename a conversation", "delete a conversation", "forget")]
        assert output == [*works, "c.db cannot be opened: it may not be written", *works]
        assert [{file.name for file in copy.iterdir()} for copy in copies] == before


def test_a_new_conversation_says_whether_the_last_one_is_stored(tmp_path: Path) -> None:
    (tmp_path / "notes").mkdir()
    (tmp_path / "notes" / "Roof.md").write_text("The roof leaks.")
    for name, warning in ((None, "is lost when you quit: this chat is not stored."), ("s.db", "is stored as")):
        app = make_app(tmp_path / "notes", tmp_path / "cache")
        with closing(ChatSessionStore.open(name and tmp_path / name)) as store:
            session = replace(app, store=store).session()
            report_of(session.send("What are filters?"))
            assert warning in slash.run("/new", session).text
