"""How far search by meaning is: in the toolbar, under an answer, in `doctor` and in pipes."""

import io
import os
import re
import threading
from itertools import count
from pathlib import Path

import pytest
from conftest import Program, write_notes
from factories import AppFixture, DeltaModel, open_store, reply, report_of, tool_reply
from fake_embedders import EmbeddingServers, SynonymEmbedder
from notes_folder import NotesFolder
from terminal_screen import PATIENCE, Chat
from test_doctor import checks

from zkchat_cli.chat.fault_guard import FaultGuard
from zkchat_cli.models.messages import ToolCall
from zkchat_cli.terminal.screen import Screen
from zkchat_cli.terminal.turn_renderer import DisplayOptions, show_turn
from zkchat_cli.vault.search.search_watch import SearchWatch
from zkchat_cli.vault.search.semantic import CHUNKS_OF_CLAIM

QUESTION = "What does a car need?"


@pytest.fixture
def program(tmp_path: Path, embedding_servers: EmbeddingServers) -> Program:
    """A vault of 100 notes, of which one is about cars, with a real server for vectors."""
    notes = {f"Note {n}.md": f"This is number {n}.\n" for n in range(99)}
    notes["Garage.md"] = "An automobile needs oil twice a year.\n"
    return Program(
        write_notes(tmp_path / "notes", notes),
        tmp_path / "home",
        {
            **embedding_servers.env,
            "ZKCHAT_SEMANTIC__PROVIDER": "ollama",
            "ZKCHAT_SEMANTIC__MULTILINGUAL": "false",
        },
    )


# under an answer


def test_an_answer_says_how_far_search_by_meaning_was(program: Program) -> None:
    asked = program("ask", "What is number 7?", "--json")
    [warning] = asked.json["warnings"]
    assert warning["message"] == "search by meaning was 40% ready"
    assert "zkchat vault index --semantic" in warning["hint"]
    in_text = program("ask", "What is number 7?")
    assert in_text.err.count("zkchat: search by meaning was ") == 1
    assert "ready" not in in_text.out
    program("vault", "index", "--semantic")
    complete = program("ask", QUESTION, "--json")
    assert complete.json["warnings"] == []
    assert complete.json["references"][0]["relative_path"] == "Garage.md"


def test_small_talk_says_nothing_about_search(program: Program) -> None:
    assert program("ask", "thanks!", "--json").json["warnings"] == []


def test_it_is_said_below_the_sources(tmp_path: Path) -> None:
    notes = NotesFolder(tmp_path, SynonymEmbedder())
    for number in range(100):
        notes.write(f"Note {number}.md", f"This is number {number}.\n")
    notes.vault.refresh()
    app = AppFixture(notes.vault, open_store(tmp_path / "store.db"))
    search = ToolCall(id="c1", name="find_excerpts", arguments={"query": "number 7", "limit": 1})
    turn = app.session(DeltaModel([tool_reply(search), reply("It is number 7 [1].")])).send("7?")
    shown = io.StringIO()
    screen = Screen(shown, shown, color=False, err_is_terminal=False)
    options = DisplayOptions(3, FaultGuard())
    show_turn(turn, screen, lambda line, _: screen.print(line), options)
    texts = ["It is number 7", "Sources", "search by meaning was "]
    assert sorted(texts, key=shown.getvalue().find) == texts, shown.getvalue()
    app.store.close()
    notes.vault.close()


def test_a_batch_of_searches_says_it_once(program: Program) -> None:
    done = program("vault", "search", "-", "--json", stdin="number 1\nnumber 2\nnumber 3\n")
    assert len(done.lines) == 3
    [said] = done.err.splitlines()
    assert said.startswith("zkchat: search by meaning was ")


def test_a_changed_note_among_many_is_not_worth_a_warning(tmp_path: Path) -> None:
    notes = NotesFolder(tmp_path, SynonymEmbedder())
    for number in range(150):
        notes.write(f"Note {number}.md", f"This is number {number}.\n")
    notes.vault.refresh()
    notes.vault.embed()
    notes.write("Note 7.md", "A joyful day.\n")
    notes.vault.refresh()
    watch = SearchWatch(notes.vault.semantic)
    notes.found("glad")
    assert watch.warning() is None
    assert not notes.vault.status().semantic.complete  # type: ignore[union-attr]
    notes.vault.close()


# what comes first


