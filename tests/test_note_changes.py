"""Changes of notes that a model proposes: shown, approved or not, made, told to the model; seen by
the tools that come after.
"""

from contextlib import nullcontext
from pathlib import Path

import pytest
from factories import (
    AppFixture,
    DeltaModel,
    failure_of,
    find_call,
    reply,
    report_of,
    run_turn,
    tool_reply,
)

from zkchat_cli import tools
from zkchat_cli.errors import ProviderError
from zkchat_cli.events import ChangeProposed, Event
from zkchat_cli.llm.base import StreamFailed
from zkchat_cli.models.messages import ToolCall
from zkchat_cli.vault.edit.approval import ALLOWED, UNASKED, Decision
from zkchat_cli.vault.edit.transaction import Change

WRITING = tuple(tool for tool in tools.load_tools(unsafe=True) if tool.scope == "notes")


def change_call(name: str, id_: str = "c1", **arguments: object) -> ToolCall:
    return ToolCall(id=id_, name=name, arguments=arguments)


def turn(
    app: AppFixture, *replies: list, approve: object = lambda _: ALLOWED
) -> tuple[list[Event], list[str]]:
    """The events of a turn in which the model does this, and what its tools answered."""
    model = DeltaModel(replies)
    session = app.session(model, tools=WRITING, approve=approve)
    events, _ = run_turn(session.send("Please tidy up my notes."))
    return events, [m.content for m in session.history if m.role == "tool"]


def test_without_approval_nothing_is_changed(app: AppFixture, vault: Path) -> None:
    session = app.session(
        DeltaModel([tool_reply(change_call("create_note", path="New", content="x")), reply("No.")]),
        tools=WRITING,
    )
    report_of(session.send("Write it."))
    assert not (vault / "New.md").exists()
    assert UNASKED.reason in next(m.content for m in session.history if m.role == "tool")


def test_the_next_tool_sees_the_change(app: AppFixture) -> None:
    reading = {"relative_path": "Garden/Compost.md"}
    together = tool_reply(
        change_call("read_zk_document", "r1", **reading),
        change_call("append_to_note", "w1", path="Compost", text="Turn it in spring."),
        change_call("read_zk_document", "r2", **reading),
        change_call("find_excerpts", "r3", query="turn it in spring"),
    )
    _, answers = turn(
        app, together, tool_reply(change_call("read_zk_document", "r4", **reading)), reply("Done.")
    )
    assert ["Turn it in spring." in answer for answer in answers] == [
        False,
        False,
        True,
        True,
        True,
    ]


def test_a_changed_file_is_refused_when_somebody_edits_it_while_the_user_thinks(
    app: AppFixture, vault: Path
) -> None:
    def approve(change: Change) -> Decision:
        (vault / "Filters.md").write_text("mine\n")
        return ALLOWED

    _, answers = turn(
        app,
        tool_reply(change_call("append_to_note", path="Filters", text="x")),
        reply("Oh."),
        approve=approve,
    )
    assert "changed by another program" in answers[0]
    assert (vault / "Filters.md").read_text() == "mine\n"


@pytest.mark.parametrize(
    ("name", "arguments", "told"),
    [
        ("create_note", {"path": "../out.md", "content": "x"}, "leads out of the vault"),
        ("create_note", {"path": ".obsidian/x.md", "content": "x"}, "hidden"),
        ("create_note", {"path": ".trash/x.md", "content": "x"}, "is hidden"),
        ("create_note", {"path": "Filters", "content": "x"}, "exists already"),
        ("create_note", {"path": "a[b]", "content": "x"}, "no link could name"),
        ("create_note", {"path": "a .markdown", "content": "x"}, "no link could name"),
        ("edit_section", {"path": "Filters", "heading": "Date", "new_text": "x"}, "Nearest: Dates"),
        ("edit_section", {"path": "Nowhere", "heading": "Dates"}, "there is no note Nowhere"),
        ("rename_note", {"path": "Filters", "new_path": "Queries/Combining.md"}, "exists already"),
        ("rename_note", {"path": "Filters", "new_path": "/etc/x.md"}, "leads out of the vault"),
    ],
)
def test_an_impossible_change_is_an_error_without_a_prompt(
    app: AppFixture, name: str, arguments: dict[str, object], told: str
) -> None:
    events, answers = turn(app, tool_reply(change_call(name, **arguments)), reply("Oh."))
    assert not [e for e in events if isinstance(e, ChangeProposed)]
    assert told in answers[0]
    assert '"error"' in answers[0]


# stopped in the middle


def stop_turn(app: AppFixture, *replies: list, until: type | None = None) -> list[str]:
    """What the log has of the tools of a turn that Ctrl-C stops: by itself, or at the second event
    of this kind.
    """
    session = app.session(DeltaModel(replies), tools=WRITING, approve=lambda _: ALLOWED)
    running = session.send("Please tidy up my notes.")
    with pytest.raises(KeyboardInterrupt) if until is None else nullcontext():
        seen = 0
        for event in running:
            seen += until is not None and isinstance(event, until)
            if seen == 2:
                break
    running.close()
    stored = app.store.history(session.conversation.id)
    assert [m.id for m in stored] == [m.id for m in session.history]
    asked = [call.id for m in stored for call in m.tool_calls]
    assert [m.tool_call_id for m in stored if m.role == "tool"] == asked
    return [m.content for m in stored if m.role == "tool"]


def test_a_made_change_is_logged_however_the_turn_is_stopped(app: AppFixture, vault: Path) -> None:
    writing = tool_reply(
        find_call("limit", "r1"),
        change_call("append_to_note", "w1", path="Compost", text="Turn it."),
        change_call("append_to_note", "w2", path="Filters", text="More."),
        text="I write it.",
    )
    read, done, *others = stop_turn(app, writing, until=ChangeProposed)
    assert "limit 10" in read
    assert "append to Garden/Compost.md" in done
    assert others == ['{"error": "not done: the turn was stopped"}']
    assert (vault / "Garden/Compost.md").read_text().endswith("Turn it.\n")
    assert "More." not in (vault / "Filters.md").read_text()


def test_a_change_before_a_failure_is_in_the_next_prompt(app: AppFixture) -> None:
    broken = [StreamFailed(ProviderError("server", "it burns", "Wait."))]
    model = DeltaModel(
        [
            tool_reply(change_call("append_to_note", path="Compost", text="Turn it.")),
            broken,
            reply("It is there."),
        ]
    )
    session = app.session(model, tools=WRITING, approve=lambda _: ALLOWED)
    failure_of(session.send("Add that it is turned."))
    report_of(app.reopen(session).send("Did you?"))
    assert (
        '"done": "append to Garden/Compost.md"'
        in [m.content for m in model.requests[-1].messages][-3]
    )
    read = DeltaModel([tool_reply(find_call("limit")), broken, reply("Ten.")])
    session = app.session(read, tools=WRITING)
    failure_of(session.send("What is the limit?"))
    report_of(session.send("And now?"))
    assert [m.content for m in read.requests[-1].messages if m.role != "system"] == ["And now?"]
