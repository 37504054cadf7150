"""`--show-context`: what the prompt is made of, before the answer, also without a command."""

import json
import subprocess
import sys
from pathlib import Path

import pytest
from conftest import Program, write_notes
from terminal_screen import Script

QUESTION = "And nesting? See [[Combining]], @Queries/Limiting.md"


def overview(printed: str) -> list[str]:
    """The lines about the components."""
    return [line.strip() for line in printed.splitlines() if line.startswith("  - ")]


def test_it_is_printed_before_the_answer(zkchat: Program, script: Script) -> None:
    model = script({"text": "Nested."})
    done = subprocess.run(
        [sys.executable, "-m", "zkchat_cli", "ask", "How?", "--show-context", "--model", model],
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        env=zkchat.environment,
        cwd=zkchat.vault,
        check=True,
    )
    assert (
        done.stdout.index("Context: ")
        < done.stdout.index("instructions")
        < done.stdout.index("Nested.")
    )


def test_a_screen_shows_it_above_the_answer(zkchat: Program, script: Script) -> None:
    pexpect = pytest.importorskip("pexpect")
    child = pexpect.spawn(
        sys.executable,
        ["-m", "zkchat_cli", "ask", "How?", "--show-context", "--model", script({"text": "Yes."})],
        env={**zkchat.environment, "TERM": "xterm-256color"},
        cwd=str(zkchat.vault),
        encoding="utf-8",
        dimensions=(30, 100),
    )
    child.expect(pexpect.EOF)
    shown: str = child.before
    assert shown.count("Context: ") == 1
    assert shown.index("1 recent message") < shown.rindex("Yes.")


def test_summaries_memory_notes_and_imported_files_have_names(
    zkchat: Program, script: Script, tmp_path: Path
) -> None:
    write_notes(zkchat.vault, {"ZKCHAT.md": "We write in English.", "plan.md": "First the roof."})
    days = [f"On day {n} I moved the anvil to shelf {n}." for n in range(9)]
    talk = [{"role": "user", "content": day} for day in days]
    file = tmp_path / "talk.json"
    file.write_text(json.dumps(talk))
    zkchat("context", "import", "--file", file)
    zkchat("memory", "add", "The nesting of brackets is unlimited")
    zkchat("context", "compact", "--keep", 2)
    done = zkchat(
        "ask", "-c", f"{QUESTION} @plan.md", "--show-context", "--model", script({"text": "Yes."})
    )
    lines = overview(done.err)
    names = [line.partition(" (")[0] for line in lines]
    assert "- 1 summary" in names
    assert "- ZKCHAT.md project memory" in names
    [memory] = [line for line in lines if line.startswith("- 1 memory (")]
    assert memory.endswith("tokens): nesting-brackets-unlimited")
    [documents] = [line for line in lines if "imported" in line]
    assert documents.startswith(
        "- 1 named note ([[Combining]]), 2 imported files (@Queries/Limiting.md, @plan.md) ("
    )
    assert "  full text   @plan.md  plan.md: " in done.err


def test_a_line_without_a_command_asks_like_ask(zkchat: Program, script: Script) -> None:
    model = script({"text": "Yes."})
    plain = zkchat("ask", "--show-context", "@researcher How?", "--model", model, "--no-store")
    for words in (
        ["--show-context", "@researcher How?", "--model", model, "--no-store"],
        ["--model", model, "--no-store", "--show-context", "@researcher", "How?"],
        ["@researcher", "How?", "--no-store", "--model", model, "--show-context"],
    ):
        done = zkchat(*words)
        assert (done.exit_status, done.out) == (0, plain.out)
        assert overview(done.err) == overview(plain.err)
        assert "the agent researcher answers this message" in done.err


def test_options_of_ask_work_without_the_command(zkchat: Program, script: Script) -> None:
    model = script({"text": "Yes."})
    asked = zkchat("--model", model, "--json", "@researcher", "How?").json
    assert (asked["agent"], asked["answer"]) == ("researcher", "Yes.")
    again = zkchat(
        "--show-context", "--cid", asked["conversation_id"], "And?", "--model", model, "--json"
    )
    assert again.json["conversation_id"] == asked["conversation_id"]
    assert "- 3 recent messages (" in again.err


def test_without_a_question_it_says_what_is_missing(zkchat: Program) -> None:
    done = zkchat("--show-context")
    assert (done.exit_status, done.err.splitlines()[0]) == (2, "zkchat: there is nothing to ask")
    alone = zkchat("@researcher")
    assert alone.exit_status == 2
    assert "there is no question for the agent researcher" in alone.err
