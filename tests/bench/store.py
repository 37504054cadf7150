"""The store at the size of years of talk: lists, searches, exports, and how much room a long
conversation takes.
"""

import time
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from pathlib import Path
from typing import Any

from ground import STORE, Ground, bare, insert
from measuring import Goal, Row, in_turns, timed

from zkchat_cli.app import factory
from zkchat_cli.app.settings import StartupOptions
from zkchat_cli.events import TurnCompleted
from zkchat_cli.exporters import exporter
from zkchat_cli.exporters.base import Exporter
from zkchat_cli.importers import read_conversations
from zkchat_cli.models.archive import ConversationArchive
from zkchat_cli.models.conversations import Conversation
from zkchat_cli.models.messages import Role, ZkChatMessage
from zkchat_cli.store.port import SessionStore
from zkchat_cli.store.sqlite.chat_session_store import ChatSessionStore
from zkchat_cli.store.sqlite.database import connect

CONVERSATIONS = 5_000
MESSAGES = 1_000_000
WORDS = 30
"""Of a message: what a question and a short answer have in the mean."""
NOON = "2025-05-08T12:00:00+00:00"


def figures(ground: Ground) -> Iterator[Row]:
    file = ground.fresh()
    messages = MESSAGES // 100 if ground.quick else MESSAGES
    fill(file, ground, messages)
    store = ChatSessionStore.open(file)
    floor = bare(
        ground,
        "CREATE TABLE conversation (seq INTEGER PRIMARY KEY, id TEXT, title TEXT, updated_at TEXT)",
    )
    floor.executemany(
        "INSERT INTO conversation (id, title, updated_at) VALUES (?, 'a title', ?)",
        ((f"c{n}", NOON) for n in range(CONVERSATIONS)),
    )
    everything = "SELECT * FROM conversation ORDER BY julianday(updated_at) DESC"
    listed = in_turns(
        timed(lambda _: store.conversations()),
        timed(lambda _: floor.execute(everything).fetchall()),
        ground.times(20),
    )
    yield Row(
        f"list {CONVERSATIONS} conversations", *listed, "rows of a bare table", Goal(200, "median")
    )
    yield from searching(ground, store, messages)
    store.close()
    for messages in (0,) if ground.quick else (0, 10 * ground.turns, 40 * ground.turns):
        yield from storing(ground, messages)
    yield from keeping(ground)


def fill(file: Path, ground: Ground, messages: int) -> None:
    """Conversations with so many messages, written by SQL: a million through the store would take
    an hour.
    """
    ChatSessionStore.open(file).close()
    database = connect(file)
    database.execute("PRAGMA synchronous = OFF")
    database.execute("BEGIN")
    # As if they had been stored one by one
    database.execute("DROP TRIGGER message_counts")
    insert = (
        "INSERT INTO conversation (id, vault, title, created_at, updated_at) VALUES (?, "
        "'/notes', 'a title', ?, ?)"
    )
    database.executemany(insert, ((f"c{n}", NOON, NOON) for n in range(CONVERSATIONS)))
    said = ground.words.common(WORDS * min(messages, 200_000)).split(" ")
    texts = (
        " ".join(said[start : start + WORDS])
        for n in range(messages)
        for start in [n * 17 % (len(said) - WORDS)]
    )
    rows = (
        {"id": f"m{n}", "talk": f"c{n % CONVERSATIONS}", "text": text, "at": NOON}
        for n, text in enumerate(texts)
    )
    columns = "(id, conversation_id, role, content, status, timestamp, rest, checksum)"
    values = (
        ":id, :talk, 'user', :text, 'complete', :at, '{}', checksum(NULL, :id, NULL, 'user', "
        ":text, :at, '{}')"
    )
    database.executemany(f"INSERT INTO message {columns} VALUES ({values})", rows)
    database.execute("COMMIT")
    database.close()


def searching(ground: Ground, store: ChatSessionStore, messages: int) -> Iterator[Row]:
    yield Row(f"make {messages} messages searchable", [timed(lambda _: store.search(None, "x"))(0)])

    def search(text: str) -> None:
        store.search(None, text)

    questions: tuple[tuple[str, Callable[[], str]], ...] = (
        ("2 rare words", partial(ground.words.rare, 2)),
        ("a question", ground.words.question),
    )
    for what, ask in questions:
        searches = [timed(search)(ask()) for _ in ground.times(60)]
        yield Row(f"search {messages} messages, {what}", searches[1:], goal=Goal(100, "p95"))


def _bench(ground: Ground) -> factory.App:
    """A store of its own, and the notes."""
    env = {**ground.env, "ZKCHAT_HOME": str(ground.fresh())}
    bench = factory.open_app(StartupOptions(vault=ground.vault, model="offline"), env, ground.vault)
    bench.vault.refresh()
    return bench


