"""`zkchat context`: see the exact prompt, its figures; fold, unfold, export and import a
conversation.
"""

import json
import re
from pathlib import Path

import pytest
from conftest import Program
from summary_models import SUMMARY
from terminal_screen import CTRL_C, ENDLESS, Chat, Script

from zkchat_cli import tools

DAYS = [
    f"On day {i} I moved the {thing} to shelf {i * 7} because of reason number {i}."
    for i, thing in enumerate(
        [
            "anvil",
            "bellows",
            "chisel",
            "drill",
            "easel",
            "file",
            "gouge",
            "hammer",
            "inkwell",
            "jigsaw",
            "kettle",
            "lathe",
        ],
        1,
    )
]


@pytest.fixture
def talk(zkchat: Program, tmp_path: Path) -> str:
    """A conversation of twelve turns, imported; its id."""
    messages = []
    for i, day in enumerate(DAYS, 1):
        at = f"2026-03-{i:02d}T10:00:00+00:00"
        messages.append({"role": "user", "content": day, "timestamp": at})
        messages.append(
            {
                "role": "assistant",
                "content": f"Noted for day {i}. Anything else I should keep in mind?",
                "timestamp": at,
            }
        )
    file = tmp_path / "talk.json"
    file.write_text(json.dumps(messages))
    conversation: str = zkchat("context", "import", "--file", file, "--json").json[
        "conversation_id"
    ]
    return conversation


def test_show_prints_the_exact_prompt_that_the_model_gets(
    zkchat: Program, talk: str, script: Script
) -> None:
    model = script({"echo": True})
    shown = zkchat(
        "context",
        "show",
        talk,
        "--next",
        "Where is the anvil? [[Filters]]",
        "--json",
        "--model",
        model,
    ).json
    sent = json.loads(
        zkchat(
            "ask", "--cid", talk, "Where is the anvil? [[Filters]]", "--json", "--model", model
        ).json["answer"]
    )
    strip = lambda messages: [(m["role"], m["content"], m["tokens"], m["kind"]) for m in messages]  # noqa: E731
    assert strip(shown["messages"]) == strip(sent["messages"])
    assert [t["descriptor"] for t in shown["tools"]] == sent["tools"]


def test_show_stores_nothing(zkchat: Program, talk: str) -> None:
    before = zkchat("context", "export", talk, "--format", "json").out
    zkchat("context", "show", talk, "--next", "Where is the anvil?")
    assert zkchat("context", "export", talk, "--format", "json").out == before


def test_a_small_window_sends_the_newest_turns_and_recalls_relevant_ones(
    zkchat: Program, talk: str
) -> None:
    shown = zkchat(
        "context",
        "show",
        talk,
        "--next",
        "Where is the anvil now?",
        "--max-context",
        1000,
        "--json",
    ).json
    contents = [m["content"] for m in shown["messages"]]
    assert shown["usage"]["total_tokens"] <= shown["usage"]["effective_limit"]
    assert DAYS[-1] in contents
    assert DAYS[0] not in contents
    recalled = next(c for c in contents if "<recalled-conversation>" in c)
    assert DAYS[0] in recalled
    assert "1 March 2026" in recalled
    assert {d["reason"] for d in shown["dropped"] if d["kind"] == "message"} == {
        "no room",
        "no room; quoted because it is relevant to the message",
    }


def test_compaction_folds_the_older_turns_and_undo_restores_the_identical_prompt(
    zkchat: Program, talk: str
) -> None:
    before = zkchat("context", "show", talk, "--json").out
    done = zkchat("context", "compact", talk, "--keep", 4, "--json").json
    assert done["mode"] == "extractive"
    assert done["messages_folded"] == 20
    after = zkchat("context", "show", talk, "--json").json
    assert after["usage"]["total_tokens"] == done["tokens_after"]
    assert "<conversation-summary>" in next(
        m["content"] for m in after["messages"] if m["kind"] == "summary"
    )
    assert done["summary"] in zkchat("context", "summary", talk).out
    assert zkchat("context", "compact", "--undo", talk).exit_status == 0
    assert zkchat("context", "show", talk, "--json").out == before


def test_a_summary_keeps_to_its_target_and_has_what_the_instructions_say(
    zkchat: Program, talk: str
) -> None:
    small = ["--keep", "0", "--target", "60", "--preview", "--json"]
    done = zkchat(
        "context", "compact", talk, "--instructions", "keep the kettle and shelf 77", *small
    ).json
    assert 0 < done["summary_tokens"] <= 60
    assert "kettle" in done["summary"]


def test_an_export_comes_back_as_it_was(zkchat: Program, talk: str, tmp_path: Path) -> None:
    zkchat("ask", "--cid", talk, "How are filters joined?")
    zkchat("context", "compact", talk, "--keep", 4)
    exported = zkchat("context", "export", talk, "--format", "json").out
    (tmp_path / "export.json").write_text(exported)
    elsewhere = Program(zkchat.vault, tmp_path / "other home")
    imported = elsewhere("context", "import", "--file", tmp_path / "export.json", "--json").json[
        "conversation_id"
    ]
    assert elsewhere("context", "export", imported, "--format", "json").out == exported
    assert (
        elsewhere("context", "show", imported, "--json").out
        == zkchat("context", "show", talk, "--json").out
    )


def test_an_import_from_another_machine_belongs_to_the_vault_at_hand(
    zkchat: Program, talk: str, tmp_path: Path
) -> None:
    document = zkchat("context", "export", talk, "--format", "json").json
    document["conversation"]["vault"] = "/home/somebody/else"
    (tmp_path / "export.json").write_text(json.dumps(document))
    elsewhere = Program(zkchat.vault, tmp_path / "other home")
    elsewhere("context", "import", "--file", tmp_path / "export.json")
    assert elsewhere("context", "stats").exit_status == 0


