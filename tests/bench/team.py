"""A simulated team on one PostgreSQL server: how long it takes to store a turn and to search, and
whether anything is lost or doubled when the server is killed in the middle.

python tests/bench/team.py [--messages 1000000] [--minutes 10] [--pause 2]

50 people have 20,000 messages each. 8 processes at a time open the store as one of them, begin a
conversation of some turns, and search. As a chat does, a process watches its conversation for
`--pause` seconds before each turn, which is the time to type a question. Each turn is followed by
its floor, so both have the same machine: the same words in two plain INSERTs of psycopg, each
committed.
"""

import argparse
import json
import multiprocessing
import random
import signal
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import closing
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any, NamedTuple

import psycopg

sys.path.insert(0, str(Path(__file__).parent.parent))

import vaults
from factories import message
from measuring import Goal, Row, table
from postgres_server import PostgresServer
from test_store_port import conversation, sent_prompt

from zkchat_cli.errors import StoreError
from zkchat_cli.models.messages import ZkChatMessage
from zkchat_cli.models.prompts import SentPrompt
from zkchat_cli.store import rows
from zkchat_cli.store.codec import checksum
from zkchat_cli.store.outbox import Outbox
from zkchat_cli.store.outbox_store import OutboxStore
from zkchat_cli.store.port import ConversationWatch, SessionStore
from zkchat_cli.store.postgres.message_index import tokens
from zkchat_cli.store.postgres.postgres_store import PostgresStore
from zkchat_cli.store.postgres.server_address import ServerAddress
from zkchat_cli.store.sqlite.chat_session_store import ChatSessionStore

SEED = 7
PEOPLE = 50
PROCESSES = 8
MESSAGES_IN_CONVERSATION = 100
TURNS_IN_SESSION = 5
# Everybody's conversations lie between those of the others, as they do where people write together
PARTS = 10
QUESTION_WORDS = 15
ANSWER_WORDS = 90
NOW = "2026-01-05T12:00:00Z"
TITLE = "Talk"
# Words from which texts are cut, and the texts of each kind
POOL = 200_000
TEXTS = 5_000
# A server for a team has more than the tests' own, and cleans up while it runs
SETTINGS = ("shared_buffers=512MB", "autovacuum=on", "max_wal_size=4GB", "max_connections=100")
BARE = """
    CREATE SCHEMA bare;
    CREATE TABLE bare.said (id text PRIMARY KEY, body text);
    GRANT ALL ON SCHEMA bare TO PUBLIC;
    GRANT ALL ON bare.said TO PUBLIC;
"""


class Team(NamedTuple):
    """What every process knows."""

    address: ServerAddress
    url: str
    folder: Path
    texts: "Texts"
    words: vaults.Words
    ends_at: float
    pause: float


def person(number: int) -> str:
    return f"person{number}"


# filling


class Text(NamedTuple):
    """What somebody says, and its words as the full-text index has them."""

    text: str
    lexemes: str
    length: int


class Texts(NamedTuple):
    """All messages are chosen from some texts: to find the words of a million would take half an
    hour.
    """

    questions: list[Text]
    answers: list[Text]

    @classmethod
    def make(cls, words: vaults.Words) -> "Texts":
        pool = words.common(POOL).split(" ")
        made: list[list[Text]] = []
        for length in (QUESTION_WORDS, ANSWER_WORDS):
            starts = words.dice.sample(range(POOL - length), TEXTS)
            made.append([_with_lexemes(" ".join(pool[n : n + length])) for n in starts])
        return cls(*made)

    def choose(self, dice: random.Random, role: str) -> Text:
        return dice.choice(self.questions if role == "user" else self.answers)

    def vocabulary(self) -> list[str]:
        words = {word for each in (*self.questions, *self.answers) for word in tokens(each.text)}
        return sorted(words)


def _with_lexemes(text: str) -> Text:
    found = tokens(text)
    lexemes = " ".join(f"'{word}':{times}" for word, times in Counter(found).items())
    return Text(text, lexemes, len(found))


