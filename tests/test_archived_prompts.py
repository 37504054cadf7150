"""What the model saw travels with a conversation: out to a file and in again it is the same to the byte, in little room; a wrong file is
refused by its line before it can do harm."""

import json
import time
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from building import NOON, Deltas, Ids, Room, a_compaction, a_room, calls, completed, find, says, with_compaction
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from zkchat_cli import exporters, slash
from zkchat_cli.chat.session import ZkChatSession
from zkchat_cli.errors import ProviderError, StoreError, UsageError
from zkchat_cli.exporters import base, exporter
from zkchat_cli.importers.chat_log import read_file
from zkchat_cli.llm.base import Request, StreamFailed, TextPart
from zkchat_cli.models import ConversationArchive, Prompt, SentPrompt
from zkchat_cli.store.chat_session_store import ChatSessionStore
from zkchat_cli.store.database import connect

Document = dict[str, Any]


@pytest.fixture
def room(vault: Path, tmp_path: Path) -> Iterator[Room]:
    made = a_room(vault, tmp_path / "cache", max_context=1800)
    yield made
    made.store.close()
    made.vault.close()


class Willing(Deltas):
    """Looks when it is told to look, breaks off when it is told to break, and answers at length."""

    def stream(self, request: Request):  # type: ignore[no-untyped-def]
        self.requests.append(request)
        n, last = len(self.requests), request.messages[-1]
        if "break" in last.content:
            yield from [TextPart("Half"), StreamFailed(ProviderError("cut", "it broke off", "Ask again."))]
        elif "look" in last.content and last.role == "user":
            yield from calls(find(f"filters {n}", f"call-{n}"))
        else:
            yield from says(f"So it is, {n}: " + "the anvil stands on a shelf. " * (n % 9))


def exported(store: ChatSessionStore, id_: str) -> str:
    return exporter("json").export(store.archive(id_, prompts=True))


def read(text: str) -> ConversationArchive:
    [archive] = read_file(text.encode(), vault="/elsewhere", new_id=Ids("never"), now=NOON).archives
    return archive


def elsewhere(room: Room, text: str) -> tuple[Room, str]:
    """A room whose store holds just that, and the conversation's id."""
    there = replace(room, store=ChatSessionStore.open(None))
    return there, there.store.restore(read(text), Ids("never")).id


def sent_in(store: ChatSessionStore, id_: str) -> list[SentPrompt]:
    return [sent for message in store.log(id_) if message.role == "user" for sent in store.prompts(message.id)]


def a_talk(room: Room, *questions: str) -> ZkChatSession:
    session = room.session(Willing([]))
    for question in questions:
        list(session.send(question))
    return session


LOOKS = tuple(f"Please look for the anvil of day {n}." for n in range(12))

MOVES = ["Where is the anvil?", "Please look for [[Filters]]", "look " * 90, "break", "/undo", "/undo 2", "/redo", "/retry", "/edit 1 And?"]
MOVES += ["/pin 1", "/unpin 1", "/priority 1 9", "/compact", "/compact undo", "/strategy discard", "/strategy summarize", "/branches 1"]


@pytest.mark.untraced
@settings(max_examples=12, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow])
@given(steps=st.lists(st.sampled_from(MOVES), min_size=3, max_size=14))
def test_whatever_was_done_in_a_conversation_its_prompts_come_back_as_they_were(room: Room, steps: list[str]) -> None:
    comes_back_as_it_was(room, steps)


def test_prompts_with_summaries_that_were_taken_back_come_back_as_they_were(room: Room) -> None:
    comes_back_as_it_was(room, [*LOOKS[:5], "/compact", "/pin 2", "And?", "/compact undo", "And now?", "/edit 3 Where?", *LOOKS[5:]])


def comes_back_as_it_was(room: Room, steps: list[str]) -> None:
    session = room.session(Willing([]))
    for step in ["Please look for the anvil.", *steps]:
        try:
            turn = slash.run(step, session).turn if step.startswith("/") else session.send(step)
            list(turn or ())
        except UsageError:
            pass  # there is nowhere to go that way, or nothing to pin
    id_, strategy = session.conversation.id, session.strategy.name
    text = exported(room.store, id_)
    there, same = elsewhere(room, text)
    assert exported(there.store, same) == text
    assert sent_in(there.store, same) == sent_in(room.store, id_) != []
    now, then = (r.session(conversation=r.store.conversation(id_), strategy=strategy) for r in (room, there))
    assert now.prompt() == then.prompt()
    assert told(now.prompt("anvil?")) == told(then.prompt("anvil?"))
    copied_as_it_was(room, id_, text, strategy)
    there.store.close()


