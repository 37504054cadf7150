"""The tool filter: which tools are offered where all of them are too much."""

from collections.abc import Sequence
from typing import Any

import pytest
from factories import (
    COUNTER,
    AppFixture,
    DeltaModel,
    exchanges,
    find_call,
    make_history,
    message,
    reply,
    report_of,
    tool_reply,
)

from zkchat_cli import slash, tools
from zkchat_cli.config.schema import Config, ContextSettings
from zkchat_cli.context import strategies
from zkchat_cli.context.budget import Budget
from zkchat_cli.context.prompt_assembly import assemble_prompt
from zkchat_cli.context.prompt_inputs import PromptInputs
from zkchat_cli.context.tool_filter import LARGEST_FILTERED_WINDOW, find_omitted_tools
from zkchat_cli.context.turns import TurnHistory
from zkchat_cli.models.messages import ToolCall
from zkchat_cli.models.prompts import PromptTool
from zkchat_cli.views import token_usage
from zkchat_cli.views.text import plain_text

ALL = {tool.name for tool in tools.load_tools()}
CORE = frozenset(tool.name for tool in tools.load_tools() if tool.core)
AMPLE = 10_000
LARGE = LARGEST_FILTERED_WINDOW + 1


def tool(name: str, description: str = "", tokens: int = 100) -> PromptTool:
    function = {"name": name, "description": description, "parameters": {}}
    return PromptTool(
        name=name, descriptor={"type": "function", "function": function}, tokens=tokens
    )


REAL = tuple(tool(each.name, each.description) for each in tools.load_tools())


def material(question: str, **more: Any) -> PromptInputs:
    descriptors = tuple(each.descriptor for each in tools.load_tools())
    asked = message("user", question, "now", status="pending")
    values: dict[str, Any] = {
        "instructions": "Cite.",
        "history": TurnHistory(),
        "current": (asked,),
        "tool_descriptors": descriptors,
        "filter_tools": True,
        "core_tools": CORE,
    }
    return PromptInputs(**{**values, **more})


def omitted(
    inputs: PromptInputs, budget: int, window: int, tools: Sequence[PromptTool] = REAL
) -> dict[str, str]:
    return find_omitted_tools(
        tools, inputs, Budget.from_settings(ContextSettings(), window)._replace(tools=budget)
    )


def offered(
    inputs: PromptInputs, budget: int, window: int, tools: Sequence[PromptTool] = REAL
) -> set[str]:
    return {each.name for each in tools} - omitted(inputs, budget, window, tools).keys()


@pytest.mark.parametrize(
    ("message", "wanted"),
    [
        ("Which notes are linking to Filters? I mean its backlinks", "find_backlinks"),
        ("Is there a path of links from A to B?", "find_link_path"),
        ("List the documents in the folder Garden", "list_zk_documents"),
        ("What is related to composting?", "find_zk_documents_related_to"),
    ],
)
def test_tools_relevant_to_the_message_are_offered(message: str, wanted: str) -> None:
    assert wanted in offered(material(message), AMPLE, 4096)


def test_tools_in_another_language_are_offered_for_other_forms_of_their_words() -> None:
    described = {
        "kalender": "Zeigt die Termine und die Aufgaben, die für einen Tag eingetragen sind",
        "wetter": "Sagt das Wetter voraus",
    }
    german = [tool(name, description) for name, description in described.items()]
    assert offered(material("Welche Aufgabe ist dran?"), AMPLE, 4096, german) == {"kalender"}


def test_tools_relevant_to_recent_turns_are_offered() -> None:
    assert "list_zk_documents" in offered(
        material(
            "And the next ones?",
            history=make_history(exchanges(("List my documents", "A.")), COUNTER),
        ),
        AMPLE,
        4096,
    )


def test_the_most_relevant_tools_that_fit_are_offered() -> None:
    conversation = material("What is related to composting?")
    assert offered(conversation, 400, LARGE) == {*CORE, "find_zk_documents_related_to"}
    reasons = omitted(conversation, 400, LARGE)
    assert (
        reasons["list_zk_documents"]
        == f"no room: all {len(REAL)} tools use {100 * len(REAL):,} of 400 tokens"
    )


