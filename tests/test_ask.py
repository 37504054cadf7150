"""`zkchat ask`: one question, an answer that can be checked, in every form a person or a program
may want it.
"""

import json
import re
import subprocess
import sys
from collections.abc import Callable
from typing import Any

import pytest
from conftest import Program
from terminal_screen import Ask


def test_the_level_says_how_sure_the_offline_provider_is(
    zkchat: Program, script: Callable[..., str]
) -> None:
    levels = {
        "How are filters joined?": "answer",
        "Which filter did Napoleon wear?": "most_likely",
        "Xylophones": "nothing",
    }
    for question, level in levels.items():
        assert zkchat("ask", question, "--json").json["level"] == level
    assert (
        zkchat("ask", "Xylophones", "--json", "--model", script({"text": "None."})).json["level"]
        is None
    )


def test_a_broken_link_is_a_warning_with_the_nearest_names(zkchat: Program) -> None:
    done = zkchat("ask", "How are filters joined? [[Combinig]]", "--json")
    assert done.exit_status == 0
    assert "[[Combinig]] not found" in done.err
    assert "[[Combining]]" in done.err
    broken = next(r for r in done.json["references"] if r["status"] == "broken")
    assert broken["relative_path"] is None


def test_stream_json_ends_with_the_ask_document(zkchat: Program) -> None:
    events = zkchat("ask", "How are filters joined?", "--stream-json").lines
    kinds = [event["type"] for event in events]
    assert kinds[0] == "message_stored"
    assert (
        kinds.index("tool_call_started")
        < kinds.index("tool_call_finished")
        < kinds.index("text_delta")
    )
    assert kinds[-1] == "turn_completed"
    assert events[-1].keys() == {"type", *zkchat("ask", "How are filters joined?", "--json").json}
    assert "".join(e["text"] for e in events if e["type"] == "text_delta") == events[-1]["answer"]


def test_stream_json_of_a_failed_turn_ends_with_an_event_too(
    zkchat: Program, script: Callable[..., str]
) -> None:
    done = zkchat("ask", "Why?", "--stream-json", "--model", script({"error": "auth"}))
    assert done.exit_status == 4
    assert [event["type"] for event in done.lines] == ["message_stored", "turn_failed"]
    assert zkchat("ask", "Why?", "--stream-json", "--cid", "zzz").lines[-1]["type"] == "error"


def test_a_provider_error_is_exit_code_4_and_keeps_the_text_that_came(
    zkchat: Program, script: Callable[..., str]
) -> None:
    done = zkchat(
        "ask", "Hello?", "--model", script({"text": "Half an ans", "error": "connection"}), "--json"
    )
    assert done.exit_status == 4
    assert done.json["error"]["code"] == "provider"
    assert done.json["error"]["partial"] == "Half an ans"
    exported = zkchat("context", "export", "--format", "json").json["messages"]
    assert [m["content"] for m in exported] == ["Hello?", "Half an ans"]
    assert exported[0]["status"] == "failed"


def test_a_compaction_is_told_on_standard_error(
    zkchat: Program, script: Callable[..., str]
) -> None:
    reply = script({"text": "The heap behind the shed was turned on day {n}. " * 12})
    for options in ([], ["-c"], ["-c"]):
        done = zkchat(
            "ask",
            *options,
            "I turned the heap. " * 110,
            "--model",
            reply,
            "--max-context",
            2000,
            "--json",
        )
    assert done.json["compaction"] and "; undo: " in done.err


# in a pipeline


def test_a_reader_that_leaves_early_is_no_error_and_what_came_is_stored(
    zkchat: Program, script: Callable[..., str]
) -> None:
    model = script({"deltas": [f"line {n} of it\n" for n in range(30)], "delay_ms": 5})
    command = (
        f"{sys.executable} -m zkchat_cli ask How? --model {model} | head -1; echo "
        "${PIPESTATUS[0]}"
    )
    done = subprocess.run(
        ["bash", "-c", command],
        capture_output=True,
        text=True,
        env=zkchat.environment,
        cwd=zkchat.vault,
        check=True,
    )
    assert (done.stdout, done.stderr) == ("line 0 of it\n141\n", "")
    question, answer = zkchat("context", "export", "--format", "json").json["messages"]
    assert (question["content"], answer["status"]) == ("How?", "unfinished")
    assert answer["content"].startswith("line 0 of it\n")


def test_output_without_room_is_an_error_that_says_so_and_the_answer_is_stored(
    zkchat: Program,
) -> None:
    command = f"{sys.executable} -m zkchat_cli ask 'What is due?' > /dev/full"
    done = subprocess.run(
        ["bash", "-c", command],
        capture_output=True,
        text=True,
        env=zkchat.environment,
        cwd=zkchat.vault,
        check=False,
    )
    assert (done.returncode, done.stderr.splitlines()[-2]) == (
        1,
        "zkchat: the result cannot be written: no space left on device",
    )
    assert len(zkchat("context", "export", "--format", "json").json["messages"]) > 1


def test_arguments_are_one_message_in_which_a_file_may_be_named(
    zkchat: Program, script: Callable[..., str]
) -> None:
    (zkchat.vault / "my plan.md").write_text("The roof comes first.\n")
    asked = zkchat(
        "ask", '@"my plan.md"', "what", "comes first?", "--model", script({"echo": True}), "--json"
    )
    said = asked.json["answer"]
    assert json.dumps('@"my plan.md" what comes first?')[1:-1] in said
    assert "The roof comes first." in said
    assert [r["relative_path"] for r in asked.json["references"]] == ["my plan.md"]


