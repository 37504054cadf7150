"""Project memory: ZKCHAT.md and WILK.md in the root and in folders, their imports, and hostile
files.
"""

import os
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
from conftest import write_notes
from factories import (
    COUNTER,
    NOON,
    AppFixture,
    DeltaModel,
    find_call,
    reply,
    report_of,
    run_turn,
    tool_reply,
)

from zkchat_cli.chat.session import ZkChatSession
from zkchat_cli.config.schema import MemorySettings
from zkchat_cli.events import Notice
from zkchat_cli.memory.project import MemoryItem, MemoryLoader
from zkchat_cli.views.stored_items import level_lines
from zkchat_cli.views.text import plain_text

NAMES = MemorySettings().project_file


class Notes:
    """A vault with memory files, and the warnings about them."""

    def __init__(self, folder: Path) -> None:
        folder.mkdir(exist_ok=True)
        self.root = folder
        self._warnings: dict[str, str] = {}

    @property
    def warnings(self) -> list[str]:
        return list(self._warnings)

    def write(self, **files: str | bytes) -> None:
        write_notes(
            self.root, {f"{name.replace('__', '/')}.md": content for name, content in files.items()}
        )

    def root_items(self, room: int = 1000) -> tuple[MemoryItem, ...]:
        return self._loader(room).load_root()

    def folder_items(
        self, *notes: str, room: int = 1000, there: Sequence[MemoryItem] = ()
    ) -> tuple[MemoryItem, ...]:
        return self._loader(room, there).load_folders(notes)

    def _loader(self, room: int, there: Sequence[MemoryItem] = ()) -> MemoryLoader:
        return MemoryLoader(
            self.root,
            self._warnings.__setitem__,
            room,
            COUNTER,
            NAMES,
            {item.relative_path for item in there},
        )


@pytest.fixture
def notes(tmp_path: Path) -> Notes:
    return Notes(tmp_path / "notes")


def paths(items: Sequence[MemoryItem]) -> list[str]:
    return [item.relative_path for item in items]


# in folders


def test_folder_memory_of_an_active_note_is_loaded_outermost_first(notes: Notes) -> None:
    notes.write(
        ZKCHAT="root",
        Projects__ZKCHAT="all",
        Projects__Roof__ZKCHAT="roof",
        Projects__Roof__WILK="too",
        Garden__Bed="x",
    )
    items = notes.folder_items("Projects/Roof/Plan.md")
    assert paths(items) == [
        "Projects/ZKCHAT.md",
        "Projects/Roof/ZKCHAT.md",
        "Projects/Roof/WILK.md",
    ]
    assert [item.reason for item in items[:2]] == [
        "in Projects, above Projects/Roof/Plan.md",
        "in Projects/Roof, above Projects/Roof/Plan.md",
    ]
    os.utime(notes.root / "Garden", (0, 0))  # it has not changed for years
    assert not notes.folder_items("Garden/Bed.md")
    notes.write(Garden__ZKCHAT="beds")
    assert paths(notes.folder_items("Garden/Bed.md")) == ["Garden/ZKCHAT.md"]


def test_a_small_budget_goes_to_the_nearest_folder(notes: Notes) -> None:
    notes.write(a__ZKCHAT="far " * 20, a__b__ZKCHAT="near " * 20)
    [item] = notes.folder_items("a/b/Note.md", room=22)
    assert item.relative_path == "a/b/ZKCHAT.md"
    assert notes.warnings == [
        "memory: a/ZKCHAT.md is longer than its share of the context window and is left out"
    ]


def test_a_file_imported_by_root_memory_is_not_loaded_again(notes: Notes) -> None:
    notes.write(ZKCHAT="@Roof/style.md", Roof__style="short", Roof__ZKCHAT="see @style.md")
    root = notes.root_items()
    assert paths(root) == ["ZKCHAT.md", "Roof/style.md"]
    assert paths(notes.folder_items("Roof/Plan.md", there=root)) == ["Roof/ZKCHAT.md"]


# imports


def test_imports_are_relative_to_the_file_or_the_root_and_loaded_once(notes: Notes) -> None:
    notes.write(
        ZKCHAT=(
            "@Meta/style.md and @Meta/style and again @/Meta/style.md, not me@example.org or "
            "`@code.md`."
        ),
        Meta__style="@words.md @top.md @../top.md",
        Meta__words="Words.",
        top="Top.",
    )
    items = notes.root_items()
    assert paths(items) == ["ZKCHAT.md", "Meta/style.md", "Meta/words.md", "top.md"]
    assert items[2].reason == "imported by Meta/style.md"
    assert notes.warnings == []


def test_circular_imports_end(notes: Notes) -> None:
    notes.write(ZKCHAT="@a.md @ZKCHAT.md", a="@b.md", b="@a.md @ZKCHAT.md")
    assert paths(notes.root_items()) == ["ZKCHAT.md", "a.md", "b.md"]


