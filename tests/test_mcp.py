"""`zkchat mcp`, as a client of the official SDK sees it."""

import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from conftest import NOTES, Program, write_notes
from mcp_client import NoteClient, connected_by_pipe

DEAD_LINK = "A [[Missing]] note.\n"


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("mcp")


@pytest.fixture(scope="module")
def client(folder: Path) -> Iterator[NoteClient]:
    """One server process for most tests of the file."""
    program = Program(write_notes(folder / "notes", {**NOTES, "Dead.md": DEAD_LINK}), folder / "home")
    command = [sys.executable, "-m", "zkchat_cli", "mcp", "--vault", str(program.vault)]
    with (folder / "log").open("w") as log, connected_by_pipe(command, program.environment, log) as client:
        yield client


def test_search_notes_finds_passages_with_path_heading_and_lines(client: NoteClient) -> None:
    first, *_ = client.call("search_notes", query="due today")["results"]
    assert (first["relative_path"], first["heading"], first["start_line"]) == ("Filters.md", "Filters", 5)
    assert "due today" in first["text"] and first["score"] > 0


def test_read_note_returns_lines_of_a_note(client: NoteClient) -> None:
    read = client.call("read_note", path="Queries/Limiting.md", start_line=3, end_line=3)
    assert (read["text"], read["start_line"], read["end_line"]) == ("Write `limit 10` to see ten tasks at most.", 3, 3)


def test_verify_quotations_has_the_document_of_the_command_verify(client: NoteClient, folder: Path) -> None:
    text = '"needs air, water and patience" [[Compost]] and "needs air, water and prayers" [[Compost]]'
    by_command = Program(folder / "notes", folder / "home")("verify", "-", "--json", stdin=text).json
    assert client.call("verify_quotations", text=text) == by_command
    assert [each["verdict"] for each in by_command["quotations"]] == ["verified", "misquoted"]
