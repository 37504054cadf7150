"""Changes of notes that a model proposes: shown, approved or not, made, told to the model; seen by the tools that come after."""

from contextlib import nullcontext
from pathlib import Path

import pytest
from building import Deltas, Room, calls, completed, ended, failed, find, says

from zkchat_cli import tools
from zkchat_cli.errors import ProviderError
from zkchat_cli.events import ChangeDecided, ChangeProposed, Event
from zkchat_cli.llm.base import StreamFailed
from zkchat_cli.models import ToolCall
from zkchat_cli.vault import approval
from zkchat_cli.vault.approval import ALLOWED, DECLINED, Decision
from zkchat_cli.vault.edit.transaction import Change
from zkchat_cli.vault.vault import Vault

WRITING = tuple(tool for tool in tools.load_tools(unsafe=True) if tool.scope == "notes")


def wants(name: str, id_: str = "c1", **arguments: object) -> ToolCall:
    return ToolCall(id=id_, name=name, arguments=arguments)


def turn(room: Room, *replies: list, approve: object = lambda _: ALLOWED) -> tuple[list[Event], list[str]]:
    """The events of a turn in which the model does this, and what its tools answered."""
    model = Deltas(replies)
    session = room.session(model, tools=WRITING, approve=approve)
    events, _ = ended(session.send("Please tidy up my notes."))
    return events, [m.content for m in session.history if m.role == "tool"]


def test_writing_tools_need_unsafe() -> None:
    writing = {"create_note", "append_to_note", "edit_section", "rename_note", "move_note_to_trash"}
    assert {tool.name for tool in tools.load_tools(unsafe=True)} - {tool.name for tool in tools.load_tools()} == writing
    assert not any(tool.writes for tool in tools.load_tools())


def test_a_change_is_proposed_then_decided(room: Room, vault: Path) -> None:
    there: list[bool] = []

    def approve(change: Change) -> Decision:
        there.append((vault / "New.md").exists())
        return ALLOWED

    events, answers = turn(room, calls(wants("create_note", path="New", content="# New\n\nText.")), says("Done."), approve=approve)
    [proposed] = [e for e in events if isinstance(e, ChangeProposed)]
    assert (proposed.summary, proposed.diff) == ("create New.md", "--- /dev/null\n+++ b/New.md\n@@ -0,0 +1,3 @@\n+# New\n+\n+Text.\n")
    [decided] = [e for e in events if isinstance(e, ChangeDecided)]
    assert (decided.made, decided.told, there) == (True, "done", [False])
    assert (vault / "New.md").read_bytes() == b"# New\n\nText.\n"
    assert "create New.md" in answers[0]


def test_a_declined_change_is_reported_to_the_model(room: Room, vault: Path) -> None:
    before = (vault / "Filters.md").read_bytes()
    wanted = calls(wants("edit_section", path="Filters", heading="Dates", new_text="None."))
    events, answers = turn(room, wanted, says("Then not."), approve=lambda _: DECLINED)
    assert "declined by the user" in answers[0]
    [decided] = [e for e in events if isinstance(e, ChangeDecided)]
    assert (decided.made, (vault / "Filters.md").read_bytes()) == (False, before)


def test_without_approval_nothing_is_changed(room: Room, vault: Path) -> None:
    session = room.session(Deltas([calls(wants("create_note", path="New", content="x")), says("No.")]), tools=WRITING)
    completed(session.send("Write it."))
    assert not (vault / "New.md").exists()
    assert approval.UNASKED.reason in next(m.content for m in session.history if m.role == "tool")


def test_the_next_tool_sees_the_change(room: Room) -> None:
    reading = {"relative_path": "Garden/Compost.md"}
    together = calls(
        wants("read_zk_document", "r1", **reading),
        wants("append_to_note", "w1", path="Compost", text="Turn it in spring."),
        wants("read_zk_document", "r2", **reading),
        wants("find_excerpts", "r3", query="turn it in spring"),
    )
    _, answers = turn(room, together, calls(wants("read_zk_document", "r4", **reading)), says("Done."))
    assert ["Turn it in spring." in answer for answer in answers] == [False, False, True, True, True]


def test_a_changed_file_is_refused_when_somebody_edits_it_while_the_user_thinks(room: Room, vault: Path) -> None:
    def approve(change: Change) -> Decision:
        (vault / "Filters.md").write_text("mine\n")
        return ALLOWED

    _, answers = turn(room, calls(wants("append_to_note", path="Filters", text="x")), says("Oh."), approve=approve)
    assert "changed by somebody else" in answers[0]
    assert (vault / "Filters.md").read_text() == "mine\n"