def test_a_missing_import_is_a_warning_unless_it_may_be_a_persons_name(notes: Notes) -> None:
    notes.write(ZKCHAT="Ask @anna. See @nowhere.md and @../secret.md.")
    assert paths(notes.root_items()) == ["ZKCHAT.md"]
    assert notes.warnings == [
        "memory: @nowhere.md in ZKCHAT.md is not a file in the vault",
        "memory: @../secret.md in ZKCHAT.md is not a file in the vault",
    ]


def test_at_most_fifty_files_are_loaded(notes: Notes) -> None:
    many = {f"n{i}": "x" for i in range(60)}
    notes.write(ZKCHAT=" ".join(f"@{name}.md" for name in list(many)[:30]), **many)
    notes.write(n29=" ".join(f"@{name}.md" for name in many))
    assert paths(notes.root_items(5000)) == ["ZKCHAT.md", *(f"n{i}.md" for i in range(49))]
    assert notes.warnings == ["memory: more than 50 files; the others are left out"]


@pytest.mark.parametrize(
    ("text", "room", "kept"),
    [("=" * 5000, 100, "=" * 4000), ("Be brief. " * 9, 0, ""), ("漢" * 900, 40, "漢")],
)
def test_a_file_is_cut_to_its_budget(notes: Notes, text: str, room: int, kept: str) -> None:
    notes.write(ZKCHAT=text)
    items = notes.root_items(room)
    assert [item.content[: len(kept)] for item in items] == ([kept] if kept else [])
    assert sum(item.tokens for item in items) <= room


# files of other programs


def test_the_first_name_that_is_there_counts_in_each_folder(notes: Notes) -> None:
    notes.write(
        AGENTS="for agents", CLAUDE="for Claude", WILK="for zk-chat", Garden__CLAUDE="in the garden"
    )
    assert paths(notes.root_items()) == ["AGENTS.md"]
    assert paths(notes.folder_items("Garden/Beds.md")) == ["Garden/CLAUDE.md"]
    notes.write(ZKCHAT="for zkchat")
    assert paths(notes.root_items()) == ["ZKCHAT.md", "WILK.md"]


# hostile files


def test_a_binary_file_is_left_out_with_a_warning(notes: Notes) -> None:
    notes.write(ZKCHAT=b"\x89PNG\0\0\0", WILK="Be kind.")
    assert paths(notes.root_items()) == ["WILK.md"]
    assert notes.warnings == ["memory: ZKCHAT.md is not a text file; it is left out"]


def test_text_in_another_encoding_is_decoded_with_a_warning(notes: Notes) -> None:
    notes.write(ZKCHAT="Grüße".encode("latin-1"), WILK=b"\xef\xbb\xbf" + "Grüße".encode())
    assert [item.content for item in notes.root_items()] == ["Grüße", "Grüße"]
    assert [warning.partition(" is ")[2] for warning in notes.warnings] == [
        "Windows-1252 instead of UTF-8, decoded"
    ]


@pytest.mark.parametrize(
    "content", [b"word " * 1_000_000, b"line\n" * 1_000_000], ids=["one line", "lines"]
)
def test_the_beginning_of_a_huge_file_is_sent_with_a_mark(notes: Notes, content: bytes) -> None:
    notes.write(ZKCHAT=content)
    [item] = notes.root_items()
    assert item.cut
    assert item.tokens <= 1000
    assert "cut: this file is longer" in item.content
    assert len(notes.warnings) == 1


def test_a_symlink_out_of_the_vault_is_not_followed(notes: Notes, tmp_path: Path) -> None:
    (tmp_path / "secret.md").write_text("The secret is 42.")
    (notes.root / "ZKCHAT.md").symlink_to(tmp_path / "secret.md")
    notes.write(WILK="@out.md")
    (notes.root / "out.md").symlink_to(tmp_path / "secret.md")
    assert paths(notes.root_items()) == ["WILK.md"]
    assert len(notes.warnings) == 2
    assert not any("42" in warning for warning in notes.warnings)


# in a session


@pytest.fixture
def vault(vault: Path) -> Path:
    return write_notes(
        vault,
        {
            "Queries/ZKCHAT.md": "Queries are in capitals.",
            "Garden/ZKCHAT.md": "We garden in zone 7.",
        },
    )


def memory_of(session: ZkChatSession, text: str | None = None) -> list[tuple[str, str]]:
    return [(m.role, m.content) for m in session.prompt(text).messages if m.kind == "memory"]


def test_folder_memory_of_a_note_found_by_a_tool_stays_for_two_turns(app: AppFixture) -> None:
    model = DeltaModel([tool_reply(find_call("compost heap")), reply("Air [1].")])
    session = app.session(model)
    report_of(session.send("What does compost need?"))
    assert not any("zone 7" in m.content for m in model.requests[0].messages if m.kind == "memory")
    assert any("zone 7" in m.content for m in model.requests[1].messages if m.kind == "memory")
    assert "zone 7" in memory_of(session, "Hello?")[0][1]
    [item] = session.memory_items()
    assert item.reason == "in Garden, above Garden/Compost.md"
    report_of(session.send("Hello?"))
    report_of(session.send("Hello again?"))
    assert memory_of(session, "And again?") == []


