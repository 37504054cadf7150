"""Work on a goal in steps: `/solve GOAL` and `ask --iterations N`."""

import re
from collections.abc import Callable

import pytest
from acp_client import editor
from conftest import Program
from factories import AppFixture, DeltaModel, reply, report_of
from terminal_screen import CTRL_C, ENDLESS, Chat, stored_conversations

from zkchat_cli.chat.problem_solver import IterativeProblemSolver, last_word

Script = Callable[..., str]
HALF = {"text": "The first half is done. The second is missing."}
WHOLE = {"text": "Both halves.\n\nDONE"}


@pytest.mark.parametrize(
    ("answer", "said"),
    [
        ("All of it.\nDONE", "done"),
        ("All of it.\n\n**DONE.**  ", "done"),
        ("Nine months [1]. DONE", "done"),
        ("DONE [1]", "done"),
        ("done", "done"),
        ("There are no notes about it.\nFAIL", "failed"),
        ("Two of three are done", None),
        ("It is DONE only with the rest", None),
        ("I cannot fail", None),
        ("UNDONE", None),
        ("", None),
    ],
)
def test_only_the_end_of_an_answer_says_how_the_work_ends(answer: str, said: str | None) -> None:
    assert last_word(answer) == said


def test_each_step_is_a_turn_until_the_model_says_done(zkchat: Program, script: Script) -> None:
    done = zkchat(
        "ask", "--iterations", 5, "Compare [[Filters]] and more", "--model", script(HALF, WHOLE)
    )
    assert done.exit_status == 0
    assert done.out.index("The first half") < done.out.index("Both halves.")
    assert re.search(r"step 1 of 5 · ~1\.\dk tokens in, ~11 out +█░+ \d+% 1\.\dk / 29", done.err)
    assert "Goal reached in 2 steps (together ~" in done.err
    contents = [message["content"] for message in stored_conversations(zkchat)]
    assert contents == [
        "Compare [[Filters]] and more",
        HALF["text"],
        "Step 2 of 5. Continue towards the goal: Compare Filters and more",
        WHOLE["text"],
    ]


def test_the_json_document_has_every_step(zkchat: Program, script: Script) -> None:
    model = script(HALF, WHOLE)
    done = zkchat("ask", "--iterations", 3, "Compare", "--model", model, "--json").json
    work = done.pop("iterations")
    assert (work["goal"], work["limit"], work["outcome"]) == ("Compare", 3, "done")
    assert [step["answer"] for step in work["steps"]] == [HALF["text"], WHOLE["text"]]
    assert work["steps"][-1] == done
    in_steps = [step["usage"]["prompt_tokens"] for step in work["steps"]]
    assert work["usage"]["prompt_tokens"] == sum(in_steps)
    stream = zkchat("ask", "--iterations", 3, "Compare", "--model", model, "--stream-json").lines
    ends = [each["iterations"] for each in stream if each["type"] == "turn_completed"]
    assert ends[0] is None
    assert [step["answer"] for step in ends[1]["steps"]] == [HALF["text"], WHOLE["text"]]
    assert zkchat("ask", "Compare", "--model", model, "--json").json["iterations"] is None


@pytest.mark.parametrize(
    ("answer", "outcome", "told"),
    [
        ("More is missing.", "unfinished", "Goal not reached in 2 steps; zkchat ask -c --iter"),
        ("Nothing about it.\nFAIL", "failed", "The model gave up after 1 step; its last answer"),
    ],
)
def test_a_goal_that_is_not_reached_is_exit_code_1(
    zkchat: Program, script: Script, answer: str, outcome: str, told: str
) -> None:
    model = script({"text": answer})
    options = ("ask", "--iterations", 2, "Find it", "--model", model)
    done = zkchat(*options)
    assert (done.exit_status, told in done.err) == (1, True)
    in_json = zkchat(*options, "--json")
    assert (in_json.exit_status, in_json.json["iterations"]["outcome"]) == (1, outcome)


def test_a_step_that_fails_ends_the_work_and_keeps_the_steps_before(
    zkchat: Program, script: Script
) -> None:
    model = script(HALF, {"text": "Some", "error": "connection"})
    done = zkchat("ask", "--iterations", 5, "Compare", "--model", model, "--json")
    assert (done.exit_status, done.json["error"]["partial"]) == (4, "Some")
    work = done.json["iterations"]
    assert work["outcome"] is None
    assert [step["answer"] for step in work["steps"]] == [HALF["text"]]
    messages = stored_conversations(zkchat)
    assert [m["status"] for m in messages] == ["complete", "complete", "failed", "failed"]


def test_the_offline_provider_answers_once_and_says_why(zkchat: Program) -> None:
    done = zkchat("ask", "--iterations", 5, "How are filters joined?", "--json")
    assert done.exit_status == 0
    assert "offline quotes your notes and cannot work in steps: it answers once" in done.err
    assert done.json["iterations"]["outcome"] == "answered"
    assert len(done.json["iterations"]["steps"]) == 1


