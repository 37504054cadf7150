"""The tools of the MCP server that change notes (`--unsafe`): how the user is asked through the
client, in the newest revision of the protocol and in older ones.
"""

from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from dataclasses import dataclass, field
from itertools import chain
from pathlib import Path
from typing import Any

import anyio
import pytest
from conftest import NOTES, Program, write_notes
from mcp import MCPError
from mcp_client import NoteClient, Refused, connected_in_memory
from mcp_types import (
    ElicitResult,
    InputRequiredResult,
)
from test_mcp import serving

from zkchat_cli.mcp.change_approval import ChangeApproval
from zkchat_cli.mcp.server import NoteServer
from zkchat_cli.mcp.write_tools import add_write_tools
from zkchat_cli.memory.memory_paths import MemoryPaths
from zkchat_cli.tools.served_tool import ServedVault
from zkchat_cli.vault.vault import Vault
from zkchat_cli.vault.view import WHOLE_VAULT, VaultView

MODES = ("auto", "legacy")
YES = ElicitResult(action="accept", content={"approve": True})
NO = ElicitResult(action="decline")


@dataclass
class User:
    """Answers questions, and remembers them. Without an answer left, the client has a defect."""

    answers: list[ElicitResult]
    asked: list[Any] = field(default_factory=list)
    # Called before each answer
    before: Callable[[], None] = lambda: None

    async def __call__(self, _: Any, question: Any) -> ElicitResult:
        self.asked.append(question)
        self.before()
        return self.answers.pop(0)


@dataclass
class Editing:
    """A server with tools that change notes, and its client."""

    client: NoteClient
    vault: Vault

    def text(self, path: str) -> str:
        return (self.vault.root / path).read_text()

    def texts(self) -> dict[str, str]:
        """The notes outside of hidden folders, by path."""
        notes = self.vault.root.glob("[!.]*/**/*.md"), self.vault.root.glob("*.md")
        return {str(note.relative_to(self.vault.root)): note.read_text() for note in chain(*notes)}


@contextmanager
def editing(
    folder: Path,
    user: Any = None,
    approval: ChangeApproval | None = None,
    mode: str = "auto",
    view: VaultView = WHOLE_VAULT,
) -> Iterator[Editing]:
    root = write_notes(folder / "notes", NOTES)
    with closing(Vault.open(root, folder / "cache", view=view)) as vault:
        server = NoteServer(ServedVault(vault, lambda _words, _limit: []))
        add_write_tools(server, vault, MemoryPaths(root, (), folder / "agents"), approval)
        with connected_in_memory(server, mode=mode, elicitation_callback=user) as client:
            yield Editing(client, vault)


# the program


@pytest.mark.parametrize("mode", MODES)
def test_a_change_is_shown_to_the_user_and_made_when_accepted(tmp_path: Path, mode: str) -> None:
    user = User([YES, NO])
    with serving(tmp_path, "--unsafe", mode=mode, elicitation_callback=user) as server:
        made = server.client.call("append_to_note", path="Compost", text="Turn it twice a year.")
        assert made == {
            "done": "append to Garden/Compost.md",
            "note": None,
            "paths": ["Garden/Compost.md"],
        }
        compost = server.program.vault / "Garden" / "Compost.md"
        assert compost.read_text().endswith("Turn it twice a year.\n")
        with pytest.raises(Refused, match="declined by the user: nothing was changed"):
            server.client.call("move_note_to_trash", path="Compost")
        assert compost.exists()
        with pytest.raises(Refused, match="create_note needs content"):
            server.client.call("create_note", path="New.md", content="")
    assert len(user.asked) == 2 and "+Turn it twice a year." in user.asked[0].message


def test_a_change_that_was_accepted_is_found_by_another_process(tmp_path: Path) -> None:
    user = User([YES, YES])
    with serving(tmp_path, "--unsafe", elicitation_callback=user) as server:
        program: Program = server.program
        server.client.call("create_note", path="Bees.md", content="Bees like clover.")
        assert "Bees.md" in program("vault", "search", "clover").out
        server.client.call("undo_change")
        assert "Bees.md" not in program("vault", "search", "clover").out