def fill(server: PostgresServer, messages: int, texts: Texts) -> None:
    """Give each person conversations by COPY: a million turns through the store would take hours.
    Past prompts are left out.
    """
    with server.admin() as db:
        query = "SELECT pg_get_indexdef('zkchat.message_index_words'::regclass)"
        [definition] = db.execute(query).fetchone() or ("",)
        db.execute("DROP INDEX zkchat.message_index_words")
    each = messages // PEOPLE // MESSAGES_IN_CONVERSATION // PARTS
    vocabulary = texts.vocabulary()
    with psycopg.connect(server.url("postgres")) as connection:
        # Without triggers
        connection.execute("SET session_replication_role = replica")
        connection.execute("SET search_path = zkchat")
        people = [person(number) for number in range(PEOPLE)]
        for place, who in enumerate(people * PARTS):
            rows_of_person = _Copied(f"tester/{who}", place)
            for seq in range(place * each + 1, (place + 1) * each + 1):
                rows_of_person.add_conversation(seq, texts)
            rows_of_person.copy(connection, vocabulary if place < PEOPLE else [])
            connection.commit()
    with server.admin() as db:
        db.execute("SET search_path = zkchat")
        db.execute(BARE)
        db.execute("SET maintenance_work_mem = '512MB'")
        db.execute(str(definition))  # type: ignore[call-overload]
        for name in ("conversation", "message"):
            db.execute(
                f"SELECT setval(pg_get_serial_sequence('{name}', 'seq'), max(seq)) FROM {name}"
            )
        db.execute("VACUUM ANALYZE")
        # What is killed in the middle need not read all of this again
        db.execute("CHECKPOINT")


class _Copied:
    """The rows of one person, with what triggers would have written."""

    def __init__(self, owner: str, seed: int) -> None:
        self.owner = owner
        self.dice = random.Random(seed)
        self.conversations: list[tuple[Any, ...]] = []
        self.messages: list[tuple[Any, ...]] = []
        self.words: list[tuple[Any, ...]] = []

    def add_conversation(self, seq: int, texts: Texts) -> None:
        first = ""
        length = 0
        parent: str | None = None
        for number in range(MESSAGES_IN_CONVERSATION):
            role = "assistant" if number % 2 else "user"
            text = texts.choose(self.dice, role)
            message_seq = (seq - 1) * MESSAGES_IN_CONVERSATION + number + 1
            id_ = f"old{message_seq}"
            row = rows.MessageRow(id_, parent, role, text.text, "complete", NOW, "{}", None, None)
            row = row._replace(checksum=row.make_checksum())
            self.messages.append((message_seq, seq, self.owner, *row, True))
            self.words.append((message_seq, seq, self.owner, text.lexemes, text.length))
            first = first or text.text
            length += text.length
            parent = id_
        id_ = f"old{seq}"
        check = checksum(None, id_, "/notes", TITLE, first)
        count = MESSAGES_IN_CONVERSATION
        values = (seq, self.owner, id_, "/notes", TITLE, NOW, NOW, parent, first, check)
        self.conversations.append((*values, count, count, length))

    def copy(self, connection: "psycopg.Connection[Any]", vocabulary: list[str]) -> None:
        columns = ", ".join(rows.MESSAGE)
        words = [(self.owner, word) for word in vocabulary]
        for table_, values in {
            "conversation (seq, owner, id, vault, title, created_at, updated_at, head_id, question,"
            " checksum, messages, indexed_messages, indexed_words)": self.conversations,
            f"message (seq, conversation_seq, owner, {columns}, is_chat, author)": [
                (*each, self.owner) for each in self.messages
            ],
            "message_index (message_seq, conversation_seq, owner, words, length)": self.words,
            "vocabulary (owner, term)": words,
        }.items():
            copying = f"COPY {table_} FROM STDIN"
            with connection.cursor() as cursor, cursor.copy(copying) as copy:
                for row in values:
                    copy.write_row(row)


# the people


@dataclass
class Measured:
    """Milliseconds of what one process did, and what it stored: the ids of the messages of each
    conversation, by person.
    """

    questions: list[float] = field(default_factory=list)
    answers: list[float] = field(default_factory=list)
    turns: list[float] = field(default_factory=list)
    floor: list[float] = field(default_factory=list)
    searches: list[float] = field(default_factory=list)
    # Turns that went into the outbox
    kept: list[float] = field(default_factory=list)
    stored: dict[str, dict[str, list[str]]] = field(default_factory=dict)


