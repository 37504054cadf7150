"""Compaction with a model on the command line and in the chat, with the scripted provider."""

import json
from collections.abc import Callable
from pathlib import Path

import pytest
from conftest import Program
from summary_models import SUMMARY, numbered_exchanges
from terminal_screen import CTRL_C, ENDLESS, Chat


@pytest.fixture
def imported(zkchat: Program, tmp_path: Path) -> str:
    messages = [
        {"role": role, "content": text, "timestamp": f"2026-03-{i:02d}T10:00:00+00:00"}
        for i, pair in enumerate(numbered_exchanges(12), 1)
        for role, text in zip(("user", "assistant"), pair, strict=True)
    ]
    file = tmp_path / "talk.json"
    file.write_text(json.dumps(messages))
    conversation: str = zkchat("context", "import", "--file", file, "--json").json["conversation_id"]
    return conversation


A_SUMMARY = {"text": f"<analysis>Hm.</analysis>\n<conversation-summary>\n{SUMMARY}\n</conversation-summary>"}


def test_a_scripted_model_summarises_on_the_command_line(zkchat: Program, imported: str, script: Callable[..., str]) -> None:
    done = zkchat("context", "compact", imported, "--keep", 4, "--json", "--model", script(A_SUMMARY)).json
    assert (done["mode"], done["summary"], done["model_calls"], done["messages_folded"]) == ("full", SUMMARY, 1, 20)
    listed = zkchat("context", "summary", imported, "--json").json
    assert listed[0]["covers"] == {"turns": 10, "messages": 20, "first_date": "2026-03-01", "last_date": "2026-03-10"}
    out = zkchat("context", "summary", imported).out
    assert "10 turns (20 messages), 2026-03-01 to 2026-03-10" in out
    assert SUMMARY in out


def test_the_chat_says_what_a_summary_saved_and_takes_it_back(zkchat: Program, imported: str, script: Callable[..., str]) -> None:
    model = script({"error": "timeout"}, {"error": "timeout"}, A_SUMMARY)
    done = zkchat("chat", "--resume", imported, "--model", model, stdin="/compact keep thing3\n/compact\n/compact undo\n")
    first, second, third = (line for line in done.out.splitlines() if line)
    assert "(extractive" in first
    assert "The model's summary failed: " in first
    assert second.startswith("Nothing to compact")
    assert third.startswith("Compaction undone")
    assert zkchat("context", "summary", imported, "--json").json == []


def test_ctrl_c_in_the_middle_of_a_summary_changes_nothing_and_the_next_try_works(
    zkchat: Program, imported: str, script: Callable[..., str]
) -> None:
    with Chat(zkchat, "--resume", imported, "--model", script(ENDLESS), columns=120) as chat:
        chat.say("/compact keep thing3")
        chat.wait_for("compacting: requested by you")
        chat.type(CTRL_C)
        chat.wait_for("  stopped\n\n")
        chat.ask("/model offline", "offline")
        chat.ask("/compact keep thing3", "Nothing is deleted")
        chat.ask("/compact undo", "Compaction undone")
        chat.ask("/compact undo", "No compaction to undo")
    assert zkchat("context", "summary", imported, "--json").json == []


def test_a_turn_says_below_its_answer_what_a_compaction_saved(zkchat: Program, imported: str, script: Callable[..., str]) -> None:
    zkchat.env["ZKCHAT_RETRIEVAL__MODE"] = "tools"  # their descriptions fill a part of the window
    zkchat("config", "set", "context.max_tokens", "1650")
    with Chat(zkchat, "--resume", imported, "--model", script(A_SUMMARY, {"text": "So it is."}), columns=120) as chat:
        chat.ask("What of the shelf? " * 60, "So it is.")
        seen = chat.everything()
    assert "messages (by the model" in seen.partition("So it is.")[2]
    assert "tokens saved; to undo: /compact undo" in " ".join(seen.split())
