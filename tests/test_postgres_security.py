"""Who sees what on a PostgreSQL server: by row-level security, whatever a client sends."""

import random
from collections.abc import Iterator
from contextlib import closing

import psycopg
import pytest
from factories import make_compaction
from postgres_server import PostgresServer
from test_store_port import ONE, conversation, fact, said, sent_prompt

from zkchat_cli.errors import StoreError, StoreUnwritable
from zkchat_cli.store.postgres.postgres_store import PostgresStore

CHUNKS = 4
STATEMENTS = 2_500
TABLES = (
    "conversation message compaction calibration fact mention piece prompt message_vector "
    "fact_vector share message_index vocabulary layout"
).split()
RUN = """
    CREATE OR REPLACE FUNCTION pg_temp.run(statements text[], OUT leaks text[], OUT done integer)
    LANGUAGE plpgsql AS $$
    DECLARE
        statement text;
        found text;
    BEGIN
        done := 0;
        FOREACH statement IN ARRAY statements LOOP
            BEGIN
                PERFORM set_config('zkchat.user', '', true);
                EXECUTE statement INTO found;
                done := done + 1;
                IF found ILIKE '%secretbob%' THEN
                    leaks := leaks || statement;
                END IF;
            EXCEPTION WHEN OTHERS THEN
                IF SQLERRM ILIKE '%secretbob%' THEN
                    leaks := leaks || statement;
                END IF;
            END;
        END LOOP;
    END $$
"""
"""Runs what a changed client might send, and returns the statements that showed Bob's words."""


@pytest.fixture
def bob(postgres: PostgresServer) -> Iterator[PostgresStore]:
    with closing(PostgresStore.open(postgres.address("bob"))) as store:
        yield store
        store.delete(*(each.id for each in store.conversations()))


@pytest.fixture
def alice(postgres: PostgresServer) -> Iterator[PostgresStore]:
    with closing(PostgresStore.open(postgres.address("alice"))) as store:
        yield store
        own = [each.id for each in store.conversations() if each.id.startswith("alice")]
        store.delete(*own)


def fill_with_secrets(store: PostgresStore) -> None:
    store.start(conversation("bob1", title="secretbob title"))
    question = said("bq1", text="secretbob question")
    store.add("bob1", question)
    cited = [{"number": 1, "relative_path": "secretbob.md", "valid": True}]
    answer = said("ba1", "bq1", text="secretbob answer", citations=cited)
    store.commit("bob1", question, [answer], updated_at=ONE, sent=[sent_prompt("bq1", question)])
    store.compact("bob1", make_compaction("secretbob", "ba1", id="bs1"))
    store.facts.remember("/notes", fact("bobkey", "secretbob fact"))
    store.vectors.add_for_messages("e5", {"bq1": b"secretbob"})
    for number, may_write in ((2, False), (3, True)):
        id_ = f"bob{number}"
        store.start(conversation(id_, title="for all"))
        store.add(id_, said(f"bq{number}", text="shown to all"))
        store.sharing.share(id_, None, may_write=may_write)


FORGED = (
    '{"id": "bq1", "role": "user", "content": "forged", "status": "x", "timestamp": "x", '
    '"rest": "{}", "checksum": 1, "is_chat": true, "tokens": 1}'
)
SEARCHES = (
    "SELECT string_agg(term, ' ') FROM search_vocabulary('{secret}', 100)",
    "SELECT CASE WHEN search_count('secretbob', 9) > 0 THEN 'secretbob' END",
    "SELECT CASE WHEN count(*) > 0 THEN 'secretbob' END"
    " FROM search_scores('secretbob | question', '{secretbob}', '{}', 9, 9, 9)",
    # True of messages without any word of the caller's
    "SELECT CASE WHEN count(*) > 0 THEN 'secretbob' END"
    " FROM search_scores('!nothing', '{secretbob}', '{}', 9, 9, 9)",
    "SELECT string_agg(content, ' ') FROM"
    " search_messages('secretbob | question', '{secretbob}', '{}', 9, NULL, NULL, true, 9)",
)
"""What finds the secrets, if it is their owner who asks."""


