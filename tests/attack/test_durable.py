"""Attacks on what is stored: damaged files, killed and stopped processes, full disks, locks that
fail.
"""

import errno
import os
import random
import re
import shutil
import sqlite3
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import closing, suppress
from dataclasses import replace
from datetime import date
from pathlib import Path

import pytest
import turn_killer
from conftest import Program
from factories import NOON, DeltaModel, chunk, make_app, message, reply, report_of
from writer_killer import prompt_of

from zkchat_cli import slash
from zkchat_cli.errors import StoreError
from zkchat_cli.models.conversations import Conversation
from zkchat_cli.models.facts import Fact
from zkchat_cli.models.prompts import SentPrompt
from zkchat_cli.store.rows import DAMAGED_MESSAGE, DAMAGED_TITLE
from zkchat_cli.store.sqlite import repair
from zkchat_cli.store.sqlite.chat_session_store import ChatSessionStore
from zkchat_cli.vault.index.sqlite import checksum
from zkchat_cli.vault.vault import Vault

PAGE = 4096

# a damaged store


@pytest.fixture
def file(tmp_path: Path) -> Path:
    """A store with two conversations of eight turns, their prompts, and three facts."""
    file = tmp_path / "home" / "data" / "conversations.db"
    with closing(ChatSessionStore.open(file)) as store:
        for talk in ("c1", "c2"):
            store.start(
                Conversation(
                    id=talk, vault=str(tmp_path / "notes"), created_at=NOON, updated_at=NOON
                )
            )
            head = None
            for turn in range(8):
                ids = [f"{talk}{kind}{turn}" for kind in "qta"]
                # So a message tells its first id, also under a new one
                asked, found, answered = ({"agent": id_} for id_ in ids)
                question = message(
                    "user",
                    f"Why does roof {turn} of {talk} leak? " * 4,
                    ids[0],
                    parent_id=head,
                    status="pending",
                    **asked,
                )
                result = message(
                    "tool",
                    '"so it is "',
                    ids[1],
                    parent_id=ids[0],
                    tool_name="find",
                    chunks=(chunk(1, "so it is "),),
                    **found,
                )
                answer = message(
                    "assistant",
                    f"Slate {turn} of {talk} is broken. " * 20,
                    ids[2],
                    parent_id=ids[1],
                    **answered,
                )
                sent = [
                    SentPrompt(
                        question_id=question.id,
                        call=1,
                        model="m",
                        prompt=prompt_of(question.id, question.content),
                    )
                ]
                store.add(talk, question)
                done = question.model_copy(update={"status": "complete"})
                store.commit(
                    talk,
                    done,
                    [result, answer],
                    updated_at=NOON,
                    title=f"Roofs of {talk}",
                    sent=sent,
                )
                head = answer.id
        for number in range(3):
            store.facts.remember(
                str(tmp_path / "notes"),
                Fact(
                    key=f"k{number}",
                    content=f"Roof {number} is old.",
                    source="user",
                    created_at=NOON,
                ),
            )
        store.search(None, "slate")
    return file


def texts(store: ChatSessionStore, vault: str) -> Iterator[Callable[[], dict[str, str]]]:
    """Everything a store shows, each by itself, as texts by name."""
    yield lambda: {each.id: each.title or "" for each in store.conversations()}
    for talk in ("c1", "c2"):
        yield lambda talk=talk: {message.id: message.content for message in store.log(talk)}  # type: ignore[misc]
        yield lambda talk=talk: {message.id: message.content for message in store.history(talk)}  # type: ignore[misc]
        yield lambda talk=talk: {
            m.id: m.content for m in store.archive(talk, prompts=True).messages
        }  # type: ignore[misc]
        for turn in range(8):
            id_ = f"{talk}q{turn}"
            yield lambda id_=id_: {
                f"{id_} sent": m.content
                for p in store.prompts.sent_for(id_)
                for m in p.prompt.messages
            }  # type: ignore[misc]
    yield lambda: {
        each.message.id: each.message.content for each in store.search(None, "roof slate")
    }
    yield lambda: {fact.key: fact.content for fact in store.facts.current(vault)}