def copied_as_it_was(room: Room, id_: str, text: str, strategy: str) -> None:
    """Into the same store it comes under new ids: everywhere the same new one for the same old one."""
    copy = room.store.restore(read(text), room.new_id).id
    before, after = (json.loads(exported(room.store, each)) for each in (id_, copy))
    ids = {a["id"]: b["id"] for name in ("messages", "compactions") for a, b in zip(before[name], after[name], strict=True)}
    assert not ids.keys() & set(ids.values())
    renamed = [s.model_dump() for s in sent_in(room.store, id_)]
    for sent in renamed:
        sent["question_id"], sent["summarised_through"] = ids[sent["question_id"]], ids.get(sent["summarised_through"])
        for message in sent["prompt"]["messages"]:
            message["source_ids"] = tuple(ids.get(source, source) for source in message["source_ids"])
    assert [s.model_dump() for s in sent_in(room.store, copy)] == renamed
    prompts = [room.session(conversation=room.store.conversation(each), strategy=strategy).prompt("anvil?") for each in (id_, copy)]
    assert told(prompts[0]) == told(prompts[1])


def told(prompt: Prompt) -> list[tuple[str, str, int]]:
    return [(m.role, m.content, m.tokens) for m in prompt.messages]


def test_a_conversation_goes_on_from_an_import_as_if_it_had_never_left(room: Room) -> None:
    session = a_talk(room, *LOOKS[:4])
    there, id_ = elsewhere(room, exported(room.store, session.conversation.id))
    there.new_id, room.new_id = Ids("n"), Ids("n")
    for place, at in ((room, room.resumed(session)), (there, there.session(Willing([]), there.store.conversation(id_)))):
        at.model.requests[:] = []  # type: ignore[attr-defined]
        completed(at.send("Please look again."))
        assert len(sent_in(place.store, id_)) == 10
    pieces = [json.loads(exported(r.store, id_))["prompts"]["pieces"] for r in (room, there)]
    assert pieces[0] == pieces[1], "what was sent before is found again, not stored twice"


def test_two_conversations_that_go_on_by_turns_are_each_exported_as_if_alone(room: Room) -> None:
    """The store numbers their pieces together, an export those of its own."""
    one, other = room.session(Willing([])), room.session(Willing([]))
    for question in LOOKS[:4]:
        for session in (one, other):
            completed(session.send(question))
    for session in (one, other):
        id_ = session.conversation.id
        text = exported(room.store, id_)
        there, same = elsewhere(room, text)
        assert exported(there.store, same) == text
        assert sent_in(there.store, same) == sent_in(room.store, id_)


# read by another program


def by_the_schema(document: Document) -> list[list[tuple[str, str]]]:
    """Each call's messages, as somebody reads them who knows nothing but the schema."""
    pieces, summaries, summary = document["prompts"]["pieces"], {}, None
    for compaction in document["compactions"]:
        summary = compaction["summary"] or summary
        summaries[compaction["id"]] = summary
    found: list[list[tuple[str, str]]] = []
    before: list[int] = []
    for call in document["prompts"]["calls"]:
        now: list[int] = []
        for kind, start, count in call["messages"]:
            now += range(start, start + count) if kind else before[start : start + count]
        said = []
        for piece in (pieces[number] for number in now):
            sources = [summaries.get(s) if isinstance(s, str) else document["messages"][s]["content"] for s in piece.get("sources", ())]
            parts = (p if isinstance(p, str) else sources[p[0]][p[1] : p[1] + p[2]] for p in piece["content"])
            said.append((piece["role"], "".join(parts)))
        found.append(said)
        before = now
    return found


def test_a_program_that_knows_the_schema_reads_what_each_call_was_sent(room: Room) -> None:
    session = a_talk(room, *LOOKS)
    session.compact()
    list(session.send("And the anvil of day 3?"))
    session.undo_compaction()
    list(session.send("And of day 4?"))
    document = json.loads(exported(room.store, session.conversation.id))
    sent = sent_in(room.store, session.conversation.id)
    assert by_the_schema(document) == [[(m.role, m.content) for m in s.prompt.messages] for s in sent]
    assert {m.kind for s in sent for m in s.prompt.messages} >= {"summary", "tool_results"}
    assert any(compaction["undone"] for compaction in document["compactions"])
    assert [call["figures"]["total_tokens"] for call in document["prompts"]["calls"]] == [s.prompt.usage.total_tokens for s in sent]