@pytest.mark.parametrize("path", ["ZKCHAT.md", "zkchat", "Garden/WILK.md"])
def test_a_change_of_a_memory_file_is_marked(room: Room, vault: Path, path: str) -> None:
    asked: list[Change] = []

    def approve(change: Change) -> Decision:
        asked.append(change)
        return approval.approve_notes(change)

    events, _ = turn(room, calls(wants("create_note", path=path, content="Obey.")), says("No."), approve=approve)
    [proposed] = [e for e in events if isinstance(e, ChangeProposed)]
    assert "later conversations follow what it says" in proposed.note
    assert asked[0].memory_file is not None
    assert not (vault / path).exists()


def test_an_ignored_path_is_reported(vault: Path, tmp_path: Path) -> None:
    changes = Vault.open(vault, tmp_path / "cache", ignore=("Garden",)).editor
    changes.refresh()
    assert "vault.ignore leaves this place out" in changes.create("Garden/New", "x").note
    assert "vault.ignore leaves this place out" in changes.rename("Filters.md", "Garden/").note


@pytest.mark.parametrize(
    ("name", "arguments", "told"),
    [
        ("create_note", {"path": "../out.md", "content": "x"}, "leads out of the vault"),
        ("create_note", {"path": ".obsidian/x.md", "content": "x"}, "hidden"),
        ("create_note", {"path": ".trash/x.md", "content": "x"}, "no place for a note"),
        ("create_note", {"path": "Filters", "content": "x"}, "exists already"),
        ("create_note", {"path": "a[b]", "content": "x"}, "no link could name"),
        ("edit_section", {"path": "Filters", "heading": "Date", "new_text": "x"}, "Nearest: Dates"),
        ("edit_section", {"path": "Nowhere", "heading": "Dates"}, "there is no note Nowhere"),
        ("rename_note", {"path": "Filters", "new_path": "Queries/Combining.md"}, "exists already"),
        ("rename_note", {"path": "Filters", "new_path": "/etc/x.md"}, "leads out of the vault"),
    ],
)
def test_an_impossible_change_is_an_error_without_a_prompt(room: Room, name: str, arguments: dict[str, object], told: str) -> None:
    events, answers = turn(room, calls(wants(name, **arguments)), says("Oh."))
    assert not [e for e in events if isinstance(e, ChangeProposed)]
    assert told in answers[0]
    assert '"error"' in answers[0]


# stopped in the middle


def stopped_in(room: Room, *replies: list, until: type | None = None) -> list[str]:
    """What the log has of the tools of a turn that Ctrl-C stops: by itself, or at the second event of this kind."""
    session = room.session(Deltas(replies), tools=WRITING, approve=lambda _: ALLOWED)
    running = session.send("Please tidy up my notes.")
    with pytest.raises(KeyboardInterrupt) if until is None else nullcontext():
        seen = 0
        for event in running:
            seen += until is not None and isinstance(event, until)
            if seen == 2:
                break
    running.close()
    stored = room.store.history(session.conversation.id)
    assert [m.id for m in stored] == [m.id for m in session.history]
    asked = [call.id for m in stored for call in m.tool_calls]
    assert [m.tool_call_id for m in stored if m.role == "tool"] == asked
    return [m.content for m in stored if m.role == "tool"]


def test_a_made_change_is_logged_however_the_turn_is_stopped(room: Room, vault: Path) -> None:
    writing = calls(
        find("limit", "r1"),
        wants("append_to_note", "w1", path="Compost", text="Turn it."),
        wants("append_to_note", "w2", path="Filters", text="More."),
        text="I write it.",
    )
    read, done, *others = stopped_in(room, writing, until=ChangeProposed)
    assert "limit 10" in read
    assert "append to Garden/Compost.md" in done
    assert others == ['{"error": "not done: the turn was stopped"}']
    assert (vault / "Garden/Compost.md").read_text().endswith("Turn it.\n")
    assert "More." not in (vault / "Filters.md").read_text()


def test_a_change_before_a_failure_is_in_the_next_prompt(room: Room) -> None:
    broken = [StreamFailed(ProviderError("server", "it burns", "Wait."))]
    model = Deltas([calls(wants("append_to_note", path="Compost", text="Turn it.")), broken, says("It is there.")])
    session = room.session(model, tools=WRITING, approve=lambda _: ALLOWED)
    failed(session.send("Add that it is turned."))
    completed(room.resumed(session).send("Did you?"))
    assert '"done": "append to Garden/Compost.md"' in [m.content for m in model.requests[-1].messages][-3]
    read = Deltas([calls(find("limit")), broken, says("Ten.")])
    session = room.session(read, tools=WRITING)
    failed(session.send("What is the limit?"))
    completed(session.send("And now?"))
    assert [m.content for m in read.requests[-1].messages if m.role != "system"] == ["And now?"]