def everything(store: ChatSessionStore, vault: str) -> dict[str, str]:
    found: dict[str, str] = {}
    for read in texts(store, vault):
        found |= read()
    return found


def flip_bits(raw: bytearray, chance: random.Random) -> None:
    for _ in range(chance.choice((1, 1, 3, 20))):
        raw[chance.randrange(len(raw))] ^= 1 << chance.randrange(8)


def lose_a_page(raw: bytearray, chance: random.Random) -> None:
    start = chance.randrange(len(raw) // PAGE) * PAGE
    raw[start : start + PAGE] = chance.choice((bytes(PAGE), chance.randbytes(PAGE)))


def cut(raw: bytearray, chance: random.Random) -> None:
    del raw[chance.randrange(len(raw)) :]


Damage = Callable[[bytearray, random.Random], None]


def damage_again_and_again(file: Path, damage: Damage, times: int) -> Iterator[None]:
    """The intact file, each time with other damage."""
    intact = file.read_bytes()
    chance = random.Random(7)
    for _ in range(times):
        raw = bytearray(intact)
        damage(raw, chance)
        file.write_bytes(raw)
        yield


@pytest.mark.parametrize(("damage", "files"), [(flip_bits, 30), (lose_a_page, 10), (cut, 5)])
def test_a_damaged_store_is_an_error_and_never_shows_other_words(
    file: Path, damage: Damage, files: int
) -> None:
    vault = str(file.parents[2] / "notes")
    with closing(ChatSessionStore.open(file)) as store:
        said = everything(store, vault)
    shown_as_damaged = errors = 0
    for _ in damage_again_and_again(file, damage, files):
        try:
            store = ChatSessionStore.open(file)
        except StoreError as e:
            assert "unexpected" not in e.message
            errors += 1
            continue
        for read in texts(store, vault):
            try:
                found = read()
            except StoreError as e:
                assert ("unexpected" in e.message, bool(e.hint)) == (False, True)
                errors += 1
                continue
            different = {name: text for name, text in found.items() if said.get(name) != text}
            shown_as_damaged += len(different)
            assert {DAMAGED_MESSAGE, DAMAGED_TITLE}.issuperset(
                text.removeprefix("see ") for text in different.values()
            )
        with suppress(StoreError):
            store.close()
    assert errors
    assert shown_as_damaged or damage is not flip_bits


def change_a_column(file: Path, table: str, column: str, value: object, condition: str) -> None:
    """Past the trigger that keeps messages as they are."""
    with closing(sqlite3.connect(file)) as db:
        db.execute("DROP TRIGGER IF EXISTS message_append_only")
        db.execute(f"UPDATE {table} SET {column} = ? WHERE {condition}", (value,))
        db.commit()


@pytest.mark.parametrize(
    ("column", "value"),
    [
        ("content", "Slate 3 is fine."),
        ("content", b"Slate \xff\xfe"),
        ("rest", '{"token_count": "many"}'),
        ("rest", "{half"),
        ("packed", b"no zlib"),
        ("role", "emperor"),
        ("status", "undead"),
        ("timestamp", "yesterday"),
    ],
)
def test_a_message_that_is_not_what_was_stored_is_shown_as_damaged(
    file: Path, column: str, value: object
) -> None:
    if isinstance(value, bytes) and column == "content":
        with closing(sqlite3.connect(file)) as db:
            db.execute("DROP TRIGGER message_append_only")
            db.execute("UPDATE message SET content = CAST(? AS TEXT) WHERE id = 'c1a3'", (value,))
            db.commit()
    else:
        change_a_column(file, "message", column, value, "id = 'c1a3'")
    with closing(ChatSessionStore.open(file)) as store:
        before = {message.id: message for message in store.history("c2")}
        history = {message.id: message for message in store.history("c1")}
        assert [id_ for id_, message in history.items() if message.status == "damaged"] == ["c1a3"]
        assert history["c1a3"].content == DAMAGED_MESSAGE
        assert list(history) == [id_.replace("c2", "c1") for id_ in before]


def test_a_damaged_message_is_never_sent_to_a_model(vault: Path, tmp_path: Path) -> None:
    app = make_app(vault, tmp_path / "cache", tmp_path / "s.db")
    model = DeltaModel([reply("The slate is blue.")])
    session = app.session(model)
    for question in ("What is a slate?", "What is a gutter?"):
        report_of(session.send(question))
    app.store.close()
    change_a_column(
        tmp_path / "s.db",
        "message",
        "content",
        "The slate is red.",
        "role = 'assistant' AND content <> ''",
    )
    with closing(ChatSessionStore.open(tmp_path / "s.db")) as store:
        [conversation] = store.conversations()
        again = replace(app, store=store).session(model, conversation)
        slash.run("/pin 1", again)
        report_of(again.send("And a ridge?"))
        sent = " ".join(message.content for message in model.requests[-1].messages)
        assert ("What is a slate?" in sent, "slate is red" in sent, "damaged" in sent) == (
            True,
            False,
            False,
        )
        assert [message.status for message in store.history(conversation.id)].count(
            "damaged"
        ) == 2, "pinning does not make it intact"


def lose_rows_of_an_index(file: Path, name: str, left: str) -> None:
    """Make SQLite believe that an index of these rows is one of all."""
    with closing(sqlite3.connect(file, isolation_level=None)) as db:
        [(whole,)] = db.execute("SELECT sql FROM sqlite_schema WHERE name = ?", (name,))
        db.execute(f"DROP INDEX {name}")
        db.execute(f"{whole} WHERE {left}")
        db.execute("PRAGMA writable_schema = ON")
        db.execute("UPDATE sqlite_schema SET sql = ? WHERE name = ?", (whole, name))


@pytest.mark.parametrize(
    "hidden", ["1", "11, 12", "24", "13, 14, 15, 16, 17, 18, 19, 20, 21, 22, 23, 24"]
)
def test_a_damaged_index_of_the_store_hides_no_message(file: Path, hidden: str) -> None:
    with closing(ChatSessionStore.open(file)) as store:
        before = store.log("c1")
    lose_rows_of_an_index(file, "message_conversation", f"seq NOT IN ({hidden})")
    with closing(ChatSessionStore.open(file)) as store:
        assert store.log("c1") == before
    with pytest.raises(StoreError, match="index message_conversation"):
        repair.check_store(file)


def test_repair_saves_what_can_be_read_and_says_what_is_lost(file: Path, zkchat: Program) -> None:
    with closing(ChatSessionStore.open(file)) as store:
        said = everything(store, str(zkchat.vault))
    zkchat.env["ZKCHAT_SEMANTIC__PROVIDER"] = "none"
    assert repair.repair_store(file, "2025-05-08") is None, "it is not damaged"
    change_a_column(file, "message", "content", "other words", "id = 'c1a3'")
    change_a_column(file, "fact", "content", "Roof 0 is new.", "key = 'k0'")
    failed = zkchat("doctor")
    assert failed.exit_status == 3
    assert "(damaged messages: 1, damaged facts: 1)" in failed.out
    assert "zkchat doctor --repair" in failed.out

    repaired = zkchat("doctor", "--repair", "--json")

    kept = Path(repaired.json["repaired"]["kept"])
    assert repaired.exit_status == 0
    assert repaired.json["repaired"]["lost"] == {"conversations": 0, "messages": 1, "facts": 1}
    assert repaired.json["repaired"]["saved"] == {"conversations": 2, "messages": 47, "facts": 2}
    assert (
        "saved 2 conversations, 47 messages, 2 facts; known to be lost: no conversations, "
        "1 message, 1 fact"
    ) in repaired.err
    assert (kept.parent, kept.name[:24]) == (file.parent, "conversations.db.damaged")
    with closing(sqlite3.connect(kept)) as damaged:
        assert damaged.execute("SELECT content FROM message WHERE id = 'c1a3'").fetchone() == (
            "other words",
        )
    with closing(ChatSessionStore.open(file)) as store:
        now = everything(store, str(zkchat.vault))
    assert {name for name in said if now.get(name) != said[name]} == {"c1a3", "k0"}
    assert now["c1a3"] == DAMAGED_MESSAGE
    repair.check_store(file)


@pytest.mark.parametrize(("damage", "files"), [(flip_bits, 8), (lose_a_page, 8), (cut, 4)])
def test_whatever_the_damage_repair_makes_an_intact_store_of_what_was_said(
    file: Path, damage: Damage, files: int
) -> None:
    vault = str(file.parents[2] / "notes")
    with closing(ChatSessionStore.open(file)) as store:
        said = everything(store, vault)
    saved = 0
    for _ in damage_again_and_again(file, damage, files):
        try:
            done = repair.repair_store(file, "2025-05-08")
        except StoreError as e:
            assert "has nothing that can be read" in e.message
            continue
        saved += done[1]["messages"] if done else 0
        repair.check_store(file)
        with closing(ChatSessionStore.open(file)) as store:
            for message in (
                message for each in store.conversations() for message in store.log(each.id)
            ):
                # a message whose conversation is lost, or that names another one, is saved in a
                # conversation of its own
                assert message.content == DAMAGED_MESSAGE or (
                    message.agent and message.content == said[message.agent]
                )
                assert (
                    message.id == message.agent
                    or message.id not in said
                    or message.content == DAMAGED_MESSAGE
                )
            assert all(said[fact.key] == fact.content for fact in store.facts.current(vault))
    assert saved


def test_a_destroyed_header_loses_nothing(file: Path) -> None:
    with closing(ChatSessionStore.open(file)) as store:
        said = everything(store, str(file.parents[2] / "notes"))
    file.write_bytes(bytes(100) + file.read_bytes()[100:])
    with pytest.raises(StoreError, match="the file is damaged"):
        ChatSessionStore.open(file)
    done = repair.repair_store(file, "2025-05-08")
    assert done is not None
    assert [[*counts.values()] for counts in done[1:]] == [[2, 48, 3], [0, 0, 0]]
    with closing(ChatSessionStore.open(file)) as store:
        assert everything(store, str(file.parents[2] / "notes")) == said


OPEN = """
import sys
from pathlib import Path
from zkchat_cli.store.sqlite.database import connect

store = connect(Path(sys.argv[1]))
print("open", flush=True)
input()
"""


def test_a_store_that_is_open_elsewhere_is_not_repaired(file: Path) -> None:
    change_a_column(file, "message", "content", "other words", "id = 'c1a3'")
    with subprocess.Popen(
        [sys.executable, "-c", OPEN, file], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as other:
        assert other.stdout
        assert other.stdout.readline() == "open\n"
        with pytest.raises(StoreError, match="is open in another program"):
            repair.repair_store(file, "2025-05-08")
        other.communicate("\n")
    assert repair.repair_store(file, "2025-05-08") is not None


def test_a_file_without_a_trace_of_a_store_is_left_alone(file: Path) -> None:
    file.write_bytes(b"no store at all " * 1000)
    with pytest.raises(StoreError, match="has nothing that can be read"):
        repair.repair_store(file, "2025-05-08")
    assert [each.name for each in file.parent.iterdir()] == [file.name]
    assert file.read_bytes() == b"no store at all " * 1000


# a damaged index


@pytest.mark.parametrize(
    ("damage", "files"),
    [(flip_bits, 8), (lose_a_page, 4), (cut, 2), (lambda raw, _: raw.reverse(), 1)],
)
def test_a_damaged_index_is_rebuilt_and_never_an_error(
    vault: Path, tmp_path: Path, damage: Damage, files: int
) -> None:
    with closing(Vault.open(vault, tmp_path / "cache")) as notes:
        notes.refresh()
    for _ in damage_again_and_again(notes.index_file, damage, files):
        with closing(Vault.open(vault, tmp_path / "cache")) as again:
            assert again.refresh().notes
            again.search("filter compost")
            again.graph.backlinks("Queries/Combining.md")
            again.reader.suggest_names("Filtres")
            again.graph.related_notes("Filters.md")


def test_no_excerpt_of_a_damaged_index_has_other_words_than_the_note(
    vault: Path, tmp_path: Path, zkchat: Program
) -> None:
    with closing(Vault.open(vault, tmp_path / "cache")) as notes:
        notes.refresh()
        found = notes.search("compost air")
        linked = notes.graph.backlinks("Queries/Combining.md")
    for change in (
        "text = replace(text, 'air', 'oil')",
        "text = replace(text, 'See', 'Sea')",
        "headings = 'Oil'",
    ):
        with closing(sqlite3.connect(notes.index_file)) as db:
            db.execute(f"UPDATE chunks SET {change}")
            db.commit()
        # So that only the part itself tells
        Path(f"{notes.index_file}{checksum.CHECKSUM_SUFFIX}").unlink()
        with closing(Vault.open(vault, tmp_path / "cache")) as again:
            assert (again.search("compost air"), again.graph.backlinks("Queries/Combining.md")) == (
                found,
                linked,
            )
            assert "is not as it was stored" in (again.status().rebuilt or "")


@pytest.mark.parametrize(
    "table", ["words_data", "note_words_data", "names", "notes", "vocabulary", "links"]
)
def test_what_is_lost_from_an_index_is_found_again(vault: Path, tmp_path: Path, table: str) -> None:
    """One byte is different in each page of the table; many such pages are valid, and SQLite reads
    them without an error.
    """

    def answers(notes: Vault) -> list[object]:
        found = [
            [each.id for each in notes.search(query)] for query in ("compost", "Filters", "air")
        ]
        return [
            *found,
            notes.graph.backlinks("Queries/Combining.md"),
            notes.reader.suggest_names("Filtres"),
        ]

    with closing(Vault.open(vault, tmp_path / "cache")) as notes:
        notes.refresh()
        expected = answers(notes)
    with closing(sqlite3.connect(notes.index_file)) as db:
        pages = [
            page
            for (page,) in db.execute("SELECT rootpage FROM sqlite_schema WHERE name = ?", (table,))
        ]
    intact = notes.index_file.read_bytes()
    chance = random.Random(7)
    for page in pages:
        raw = bytearray(intact)
        raw[page * PAGE - chance.randrange(1, 200)] ^= 1
        notes.index_file.write_bytes(raw)
        # Otherwise it may have the time at which it was closed: times are counted in ticks of 4 ms
        os.utime(notes.index_file, (0, 0))
        with closing(Vault.open(vault, tmp_path / "cache")) as again:
            assert answers(again) == expected
            assert "is not as it was written" in (again.status().rebuilt or "")


def test_a_disk_that_changes_bytes_and_no_times_is_noticed_within_a_day(
    vault: Path, tmp_path: Path
) -> None:
    with closing(Vault.open(vault, tmp_path / "cache")) as notes:
        notes.refresh()
    before = notes.index_file.stat()
    raw = bytearray(notes.index_file.read_bytes())
    raw[-10] ^= 1
    notes.index_file.write_bytes(raw)
    after = notes.index_file.stat()
    beside = Path(f"{notes.index_file}{checksum.CHECKSUM_SUFFIX}")
    beside.write_text(
        beside.read_text()
        .replace(str(before.st_mtime_ns), str(after.st_mtime_ns))
        .replace(str(before.st_ctime_ns), str(after.st_ctime_ns))
    )
    assert checksum.is_intact(notes.index_file)
    beside.write_text(beside.read_text().replace(str(date.today()), "2020-01-01"))
    assert not checksum.is_intact(notes.index_file)


@pytest.mark.parametrize("when", ["while it is open", "after a kill"])
def test_a_page_that_is_lost_without_a_checksum_is_noticed_at_the_next_opening(
    vault: Path, tmp_path: Path, when: str
) -> None:
    with closing(Vault.open(vault, tmp_path / "cache")) as notes:
        notes.refresh()
    beside = Path(f"{notes.index_file}{checksum.CHECKSUM_SUFFIX}")
    intact = notes.index_file.read_bytes()
    chance = random.Random(7)
    for _ in range(5):
        raw = bytearray(intact)
        lose_a_page(raw, chance)
        beside.unlink(missing_ok=True)
        if when == "after a kill":
            notes.index_file.write_bytes(raw)
        else:
            notes.index_file.write_bytes(intact)
            with closing(Vault.open(vault, tmp_path / "cache")) as opened:
                assert opened.status().notes
                notes.index_file.write_bytes(raw)
            assert not beside.exists()
        with closing(Vault.open(vault, tmp_path / "cache")) as again:
            assert "is not as it was written" in (again.status().rebuilt or "")


@pytest.mark.skipif(not Path("/proc/locks").exists(), reason="only Linux lists its locks")
def test_a_second_opening_in_one_process_drops_no_lock_of_the_first(
    vault: Path, tmp_path: Path
) -> None:
    def locks(file: Path) -> int:
        return len(
            re.findall(
                f" {os.getpid()} [^ ]+:{file.stat().st_ino} ",
                Path("/proc/locks").read_text(encoding="ascii"),
            )
        )

    store = tmp_path / "conversations.db"
    with (
        closing(Vault.open(vault, tmp_path / "cache")) as notes,
        closing(ChatSessionStore.open(store)),
    ):
        notes.refresh()
        before = locks(notes.index_file), locks(store)
        for _ in range(2):
            with (
                closing(Vault.open(vault, tmp_path / "cache")) as again,
                closing(ChatSessionStore.open(store)),
            ):
                (vault / "New.md").write_text("New text.")
                again.refresh()
        assert (locks(notes.index_file), locks(store)) == before
        assert min(before) > 0


def test_doctor_reads_the_whole_index_and_builds_a_damaged_one_anew(zkchat: Program) -> None:
    assert zkchat("vault", "index").exit_status == 0
    [index] = (zkchat.home / "cache/index").glob("*.db")
    lose_rows_of_an_index(index, "names_by_key", "key > 'f'")
    assert "it was rebuilt: the index" in zkchat("doctor").out
    assert "it was rebuilt" not in zkchat("doctor").out


# disks that are full, caches that cannot be written, locks that fail

LIMITED = 'ulimit -f "$1"; shift; exec "$@" | cat'


@pytest.mark.parametrize("kilobytes", [0, 20])
def test_the_first_index_on_a_full_disk_is_in_memory(zkchat: Program, kilobytes: int) -> None:
    command = [
        "bash",
        "-c",
        LIMITED,
        "-",
        str(kilobytes),
        sys.executable,
        "-m",
        "zkchat_cli",
        "ask",
        "--no-store",
        "Is compost ready?",
    ]
    done = subprocess.run(
        command,
        env=zkchat.environment,
        cwd=zkchat.vault,
        capture_output=True,
        text=True,
        check=False,
    )
    assert "It is ready after nine months." in done.stdout
    [line] = done.stderr.splitlines()
    assert line.startswith(
        "zkchat: the index was rebuilt: it is in memory for this run, because the index "
        f"{zkchat.home}/cache/index/"
    )


def test_a_cache_that_cannot_be_written_is_not_needed(zkchat: Program) -> None:
    zkchat.home.mkdir()
    (zkchat.home / "cache").write_text("a file where the folder should be")
    done = zkchat("vault", "search", "compost")
    assert done.exit_status == 0
    assert "Garden/Compost.md" in done.out
    [line] = done.err.splitlines()
    assert "it is in memory for this run" in line
    assert zkchat("doctor", "--json").json["error"]["code"] == "index"


NO_LOCKS = """
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdlib.h>

static int locked(const char *name, int fd, int command, void *argument) {
    int (*real)(int, int, ...) = dlsym(RTLD_NEXT, name);
    if (command == F_SETLK || command == F_SETLKW) {
        errno = atoi(getenv("LOCK_ERROR"));
        return -1;
    }
    return real(fd, command, argument);
}
int fcntl(int fd, int command, ...) {
    va_list given; va_start(given, command); void *argument = va_arg(given, void *); va_end(given);
    return locked("fcntl", fd, command, argument);
}
int fcntl64(int fd, int command, ...) {
    va_list given; va_start(given, command); void *argument = va_arg(given, void *); va_end(given);
    return locked("fcntl64", fd, command, argument);
}
"""


@pytest.mark.skipif(
    shutil.which("cc") is None, reason="a C compiler makes the library that refuses locks"
)
@pytest.mark.parametrize("error", [errno.EIO, errno.ENOLCK])
def test_where_files_cannot_be_locked_the_question_is_answered_at_once_and_the_reason_told(
    zkchat: Program, tmp_path: Path, error: int
) -> None:
    library = tmp_path / "locks.so"
    subprocess.run(
        ["cc", "-shared", "-fPIC", "-x", "c", "-o", library, "-", "-ldl"],
        input=NO_LOCKS,
        text=True,
        check=True,
    )
    environment = {**zkchat.environment, "LD_PRELOAD": str(library), "LOCK_ERROR": str(error)}
    command = [sys.executable, "-m", "zkchat_cli", "ask", "Is compost ready?"]
    done = subprocess.run(
        command,
        env=environment,
        cwd=zkchat.vault,
        capture_output=True,
        text=True,
        check=False,
        timeout=50,
    )
    assert "It is ready after nine months." in done.stdout
    assert done.returncode == 0
    assert "this chat is not stored: " in done.stderr
    assert "its file system cannot lock files" in done.stderr
    assert "set ZKCHAT_HOME to a folder on a local disk" in done.stderr
    assert "unexpected" not in done.stderr


# killed, stopped and interleaved turns (the long form: python tests/turn_killer.py)


def test_a_process_killed_or_stopped_in_any_phase_leaves_whole_turns(tmp_path: Path) -> None:
    command = [sys.executable, turn_killer.__file__, "phases", tmp_path, "1"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (0, "")
    assert len(done.stdout.splitlines()) == 2 * len(turn_killer.PHASES)


def test_a_chat_in_a_terminal_that_is_killed_or_stopped_leaves_whole_turns(tmp_path: Path) -> None:
    outcomes = turn_killer.kill_chats(turn_killer.a_program(tmp_path, turn_killer.SLOW_SCRIPT))
    assert outcomes["complete"] == 5


def test_two_processes_in_one_conversation_lose_nothing(tmp_path: Path) -> None:
    outcomes = turn_killer.interleave(turn_killer.a_program(tmp_path), 15)
    assert set(outcomes) == {"complete"}


def test_memory_files_and_threads_of_a_chat_stay_flat(tmp_path: Path) -> None:
    early, *_, late = turn_killer.chat_long(turn_killer.a_program(tmp_path), 60, lambda _: None)[1:]
    assert late[0] < early[0] + 30
    assert late[1] <= early[1] + 2
    assert late[2] <= early[2] + 2
