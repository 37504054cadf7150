"""The store at the size of years of talk: lists, searches, exports, and how much room a long conversation takes."""

from collections.abc import Iterator
from pathlib import Path

from ground import Ground, bare
from measuring import Goal, Row, in_turns, timed

from zkchat_cli import wiring
from zkchat_cli.events import TurnCompleted
from zkchat_cli.exporters import exporter
from zkchat_cli.store import ChatSessionStore
from zkchat_cli.store.file import connect

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
    floor = bare(ground, "CREATE TABLE conversation (seq INTEGER PRIMARY KEY, id TEXT, title TEXT, updated_at TEXT)")
    floor.executemany(
        "INSERT INTO conversation (id, title, updated_at) VALUES (?, 'a title', ?)", ((f"c{n}", NOON) for n in range(CONVERSATIONS))
    )
    everything = "SELECT * FROM conversation ORDER BY julianday(updated_at) DESC"
    listed = in_turns(timed(lambda _: store.overviews()), timed(lambda _: floor.execute(everything).fetchall()), ground.times(20))
    yield Row(f"list {CONVERSATIONS} conversations", *listed, "rows of a bare table", Goal(200, "median"))
    yield from searching(ground, store, messages)
    store.close()
    yield from keeping(ground)


def fill(file: Path, ground: Ground, messages: int) -> None:
    """Conversations with so many messages, written by SQL: a million through the store would take an hour."""
    ChatSessionStore.open(file).close()
    database = connect(file)
    database.execute("PRAGMA synchronous = OFF")
    database.execute("BEGIN")
    database.execute("DROP TRIGGER message_listed")  # as if they had been stored one by one
    insert = "INSERT INTO conversation (id, vault, title, created_at, updated_at) VALUES (?, '/notes', 'a title', ?, ?)"
    database.executemany(insert, ((f"c{n}", NOON, NOON) for n in range(CONVERSATIONS)))
    said = ground.words.common(WORDS * min(messages, 200_000)).split(" ")
    texts = (" ".join(said[start : start + WORDS]) for n in range(messages) for start in [n * 17 % (len(said) - WORDS)])
    rows = ((f"m{n}", f"c{n % CONVERSATIONS}", text, NOON) for n, text in enumerate(texts))
    columns = "(id, conversation_id, role, content, status, timestamp, rest)"
    database.executemany(f"INSERT INTO message {columns} VALUES (?, ?, 'user', ?, 'complete', ?, '{{}}')", rows)
    database.execute("COMMIT")
    database.close()


def searching(ground: Ground, store: ChatSessionStore, messages: int) -> Iterator[Row]:
    yield Row(f"make {messages} messages searchable", [timed(lambda _: store.search(None, "x"))(0)])
    for what, ask in (("2 rare words", lambda: ground.words.rare(2)), ("a question", ground.words.question)):
        searches = [timed(lambda text: store.search(None, text))(ask()) for _ in ground.times(60)]
        yield Row(f"search {messages} messages, {what}", searches[1:], goal=Goal(100, "p95"))


def keeping(ground: Ground) -> Iterator[Row]:
    """A conversation as sessions make it, with the offline provider and its tools, prompts and summaries kept."""
    env = {**ground.env, "ZKCHAT_HOME": str(ground.fresh())}
    bench = wiring.open_bench(wiring.Choices(vault=ground.vault, model="offline"), env, ground.vault)
    bench.vault.refresh()
    session, took = bench.session(), []
    commit = bench.store.commit
    bench.store.commit = lambda *args, **more: took.append(timed(lambda _: commit(*args, **more))(0))  # type: ignore[assignment, method-assign]
    for _ in range(ground.turns):
        assert isinstance(list(session.send(ground.words.question()))[-1], TurnCompleted)
    yield Row(f"store a turn with its prompts, of {ground.turns}", took, goal=Goal(5, "p95"))
    opened = [timed(lambda _: bench.session(bench.store.conversation(session.conversation.id)))(0) for _ in ground.times(3)]
    yield Row(f"open a conversation of {ground.turns} turns", opened)
    for format_ in ("md", "json", "html"):
        export = exporter(format_).export
        exports = [timed(lambda _: export(bench.store.archive(session.conversation.id)))(0) for _ in ground.times(3)]  # noqa: B023
        yield Row(f"export {ground.turns} turns as {format_}", exports, goal=Goal(1000, "p95"))
    text = sum(len(message.content.encode()) for message in bench.store.log(session.conversation.id))
    bench.store.search(None, "x")
    bench.close()
    size = bench.loaded.places.store_file.stat().st_size
    yield Row(f"store size, {ground.turns} turns with tools", [size / 1e6], [text / 1e6], "all that was said", Goal(3, "ratio"), "MB")