def random_statement(choose: random.Random, seqs: list[int]) -> str:
    table = choose.choice(TABLES)
    other = choose.choice(TABLES)
    seq = choose.choice(seqs)
    where = choose.choice(
        (
            "true",
            "owner = 'bob'",
            f"seq = {seq}",
            f"conversation_seq = {seq}",
            "content LIKE '%secret%'",
            "id IN ('bob1', 'bq1', 'ba1', 'bs1')",
            "t::text LIKE '%secret%'",
            "1 / (CASE WHEN t::text ILIKE '%secretbob%' THEN 0 ELSE 1 END) = 1",
        )
    )
    first = choose.choice(("", "", "SET LOCAL zkchat.user = 'bob'; ", "SET ROLE bob; "))
    reads = (
        f"SELECT string_agg(t::text, ' ') FROM {table} AS t WHERE {where}",
        f"SELECT string_agg(t::text || o::text, ' ') FROM {table} AS t, {other} AS o",
        f"SELECT count(*) || max(t::text) FROM ONLY {table} AS t WHERE {where}",
        *SEARCHES,
        f"SELECT append_message('bob1', '[{FORGED}]', 'bq1', NULL, 'x')::text",
        f"SELECT add_messages({seqs[0]}, 'bob', '[{FORGED}]')::text",
        f"SELECT add_messages({seqs[0]}, me(), '[{FORGED}]')::text",
        f"SELECT add_mentions({seq}, {seqs[0]}, 'bob', '[{{\"relative_path\": \"x\"}}]')::text",
        f"SELECT update_message({seqs[0]}, '{FORGED}', true)::text",
        "SELECT string_agg(number::text, ' ') FROM number_pieces('bob1', '{x}') AS number",
        f"SELECT add_prompts({seqs[0]}, 'bob', '{{9}}', '{{x}}', '{{x}}', '{{q}}', '{{x}}')::text",
        f"SELECT string_agg(t::text, ' ') FROM {table} AS t"
        f" WHERE EXISTS (SELECT 1 FROM {other} AS o WHERE o::text = t::text)",
        f"DELETE FROM {table} AS t WHERE {where} RETURNING t::text",
        f"UPDATE {table} AS t SET owner = 'alice' WHERE {where} RETURNING t::text",
        f"UPDATE {table} AS t SET owner = owner WHERE {where} RETURNING t::text",
        f"UPDATE conversation AS t SET title = 'taken' WHERE {where} AND seq = {seqs[0]}"
        " RETURNING t::text",
        f"UPDATE message AS t SET status = 'failed' WHERE {where} AND conversation_seq = {seqs[0]}"
        " RETURNING t::text",
        f"INSERT INTO share VALUES ({seqs[0]}, {choose.choice(('me()', quote('bob')))}, 'alice')"
        " RETURNING 'x'",
        "INSERT INTO message (conversation_seq, owner, id, role, content, status, timestamp, rest)"
        f" VALUES ({seq}, 'bob', 'x{choose.random()}', 'user', 'forged', 'x', 'x', '{{}}')"
        " RETURNING conversation_seq",
        f"INSERT INTO message_index VALUES ({seq}, {seq}, 'alice', '''@{choose.random()}''', 1)",
        f"SELECT forget_words(ARRAY[{seq}])::text",
        f"SELECT (xmlelement(name x, t::text))::text FROM {table} AS t",
        f"TABLE {table}",
        f"SELECT lo_get({seq})::text",
        "SELECT string_agg(query, ' ') FROM pg_stat_activity",
        "SELECT string_agg(most_common_vals::text, ' ') FROM pg_stats",
    )
    return first + choose.choice(reads)


def quote(text: str) -> str:
    return f"'{text}'"


@pytest.mark.parametrize("chunk", range(CHUNKS))
def test_a_role_reads_and_changes_only_its_own_rows_and_what_is_shared_with_it(
    postgres: PostgresServer, bob: PostgresStore, chunk: int
) -> None:
    fill_with_secrets(bob)
    choose = random.Random(chunk)
    tables = [each for each in TABLES if each not in {"layout", "vocabulary", "message_index"}]
    private = {
        each: "seq = ANY (%s)" if each == "conversation" else "conversation_seq = ANY (%s)"
        for each in tables
        if each not in {"calibration", "fact", "fact_vector"}
    }
    with postgres.admin() as admin:
        admin.execute("SET search_path = zkchat")
        admin.execute("ANALYZE")
        found = admin.execute("SELECT seq FROM conversation WHERE owner = 'bob' ORDER BY seq")
        seqs = [int(str(seq)) for (seq,) in found]

        def rows(numbers: list[int]) -> list[object]:
            return [
                admin.execute(
                    f"SELECT md5(string_agg(t::text, ' ' ORDER BY t::text)) FROM {table} AS t "
                    f"WHERE {where}",  # type: ignore[arg-type]
                    (numbers,),
                ).fetchone()
                for table, where in private.items()
            ]

        before = rows(seqs[:2])
        facts = bob.facts.current("/notes")
        address = postgres.url("alice")
        with psycopg.connect(address, autocommit=True) as client:
            client.execute("SET search_path = zkchat")
            client.execute(RUN)
            statements = [random_statement(choose, seqs) for _ in range(STATEMENTS)]
            query = "SELECT leaks, done FROM pg_temp.run(%s)"
            leaks, done = client.execute(query, (statements,)).fetchone() or (None, 0)
        assert leaks is None
        assert done > STATEMENTS / 5
        assert rows(seqs[:2]) == before
        assert bob.facts.current("/notes") == facts
    assert [each.content for each in bob.log("bob3")][:1] == ["shown to all"]


