"""Requests of Anthropic's Messages API: roles, results, thinking, tools, options, and cache
markers.
"""

import json
from typing import Any

import pytest
from factories import chunk, prompt_message

from zkchat_cli.llm.base import ModelConfig, Options, Request
from zkchat_cli.llm.providers.anthropic import PROVIDER
from zkchat_cli.llm.providers.anthropic.reader import citation_marks
from zkchat_cli.llm.providers.anthropic.request import CACHE_MARKER
from zkchat_cli.models.messages import ThinkingBlocks, ToolCall
from zkchat_cli.models.prompts import PromptMessage, PromptTool
from zkchat_cli.references.excerpts import format_tool_result, text_around_excerpts

SYSTEM = prompt_message("system", "Be brief.", "system")
MEMORY = prompt_message("system", "<project-memory>\nroof\n</project-memory>", "memory")
SUMMARY = prompt_message(
    "user", "<conversation-summary>\nthey talked\n</conversation-summary>", "summary"
)
RECALLED = prompt_message(
    "user", "<recalled-conversation>\nonce\n</recalled-conversation>", "recalled"
)
DOCUMENTS = prompt_message("user", "The message mentions [[Roof]].", "documents")
QUESTION = prompt_message("user", "And now?")
OLD = (prompt_message("user", "Hi"), prompt_message("assistant", "Hello."))
FIND = ToolCall(id="toolu_1", name="find", arguments={"query": "dächer"})


def prompt_tool(name: str) -> PromptTool:
    parameters = {
        "type": "object",
        "properties": {"query": {"type": "string"}},
        "required": ["query"],
    }
    function = {"name": name, "description": f"what {name} does", "parameters": parameters}
    return PromptTool(name=name, descriptor={"type": "function", "function": function}, tokens=1)


def called(
    *calls: ToolCall, text: str = "", thinking: ThinkingBlocks | None = None
) -> PromptMessage:
    return prompt_message("assistant", text, tool_calls=calls, thinking=thinking)


def result(content: str, id_: str = "toolu_1") -> PromptMessage:
    return prompt_message("tool", content, "tool_results", tool_call_id=id_)


def body_of(
    *messages: PromptMessage,
    tools: tuple[PromptTool, ...] = (),
    model: str = "claude-sonnet-4-5",
    **options: Any,
) -> dict[str, Any]:
    return PROVIDER.open(ModelConfig(model)).body(Request(messages, tools, Options(**options)))


def text(words: str) -> dict[str, Any]:
    return {"type": "text", "text": words}


def messages_of(made: dict[str, Any]) -> list[tuple[str, list[dict[str, Any]]]]:
    """The messages as (role, blocks), without markers."""
    return [
        (
            m["role"],
            [{k: v for k, v in block.items() if k != "cache_control"} for block in m["content"]],
        )
        for m in made["messages"]
    ]


def marked(made: dict[str, Any]) -> list[str]:
    """What the marked blocks say, in the order in which the API reads them: tools, instructions,
    messages.
    """
    blocks = [
        *made.get("tools", ()),
        *made.get("system", ()),
        *(block for m in made["messages"] for block in m["content"]),
    ]
    return [
        block.get("text") or block.get("name") or block.get("content") or block["type"]
        for block in blocks
        if block.get("cache_control") == CACHE_MARKER
    ]


# messages


@pytest.mark.parametrize(
    ("messages", "expected"),
    [
        pytest.param((SYSTEM, QUESTION), [("user", ["And now?"])], id="instructions stand apart"),
        pytest.param(
            (SUMMARY, *OLD, QUESTION),
            [("user", [SUMMARY.content, "Hi"]), ("assistant", ["Hello."]), ("user", ["And now?"])],
            id="messages of one role in a row are one",
        ),
        pytest.param(
            (prompt_message("assistant", "Hello."), QUESTION),
            [
                ("user", ["[Earlier messages are left out.]"]),
                ("assistant", ["Hello."]),
                ("user", ["And now?"]),
            ],
            id="the user begins",
        ),
        pytest.param(
            (prompt_message("user", " \n"), QUESTION),
            [("user", ["And now?"])],
            id="no text is empty",
        ),
        pytest.param(
            (QUESTION, prompt_message("system", "Imported.")),
            [("user", ["And now?", "Imported."])],
            id="instructions in the middle",
        ),
        pytest.param(
            (SYSTEM,),
            [("user", ["[Earlier messages are left out.]"])],
            id="nothing but instructions",
        ),
    ],
)
def test_roles_alternate_and_start_with_the_user(
    messages: tuple[PromptMessage, ...], expected: list[tuple[str, list[str]]]
) -> None:
    assert messages_of(body_of(*messages)) == [
        (role, [text(words) for words in said]) for role, said in expected
    ]


def test_instructions_and_memory_are_the_system_prompt() -> None:
    made = body_of(SYSTEM, MEMORY, prompt_message("system", " "), QUESTION)
    assert made["system"] == [
        text(SYSTEM.content),
        {**text(MEMORY.content), "cache_control": CACHE_MARKER},
    ]


