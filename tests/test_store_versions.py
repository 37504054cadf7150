"""Every version of the store that there ever was is opened by this one, with all that was in it, after a backup beside it."""

import sqlite3
import stat
from pathlib import Path

import pytest
from older_stores import DUMPS, dumped

from zkchat_cli.models import ToolCall
from zkchat_cli.store.chat_session_store import ChatSessionStore
from zkchat_cli.store.migrations import SCRIPTS

VERSIONS = sorted(int(dump.stem.removeprefix("v")) for dump in DUMPS.glob("v*.sql"))


def test_there_is_a_dump_of_each_version() -> None:
    assert [*range(1, len(SCRIPTS) + 1)] == VERSIONS


@pytest.mark.parametrize("version", VERSIONS)
def test_a_store_of_an_earlier_version_has_all_that_was_in_it(tmp_path: Path, version: int) -> None:
    file = dumped(tmp_path / "c.db", version)
    store = ChatSessionStore.open(file)

    log = {message.id: message for message in store.log("c1")}
    assert list(log)[:5] == ["q1", "k1", "t1", "a1", "q2"]
    question, call, result, answer = (log[id_] for id_ in ("q1", "k1", "t1", "a1"))
    assert (question.content, question.status, question.token_count) == ("How do I use [[Filters]]?", "complete", 9)
    assert [(r.relative_path, r.summary, r.context_snippet) for r in question.references] == [
        ("Filters.md", "About filters", "Filters say …")
    ]
    assert call.tool_calls == (ToolCall(id="call-1", name="find_excerpts", arguments={"query": "filters 過濾"}),)
    assert [chunk.text for chunk in result.chunks] == ["Filters say which tasks you want to see; a filter's line is one condition."]
    assert answer.content == "“A line is one condition” [1]. 一行一個條件。" and answer.citations[0].spans == ((0, 29),)
    assert answer.usage is not None and answer.usage.prompt_tokens == 100
    assert log["q2"].status in ("pending", "unfinished")

    [held] = store.compactions("c1")
    assert (held.id, held.summary, held.masked, held.last_id) == ("s1", "They spoke of filters.", ("t1",), "a1")
    undone = store.undo_compaction("c1")
    assert undone == held and store.compactions("c1") == ()

    [overview] = store.overviews("/notes")
    assert (overview.messages, overview.tokens, overview.first_line) == (len(log) - 2, 46, "How do I use [[Filters]]?")
    assert {said.message.id for said in store.search("/notes", "filters")} >= {"q1", "t1"}
    assert [said.message.id for said in store.search("/notes", "條件")] == ["a1"]
    assert [mention.how for mention in store.mentions("/notes", "Filters.md")] == [("named", "cited")]
    assert store.calibration("openai/m") == (1.25 if version >= 2 else 1.0)
    assert [fact.content for fact in store.facts("/notes")] == (["The roof is tin"] if version >= 4 else [])
    assert len(store.fact_history("/notes", "roof")) == (2 if version >= 4 else 0)
    prompts = [[message.content for message in sent.prompt.messages] for sent in store.prompts("q1")]
    assert prompts == ([["Quote the notes. 引用", "How do I use [[Filters]]?"]] if version >= 6 else [])
    store.close()

    backups = [*tmp_path.glob("*.bak")]
    assert [backup.name for backup in backups] == ([f"c.db.v{version}.bak"] if version < len(SCRIPTS) else [])
    for backup in backups:
        assert stat.S_IMODE(backup.stat().st_mode) == 0o600
        before = sqlite3.connect(backup)
        assert before.execute("PRAGMA user_version").fetchone() == (version,)
        assert before.execute("SELECT count(*) FROM message").fetchone() == (len(log),)
        before.close()


@pytest.mark.parametrize("version", VERSIONS)
def test_a_store_of_an_earlier_version_becomes_what_a_new_one_is(tmp_path: Path, version: int) -> None:
    ChatSessionStore.open(dumped(tmp_path / "old.db", version)).close()
    ChatSessionStore.open(tmp_path / "new.db").close()
    schemas = []
    for name in ("old.db", "new.db"):
        database = sqlite3.connect(tmp_path / name)
        schemas.append(database.execute("SELECT type, name, sql FROM sqlite_master ORDER BY type, name").fetchall())
        assert database.execute("PRAGMA integrity_check").fetchone() == ("ok",)
        database.execute("INSERT INTO spoken (spoken) VALUES ('integrity-check')")
        database.close()
    assert schemas[0] == schemas[1]