def storing(ground: Ground, messages: int) -> Iterator[Row]:
    """Turns at the end of a conversation of so many messages, beside their words in a bare table;
    and what is not waiting for the disk.
    """
    bench = _bench(ground)
    texts = (ground.words.common(2 * WORDS) for _ in range(messages))
    log: list[ZkChatMessage] = []
    for number, text in enumerate(texts):
        role: Role = "assistant" if number % 2 else "user"
        log.append(
            ZkChatMessage(
                id=f"long{number}",
                parent_id=log[-1].id if log else None,
                role=role,
                content=text,
                timestamp=NOON,
            )
        )
    place = Conversation(
        id="long",
        vault=str(bench.vault.root),
        created_at=NOON,
        updated_at=NOON,
        head_id=log[-1].id if log else None,
    )
    bench.store.restore([ConversationArchive(conversation=place, messages=tuple(log))])
    session = bench.session(place)
    floor = bare(ground, STORE)
    commit = bench.store.commit
    took: list[float] = []
    busy: list[float] = []
    bare_took: list[float] = []

    def measured(
        conversation_id: str, user: ZkChatMessage, answer: Sequence[ZkChatMessage], **more: Any
    ) -> None:
        begin = time.process_time()
        took.append(timed(lambda _: commit(conversation_id, user, answer, **more))(0))
        busy.append(1000 * (time.process_time() - begin))
        bare_took.append(timed(lambda _: insert(floor, [(m.id, m.content) for m in answer]))(0))

    bench.store.commit = measured  # type: ignore[method-assign]
    for _ in ground.times(200 if messages <= 10 * ground.turns else 60):
        assert isinstance(list(session.send(ground.words.question()))[-1], TurnCompleted)
    what = f"store a turn with its prompts, after {len(log)} messages"
    yield Row(what, took[1:], bare_took[1:], "its answer into a bare table", Goal(5, "p95"))
    yield Row(f"{what}: CPU", busy[1:])
    bench.close()


def keeping(ground: Ground) -> Iterator[Row]:
    """A conversation as sessions make it, with the offline provider and its tools, prompts and
    summaries kept.
    """
    bench = _bench(ground)
    session = bench.session()
    for _ in range(ground.turns):
        assert isinstance(list(session.send(ground.words.question()))[-1], TurnCompleted)
    opened = [
        timed(lambda _: bench.session(bench.store.conversation(session.conversation.id)))(0)
        for _ in ground.times(3)
    ]
    yield Row(f"open a conversation of {ground.turns} turns", opened)
    for format_ in ("md", "json", "html"):
        exports, busy = _exports(ground, bench.store, session.conversation.id, exporter(format_))
        yield Row(f"export {ground.turns} turns as {format_}", exports, goal=Goal(1000, "p95"))
        yield Row("  of that CPU", busy)
    yield from _imports(ground, bench.store, session.conversation.id)
    text = sum(
        len(message.content.encode()) for message in bench.store.log(session.conversation.id)
    )
    bench.store.search(None, "x")
    bench.close()
    size = bench.loaded.paths.store_file.stat().st_size
    yield Row(
        f"store size, {ground.turns} turns with tools",
        [size / 1e6],
        [text / 1e6],
        "all that was said",
        Goal(3, "ratio"),
        "MB",
    )


def _exports(
    ground: Ground, store: SessionStore, id_: str, format_: Exporter
) -> tuple[list[float], list[float]]:
    """By the clock and in CPU time, which does not depend on what else the machine does."""
    took = []
    busy = []
    for _ in ground.times(3):
        begin = time.process_time()
        took.append(timed(lambda _: format_.export(store.archive(id_, prompts=format_.prompts)))(0))
        busy.append(1000 * (time.process_time() - begin))
    return took, busy


def _imports(ground: Ground, store: SessionStore, id_: str) -> Iterator[Row]:
    """The lossless export read again and stored, as a whole; and what of that file are the
    prompts.
    """
    archive = store.archive(id_, prompts=True)
    export = exporter("json").export
    text = export(archive)
    data = text.encode()
    new_id = factory.new_id

    def taken(_: object) -> None:
        elsewhere = ChatSessionStore.open(ground.fresh())
        elsewhere.restore(read_conversations(data, vault="/notes", new_id=new_id, now=NOON)[1])
        elsewhere.close()

    yield Row(f"import {ground.turns} turns", [timed(taken)(0) for _ in ground.times(3)][1:])
    without = len(export(archive.model_copy(update={"prompts": None})).encode())
    yield Row(
        "size of that export", [len(data) / 1e6], [without / 1e6], "without prompts", unit="MB"
    )