def test_a_memory_warning_is_shown_once(app: AppFixture) -> None:
    write_notes(app.vault.root, {"ZKCHAT.md": "@nowhere.md"})
    session = app.session(DeltaModel([reply("So.")]))
    told = [
        [e.message for e in run_turn(session.send(text))[0] if isinstance(e, Notice)]
        for text in ("One?", "Two?")
    ]
    assert told == [["memory: @nowhere.md in ZKCHAT.md is not a file in the vault"], []]


def test_a_changed_memory_file_is_read_again(app: AppFixture) -> None:
    session = app.session()
    assert session.memory_items() == ()
    write_notes(app.vault.root, {"ZKCHAT.md": "Be brief. @style.md"})
    assert paths(session.memory_items()) == ["ZKCHAT.md"]
    write_notes(app.vault.root, {"style.md": "Be kind."})
    assert paths(session.memory_items()) == ["ZKCHAT.md", "style.md"]
    (app.vault.root / "ZKCHAT.md").unlink()
    assert session.memory_items() == ()


def test_contextual_memory_is_dropped_first_in_a_small_window(app: AppFixture) -> None:
    write_notes(app.vault.root, {"Queries/ZKCHAT.md": "Capitals. " * 60})
    text = "How? [[Combining]] " + "please " * 60
    sizes = [app.session(max_context=n, tools=()).prompt(text) for n in (4000, 500)]
    assert [any(m.kind == "memory" for m in prompt.messages) for prompt in sizes] == [True, False]
    assert sizes[1].usage.total_tokens <= 450


# levels and their switches


def level_session(app: AppFixture, tmp_path: Path, **changes: Any) -> ZkChatSession:
    """A session whose vault has memory, and whose configuration folder has the user's."""
    write_notes(app.vault.root, {"ZKCHAT.md": "Be brief.", "Garden/ZKCHAT.md": "Use Latin names."})
    write_notes(
        tmp_path / "config", {"ZKCHAT.md": "I am Ana. @config.toml", "config.toml": "secret = 1"}
    )
    return app.session(agents_folder=tmp_path / "config" / "agents", **changes)


def test_the_users_own_file_comes_first_and_imports_nothing(
    app: AppFixture, tmp_path: Path
) -> None:
    session = level_session(app, tmp_path)
    items = session.memory_items("What of [[Compost]]?")
    assert [(item.kind, item.content) for item in items] == [
        ("user", "I am Ana. @config.toml"),
        ("file", "Be brief."),
        ("file", "Use Latin names."),
    ]
    first = next(m for m in session.prompt().messages if m.kind == "memory")
    assert first.content == "<user-memory>\nI am Ana. @config.toml\n</user-memory>"


@pytest.mark.parametrize(
    ("key", "left"),
    [
        ("memory.user", ["file", "file"]),
        ("memory.project", ["user"]),
        ("memory.agent", ["user", "file", "file"]),
    ],
)
def test_each_level_has_its_switch(
    app: AppFixture, tmp_path: Path, key: str, left: list[str]
) -> None:
    session = level_session(app, tmp_path)
    session.runtimes.override_setting(key, "false")
    items = session.memory_items("What of [[Compost]]?")
    assert [item.kind for item in items] == left
    root = session.memory.project_items(1000, session.runtime.counter)
    shown = plain_text(level_lines(session.memory, root, items)).split("\n")
    assert f"{key.partition('.')[2]:<8} off ({key} = false)" in shown


def test_what_memory_gave_to_an_answer_is_stored_with_it(app: AppFixture, tmp_path: Path) -> None:
    session = level_session(app, tmp_path)
    write_notes(app.vault.root, {"facts.md": "x"})
    session.memory.remember("The rent is 900", source="facts.md")
    report = report_of(session.send("We decided to pay the rent in May. What is the rent?"))
    question = session.history[0]
    answer = session.history[-1]
    assert answer.memory_references == ("user:ZKCHAT.md", "ZKCHAT.md", "fact:rent")
    remembered = [
        (r.wikilink, r.context_snippet) for r in report.references if r.reference_type == "memory"
    ]
    assert remembered == [("[[ZKCHAT]]", None), ("[[facts]]", "The rent is 900")]
    report_of(session.ask_again(question))
    assert [each.learning_points for each in (question, session.history[0])] == [
        ("We decided to pay the rent in May.",)
    ] * 2
    assert (question.updated_at, answer.updated_at) == (NOON, None)
    assert answer.task is not None
    assert answer.task["tools_called"] == len(report.tools)