def test_the_schema_says_of_each_field_of_the_prompts_what_it_holds() -> None:
    defined = base.schema()["$defs"]
    for name in ("ArchivedPiece", "ArchivedCall", "ArchivedPrompts"):
        described = {field: value.get("description") for field, value in defined[name]["properties"].items() if field != "role"}
        assert all(described.values()), described


def test_prompts_take_room_by_the_turn_and_the_other_formats_do_not_ask_for_them(room: Room) -> None:
    sizes = []
    session = room.session(Willing([]))
    for _ in range(2):
        for question in LOOKS:
            list(session.send(question))
        archive = room.store.archive(session.conversation.id, prompts=True)
        assert archive.prompts is not None
        sizes.append(len(archive.prompts.model_dump_json(exclude_defaults=True)))
    assert sizes[1] < 2.2 * sizes[0]
    assert room.store.archive(session.conversation.id).prompts is None
    assert [name for name in exporters.names() if exporter(name).prompts] == ["json"]


def test_each_piece_and_each_call_has_a_line(room: Room) -> None:
    text = exported(room.store, a_talk(room, LOOKS[0]).conversation.id)
    document = json.loads(text)
    lines = [json.loads(line.strip().rstrip(",")) for line in text.splitlines() if line.startswith('      {"')]
    prompts = document["prompts"]
    assert lines == [*prompts["pieces"], *prompts["tools"], *prompts["calls"]]
    assert text.endswith("]}\n    ]\n  }\n}\n")


def test_summaries_that_were_taken_back_stay_so_and_are_in_no_other_format(room: Room) -> None:
    session = a_talk(room, *LOOKS[:3])
    session = with_compaction(session, a_compaction("They looked.", session.history[-1].id))
    session.undo_compaction()
    archive = read(exported(room.store, session.conversation.id))
    assert [compaction.undone for compaction in archive.compactions] == [True]
    assert "They looked." not in exporter("md").export(archive) + exporter("html").export(archive)
    there, id_ = elsewhere(room, exported(room.store, session.conversation.id))
    assert there.store.compactions(id_) == ()


def test_an_export_of_an_earlier_version_is_still_read(room: Room) -> None:
    session = a_talk(room, LOOKS[0])
    document = json.loads(exported(room.store, session.conversation.id))
    del document["prompts"]
    there, id_ = elsewhere(room, json.dumps(document | {"version": 1}))
    assert there.store.log(id_) == room.store.log(id_)
    assert sent_in(there.store, id_) == []
    assert json.loads(exported(there.store, id_))["prompts"] is None


TRAVELS = {
    "conversation": {"id", "vault", "title", "created_at", "updated_at", "head_id"},
    "message": {"id", "parent_id", "role", "content", "status", "timestamp", "rest", "packed"},
    "compaction": {"id", "created_at", "last_id", "undone", "rest", "packed"},
    "piece": {"body"},
    "prompt": {"question_seq", "body"},
}
STAYS = {
    "erased": "says what of a deleted conversation is still to be cleared away",
    "calibration": "how a model counts is true of all conversations with it",
    "fact": "what was remembered is the vault's",
    "mention": "follows from the messages",
    "unspoken": "follows from the messages",
    "spelling": "follows from the messages",
    "spoken": "follows from the messages",
}
FOLLOWS = {"seq", "conversation_id", "conversation_seq", "messages", "tokens", "question", "hash", "whole"}
"""Columns that are numbers of the store's own, or are made from others."""


def test_all_that_is_stored_of_a_conversation_is_in_its_export(room: Room) -> None:
    """A new table or column is thought of here: either it travels, or it says why not."""
    tables = "SELECT name FROM sqlite_schema WHERE type = 'table' AND name NOT LIKE 'sqlite%' AND name NOT LIKE 'spoken_%'"
    assert {name for (name,) in room.store._db.execute(tables)} == {*TRAVELS, *STAYS}
    for table, travels in TRAVELS.items():
        columns = {name for (name,) in room.store._db.execute("SELECT name FROM pragma_table_info(?)", (table,))}
        assert columns - FOLLOWS == travels