def test_results_directly_follow_their_calls() -> None:
    other = ToolCall(id="toolu_2", name="list")
    made = body_of(
        QUESTION,
        called(FIND, other, text="I look."),
        result("found"),
        result(" ", "toolu_2"),
        prompt_message("user", "go on"),
    )
    assert messages_of(made)[1:] == [
        (
            "assistant",
            [
                text("I look."),
                {"type": "tool_use", "id": "toolu_1", "name": "find", "input": {"query": "dächer"}},
                {"type": "tool_use", "id": "toolu_2", "name": "list", "input": {}},
            ],
        ),
        (
            "user",
            [
                {"type": "tool_result", "tool_use_id": "toolu_1", "content": "found"},
                {"type": "tool_result", "tool_use_id": "toolu_2"},
                text("go on"),
            ],
        ),
    ]


def test_ids_and_names_of_other_providers_are_made_valid() -> None:
    call = ToolCall(id="functions.find:0", name="functions.find", arguments={"query": "x"})
    [_, (_, [used]), (_, [answered])] = messages_of(
        body_of(QUESTION, called(call), result("x", call.id))
    )
    assert (used["id"], used["name"], answered["tool_use_id"]) == (
        "functions_find_0",
        "functions__find",
        "functions_find_0",
    )


@pytest.mark.parametrize(("provider", "first"), [("anthropic", "thinking"), ("openai", "text")])
def test_only_anthropics_thinking_goes_back_and_comes_first(provider: str, first: str) -> None:
    blocks = (
        {"type": "thinking", "thinking": "hm", "signature": "c2ln"},
        {"type": "redacted_thinking", "data": "eA=="},
    )
    made = body_of(
        QUESTION,
        called(FIND, text="I look.", thinking=ThinkingBlocks(provider=provider, blocks=blocks)),
        result("found"),
    )
    content = made["messages"][1]["content"]
    assert content[0]["type"] == first
    assert [block for block in content if "thinking" in block["type"]] == (
        list(blocks) if first == "thinking" else []
    )


# tools


def test_tools_have_the_apis_form() -> None:
    made = body_of(QUESTION, tools=(prompt_tool("find"), prompt_tool("list")))
    schema = {"type": "object", "properties": {"query": {"type": "string"}}, "required": ["query"]}
    assert made["tools"][0] == {
        "name": "find",
        "description": "what find does",
        "input_schema": schema,
    }
    assert "tool_choice" not in made


def test_earlier_calls_without_tools_declare_them_as_not_callable() -> None:
    made = body_of(QUESTION, called(FIND), result("found"))
    assert [tool["name"] for tool in made["tools"]] == ["find"]
    assert made["tool_choice"] == {"type": "none"}
    assert "tools" not in body_of(QUESTION)


# the cache


@pytest.mark.parametrize(
    ("messages", "expected"),
    [
        pytest.param((SYSTEM, QUESTION), ["list", "Be brief."], id="a first message"),
        pytest.param((SYSTEM, MEMORY, QUESTION), ["list", MEMORY.content], id="memory"),
        pytest.param(
            (SYSTEM, *OLD, QUESTION), ["list", "Be brief.", "Hello."], id="a second message"
        ),
        pytest.param(
            (SYSTEM, SUMMARY, QUESTION),
            ["list", "Be brief.", SUMMARY.content],
            id="a summary alone",
        ),
        pytest.param(
            (SYSTEM, SUMMARY, *OLD, QUESTION),
            ["list", "Be brief.", SUMMARY.content, "Hello."],
            id="a summary and turns",
        ),
        pytest.param(
            (SYSTEM, *OLD, RECALLED, DOCUMENTS, QUESTION),
            ["list", "Be brief.", "Hello."],
            id="what belongs to the question alone is not",
        ),
        pytest.param(
            (SYSTEM, *OLD, QUESTION, called(FIND), result("found")),
            ["list", "Be brief.", "Hello."],
            id="nor what tools found",
        ),
        pytest.param(
            (SYSTEM, OLD[0], called(FIND), result("found"), OLD[1], QUESTION),
            ["list", "Be brief.", "Hello."],
            id="a turn with tools",
        ),
    ],
)
def test_cache_markers(messages: tuple[PromptMessage, ...], expected: list[str]) -> None:
    made = body_of(*messages, tools=(prompt_tool("find"), prompt_tool("list")))
    assert marked(made) == expected
    assert len(marked(made)) <= 4


def test_beginning_is_the_same_to_the_byte_in_the_next_turn() -> None:
    tools = (prompt_tool("find"),)
    first = body_of(SYSTEM, SUMMARY, *OLD, QUESTION, tools=tools)
    later = body_of(
        SYSTEM,
        SUMMARY,
        *OLD,
        QUESTION,
        prompt_message("assistant", "Now."),
        RECALLED,
        prompt_message("user", "Why?"),
        tools=tools,
    )
    unmarked = [
        json.dumps(messages_of(made)[: len(first["messages"])], ensure_ascii=False)
        for made in (first, later)
    ]
    assert unmarked[0] == unmarked[1]
    assert [first[part] for part in ("tools", "system")] == [
        later[part] for part in ("tools", "system")
    ]