def test_a_cut_answer_is_continued(zkchat: Program, script: Callable[..., str]) -> None:
    model = script(
        {"text": "The first half", "finish_reason": "length"}, {"text": " and the second."}
    )
    cut = zkchat("ask", "Tell me all.", "--model", model)
    assert "length limit; continue it with zkchat ask -c" in cut.err
    model = script({"text": " and the second."})
    assert zkchat("ask", "-c", "--model", model, "--answer-only").out == " and the second.\n"
    nothing = zkchat("ask", "-c", "--model", model)
    assert (nothing.exit_status, "the last answer was not cut" in nothing.err) == (2, True)
    lost = zkchat(
        "ask",
        "Tell me all.",
        "--no-store",
        "--model",
        script({"text": "Half", "finish_reason": "length"}),
    )
    assert lost.err.rstrip().endswith("length limit")


def test_a_conversation_about_piped_text_is_titled_by_its_question(zkchat: Program) -> None:
    zkchat("ask", "How are filters joined?", stdin="diff --git a/x b/x\r\n-old\r\n")
    [stored] = zkchat("sessions", "list", "--json").json
    assert stored["title"] == "How are filters joined?"
    assert stored["first_line"].startswith("diff --git")
    told = zkchat("sessions", "show", "--json").json["history"][0]["content"]
    assert told == "diff --git a/x b/x\n-old\n\nHow are filters joined?"


def test_sessions_show_tells_of_other_branches_also_if_tools_were_called(zkchat: Program) -> None:
    for command in (
        ["ask", "How are filters joined?"],
        ["context", "clear", "--yes"],
        ["ask", "-c", "How are filters joined?"],
    ):
        zkchat(*command)
    assert "It has messages on other branches" in zkchat("sessions", "show").err


def test_sessions_show_is_limited_by_number_and_time(zkchat: Program) -> None:
    zkchat("ask", "How are filters joined?")
    zkchat("ask", "-c", "When is compost ready?")
    history = zkchat("sessions", "show", "--json").json["history"]
    second = next(m for m in reversed(history) if m["role"] == "user")
    assert zkchat("sessions", "show", "--json", "--limit", 1).json["history"] == history[-1:]
    since = zkchat("sessions", "show", "--json", "--since", second["timestamp"]).json["history"]
    before = zkchat("sessions", "show", "--json", "--before", second["timestamp"]).json["history"]
    assert before + since == history
    # The first day of the calendar has no local time
    for past in ("yesterday", "0001-01-01"):
        assert zkchat("sessions", "show", "--json", "--before", past).json["history"] == []
    assert "--since: soonish is no date" in zkchat("sessions", "show", "--since", "soonish").err


def stored_messages(zkchat: Program) -> list[dict[str, Any]]:
    """The messages of the latest conversation, as its export has them."""
    messages: list[dict[str, Any]] = zkchat("context", "export", "--format", "json").json[
        "messages"
    ]
    return messages


@pytest.mark.parametrize(
    ("typed", "piped"),
    [
        ("@researcher We pay 378 euros for the boiler.", ""),
        ("@researcher we pay 378 euros for the boiler.", "An offer."),
        ("@critic, we pay 378 euros for the boiler.", ""),
        ("@critic We pay 378 euros for the boiler.", ""),
    ],
)
def test_a_learning_point_does_not_keep_the_mention_of_an_agent(
    zkchat: Program, script: Callable[..., str], typed: str, piped: str
) -> None:
    zkchat("ask", typed, "--model", script({"text": "Noted."}), stdin=piped)
    [point] = stored_messages(zkchat)[0]["learning_points"]
    assert point.capitalize() == "We pay 378 euros for the boiler."


def test_a_learning_point_keeps_the_person_that_it_is_about(
    zkchat: Program, script: Callable[..., str]
) -> None:
    zkchat("ask", "@anna pays 378 euros for it.", "--model", script({"text": "Noted."}))
    assert stored_messages(zkchat)[0]["learning_points"] == ["@anna pays 378 euros for it."]


def test_each_message_has_the_tokens_of_its_own_reasoning(
    zkchat: Program, script: Callable[..., str]
) -> None:
    search = {"name": "find_excerpts", "arguments": {"query": "compost"}}
    usage = {"prompt_tokens": 9, "completion_tokens": 9, "reasoning_tokens": 7}
    model = script(
        {"reasoning": "I should look at the notes first.", "tool_calls": [search]},
        {"tool_calls": [search]},
        {"reasoning": "Now I know.", "text": "Nine months.", "usage": usage},
    )
    zkchat("ask", "When is compost ready?", "--model", model)
    replies = [each for each in stored_messages(zkchat) if each["role"] == "assistant"]
    assert [each["thinking_tokens"] for each in replies] == [8, None, 7]


@pytest.mark.parametrize(
    "question", ["How are filters joined?", "Which filter did Napoleon wear?", "Xylophones"]
)
def test_a_screen_lists_the_same_sources_as_a_pipe_at_each_level(
    zkchat: Program, question: str
) -> None:
    with Ask(zkchat, question, columns=200, rows=40) as asking:
        assert asking.wait_for_end() == 0
        on_screen = asking.everything()
    listed = zkchat("ask", question).out.partition("Sources\n")[2]
    marks = re.compile(r"^ +\[(\d+)\] (\S) (\[\[[^]]+\]\])", re.MULTILINE)
    assert marks.findall(on_screen) == marks.findall(listed)
    assert bool(marks.findall(listed)) == (question != "Xylophones")