def test_the_watch_for_leaks_sees_one(postgres: PostgresServer, bob: PostgresStore) -> None:
    fill_with_secrets(bob)
    with psycopg.connect(postgres.url("bob"), autocommit=True) as client:
        client.execute("SET search_path = zkchat")
        client.execute(RUN)
        statements = ["SELECT min(content) FROM message", *SEARCHES]
        query = "SELECT leaks, done FROM pg_temp.run(%s)"
        leaks, _ = client.execute(query, (statements,)).fetchone() or (None, 0)
    assert leaks == statements


def test_a_shared_conversation_is_read_and_continued_as_far_as_its_owner_says(
    alice: PostgresStore, bob: PostgresStore
) -> None:
    bob.start(conversation("bob1", title="The roof"))
    bob.add("bob1", said("bq1", text="Who repaired the roof?"))
    with pytest.raises(StoreError, match="there is no conversation bob1"):
        alice.log("bob1")
    assert alice.search(None, "roof") == ()
    [shared] = bob.sharing.share("bob1", "alice", may_write=False)
    assert shared == ("alice", False)
    assert [each.id for each in alice.conversations()] == ["bob1"]
    assert [each.message.id for each in alice.search(None, "roofs")] == ["bq1"]
    for act in (
        lambda: alice.add("bob1", said("aq1", "bq1")),
        lambda: alice.update("bob1", title="Mine"),
        lambda: alice.delete("bob1"),
    ):
        with pytest.raises(StoreUnwritable, match="shared with you to read"):
            act()
    with pytest.raises(StoreUnwritable, match="belongs to bob"):
        alice.sharing.share("bob1", None, may_write=True)
    bob.sharing.share("bob1", "alice", may_write=True)
    assert alice.add("bob1", said("aq1", "bq1", text="It leaks again.")) == "bq1"
    assert [each.message.id for each in bob.search(None, "leaks")] == ["aq1"]
    with pytest.raises(StoreUnwritable, match="belongs to bob; it was not deleted"):
        alice.delete("bob1")
    assert bob.sharing.unshare("bob1", None) == ()
    assert alice.conversations() == []
    assert [each.id for each in bob.log("bob1")] == ["bq1", "aq1"]


def test_odd_words_that_another_client_stores_break_no_search(
    postgres: PostgresServer, alice: PostgresStore, bob: PostgresStore
) -> None:
    bob.start(conversation("bob1"))
    bob.add("bob1", said("bq1", text="Who repaired the roof?"))
    bob.sharing.share("bob1", "alice", may_write=True)
    with psycopg.connect(postgres.url("alice"), autocommit=True) as client:
        client.execute("SET search_path = zkchat")
        client.execute(
            "INSERT INTO message_index SELECT 0, conversation_seq, owner,"
            r" array_to_tsvector(ARRAY['roof''s\\', '#1', 'roof'' | ''secret']), 3"
            " FROM message WHERE id = 'bq1'"
        )
    for store in (alice, bob):
        assert [each.message.id for each in store.search(None, "roofs")] == ["bq1"]


def test_two_people_import_the_same_conversation(alice: PostgresStore, bob: PostgresStore) -> None:
    alice.start(conversation("alice1"))
    alice.add("alice1", said("q1"))
    archive = alice.archive("alice1", prompts=True)
    assert bob.restore([archive]) == [1]
    bob.sharing.share("alice1", "alice", may_write=True)
    alice.update("alice1", title="Hers")
    assert bob.conversation("alice1").title is None


def test_a_shared_fact_is_read_by_all_and_changed_by_its_owner(
    alice: PostgresStore, bob: PostgresStore
) -> None:
    bob.facts.remember("/roofs", fact("roofer", "Miller"))
    assert alice.facts.current("/roofs") == ()
    assert bob.sharing.share_fact("/roofs", "roofer", shared=True)
    assert [each.content for each in alice.facts.current("/roofs")] == ["Miller"]
    assert alice.facts.forget("/roofs", "roofer") is None
    alice.facts.remember("/roofs", fact("roofer", "Smith"))
    assert [each.content for each in alice.facts.current("/roofs")] == ["Smith"], "her own first"
    assert [each.content for each in bob.facts.current("/roofs")] == ["Miller"]
    alice.facts.forget("/roofs", "roofer")
    bob.facts.forget("/roofs", "roofer")


def test_people_who_share_a_role_have_names_below_it(postgres: PostgresServer) -> None:
    names = [postgres.new_user() for _ in range(2)]
    first, second = (PostgresStore.open(postgres.address(user=name)) for name in names)
    with closing(first), closing(second):
        first.start(conversation("c1"))
        assert second.conversations() == []
        first.sharing.share("c1", names[1], may_write=False)
        assert [each.id for each in second.conversations()] == ["c1"]
        with pytest.raises(StoreError, match="no role 'nobody-here'"):
            first.sharing.share("c1", "nobody-here/x", may_write=False)