class Member:
    """One process: it is one person after the other."""

    def __init__(self, team: Team, number: int) -> None:
        self.team = team
        self.number = number
        self.dice = random.Random(number)
        self.measured = Measured()
        self.people = [*range(number, PEOPLE, PROCESSES)]
        self._floor: psycopg.Connection[Any] | None = None

    def run(self) -> Measured:
        while time.time() < self.team.ends_at:
            who = person(self.dice.choice(self.people))
            with closing(self._open(who)) as store:
                self._session(store, who)
        for number in self.people:
            with closing(self._open(person(number))) as store:
                store.conversations(limit=1)
                while store.waiting_turns:
                    time.sleep(1)
                    store.conversations(limit=1)
        return self.measured

    def _open(self, who: str) -> SessionStore:
        server = self.team.address
        parameters = {**server.parameters}
        parameters["options"] = f"{parameters['options']} -c zkchat.user={who}"
        address = server._replace(parameters=parameters)
        outbox = Outbox(self.team.folder / who, ChatSessionStore.open)
        return OutboxStore(lambda: PostgresStore.open(address), outbox)

    def _session(self, store: SessionStore, who: str) -> None:
        id_ = f"new{self.number}-{time.time_ns()}"
        store.start(conversation(id_))
        said: list[ZkChatMessage] = []
        ids = self.measured.stored.setdefault(who, {}).setdefault(id_, [])
        assert store.watch is not None
        with closing(store.watch(id_)) as watch:
            for _ in range(TURNS_IN_SESSION):
                self._type(watch)
                self._turn(store, id_, said)
                ids += [said[-2].id, said[-1].id]
                self._measure_floor(said[-2:])
                self._search(store)

    def _type(self, watch: ConversationWatch) -> None:
        ends_at = time.monotonic() + self.team.pause * self.dice.uniform(0.5, 1.5)
        while (left := ends_at - time.monotonic()) > 0:
            try:
                watch.wait(left)
            except StoreError:
                # The server is away: the turn is kept in the outbox
                time.sleep(left)

    def _turn(self, store: SessionStore, id_: str, said: list[ZkChatMessage]) -> None:
        place = len(said)
        parent = said[-1].id if said else None
        question = message("user", self._text("user"), f"{id_}q{place}", parent_id=parent)
        answer = message(
            "assistant", self._text("assistant"), f"{id_}a{place}", parent_id=question.id
        )
        sent: list[SentPrompt] = [sent_prompt(question.id, *said[-10:], question)]
        begin = time.perf_counter()
        store.add(id_, question.model_copy(update={"status": "pending"}))
        between = time.perf_counter()
        store.commit(id_, question, [answer], updated_at=NOW, title="Talk", sent=sent)
        end = time.perf_counter()
        said += [question, answer]
        if store.away is not None:
            self.measured.kept.append(1000 * (end - begin))
            return
        self.measured.questions.append(1000 * (between - begin))
        self.measured.answers.append(1000 * (end - between))
        self.measured.turns.append(1000 * (end - begin))

    def _text(self, role: str) -> str:
        return self.team.texts.choose(self.dice, role).text

    def _measure_floor(self, turn: list[ZkChatMessage]) -> None:
        try:
            if self._floor is None:
                self._floor = psycopg.connect(self.team.url, autocommit=True)
            begin = time.perf_counter()
            for said in turn:
                self._floor.execute(
                    "INSERT INTO bare.said VALUES (%s, %s)", (said.id, said.content)
                )
            self.measured.floor.append(1000 * (time.perf_counter() - begin))
        except psycopg.OperationalError:
            self._floor = None

    def _search(self, store: SessionStore) -> None:
        text = self.team.words.question()
        begin = time.perf_counter()
        store.search(None, text)
        if store.away is None:
            self.measured.searches.append(1000 * (time.perf_counter() - begin))


def work(team: Team, number: int) -> None:
    measured = Member(team, number).run()
    (team.folder / f"{number}.json").write_text(json.dumps(asdict(measured)))