def test_previous_tools_stay_while_they_fit() -> None:
    before = frozenset({*CORE, "find_link_path"})
    assert offered(material("Hello!", previous_tools=before), AMPLE, 4096) == before
    assert offered(material("What is related?", previous_tools=before), 400, LARGE) == before


# in a prompt


def small(made_of: PromptInputs) -> Any:
    return assemble_prompt(
        made_of,
        Budget.from_settings(ContextSettings(), 4096),
        strategies.strategy("hybrid"),
        COUNTER,
    )


def test_a_prompt_names_the_tools_that_it_leaves_out() -> None:
    prompt = small(material("Hello!"))
    assert {t.name for t in prompt.tools} == CORE
    why = "not relevant to the message, and the window of 4,096 tokens is small"
    assert {(d.id, d.reason) for d in prompt.dropped} == {
        (f"tool:{name}", why) for name in ALL - CORE
    }
    assert prompt.usage.tool_tokens == sum(t.tokens for t in prompt.tools)
    assert f"Tools not offered: {len(ALL - CORE)} of {len(ALL)}" in plain_text(
        token_usage.usage_lines(prompt, ())
    )


def test_a_prompt_offers_what_was_called_in_the_conversation_or_in_the_turn_itself() -> None:
    call = ToolCall(id="1", name="find_link_path")
    called = (
        message("assistant", "", "c", tool_calls=(call,)),
        message("tool", "None.", "r", tool_call_id="1"),
    )
    asked = material("Hello!")
    earlier = make_history(
        (*exchanges(("Hm?", "So.")), message("user", "?", "q"), *called), COUNTER
    )
    for made_of in (
        material("Hello!", history=earlier),
        material("Hello!", current=(*asked.current, *called)),
    ):
        assert {t.name for t in small(made_of).tools} == {*CORE, "find_link_path"}


def test_a_session_filters_by_its_setting_and_keeps_what_it_offered(app: AppFixture) -> None:
    app.max_context = 4096
    model = DeltaModel([reply("Yes.")])
    session = app.session(model)
    for question in ("What is related to composting?", *["Thank you!"] * 4):
        report_of(session.send(question))
    first, *_, second = ({t.name for t in request.tools} for request in model.requests)
    there = {tool.name for tool in session.runtime.tools}
    assert "find_zk_documents_related_to" in first == second < there
    again = app.reopen(session)
    for _ in range(2):
        assert {t.name for t in again.prompt("Hello!").tools} == second
        slash.run("/undo", again)
    off = app.session(model, settings=Config(context=ContextSettings(tool_filter="off")))
    report_of(off.send("Hello!"))
    assert {t.name for t in model.requests[-1].tools} == there


def test_the_tools_of_a_turn_are_the_same_in_all_its_rounds(app: AppFixture) -> None:
    app.max_context = 4096
    model = DeltaModel([tool_reply(find_call("links")), reply("Yes.")])
    report_of(app.session(model).send("Which backlinks has Filters?"))
    assert model.requests[0].tools == model.requests[1].tools


def test_a_tool_that_was_not_offered_runs_when_it_is_called_and_is_offered_from_then_on(
    app: AppFixture,
) -> None:
    app.max_context = 4096
    model = DeltaModel([tool_reply(ToolCall(id="1", name="list_zk_documents")), reply("Three.")])
    report = report_of(app.session(model).send("Hello!"))
    assert [run.ok for run in report.tools] == [True]
    assert [
        ("list_zk_documents" in {t.name for t in request.tools}) for request in model.requests
    ] == [False, True]


def test_undo_takes_back_which_tools_were_offered(app: AppFixture) -> None:
    session = app.session(
        DeltaModel([reply("Yes.")]), tools=tuple(tools.load_tools()), max_context=6000
    )
    report_of(session.send("What is compost?"))
    before = session.prompt("And then?").tools
    report_of(
        session.send(
            "Which notes are related to it, and which links lead from Filters to Combining?"
        )
    )
    assert session.prompt("And then?").tools != before
    slash.run("/undo", session)
    assert session.prompt("And then?").tools == before