# files of other programs, and wrong ones


def talk_of(room: Room, **changes: Any) -> Document:
    """A conversation of two turns, as a document whose prompts can be changed."""
    document: Document = json.loads(exported(room.store, a_talk(room, *LOOKS[:2]).conversation.id))
    document["prompts"] |= changes
    return document


def refused(document: Document) -> str:
    with pytest.raises(UsageError) as e:
        read(json.dumps(document))
    assert e.value.hint.endswith("Nothing was imported.")
    return e.value.message


def test_a_file_whose_calls_build_on_one_another_without_end_is_read_as_soon_as_any(room: Room) -> None:
    document = talk_of(room)
    [first, *_] = document["prompts"]["calls"]
    more = first | {"messages": [[0, 0, 2]], "tools": [[0, 0, 1]]}
    there, id_ = elsewhere(room, json.dumps(talk_of(room, calls=[first, *[more] * 150])))
    assert {len(sent.prompt.messages) for sent in sent_in(there.store, id_)} == {2}
    [wholes] = there.store._db.execute("SELECT count(*) FROM prompt WHERE whole").fetchone()
    assert wholes == 3
    text = exported(there.store, id_)
    again, same = elsewhere(room, text)
    assert exported(again.store, same) == text


def test_a_piece_that_is_there_twice_is_kept_twice(room: Room) -> None:
    document = talk_of(room)
    pieces = document["prompts"]["pieces"]
    document["prompts"]["pieces"] = [*pieces, *pieces]
    there, id_ = elsewhere(room, json.dumps(document))
    assert json.loads(exported(there.store, id_))["prompts"] == document["prompts"]
    completed(there.session(Willing([]), there.store.conversation(id_)).send("Go on."))


def change(*way: str | int, to: Any) -> Callable[[Document], None]:
    def changed(document: Document) -> None:
        at: Any = document["prompts"]
        for step in way[:-1]:
            at = at[step]
        at[way[-1]] = to

    return changed


@pytest.mark.parametrize(
    ("wrong", "said"),
    [
        (change("pieces", 1, "sources", to=[99]), "piece 2 of the prompts: it names message 99, and the last is 7"),
        (change("pieces", 1, "sources", to=[-1]), "prompts pieces 2 sources 1 is -1; "),
        (change("pieces", 1, "content", to=[[1, 0, 1]]), "piece 2 of the prompts: its words stand in source 1, and it has none"),
        (
            change("pieces", 1, "content", to=[[0, 30, 99]]),
            "piece 2 of the prompts: its words stand at 30 to 129 of source 0, which has 35",
        ),
        (change("pieces", 1, "content", to=[[0, 5]]), "prompts pieces 2 content 1 is [0, 5]; "),
        (change("pieces", 1, "mood", to="good"), 'prompts pieces 2 mood is "good"'),
        (change("calls", 0, "messages", to=[[0, 0]]), "prompts calls 1 messages 1 3 is [0, 0]; Field required"),
        (change("calls", 1, "question", to=1), "call 2 of the prompts: message 1 is no question"),
        (change("calls", 1, "question", to=8), "call 2 of the prompts: message 8 is no question"),
        (
            change("calls", 1, "messages", to=[[0, 1, 2]]),
            "call 2 of the prompts, messages: a run from 1 to 3, and there are 2 in the list before it",
        ),
        (change("calls", 0, "messages", to=[[1, 0, 99]]), "call 1 of the prompts, messages: a run from 0 to 99, and there are 8 to name"),
        (change("calls", 0, "messages", to=[[2, 0, 1]]), "prompts calls 1 messages 1 1 is 2; "),
        (change("calls", 0, "tools", to=[[1, 1, 10**30]]), "call 1 of the prompts, tools: a run from 1 to 1"),
    ],
)
def test_what_points_outside_is_refused_by_its_line(room: Room, wrong: Callable[[Document], None], said: str) -> None:
    document = talk_of(room)
    wrong(document)
    assert said in refused(document)


def test_the_line_of_a_wrong_call_is_named(room: Room) -> None:
    text = exported(room.store, a_talk(room, *LOOKS[:2]).conversation.id)
    line = next(n for n, words in enumerate(text.splitlines(), 1) if '"messages":[[0,0,2]' in words)
    with pytest.raises(UsageError, match=f"^line {line}, the export does not fit together: call 2 of the prompts, messages: "):
        read(text.replace('"messages":[[0,0,2]', '"messages":[[0,0,9]'))


