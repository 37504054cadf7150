"""Who searches the notes: the model with tools, or zkchat before the model is called."""

import json

import pytest
from conftest import Program
from factories import (
    AppFixture,
    DeltaModel,
    exchanges,
    find_call,
    reply,
    report_of,
    resume,
    tool_reply,
)
from terminal_screen import Script

from zkchat_cli.errors import ProviderError
from zkchat_cli.llm.base import StreamFailed, Window
from zkchat_cli.models.messages import ToolCall

ECHO = {"echo": True}
QUESTION = "How are filters joined?"


def test_passages_come_before_the_question_and_the_way_to_cite_them_after_it(
    zkchat: Program, script: Script
) -> None:
    document = zkchat(
        "ask", QUESTION, "--model", script(ECHO), "--max-context", "8192", "--json"
    ).json
    system, passages, question, reminder = json.loads(document["answer"])["messages"]
    assert "find_excerpts" not in system["content"]
    assert "joined with AND, OR and NOT" in passages["content"]
    assert question["content"] == QUESTION
    assert "“nine months” [1]" in reminder["content"]
    assert (json.loads(document["answer"])["tools"], document["retrieval"]) == ([], "before")


def test_why_names_the_search_that_found_a_passage(zkchat: Program, script: Script) -> None:
    zkchat.env["ZKCHAT_RETRIEVAL__MODE"] = "before"
    model = script({"text": "They are joined [1]."})
    told = zkchat("chat", "--model", model, stdin=f"{QUESTION}\n/why 1\n").out
    assert "found in turn 1 by a search before the model was called" in told


def test_passages_take_at_most_their_share_of_what_is_left(zkchat: Program, script: Script) -> None:
    zkchat.env["ZKCHAT_RETRIEVAL__RATIO"] = "0.03"
    document = zkchat(
        "ask", QUESTION, "--model", script(ECHO), "--max-context", "8192", "--json"
    ).json
    assert 0 < document["context"]["message_breakdown"]["documents"] < 0.03 * 8192


@pytest.mark.parametrize(
    ("setting", "tools", "passages", "retrieval"),
    [
        ("tools", True, False, "tools"),
        ("before", False, True, "before"),
        ("both", True, True, "both"),
    ],
)
def test_the_setting_decides(
    zkchat: Program, script: Script, setting: str, tools: bool, passages: bool, retrieval: str
) -> None:
    zkchat.env["ZKCHAT_RETRIEVAL__MODE"] = setting
    document = zkchat("ask", QUESTION, "--model", script(ECHO), "--json").json
    prompt = json.loads(document["answer"])
    assert bool(prompt["tools"]) == tools
    assert any(m["kind"] == "documents" for m in prompt["messages"]) == passages
    assert document["retrieval"] == retrieval


def test_the_offline_provider_searches_by_itself(zkchat: Program) -> None:
    zkchat.env["ZKCHAT_RETRIEVAL__MODE"] = "before"
    document = zkchat("ask", QUESTION, "--json").json
    assert document["grounded"] and document["tools"] and document["retrieval"] == "tools"


def test_a_follow_up_is_searched_for_with_the_words_of_the_question_before(app: AppFixture) -> None:
    session = app.session(DeltaModel([reply("It takes nine months [1].")]), retrieval="before")
    report_of(session.send("How long does a compost heap take?"))
    report = report_of(session.send("And why is that?"))
    assert "Garden/Compost.md" in [reference.relative_path for reference in report.references]


def test_small_talk_brings_no_passages(app: AppFixture) -> None:
    model = DeltaModel([reply("Hello!")])
    report = report_of(app.session(model, retrieval="before").send("Hello!"))
    assert report.references == ()
    assert not any(m.kind == "documents" for m in model.requests[0].messages)