def test_clear_starts_afresh_and_the_log_stays(zkchat: Program, talk: str, script: Script) -> None:
    assert zkchat("context", "clear", talk).exit_status == 2
    assert zkchat("context", "clear", talk, "--yes").exit_status == 0
    assert (
        "It has messages on other branches: zkchat chat --resume "
        in zkchat("sessions", "show", talk).err
    )
    assert zkchat("context", "export", talk).exit_status == 2
    prompt = json.loads(
        zkchat("ask", "--cid", talk, "Hello?", "--model", script({"echo": True}), "--json").json[
            "answer"
        ]
    )
    assert [m["content"] for m in prompt["messages"] if m["kind"] == "conversation"] == ["Hello?"]
    assert (
        len(zkchat("context", "export", talk, "--format", "json").json["messages"])
        == 2 * len(DAYS) + 2
    )


def test_a_prompt_describes_the_tools_that_its_model_can_call(
    zkchat: Program, talk: str, script: Script
) -> None:
    def described(*choice: str) -> list[str]:
        return [
            tool["name"]
            for tool in zkchat("context", "show", talk, "--next", "hello", "--json", *choice).json[
                "tools"
            ]
        ]

    assert described() == [
        "find_backlinks",
        "find_excerpts",
        "find_forward_links",
        "find_link_path",
        "list_zk_documents",
        "read_zk_document",
    ]
    assert described("--model", script({"text": "x"})) == [tool.name for tool in tools.load_tools()]


# compaction with a model


A_SUMMARY = {
    "text": f"<analysis>Hm.</analysis>\n<conversation-summary>\n{SUMMARY}\n</conversation-summary>"
}


def test_a_scripted_model_summarises_on_the_command_line(
    zkchat: Program, talk: str, script: Script
) -> None:
    done = zkchat(
        "context", "compact", talk, "--keep", 4, "--json", "--model", script(A_SUMMARY)
    ).json
    assert (done["mode"], done["summary"], done["model_calls"], done["messages_folded"]) == (
        "full",
        SUMMARY,
        1,
        20,
    )
    listed = zkchat("context", "summary", talk, "--json").json
    assert listed[0]["covers"] == {
        "turns": 10,
        "messages": 20,
        "first_date": "2026-03-01",
        "last_date": "2026-03-10",
    }
    out = zkchat("context", "summary", talk).out
    assert "10 turns (20 messages), 2026-03-01 to 2026-03-10" in out
    assert SUMMARY in out


def test_the_chat_says_what_a_summary_saved_and_takes_it_back(
    zkchat: Program, talk: str, script: Script
) -> None:
    model = script({"error": "timeout"}, {"error": "timeout"}, A_SUMMARY)
    done = zkchat(
        "chat",
        "--resume",
        talk,
        "--model",
        model,
        stdin="/compact keep the drill\n/compact\n/compact undo\n",
    )
    first, second, third = (line for line in done.out.splitlines() if line)
    assert "(extractive" in first
    assert "the model's summary failed: " in first
    assert second.startswith("Nothing to compact")
    assert third.startswith("Compaction undone")
    assert zkchat("context", "summary", talk, "--json").json == []


def test_ctrl_c_in_the_middle_of_a_summary_changes_nothing_and_the_next_try_works(
    zkchat: Program, talk: str, script: Script
) -> None:
    with Chat(zkchat, "--resume", talk, "--model", script(ENDLESS), columns=120) as chat:
        chat.say("/compact keep the drill")
        chat.wait_for("compacting: requested by you")
        chat.type(CTRL_C)
        chat.wait_for("  stopped\n\n")
        chat.ask("/model offline", "offline")
        chat.ask("/compact keep the drill", "undo: /compact undo")
        chat.ask("/compact undo", "Compaction undone")
        chat.ask("/compact undo", "No compaction to undo")
    assert zkchat("context", "summary", talk, "--json").json == []


def test_a_turn_says_below_its_answer_what_a_compaction_saved(
    zkchat: Program, talk: str, script: Script
) -> None:
    # Their descriptions fill a part of the window
    zkchat.env["ZKCHAT_RETRIEVAL__MODE"] = "tools"
    zkchat("config", "set", "context.max_tokens", "1650")
    with Chat(
        zkchat, "--resume", talk, "--model", script(A_SUMMARY, {"text": "So it is."})
    ) as chat:
        chat.ask("What of the shelf? " * 60, "So it is.")
        seen = chat.everything()
    below = seen.partition("So it is.")[2]
    assert re.search(
        r"\n  Summarized \d+ messages: [\d,]+ → [\d,]+ tokens; undo: /compact undo\n", below
    )


def test_before_the_first_message_the_figures_are_instructions_tools_memory_and_documents(
    zkchat: Program,
) -> None:
    (zkchat.vault / "ZKCHAT.md").write_text("Be brief.")
    usage = zkchat("context", "stats", "--json").json
    assert usage["system_tokens"] > 0
    assert usage["tool_tokens"] > 0
    assert usage["message_tokens"] == usage["message_breakdown"]["memory"] > 0
    assert "Compacts at" in zkchat("context", "stats").out
    assert zkchat("context", "show", "--json").json["usage"] == usage
    question = "What is in [[Filters]]?"
    shown = zkchat("context", "show", "--next", question, "--json").json
    assert "A filter is a line that says" in shown["messages"][-2]["content"]
    assert shown["messages"][-1]["content"] == question
    counted = zkchat("context", "stats", "--next", question, "--json").json
    assert counted == shown["usage"]
    assert counted["message_breakdown"]["documents"] > 0
    assert zkchat("sessions", "list", "--json").json == []
    assert zkchat("context", "stats", "gone").exit_status == 3