# what is there afterwards


def count_messages(server: PostgresServer) -> int:
    with server.admin() as db:
        [count] = db.execute("SELECT count(*) FROM zkchat.message").fetchone() or (0,)
        return int(str(count))


def check(
    server: PostgresServer, before: int, stored: dict[str, dict[str, list[str]]]
) -> list[str]:
    """What was lost, doubled or put into another order, in words."""
    wrong: list[str] = []
    total = 0
    for who, conversations in stored.items():
        with closing(PostgresStore.open(server.address(user=who))) as store:
            for id_, expected in conversations.items():
                total += len(expected)
                log = store.log(id_)
                if [each.id for each in log] != expected:
                    wrong.append(f"{id_}: {len(log)} messages instead of {len(expected)}")
                wrong += [
                    f"{each.id} is {each.status}" for each in log if each.status != "complete"
                ]
                if [each.id for each in store.history(id_)] != expected:
                    wrong.append(f"{id_}: the branch is not whole")
                asked = [each.id for each in log if each.role == "user"]
                wrong += [
                    f"the prompts of {question}"
                    for question in asked[-1:]
                    if len(store.prompts.sent_for(question)) != 1
                ]
    there = count_messages(server)
    if there != before + total:
        wrong.append(f"{there} messages instead of {before + total}")
    return wrong


def simulate(
    server: PostgresServer, texts: Texts, words: vaults.Words, minutes: float, pause: float
) -> Measured:
    """Let the team work, and kill the server once in the middle."""
    seconds = 60 * minutes
    every = Measured()
    # They have loaded what this process has
    context = multiprocessing.get_context("fork")
    with tempfile.TemporaryDirectory(prefix="zkchat-team-") as scratch:
        folder = Path(scratch)
        ends_at = time.time() + seconds
        team = Team(server.address(), server.url(), folder, texts, words, ends_at, pause)
        processes = [context.Process(target=work, args=(team, n)) for n in range(PROCESSES)]
        for process in processes:
            process.start()
        time.sleep(seconds / 2)
        server.stop(signal.SIGQUIT)
        time.sleep(1)
        server.start()
        for process in processes:
            process.join()
        for number in range(PROCESSES):
            done = json.loads((folder / f"{number}.json").read_text())
            every.stored |= done.pop("stored")
            for name, values in done.items():
                getattr(every, name).extend(values)
    return every


def report(measured: Measured) -> Iterator[Row]:
    floor = "two plain INSERTs, each committed"
    yield Row("store a turn", measured.turns, measured.floor, floor, Goal(25, "p95"))
    yield Row("  its question", measured.questions)
    yield Row("  its answer and prompt", measured.answers)
    if measured.kept:
        yield Row("  while the server is away", measured.kept)
    yield Row("search the history", measured.searches, goal=Goal(50, "p95"))


def main() -> None:
    parser = argparse.ArgumentParser(description="Simulate a team on one PostgreSQL server.")
    parser.add_argument("--messages", type=int, default=1_000_000)
    parser.add_argument("--minutes", type=float, default=10)
    parser.add_argument("--pause", type=float, default=2, help="seconds before each turn")
    chosen = parser.parse_args()
    words = vaults.Words(SEED)
    texts = Texts.make(words)
    server = PostgresServer(settings=SETTINGS)
    try:
        begin = time.perf_counter()
        fill(server, chosen.messages, texts)
        print(f"{chosen.messages} messages ({time.perf_counter() - begin:.0f} s)", flush=True)
        wrong = run(server, texts, words, chosen.minutes, chosen.pause)
    finally:
        server.remove()
    sys.exit(bool(wrong))


def run(
    server: PostgresServer, texts: Texts, words: vaults.Words, minutes: float, pause: float
) -> list[str]:
    """Simulate, and print the figures. Returns what is wrong afterwards."""
    before = count_messages(server)
    measured = simulate(server, texts, words, minutes, pause)
    print(table(report(measured)))
    wrong = check(server, before, measured.stored)
    print("\n".join(wrong) or "nothing was lost, doubled or out of order")
    return wrong


if __name__ == "__main__":
    main()