# options

NEW = "claude-opus-5-5"
MIDDLE = "claude-sonnet-4-6"
OLD_ONE = "claude-sonnet-4-5-20250929"


def adaptive(effort: str) -> dict[str, Any]:
    return {
        "max_tokens": 64_000,
        "thinking": {"type": "adaptive", "display": "summarized"},
        "output_config": {"effort": effort},
    }


def budgeted(tokens: int, longest: int) -> dict[str, Any]:
    return {"max_tokens": longest, "thinking": {"type": "enabled", "budget_tokens": tokens}}


@pytest.mark.parametrize(
    ("model", "options", "expected"),
    [
        (OLD_ONE, {"max_output_tokens": 100}, {"max_tokens": 100}),
        (OLD_ONE, {"temperature": 1.7}, {"max_tokens": 64_000, "temperature": 1.0}),
        (NEW, {"temperature": 0.2}, {"max_tokens": 64_000}),
        (MIDDLE, {"reasoning_effort": "high", "temperature": 0.2}, adaptive("high")),
        ("claude-next", {"reasoning_effort": "high"}, adaptive("high")),
        (NEW, {"reasoning_effort": "minimal"}, adaptive("low")),
        (NEW, {"reasoning_effort": "none"}, {"max_tokens": 64_000}),
        (OLD_ONE, {"reasoning_effort": "low", "temperature": 0.2}, budgeted(2048, 64_000)),
        (OLD_ONE, {"reasoning_effort": "high", "max_output_tokens": 8192}, budgeted(6144, 8192)),
        (OLD_ONE, {"reasoning_effort": "high", "max_output_tokens": 1000}, {"max_tokens": 1000}),
        ("of-ones-own", {"reasoning_effort": "low"}, budgeted(2048, 8192)),
    ],
)
def test_options_by_model(model: str, options: dict[str, Any], expected: dict[str, Any]) -> None:
    made = body_of(QUESTION, model=model, **options)
    assert {
        name: value for name, value in made.items() if name not in ("model", "messages", "stream")
    } == expected


@pytest.mark.parametrize(("used", "longest"), [(1000, 64_000), (180_000, 20_000), (199_000, 4096)])
def test_answer_limit_fits_the_window(used: int, longest: int) -> None:
    assert (
        body_of(prompt_message("user", "Hi", tokens=used), model=OLD_ONE)["max_tokens"] == longest
    )


# citations


@pytest.mark.parametrize(
    ("said", "title", "cited", "marks"),
    [
        ("It is red.", "[3] House", "The house is red.\n", " (“The house is red.” [3])"),
        ("“The house is red.”", "[3] House", "The house is red.", " [3]"),
        ("It is red [3].", "[3] House", "The house is red.", ""),
        ("It is red.", "[3] House", "The house\nis red.", " [3]"),
        ("It is red.", "[3] House", "The “house” is red.", " [3]"),
        ("It is red.", "[3] House", "x" * 500, " [3]"),
        ("It is red.", "House", "The house is red.", ""),
    ],
)
def test_a_citation_becomes_a_mark_with_a_short_quotation(
    said: str, title: str, cited: str, marks: str
) -> None:
    assert (
        citation_marks(
            said, [{"type": "search_result_location", "title": title, "cited_text": cited}] * 2
        )
        == marks
    )


def test_excerpts_are_search_results_for_models_that_know_them() -> None:
    excerpt = chunk(3, "one", relative_path="A.md", title="A", heading="H", start_line=1)
    text = format_tool_result([excerpt], {}, note="more")
    found = result(text).model_copy(update={"chunks": (excerpt,)})
    [_, _, (_, [answered])] = messages_of(body_of(QUESTION, called(FIND), found))
    assert [block.get("title") or block["text"] for block in answered["content"]] == [
        '{"note": "more"}',
        "[3] A › H",
    ]
    [_, _, (_, [answered])] = messages_of(
        body_of(QUESTION, called(FIND), found, model="of-ones-own")
    )
    assert answered["content"] == found.content


@pytest.mark.parametrize(
    ("text", "around"),
    [
        ('{"excerpts": EXCERPTS}', ""),
        ('{"notes": 2, "excerpts": EXCERPTS}', '{"notes": 2}'),
        ('{"excerpts": EXCERPTS, "note": "more"}', '{"note": "more"}'),
        ('Documents:\n{"excerpts": EXCERPTS}', "Documents:\n"),
        ("an older text that has its middle left out", None),
    ],
)
def test_the_text_around_excerpts_is_what_is_left_of_a_message(
    text: str, around: str | None
) -> None:
    excerpts = [chunk(3, "one"), chunk(4, "“two”")]
    written = format_tool_result(excerpts, {}).removeprefix('{"excerpts": ').removesuffix("}")
    assert text_around_excerpts(text.replace("EXCERPTS", written), excerpts) == around