# answers


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize(
    ("answer", "sentence"),
    [
        (NO, "declined by the user: nothing was changed"),
        (ElicitResult(action="cancel"), "closed without an answer: nothing was changed"),
        (ElicitResult(action="accept", content={"approve": False}), "declined by the user"),
        (ElicitResult(action="accept", content={"approve": "true"}), "declined by the user"),
        (ElicitResult(action="accept", content={"approve": 1}), "declined by the user"),
        (ElicitResult(action="accept", content={"yes": True}), "declined by the user"),
        (ElicitResult(action="accept", content={}), "declined by the user"),
        (ElicitResult(action="accept"), "declined by the user"),
        (ElicitResult(action="decline", content={"approve": True}), "declined by the user"),
    ],
)
def test_only_true_in_the_field_of_the_form_is_a_yes(
    tmp_path: Path, mode: str, answer: ElicitResult, sentence: str
) -> None:
    user = User([answer, YES])
    with editing(tmp_path, user, mode=mode) as server:
        with pytest.raises(Refused, match=sentence):
            server.client.call("create_note", path="New.md", content="text")
        assert not (server.vault.root / "New.md").exists()
        server.client.call("create_note", path="New.md", content="text")
    form = user.asked[0].requested_schema
    assert form["properties"]["approve"]["type"] == "boolean" and form["required"] == ["approve"]


def test_an_answer_that_comes_too_late_is_a_no(tmp_path: Path) -> None:
    times = iter([0.0, 601.0, 602.0, 1_000.0])
    user = User([YES, YES])
    with editing(tmp_path, user, ChangeApproval(clock=lambda: next(times))) as server:
        with pytest.raises(Refused, match="not answered in time: nothing was changed"):
            server.client.call("create_note", path="New.md", content="text")
        assert not (server.vault.root / "New.md").exists()
        server.client.call("create_note", path="New.md", content="text")


def test_a_question_of_an_older_client_that_nobody_answers_ends_the_call(tmp_path: Path) -> None:
    async def never(*_: Any) -> ElicitResult:
        await anyio.sleep_forever()
        raise AssertionError

    with editing(tmp_path, never, ChangeApproval(seconds=0.05), mode="legacy") as server:
        with pytest.raises(Refused, match="not answered in time: nothing was changed"):
            server.client.call("create_note", path="New.md", content="text")
        assert not (server.vault.root / "New.md").exists()


def test_an_older_client_that_fails_to_ask_changes_nothing(tmp_path: Path) -> None:
    async def fail(*_: Any) -> ElicitResult:
        raise MCPError(-32603, "the window\x1b[2J is gone")

    with editing(tmp_path, fail, mode="legacy") as server:
        with pytest.raises(Refused, match="could not ask the user") as refused:
            server.client.call("create_note", path="New.md", content="text")
        assert str(refused.value).endswith(": the window\u241b[2J is gone. Nothing was changed.")
        assert not (server.vault.root / "New.md").exists()


def test_a_call_that_is_cancelled_while_the_user_thinks_changes_nothing(tmp_path: Path) -> None:
    asked = anyio.Event()

    async def never(*_: Any) -> ElicitResult:
        asked.set()
        await anyio.sleep_forever()
        raise AssertionError

    async def call_and_leave() -> None:
        arguments = {"path": "New.md", "content": "text"}
        async with anyio.create_task_group() as calls:
            calls.start_soon(server.client.client.call_tool, "create_note", arguments)
            await asked.wait()
            calls.cancel_scope.cancel()

    with editing(tmp_path, never, mode="legacy") as server:
        server.client.portal.call(call_and_leave)
        assert server.client.call("count_tokens", text="still served")["tokens"] == 2
        assert not (server.vault.root / "New.md").exists()


# what is made is what was shown


@pytest.mark.parametrize("mode", MODES)
def test_a_note_that_is_edited_while_the_user_thinks_keeps_that_edit(
    tmp_path: Path, mode: str
) -> None:
    compost = tmp_path / "notes" / "Garden" / "Compost.md"
    user = User([YES, NO], before=lambda: compost.write_text("# Compost\n\nEdited.\n"))
    with editing(tmp_path, user, mode=mode) as server:
        with pytest.raises(Refused, match=r"declined by the user|changed by another program"):
            server.client.call("append_to_note", path="Compost", text="More.")
        assert server.text("Garden/Compost.md") == "# Compost\n\nEdited.\n"


def call_by_hand(server: Editing, **params: Any) -> Any:
    """The result of a call as the server gives it: a question is not put to the user."""

    async def call() -> Any:
        session = server.client.client.session
        return await session.call_tool(
            "create_note",
            {"path": "New.md", "content": "text"},
            allow_input_required=True,
            **params,
        )

    return server.client.portal.call(call)


def test_an_answer_is_taken_once(tmp_path: Path) -> None:
    with editing(tmp_path, User([])) as server:
        asked = call_by_hand(server)
        assert isinstance(asked, InputRequiredResult) and asked.input_requests is not None
        [key] = asked.input_requests
        answer = {"input_responses": {key: YES}, "request_state": asked.request_state}
        made = call_by_hand(server, **answer)
        assert made.structured_content["done"] == "create New.md"
        (server.vault.root / "New.md").unlink()
        again = call_by_hand(server, **answer)
        assert isinstance(again, InputRequiredResult)
        assert again.request_state != asked.request_state
        assert not (server.vault.root / "New.md").exists()


