"""Agent runs: a goal is worked on in turns, until the model calls `finish`, the rounds are used up, or nothing new comes."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from building import Deltas, Room, a_room, calls, completed, ended, find, says
from conftest import Program

from zkchat_cli import slash
from zkchat_cli.chat.agent_run import run_goal, unfinished_goal
from zkchat_cli.chat.session import ZkChatSession
from zkchat_cli.context.system_prompt import INSTRUCTIONS
from zkchat_cli.errors import ProviderError, UsageError
from zkchat_cli.events import Cited, Event, IterationFinished, IterationStarted, ReasoningDelta, TextDelta, TurnFailed
from zkchat_cli.llm.base import Delta, StreamFailed
from zkchat_cli.models import RunReport, ToolCall

GOAL = "Say how filters are joined."


def finish(answer: str, unmet: str = "") -> list[Delta]:
    return calls(ToolCall(id="f", name="finish", arguments={"answer": answer, "unmet": unmet}))


def run_of(session: ZkChatSession, goal: str = GOAL, iterations: int = 5) -> RunReport:
    report = completed(run_goal(session, goal, iterations))
    assert report.run is not None
    return report.run


def iterations_in(events: list[Event]) -> list[tuple[int, int]]:
    return [(event.number, event.of) for event in events if isinstance(event, IterationStarted)]


def test_a_run_ends_when_the_model_calls_finish(room: Room) -> None:
    model = Deltas([calls(find("filters joined")), says("I must look closer."), finish("With AND, OR and NOT [1].")])
    session = room.session(model)
    events, last = ended(run_goal(session, GOAL, 5))
    report = last.report  # type: ignore[union-attr]
    assert report.run == RunReport(goal=GOAL, iterations=2, met=True, unmet=None, stopped="finished")
    assert report.answer == "With AND, OR and NOT [1]."
    assert [(c.number, c.relative_path, c.valid) for c in report.citations] == [(1, "Queries/Combining.md", True)]
    assert [tool.name for tool in report.tools] == ["find_excerpts", "finish"]
    assert iterations_in(events) == [(1, 5), (2, 5)]
    assert [(e.tools, e.excerpts > 0) for e in events if isinstance(e, IterationFinished)] == [(1, True), (0, False)]
    assert [e.text for e in events if isinstance(e, ReasoningDelta)] == ["I must look closer."]
    assert [e.text for e in events if isinstance(e, TextDelta)] == ["With AND, OR and NOT [1].\n"]
    assert [e.numbers for e in events if isinstance(e, Cited)] == [(1,)]


def test_each_iteration_is_a_turn_with_the_finish_tool(room: Room) -> None:
    model = Deltas([says("Looking."), finish("Done.")])
    session = room.session(model)
    ended(run_goal(session, GOAL, 3))
    assert [m.role for m in session.history] == ["user", "assistant", "user", "assistant", "tool", "assistant"]
    assert [m.goal for m in session.history if m.role == "user"] == [GOAL, GOAL]
    assert session.history[0].content == GOAL
    assert session.history[2].content.startswith(f"{GOAL}\n\n(Round 2 of 3: ")
    assert all("finish" in [tool.name for tool in request.tools] for request in model.requests)
    assert all("working on a goal" in request.messages[0].content for request in model.requests)
    assert room.store.history(session.conversation.id) == session.history


def test_documents_of_the_goal_are_injected_in_the_first_iteration_only(room: Room) -> None:
    goal = "@Filters.md is a log\n\nCompare [[Combining]] with @Queries/Limiting.md."
    model = Deltas([says("One."), says("Two."), finish("Done.")])
    session = room.session(model)
    completed(run_goal(session, goal, 3, typed="Compare [[Combining]] with @Queries/Limiting.md."))
    asked = [m for m in session.history if m.role == "user"]
    assert [r.wikilink for r in asked[0].references] == ["[[Combining]]", "@Queries/Limiting.md"]
    assert [m.references for m in asked[1:]] == [(), ()]


def test_a_run_does_not_change_the_sessions_runtime(room: Room) -> None:
    model = Deltas([finish("Done."), says("Hello.")])
    session = room.session(model)
    tools = session.tools
    ended(run_goal(session, GOAL))
    completed(session.send("Hello?"))
    assert session.tools == tools
    assert model.requests[-1].messages[0].content == INSTRUCTIONS
    assert "finish" not in [tool.name for tool in model.requests[-1].tools]


def test_tools_called_beside_finish_run_and_can_be_cited(room: Room) -> None:
    both = calls(find("filters joined"), ToolCall(id="f", name="finish", arguments={"answer": "So it is [1]."}))
    report = completed(run_goal(room.session(Deltas([both])), GOAL))
    assert report.run is not None
    assert report.run.met
    assert [tool.ok for tool in report.tools] == [True, True]


def test_without_finish_the_last_answer_counts(room: Room) -> None:
    replies = [each for i in range(3) for each in (calls(find(f"{word}", f"c{i}")) for word in [("filters", "compost", "limit")[i]])]
    model = Deltas([replies[0], says("One."), replies[1], says("Two."), replies[2], says("Three.")])
    report = completed(run_goal(room.session(model), GOAL, 3))
    assert report.run == RunReport(goal=GOAL, iterations=3, met=False, unmet=None, stopped="rounds")
    assert report.answer == "Three."
    assert "last round" in model.requests[-1].messages[-3].content
    assert [tool.arguments["query"] for tool in report.tools] == ["filters", "compost", "limit"]


@pytest.mark.parametrize(
    ("replies", "iterations"),
    [
        ([says("I know nothing.")], 2),
        ([says("I know nothing."), says(" I know  nothing.\n")], 2),
        ([calls(find("filters")), says("One.")], 2),
        ([calls(find("filters", "a")), says("One."), calls(find("filters", "b")), says("Two.")], 2),
        (
            [
                calls(find("filters", "a")),
                says("One."),
                calls(find("nothing at all", "b")),
                says("Two."),
                calls(find("filters", "c")),
                says("3"),
            ],
            3,
        ),
    ],
)
def test_a_repeated_iteration_ends_the_run(room: Room, replies: list[list[Delta]], iterations: int) -> None:
    class Round(Deltas):
        def stream(self, request: Any) -> Any:
            self.requests.append(request)
            yield from self.calls[(len(self.requests) - 1) % len(self.calls)]

    run = run_of(room.session(Round(replies)), iterations=9)
    assert (run.stopped, run.iterations, run.met) == ("repeated", iterations, False)


def test_a_runs_report_adds_up_all_iterations(room: Room) -> None:
    session = room.session(Deltas([says("Looking."), finish("Done.")]))
    report = completed(run_goal(session, GOAL))
    single = [m.usage for m in session.history if m.role == "assistant" and m.usage is not None]
    assert report.usage.prompt_tokens == sum(usage.prompt_tokens for usage in single)
    assert len(single) == 2


def test_every_iteration_keeps_within_the_budget(vault: Path, tmp_path: Path) -> None:
    long = "x1 " * 400
    room = a_room(vault, tmp_path / "cache", max_context=2500)
    model = Deltas([each for i in range(12) for each in (calls(find(f"filters {i}", f"c{i}")), says(f"{i} {long}"))])
    session = room.session(model, can_summarize=False)
    events, _ = ended(run_goal(session, GOAL, 12))
    limit = session.budget.effective_limit
    assert len(iterations_in(events)) > 2
    assert all(sum(m.tokens for m in r.messages) + sum(t.tokens for t in r.tools) <= limit for r in model.requests)


# stopped and taken up again


def test_a_run_stopped_at_any_event_can_be_resumed(room: Room) -> None:
    replies = [calls(find("filters")), says("One."), calls(find("limit", "c2")), says("Two."), finish("Done.")]
    many = len(list(run_goal(room.session(Deltas(replies)), GOAL)))
    came: set[str | None] = set()
    for stopped_at in range(1, many + 1):
        session = room.session(Deltas(replies))
        turn = run_goal(session, GOAL)
        for _ in range(stopped_at):
            next(turn)
        turn.close()
        assert "finish" not in [tool.name for tool in session.tools]
        assert room.store.history(session.conversation.id) == session.history if session.history else True
        came.add(left := unfinished_goal(session.history))
        if left is not None:
            assert run_of(room.resumed(session, Deltas([finish("Done.")])), goal="").met
    assert many > 15
    assert came == {GOAL, None}  # none: before it began, and after it was met


def test_a_failed_run_can_be_resumed(room: Room) -> None:
    session = room.session(Deltas([says("One."), [StreamFailed(ProviderError("server", "it burns", "Wait."))]]))
    events, last = ended(run_goal(session, GOAL))
    assert isinstance(last, TurnFailed)
    assert iterations_in(events) == [(1, 5), (2, 5)]
    assert run_of(room.resumed(session, Deltas([finish("Done.")])), goal="").goal == GOAL


@pytest.mark.parametrize("iterations", [0, -1, 101])
def test_a_run_has_between_one_and_a_hundred_iterations(room: Room, iterations: int) -> None:
    with pytest.raises(UsageError, match="iterations"):
        run_goal(room.session(), GOAL, iterations)


def test_the_offline_provider_answers_and_says_that_it_is_done(room: Room) -> None:
    report = completed(run_goal(room.session(), "How are filters joined?"))
    assert report.run == RunReport(goal="How are filters joined?", iterations=1, met=True, stopped="finished")
    assert "which must be written in capitals" in report.answer
    assert report.citations[0].status == "verified"


def test_the_offline_provider_says_when_the_notes_do_not(room: Room) -> None:
    session = room.session()
    run = run_of(session, "What is the airspeed of a swallow?")
    assert (run.met, run.unmet, run.iterations) == (False, "the notes do not say", 1)
    asked = len(session.history)
    run_of(session, goal="")
    queries = [call.arguments["query"] for m in session.history[asked:] for call in m.tool_calls if call.name == "find_excerpts"]
    assert queries[0] == "What is the airspeed of a swallow?"


# as a user has it


def test_solve_in_the_chat(room: Room) -> None:
    session = room.session(Deltas([says("One."), finish("Done.")]))
    outcome = slash.run(f"/solve --iterations 4 {GOAL}", session)
    assert outcome.turn is not None
    assert iterations_in(ended(outcome.turn)[0]) == [(1, 4), (2, 4)]
    for wrong in ("/solve --iterations x y", "/solve --iterations=9999999 y", "/solve --iterations 0 y", "/solve"):
        with pytest.raises(UsageError):
            slash.run(wrong, session)


def test_ask_with_iterations_shows_progress_on_stderr(zkchat: Program, script: Callable[..., str]) -> None:
    done_by = script(
        {"text": "I look for it.", "tool_calls": [{"name": "find_excerpts", "arguments": {"query": "filters joined"}}]},
        {"text": "Once more."},
        {"tool_calls": [{"name": "finish", "arguments": {"answer": "With AND [1].", "unmet": "why"}}]},
    )
    done = zkchat("ask", "--iterations", 3, GOAL, "--model", done_by)
    assert done.out.startswith("With AND [1].\n\nSources\n")
    assert done.err == "zkchat: goal not met: why\n"
    assert done.exit_status == 1
    document = zkchat("ask", "--iterations", 3, GOAL, "--model", done_by, "--json")
    assert document.json["run"] == {"goal": GOAL, "iterations": 2, "met": False, "unmet": "why", "stopped": "finished"}
    assert (document.exit_status, document.err) == (1, "zkchat: goal not met: why\n")
    met = script({"tool_calls": [{"name": "finish", "arguments": {"answer": "All of it."}}]})
    again = zkchat("ask", "-c", "--iterations", 3, "--model", met, "--stream-json")
    assert again.exit_status == 0
    assert [line["type"] for line in again.lines if "iteration" in line["type"]] == ["iteration_started", "iteration_finished"]
    assert again.lines[-1]["type"] == "turn_completed"
    assert (again.lines[-1]["run"]["goal"], again.lines[-1]["run"]["met"]) == (GOAL, True)
    nothing = zkchat("ask", "-c", "--iterations", 3, "--model", met)
    assert nothing.exit_status == 2
    assert "no unfinished goal" in nothing.err


@pytest.mark.parametrize(
    ("replies", "rounds", "told"),
    [
        ([{"text": "Same."}], 3, "goal not met: the model repeated itself after 2 iterations"),
        ([{"text": "One."}], 1, "goal not met after 1 iteration"),
    ],
)
def test_an_unmet_run_says_why(zkchat: Program, script: Callable[..., str], replies: list[dict[str, Any]], rounds: int, told: str) -> None:
    done = zkchat("ask", "--iterations", rounds, GOAL, "--model", script(*replies))
    assert done.exit_status == 1
    assert told in done.err


def test_a_run_with_an_agent(zkchat: Program, script: Callable[..., str]) -> None:
    folder = zkchat.home / "config" / "agents"
    folder.mkdir(parents=True)
    (folder / "critic.toml").write_text('system_prompt = "Find faults."\ntools = []')
    echo = script({"echo": True})
    for arguments in (["--agent", "critic", GOAL], [f"@critic {GOAL}"]):
        document = zkchat("ask", "--iterations", 1, "--model", echo, "--json", *arguments).json
        prompt = json.loads(document["answer"])
        assert "Find faults." in prompt["messages"][0]["content"]
        assert [tool["function"]["name"] for tool in prompt["tools"]] == ["finish"]
        assert document["run"]["goal"] == GOAL
        assert document["agent"] == "critic"


def test_a_mentioned_agent_answers_the_whole_run_and_nothing_else(zkchat: Program, script: Callable[..., str]) -> None:
    zkchat("agent", "create", "critic", "--prompt", "Find faults.", "--tools", "")
    assert zkchat("ask", "--iterations", 1, f"@critic {GOAL}", "--model", script({"text": "Not yet."})).exit_status == 1
    echo = script({"echo": True})
    again = zkchat("ask", "-c", "--iterations", 2, "--model", echo, "--json")
    assert again.json["agent"] == "critic"
    assert again.json["run"]["goal"] == GOAL
    assert "the agent critic resumes its goal" in again.err
    prompt = json.loads(again.json["answer"])["messages"]
    assert "Find faults." in prompt[0]["content"]
    assert not any("@critic" in message["content"] for message in prompt)
    assert zkchat("ask", "-c", "hello", "--model", echo, "--json").json["agent"] is None


@pytest.mark.parametrize("rounds", [(), ("--iterations", 1)])
def test_a_mention_in_piped_text_stays_in_the_text(zkchat: Program, script: Callable[..., str], rounds: tuple[object, ...]) -> None:
    zkchat("agent", "create", "critic", "--prompt", "Find faults.", "--tools", "")
    done = zkchat("ask", *rounds, "@critic is @critic right?", "--model", script({"echo": True}), "--json", stdin="@critic wrote this.\n")
    asked = json.loads(done.json["answer"])["messages"][-1]["content"]
    assert asked == "@critic wrote this.\n\nis @critic right?"
    assert done.json["agent"] == "critic"