def test_a_piped_goal_imports_no_files_and_needs_words(zkchat: Program, script: Script) -> None:
    model = script(HALF, WHOLE)
    (zkchat.vault / "plan.txt").write_text("The plan.")
    done = zkchat(
        "ask", "--iterations", 2, "Summarize", "--model", model, "--json", stdin="see @plan.txt"
    )
    assert done.json["iterations"]["goal"] == "see @plan.txt\n\nSummarize"
    assert done.json["iterations"]["steps"][0]["references"] == []
    assert zkchat("ask", "-c", "--iterations", 2, "--model", model).exit_status == 2


def test_the_model_is_told_the_rules_and_a_file_is_sent_once(app: AppFixture) -> None:
    (app.vault.root / "plan.txt").write_text("Buy slates.")
    model = DeltaModel(calls=[reply("Half."), reply("All.\nDONE"), reply("Next.")])
    session = app.session(model)
    solver = IterativeProblemSolver(session, "What does @plan.txt want?", 3)
    report_of(solver.run_step())
    assert solver.outcome is None
    report_of(solver.run_step())
    assert solver.outcome == "done"
    report_of(session.send("And now?"))
    texts = [[message.content for message in request.messages] for request in model.requests]
    assert ["at most 3 answers" in system for system, *_ in texts] == [True, True, False]
    assert [sum("Buy slates." in text for text in prompt) for prompt in texts] == [1, 1, 1]


def test_a_step_gets_passages_about_what_the_last_one_lacked(app: AppFixture) -> None:
    half = reply("Filters are joined with AND.\n\nMissing: how long a compost heap takes.")
    model = DeltaModel(calls=[half, reply("All.\nDONE")])
    session = app.session(model, retrieval="before")
    solver = IterativeProblemSolver(session, "How are filters joined?", 3)
    report_of(solver.run_step())
    report_of(solver.run_step())
    first, second = (message for message in session.history if message.role == "user")
    assert "Garden/Compost.md" not in {chunk.relative_path for chunk in first.chunks}
    assert second.chunks[0].relative_path == "Garden/Compost.md"


def test_a_goal_for_an_agent_gets_that_agent_in_each_step(zkchat: Program, script: Script) -> None:
    model = script(HALF, WHOLE)
    zkchat("agent", "create", "critic", "--model", model)
    done = zkchat("ask", "--iterations", 2, "@critic compare", "--json").json
    assert [step["agent"] for step in done["iterations"]["steps"]] == ["critic", "critic"]
    assert stored_conversations(zkchat)[2]["content"] == (
        "@critic Step 2 of 2. Continue towards the goal: compare"
    )


# in the chat


def test_the_chat_shows_each_step_with_its_cost_and_the_bar(
    zkchat: Program, script: Script
) -> None:
    with Chat(zkchat, "--model", script(HALF, WHOLE)) as chat:
        chat.ask("/solve Compare the filters", "Goal reached in 2 steps")
        seen = chat.everything()
        assert re.search(r"step 1 of 5 · ~1\.\dk tokens in, ~11 out +█░+ \d+% 1\.", seen)
        assert seen.index("The first half") < seen.index("step 1 of 5")
        assert seen.index("step 1 of 5") < seen.index("Both halves.") < seen.index("step 2 of 5")


def test_ctrl_c_ends_the_work_and_keeps_what_came(zkchat: Program, script: Script) -> None:
    model = script(HALF, ENDLESS, {"text": "Never asked."})
    with Chat(zkchat, "--model", model) as chat:
        chat.say("/solve Compare the filters")
        chat.wait_for("then word 1,")
        chat.type(CTRL_C)
        chat.wait_for("stopped; the partial answer is kept: /continue or /retry")
    messages = stored_conversations(zkchat)
    assert [m["status"] for m in messages] == ["complete", "complete", "complete", "unfinished"]


def test_a_failed_step_ends_the_work(zkchat: Program, script: Script) -> None:
    model = script(HALF, {"error": "server"}, WHOLE)
    with Chat(zkchat, "--model", model) as chat:
        chat.ask("/solve Compare the filters", "/retry asks again")
        assert "Both halves" not in chat.everything()


def test_the_setting_limits_the_steps_of_a_piped_chat(zkchat: Program, script: Script) -> None:
    zkchat.env["ZKCHAT_CHAT__ITERATIONS"] = "2"
    done = zkchat("chat", "--model", script(HALF), stdin="/solve Compare\n")
    assert done.exit_status == 0
    assert done.out.count("The first half is done.") == 2
    assert "Goal not reached in 2 steps; /solve GOAL continues" in done.out
    assert "/solve needs GOAL" in zkchat("chat", stdin="/solve\n").err


def test_an_editor_gets_every_step(zkchat: Program, script: Script) -> None:
    with editor(zkchat, "--model", script(HALF, WHOLE)) as client:
        assert client.ask(client.new_session(zkchat.vault), "/solve Compare") == "end_turn"
        said = client.said()
    assert said.index("The first half") < said.index("step 1 of 5") < said.index("Both halves.")
    assert "Goal reached in 2 steps" in said