def test_an_answer_without_a_question_and_one_to_another_call_are_not_taken(
    tmp_path: Path,
) -> None:
    with editing(tmp_path, User([])) as server:
        asked = call_by_hand(server)
        assert isinstance(call_by_hand(server, input_responses={"approval": YES}), type(asked))
        assert isinstance(call_by_hand(server, request_state=asked.request_state), type(asked))
        with pytest.raises(MCPError, match="Invalid or expired requestState"):
            call_by_hand(
                server,
                input_responses={"approval": YES},
                request_state=f"{asked.request_state}x",
            )
        assert not (server.vault.root / "New.md").exists()


# clients that cannot ask


@pytest.mark.parametrize("mode", MODES)
def test_without_a_way_to_ask_the_user_nothing_is_changed(tmp_path: Path, mode: str) -> None:
    with editing(tmp_path, mode=mode) as server:
        refusal = "This client cannot ask the user .* nothing was changed"
        with pytest.raises((MCPError, Refused), match=refusal) as refused:
            server.client.call("create_note", path="New.md", content="text")
        if isinstance(refused.value, MCPError):
            assert refused.value.error.code == -32021
            assert refused.value.error.data == {
                "requiredCapabilities": {"elicitation": {"form": {}}}
            }
        assert not (server.vault.root / "New.md").exists()


def test_a_change_that_is_too_long_for_a_form_is_refused_unasked(tmp_path: Path) -> None:
    with editing(tmp_path, User([])) as server:
        with pytest.raises(Refused, match="too large to be shown for approval"):
            server.client.call("create_note", path="New.md", content="word " * 30_000)
        assert not (server.vault.root / "New.md").exists()


def test_a_question_shows_what_would_not_be_seen(tmp_path: Path) -> None:
    user = User([NO])
    with editing(tmp_path, user) as server, pytest.raises(Refused):
        server.client.call("create_note", path="New.md", content="a\x1b[2Jb\u200bc")
    assert "a\u241b[2Jb<U+200B>c" in user.asked[0].message


# undo


@pytest.mark.parametrize(
    ("tool", "arguments"),
    [
        ("append_to_note", {"path": "Compost", "text": "More."}),
        ("edit_section", {"path": "Filters", "heading": "Dates", "new_text": "Other."}),
        ("rename_note", {"path": "Combining", "new_path": "Joining.md"}),
        ("move_note_to_trash", {"path": "Combining"}),
    ],
)
def test_one_undo_takes_an_accepted_change_back(
    tmp_path: Path, tool: str, arguments: dict[str, str]
) -> None:
    user = User([YES, YES])
    with editing(tmp_path, user) as server:
        server.client.call(tool, **arguments)
        assert server.texts() != NOTES
        undone = server.client.call("undo_change")
        assert undone["done"].startswith("take back: ")
        assert server.texts() == NOTES
        with pytest.raises(Refused, match="There is no change to take back"):
            server.client.call("undo_change")
    assert "take back" in user.asked[1].message


def test_an_undo_is_asked_for_keeps_later_edits_and_takes_back_the_change_before(
    tmp_path: Path,
) -> None:
    user = User([YES, YES, NO, YES, YES])
    with editing(tmp_path, user) as server:
        server.client.call("append_to_note", path="Compost", text="First.")
        server.client.call("append_to_note", path="Filters", text="Second.")
        with pytest.raises(Refused, match="declined by the user"):
            server.client.call("undo_change")
        assert server.text("Filters.md").endswith("Second.\n")
        server.client.call("undo_change")
        assert server.text("Filters.md") == NOTES["Filters.md"]
        compost = server.vault.root / "Garden" / "Compost.md"
        compost.write_text("Edited since.\n")
        with pytest.raises(Refused, match=r"nothing of it is left to take back.*Edited since"):
            server.client.call("undo_change")
        assert compost.read_text() == "Edited since.\n"


def test_an_undo_of_who_sees_one_folder_tells_nothing_of_the_trash_of_others(
    tmp_path: Path,
) -> None:
    (tmp_path / "notes" / ".trash").mkdir(parents=True)
    (tmp_path / "notes" / ".trash" / "New.md").write_text("Somebody else's.\n")
    with editing(tmp_path, User([YES, YES]), view=VaultView(("Queries",))) as server:
        server.client.call("create_note", path="Queries/New.md", content="text")
        undone = server.client.call("undo_change")
        assert undone["paths"] == ["Queries/New.md", ".trash/Queries/New.md"]
        assert server.text(".trash/Queries/New.md") == "text\n"