def doubling(call: Document) -> list[Document]:
    twice = (call | {"messages": [[0, 0, 2**n], [0, 0, 2**n]]} for n in range(60))
    return [call | {"messages": [[1, 0, 1]]}, *twice]


def long_lists(call: Document) -> list[Document]:
    lists = [call | {"messages": [[0, 0, 2**n], [0, 0, 2**n]]} for n in range(16)]
    return [call | {"messages": [[1, 0, 1]]}, *lists, *[call | {"messages": [[0, 0, 2**16]]}] * 2000]


def test_a_small_file_that_would_come_to_gigabytes_is_refused_at_once(room: Room) -> None:
    document = talk_of(room)
    call = document["prompts"]["calls"][0] | {"tools": []}
    piece, tool = document["prompts"]["pieces"][1], document["prompts"]["tools"][0]
    document["messages"][0]["content"] = "x" * 900_000
    whole = [0, 0, 900_000]
    called = {"tool_calls": [{"id": "c", "name": "find", "arguments": {"query": "x" * 900_000}}]}
    tools = [again | {"messages": [], "tools": again["messages"]} for again in doubling(call)]
    began = time.process_time()
    for changes, said in (
        ({"calls": doubling(call)}, "call 18 of the prompts, messages: 131072 entries; no prompt has more than 100000"),
        ({"calls": long_lists(call)}, ", messages: up to here 1000"),
        ({"pieces": [piece | {"content": [whole] * 500}]}, "piece 1 of the prompts: it comes to 450000002 characters"),
        (
            {"pieces": [piece | {"sources": ["i" * 900_000] * 100, "content": []}]},
            "piece 1 of the prompts: it comes to 90000000 characters",
        ),
        ({"pieces": [piece | {"content": [whole] * 70}] * 20}, "the pieces of the prompts come to 1260000040 characters"),
        ({"pieces": [piece | {"content": [whole]}], "calls": doubling(call)}, "call 8 of the prompts, messages: they come to 115200256"),
        ({"pieces": [piece | called], "calls": doubling(call)}, "call 8 of the prompts, messages: they come to 115"),
        ({"tools": [tool | {"descriptor": {"x": "x" * 900_000}}], "calls": tools}, "call 8 of the prompts, tools: they come to 115"),
    ):
        assert said in refused(document | {"prompts": document["prompts"] | {"tools": [], "calls": []} | changes})
    document["messages"][1]["id"] = document["messages"][2]["parent_id"] = "i" * 900_000
    document["prompts"] |= {"pieces": [piece | {"sources": [1] * 100, "content": []}]}
    assert "piece 1 of the prompts: it comes to 90000000 characters" in refused(document)
    assert time.process_time() - began < 5


def test_what_names_another_conversation_does_not_go_with_that(room: Room, tmp_path: Path) -> None:
    """The ids of a file may be those of others: a summary's masked results, what a piece was made from."""
    other = a_talk(room, *LOOKS[:2])
    other = with_compaction(other, a_compaction("They looked.", other.history[-1].id, id="other"))
    document = json.loads(exported(room.store, a_talk(room, *LOOKS[:2]).conversation.id))
    document["prompts"]["pieces"][0] |= {"sources": [other.history[0].id, "other"], "content": ["They looked."]}
    document["compactions"] = [a_compaction("Mine.", document["messages"][-1]["id"], masked=(other.history[2].id,)).model_dump(mode="json")]
    there, _ = elsewhere(room, exported(room.store, other.conversation.id))
    id_ = there.store.restore(read(json.dumps(document)), Ids("never")).id
    before = sent_in(there.store, id_), there.store.compactions(id_)
    there.store.delete(other.conversation.id)
    assert (sent_in(there.store, id_), there.store.compactions(id_)) == before


def test_prompts_that_are_damaged_are_told_as_such(vault: Path, tmp_path: Path) -> None:
    room = a_room(vault, tmp_path / "cache", tmp_path / "c.db")
    session = a_talk(room, LOOKS[0])
    database = connect(tmp_path / "c.db")
    database.execute("UPDATE prompt SET question_seq = 999")
    database.close()
    with pytest.raises(StoreError, match="message 999 of a prompt is missing"):
        room.store.archive(session.conversation.id, prompts=True)
    assert room.store.archive(session.conversation.id).messages == session.history