def test_a_model_that_calls_no_tool_gets_passages_after_two_answers(app: AppFixture) -> None:
    model = DeltaModel([reply("I do not know.")])
    session = app.session(model, retrieval="auto")
    modes = [
        report_of(session.send(question)).retrieval
        for question in (QUESTION, "What is a filter?", "What is compost?")
    ]
    assert modes == ["tools", "tools", "before"]
    assert "called no tool in its first 2 answers" in str(session.prompt().retrieval)


def test_a_model_whose_calls_cannot_be_read_gets_passages(app: AppFixture) -> None:
    malformed = ToolCall(id="1", name="find_excerpts", malformed="query=filters")
    session = app.session(
        DeltaModel([tool_reply(malformed), reply("I do not know.")]), retrieval="auto"
    )
    report_of(session.send(QUESTION))
    assert report_of(session.send(QUESTION)).retrieval == "before"


def test_a_model_that_has_called_a_tool_keeps_them(app: AppFixture) -> None:
    session = app.session(
        DeltaModel([tool_reply(find_call("filters")), reply("They are joined.")]), retrieval="auto"
    )
    assert [report_of(session.send(QUESTION)).retrieval for _ in range(4)] == ["tools"] * 4


class LateWindowModel(DeltaModel):
    """A model whose window is known only after `prepare`, as a server's."""

    def prepare(self) -> None:
        self.window = Window(2048, "the server")


def test_the_window_is_known_before_documents_are_chosen(app: AppFixture) -> None:
    (app.vault.root / "Long.md").write_text(
        "# Long\n\n" + "A sentence about filters and brackets.\n\n" * 300, encoding="utf-8"
    )
    app.vault.refresh()
    model = LateWindowModel([reply("Yes.")])
    session = app.session(model, tools=())
    report = report_of(session.send("What does [[Long]] say?"))
    assert report.context.max_context == 2048
    [reference] = [r for r in session.history[0].references if r.relative_path == "Long.md"]
    assert reference.delivery != "injected"
    assert report.context.message_breakdown["documents"] < 2048 * 0.6


def test_a_model_without_tools_is_told_to_cite_and_not_to_search(app: AppFixture) -> None:
    model = DeltaModel([reply("Yes.")])
    report_of(app.session(model, tools=()).send("What does [[Filters]] say?"))
    first, *_, last = model.requests[0].messages
    assert ("find_excerpts" in first.content, "in square brackets" in last.content) == (False, True)


def test_tools_that_the_server_refused_are_not_in_a_shorter_prompt_either(app: AppFixture) -> None:
    refusals = [
        [StreamFailed(ProviderError(kind, "too much", "Less."))]
        for kind in ("no_tools", "context_length")
    ]
    model = DeltaModel([*refusals, reply("With AND.")])
    report_of(
        resume(app, exchanges(*[("Is there an anvil? " * 20, "No. " * 60)] * 20), model=model).send(
            QUESTION
        )
    )
    assert [bool(request.tools) for request in model.requests] == [True, False, False]


def test_context_and_doctor_say_what_was_chosen_and_why(zkchat: Program, script: Script) -> None:
    model = script(ECHO)
    zkchat("ask", QUESTION, "--model", model)
    why = "Retrieval: before (a window of 8,192 tokens is too small for tools alone)"
    assert why in zkchat("context", "show", "--model", model, "--max-context", "8192").out
    assert why in zkchat("context", "stats", "--model", model, "--max-context", "8192").out
    assert "retrieval: tools (the model can call tools" in zkchat("doctor", "--model", model).out


def test_ground_asks_the_last_question_again_with_passages(app: AppFixture) -> None:
    from zkchat_cli import slash

    model = DeltaModel([reply("With plus signs."), reply("With “AND, OR and NOT” [1].")])
    session = app.session(model)
    assert not report_of(session.send(QUESTION)).grounded
    turn = slash.run("/ground", session).turn
    assert turn is not None
    report = report_of(turn)
    assert (report.grounded, report.retrieval) == (True, "before")
    assert [m.content for m in session.history if m.role == "user"] == [QUESTION]