def test_the_notes_that_a_message_names_come_first(tmp_path: Path) -> None:
    notes = NotesFolder(tmp_path, embedder := SynonymEmbedder())
    for number in range(30):
        notes.write(f"Note {number}.md", f"This is number {number}. [[Note 7]]\n")
        os.utime(notes.root / f"Note {number}.md", (number, number))
    app = AppFixture(notes.vault, open_store(tmp_path / "store.db"))
    notes.vault.refresh()
    report_of(app.session(DeltaModel([reply("Good.")])).send("Summarize [[Note 3]]."))
    assert notes.vault.semantic
    stops = iter((False, True))
    notes.vault.semantic.compute_missing(stopped=lambda: next(stops))
    first = {text.partition("\n")[0] for text in embedder.documents}
    assert len(first) == CHUNKS_OF_CLAIM
    assert {"Note 3", "Note 7", "Note 29", "Note 28"} < first
    app.store.close()
    notes.vault.close()


# in the chat


def bar(chat: Chat) -> str:
    """The toolbar; empty before it is drawn."""
    return "".join(chat.toolbars())


def test_the_toolbar_shows_how_far_it_is_while_vectors_grow(
    program: Program, embedding_servers: EmbeddingServers
) -> None:
    seen = threading.Event()
    asked = count()
    # After the first vectors it waits until they were seen
    embedding_servers.before = lambda: next(asked) < 2 or seen.wait(PATIENCE)
    grows = re.compile(r"meaning \d+% │.*░ \d+%")
    with Chat(program, columns=80) as chat:
        chat.wait_until(lambda: bool(grows.search(bar(chat))), "the growth")
        chat.resize(50, 24)
        chat.wait_until(lambda: bool(grows.search(bar(chat))), "the growth in fewer columns")
        seen.set()
        chat.wait_until(lambda: "░" in bar(chat) and "meaning" not in bar(chat), "the end")


# in doctor


def test_doctor_marks_an_incomplete_index_and_says_what_to_do(program: Program) -> None:
    shown = program("doctor")
    assert shown.exit_status == 0
    assert "! semantic   ollama/nomic-embed-text, 0% done; 64 dimensions" in shown.out
    assert "→ zkchat vault index --semantic computes the rest" in shown.out
    check = checks(program)[1]["semantic"]
    assert (check["ok"], check["code"]) == (True, None)
    program("vault", "index", "--semantic")
    assert "✓ semantic   ollama/nomic-embed-text, complete; 64 dimensions" in program("doctor").out


# while it is computed


class Work:
    """Work of 1,000 items at two a second, which reports its progress each second."""

    def __init__(self, *, is_terminal: bool, accessible: bool = False) -> None:
        self.seconds = 0.0
        err = io.StringIO()
        screen = Screen(
            io.StringIO(), err, color=False, err_is_terminal=is_terminal, accessible=accessible
        )
        with screen.progress_bar("Embedding", lambda: self.seconds) as report:
            for second in range(26):
                self.seconds = float(second)
                report(100 + 2 * second, 1_000)
        self.shown = err.getvalue()


def test_a_pipe_gets_a_line_of_progress_each_ten_seconds() -> None:
    assert Work(is_terminal=False).shown == (
        "Embedding  120/1,000, about 7 min left\nEmbedding  140/1,000, about 7 min left\n"
    )


def test_a_screen_reader_gets_lines_too() -> None:
    lines = Work(is_terminal=True, accessible=True).shown.splitlines()
    assert lines[0] == "Embedding  102/1,000"
    assert len(lines) == 3
    assert "\r" not in "".join(lines)


def test_a_terminal_has_one_line_that_disappears() -> None:
    drawn = Work(is_terminal=True).shown.split("\r")
    assert drawn[1:3] == ["Embedding  102/1,000", "Embedding  104/1,000"]
    assert drawn[-3].startswith("Embedding  150/1,000, about 7 min left")
    assert drawn[-2].strip() == ""


def test_the_end_is_less_than_a_minute_away() -> None:
    err = io.StringIO()
    moments = iter((0.0, 0.0, 1.0, 31.0))
    screen = Screen(io.StringIO(), err, color=False, err_is_terminal=False)
    with screen.progress_bar("Embedding", lambda: next(moments)) as report:
        report(0, 100)
        report(10, 100)
        report(90, 100)
    assert err.getvalue() == "Embedding  90/100, less than a minute left\n"
