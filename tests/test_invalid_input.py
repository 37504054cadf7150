"""What bad input gets: a clear message (what, why, what next), the documented exit code, and
nothing lost.
"""

import resource
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from conftest import Program, ProgramResult

from zkchat_cli.text.sanitize import show_controls


def refused(done: ProgramResult, exit_status: int, *words: str) -> None:
    """A refusal: the exit code, one or two lines on stderr with these words, no traceback, nothing
    on stdout.
    """
    assert done.exit_status == exit_status, done
    assert done.out == ""
    assert "Traceback" not in done.err
    assert 1 <= len(done.err.strip().splitlines()) <= 2, done.err
    for word in words:
        assert word in done.err


def test_no_vault_names_the_four_ways_to_have_one(zkchat: Program, tmp_path: Path) -> None:
    (tmp_path / "empty").mkdir()
    refused(
        zkchat("ask", "hello", cwd=tmp_path / "empty"),
        3,
        "--vault",
        "ZKCHAT_VAULT",
        "config set",
        ".md",
    )


@pytest.mark.parametrize(
    ("folder", "word"), [("empty", "Markdown"), ("Filters.md", "folder"), ("nowhere", "nowhere")]
)
def test_a_vault_must_be_a_folder_with_notes(zkchat: Program, folder: str, word: str) -> None:
    (zkchat.vault / "empty").mkdir()
    refused(zkchat("ask", "hello", "--vault", zkchat.vault / folder), 3, folder, word)


def test_a_note_that_is_not_utf8_is_read_with_replacement_and_reported_once(
    zkchat: Program,
) -> None:
    (zkchat.vault / "Latin.md").write_bytes(
        "Das Gerät heißt Rührwerk und steht im Keller.\n".encode("latin-1")
    )
    first = zkchat("ask", "Was steht im Keller?")
    assert first.exit_status == 0
    assert "im Keller" in first.out
    assert first.err.count("Latin.md") == 1
    assert "Latin.md" not in zkchat("ask", "Was steht im Keller?").err


def test_looking_at_notes_needs_no_store(zkchat: Program) -> None:
    store = zkchat.home / "data" / "conversations.db"
    store.parent.mkdir(parents=True)
    store.write_text("no database")
    assert zkchat("vault", "search", "compost", "--json").json


def full_disk(program: Program, *arguments: str, room: int) -> ProgramResult:
    """Run with files limited to `room` bytes: a real write error of the real file system."""
    limit = lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (room, room))  # noqa: E731
    done = subprocess.run(
        [sys.executable, "-m", "zkchat_cli", *arguments],
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        env=program.environment,
        cwd=program.vault,
        preexec_fn=limit,
        check=False,
    )
    return ProgramResult(done.returncode, done.stdout, done.stderr)


def test_a_full_disk_while_storing_an_answer_still_shows_the_answer(
    zkchat: Program, script: Callable[..., str]
) -> None:
    zkchat("ask", "How are filters joined?")
    size = max(file.stat().st_size for file in zkchat.home.rglob("*") if file.is_file())
    answer = "A long answer. " * 40_000
    done = full_disk(
        zkchat, "ask", "Tell me all.", "--model", script({"text": answer}), room=size + 120_000
    )
    assert done.exit_status == 0
    assert answer in done.out
    assert done.err.count("cannot ") == 1
    assert "Traceback" not in done.err
    kept = zkchat("context", "export", "--format", "json").json["messages"]
    assert [m["content"] for m in kept if m["role"] == "user"][-1] == "Tell me all."


def test_a_chat_works_without_a_writable_store(zkchat: Program, script: Callable[..., str]) -> None:
    zkchat("vault", "index")
    (zkchat.home / "data").write_text("a file where the folder should be")
    chat = zkchat("chat", "--model", script({"text": "So it is."}), stdin="Is it?\n")
    assert "So it is." in chat.out and chat.exit_status == 0
    assert "this chat is not stored: The store " in chat.err and "cannot be opened" in chat.err
    resumed = zkchat("chat", "-c", stdin="Is it?\n")
    assert resumed.exit_status == 3 and "So it is." not in resumed.out


HOSTILE = (
    "\x1b]0;owned\x07\x1b[31mred\x9b2J [bold]rich[/bold] <|endoftext|> \u202egnp.exe \x00 \x08"
)


def test_special_tokens_control_characters_and_markup_in_a_question_are_text(
    zkchat: Program, script: Callable[..., str]
) -> None:
    question = HOSTILE.replace("\x00", "")
    document = zkchat("ask", question, "--model", script({"text": "Fine."}), "--json").json
    assert document["answer"] == "Fine."
    exported = zkchat("context", "export", "--format", "json").json["messages"]
    sent = zkchat("context", "show", "--turn", 1, "--json").json["calls"][0]["prompt"]["messages"]
    assert exported[0]["content"] == question
    # A model gets pictures of control characters
    assert sent[-1]["content"] == show_controls(question) != question


def test_nothing_in_a_note_runs_in_the_terminal(zkchat: Program) -> None:
    (zkchat.vault / "Evil \x1b[31m.md").write_text(
        f"# Evil\n\nThe wombat sleeps here {HOSTILE} in peace.\n"
    )
    questions = (
        ["ask", "Where does the wombat sleep?"],
        ["vault", "search", "wombat"],
        ["context", "show"],
        ["context", "stats"],
    )
    for arguments in (*questions, ["doctor"], ["config", "show"], ["--help"]):
        done = zkchat(*arguments)
        assert done.exit_status == 0
        assert not {"\x1b", "\x07", "\x08", "\x9b", "\u202e", "\x00"} & set(done.out + done.err), (
            arguments
        )


def test_nothing_in_an_answer_runs_in_the_terminal(
    zkchat: Program, script: Callable[..., str]
) -> None:
    plain, as_json = (
        zkchat("ask", "Hello?", "--model", script({"text": HOSTILE, "deltas": []}), *json)
        for json in ([], ["--json"])
    )
    assert not {"\x1b", "\x07", "\x9b"} & set(plain.out + as_json.out)
    assert "[bold]rich[/bold] <|endoftext|>" in plain.out
    assert as_json.json["answer"] == HOSTILE


def test_options_may_come_before_the_command(zkchat: Program) -> None:
    assert (
        "nine months" in zkchat("-m", "offline", "--no-color", "ask", "When is compost ready?").out
    )
    assert zkchat("--vault=.", "vault", "status", "--json").json["notes"] == 4


def test_a_message_larger_than_the_window_is_an_error_that_names_it(zkchat: Program) -> None:
    done = zkchat("ask", "word " * 2000, "--max-context", 1000)
    refused(done, 2, "tokens", "limit", "the message itself")
    kept = zkchat("context", "export", "--format", "json").json["messages"]
    assert (kept[0]["content"][:9], kept[0]["status"]) == ("word word", "failed")


def test_a_traceback_is_shown_only_when_asked_for(zkchat: Program, tmp_path: Path) -> None:
    assert "Traceback" not in zkchat("ask", "hello", "--vault", tmp_path / "nowhere").err
    assert "Traceback" in zkchat("ask", "hello", "--vault", tmp_path / "nowhere", "--verbose").err
