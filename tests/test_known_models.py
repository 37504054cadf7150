"""The table of known models, and what its models refuse."""

from datetime import date
from typing import Any, get_args

import pytest
from conftest import Program
from model_calls import REQUEST, call_model, open_model
from model_server import (
    ModelServer,
    Reply,
    anthropic_error,
    anthropic_text,
    ollama_error,
    ollama_text,
    openai_error,
    openai_text,
    responses_text,
)

from zkchat_cli.cli.commands.doctor.checks import advise_on_figures, guessed_window
from zkchat_cli.llm import providers
from zkchat_cli.llm.base import Effort, ModelConfig, Options, Request
from zkchat_cli.llm.known_models import KnownModel, is_member, known_models
from zkchat_cli.llm.providers.anthropic.request import (
    ADAPTIVE_THINKING,
    NO_TEMPERATURE,
    claude_version,
)
from zkchat_cli.models.money import TokenCounts

TABLE = known_models()
LINES = [(provider, line) for provider, lines in TABLE.models.items() for line in lines.values()]


def official(name: str, provider: str = "openai", **settings: Any) -> Any:
    """A model on its provider's own server, which is not called."""
    declared = providers.provider(provider)
    return declared.open(ModelConfig(name, declared.settings(**settings)))


def body(name: str, options: Options, **settings: Any) -> dict[str, Any]:
    model = official(name, **settings)
    return model.body(Request(REQUEST.messages, options=options))  # type: ignore[no-any-return]


@pytest.mark.parametrize(
    ("name", "window", "largest_prompt", "is_guess"),
    [
        ("gpt-5.6-sol", 1_050_000, 922_000, False),
        ("gpt-5.6-sol-2026-07-09", 1_050_000, 922_000, False),
        ("gpt-6-astra", 1_050_000, 922_000, False),
        ("gpt-5.6-mars", 1_050_000, 922_000, True),
        ("gpt-5.7", 400_000, 272_000, True),
        ("gpt-4", 8_192, None, False),
        ("gpt-4.1-mini", 1_047_576, None, False),
        ("gpt-4.1-pico", 1_047_576, None, True),
        ("o3-pro", 200_000, None, True),
    ],
)
def test_an_exact_name_counts_before_a_family(
    name: str, window: int, largest_prompt: int | None, is_guess: bool
) -> None:
    model = official(name)
    model.prepare = lambda: None
    found = model.find_window()
    assert (found.tokens, found.largest_prompt) == (window, largest_prompt)
    assert found.source.startswith("a guess") == is_guess


def test_a_window_of_the_table_is_used_whole_with_the_limit_of_the_prompt(
    zkchat: Program,
) -> None:
    zkchat.env |= {"OPENAI_API_KEY": "sk-none", "ZKCHAT_MODEL": "openai/gpt-5.6-terra"}
    stats = zkchat("context", "stats", "--json").json
    assert (stats["max_context"], stats["effective_limit"]) == (1_050_000, 922_000)
    assert stats["window_source"].startswith("zkchat's table of models, 2026-")


@pytest.mark.parametrize("name", ["gpt-9", "gpt-50", "gpt-4x", "other"])
def test_a_name_of_no_family_has_no_window(name: str) -> None:
    assert TABLE.find("openai", name) is None


def test_an_unknown_member_is_never_larger_than_the_smallest_known_one() -> None:
    for provider, families in TABLE.families.items():
        for family in families:
            guess = TABLE.find(provider, f"{family}-unknown-member")
            assert guess is not None, family
            assert guess.price is None
            members = [
                line for each, line in LINES if each == provider and is_member(line.name, family)
            ]
            for field in ("window", "largest_prompt", "output"):
                figures = [value for line in members if (value := getattr(line, field))]
                assert getattr(guess, field) == min(figures, default=None)
            assert all(guess.refuses <= line.refuses for line in members)


@pytest.mark.parametrize(("provider", "line"), LINES, ids=[line.name for _, line in LINES])
def test_each_line_has_a_source_and_a_day(provider: str, line: KnownModel) -> None:
    assert line.source
    assert date(2025, 1, 1) <= (line.day or date.max) <= TABLE.checked
    known = {"temperature", "temperature with reasoning", "reasoning", "tools in chat"}
    known |= {f"effort {effort}" for effort in get_args(Effort)}
    known |= {"thinking budget", "thinking off"}
    assert line.refuses <= known
    assert any(line.name.startswith(family) for family in TABLE.families[provider])
    if line.price is not None and line.price.cached is not None:
        assert line.price.cached < line.price.input < line.price.output


def test_the_rules_for_versions_of_claude_agree_with_the_table() -> None:
    for provider, line in LINES:
        if provider == "anthropic":
            version = claude_version(line.name)
            assert ("temperature" in line.refuses) == (version >= NO_TEMPERATURE), line.name
            assert "thinking budget" not in line.refuses or version >= ADAPTIVE_THINKING


def test_the_table_is_old_after_half_a_year() -> None:
    assert not TABLE.is_old(TABLE.checked.replace(day=28))
    assert TABLE.is_old(TABLE.checked.replace(year=TABLE.checked.year + 1))


def test_cached_tokens_and_long_prompts_have_their_own_price() -> None:
    line = TABLE.find("openai", "gpt-6-astra")
    assert line is not None
    assert line.price is not None
    assert line.price.cost(TokenCounts(1000, 100, cached=200)).amount == 0.0132
    assert line.price.cost(TokenCounts(300_000, 1000)).amount == 6.075


REFUSED_BY_TABLE = [
    ("gpt-6-astra", Options(temperature=0.5), {}, lambda b: "temperature" not in b),
    (
        "gpt-6-astra",
        Options(reasoning_effort="none"),
        {},
        lambda b: b["reasoning"]["effort"] == "low",
    ),
    (
        "gpt-6-astra",
        Options(reasoning_effort="minimal"),
        {"api": "chat"},
        lambda b: b["reasoning_effort"] == "low",
    ),
    ("gpt-6-sol", Options(temperature=0.5), {}, lambda b: "temperature" not in b),
    (
        "gpt-6-sol",
        Options(temperature=0.5, reasoning_effort="none"),
        {},
        lambda b: (b["temperature"], b["reasoning"]["effort"]) == (0.5, "none"),
    ),
    ("gpt-5", Options(reasoning_effort="max"), {}, lambda b: b["reasoning"]["effort"] == "high"),
    ("gpt-4.1", Options(temperature=0.5), {}, lambda b: b["temperature"] == 0.5),
]


@pytest.mark.parametrize(("name", "options", "settings", "expected"), REFUSED_BY_TABLE)
def test_openai_gets_nothing_that_its_model_is_known_to_refuse(
    name: str, options: Options, settings: dict[str, Any], expected: Any
) -> None:
    assert expected(body(name, options, **settings))


REFUSED_LINES = [
    (provider, line, each) for provider, line in LINES for each in sorted(line.refuses)
]


@pytest.mark.parametrize(
    ("provider", "line", "refused"),
    REFUSED_LINES,
    ids=[f"{line.name} {what}" for _, line, what in REFUSED_LINES],
)
def test_no_line_of_the_table_is_sent_what_it_refuses(
    provider: str, line: KnownModel, refused: str
) -> None:
    effort: Any = refused.removeprefix("effort ") if refused.startswith("effort") else None
    effort = {"thinking budget": "high", "thinking off": "none"}.get(refused, effort)
    temperature = None if effort else 0.5
    options = Options(temperature=temperature, reasoning_effort=effort)
    model = official(line.name, provider)
    sent = model.body(Request(REQUEST.messages, options=options))
    reasoning = sent.get("reasoning") or {}
    match refused:
        case "temperature" | "temperature with reasoning":
            assert "temperature" not in sent
        case "thinking budget":
            assert "budget_tokens" not in sent["thinking"]
        case "thinking off":
            assert sent.get("thinking") != {"type": "disabled"}
        case "reasoning":
            assert not reasoning
        case "tools in chat":
            by_chat = official(line.name, provider, api="chat")
            by_chat.find_window()
            assert by_chat.calls_tools is False
        case _:
            assert reasoning["effort"] not in (effort, None)


def test_astra_gets_tools_by_the_responses_api_only() -> None:
    by_api = {}
    for api in ("chat", "responses"):
        model = official("gpt-6-astra", api=api)
        model.find_window()
        by_api[api] = model.calls_tools
    assert by_api == {"chat": False, "responses": None}


RESPONSES_REFUSALS = [
    (
        "Unsupported value: 'none' is not supported with the 'gpt-6-astra' model. Supported values "
        "are: 'low', 'medium', 'high', and 'xhigh'.",
        Options(reasoning_effort="none"),
        lambda b: "effort" in b.get("reasoning", {}),
    ),
    (
        "Unsupported parameter: 'temperature' is not supported with this model.",
        Options(temperature=0.5),
        lambda b: "temperature" in b,
    ),
    (
        "Unknown parameter: 'prompt_cache_key'.",
        Options(),
        lambda b: "prompt_cache_key" in b,
    ),
]
CHAT_REFUSALS = [
    (
        "`reasoning_effort` does not support `minimal`. Supported values are: `low`, `medium`.",
        Options(reasoning_effort="minimal"),
        lambda b: "reasoning_effort" in b,
    ),
    (
        "Unrecognized request argument supplied: reasoning_effort",
        Options(reasoning_effort="high"),
        lambda b: "reasoning_effort" in b,
    ),
    (
        "Unsupported parameter: 'max_tokens' is not supported with this model. Use "
        "'max_completion_tokens' instead.",
        Options(max_output_tokens=99),
        lambda b: "max_tokens" in b or "max_completion_tokens" not in b,
    ),
    (
        "'temperature' does not support 0.5 with this model.",
        Options(temperature=0.5),
        lambda b: "temperature" in b,
    ),
]
ANTHROPIC_REFUSALS = [
    (
        "`temperature` is deprecated for this model.",
        Options(temperature=0.5),
        lambda b: "temperature" in b,
    ),
    (
        '"thinking.type.enabled" is not supported for this model. Use "thinking.type.adaptive" and '
        '"output_config.effort" to control thinking behavior.',
        Options(reasoning_effort="high"),
        lambda b: "thinking" in b,
    ),
    (
        "adaptive thinking is not supported on this model",
        Options(reasoning_effort="high"),
        lambda b: "thinking" in b,
    ),
]
OLLAMA_REFUSALS = [
    ('"m" does not support thinking', Options(reasoning_effort="high"), lambda b: "think" in b),
    (
        'think value "high" is not supported for this model',
        Options(reasoning_effort="high"),
        lambda b: "think" in b,
    ),
]
FORMATS: dict[str, Any] = {
    "responses": (responses_text, openai_error, "/v1", "gpt-6-astra", RESPONSES_REFUSALS),
    "openai": (openai_text, openai_error, "/v1", "gpt-6-astra", CHAT_REFUSALS),
    "anthropic": (anthropic_text, anthropic_error, "", "claude-3-7-sonnet", ANTHROPIC_REFUSALS),
    "ollama": (ollama_text, ollama_error, "", "m", OLLAMA_REFUSALS),
}


@pytest.mark.parametrize(
    ("provider", "said", "options", "is_sent"),
    [(name, *each) for name, row in FORMATS.items() for each in row[4]],
)
def test_a_refused_parameter_is_left_out_of_one_more_call_and_of_all_later_ones(
    server: ModelServer, provider: str, said: str, options: Options, is_sent: Any
) -> None:
    text, error, path, name, _ = FORMATS[provider]
    model = open_model(provider, f"{server.address}{path}", name)
    server.says(error(400, said), Reply(text("Yes.")), Reply(text("Yes.")))
    request = Request(REQUEST.messages, options=options)
    assert [call_model(model, request).text for _ in range(2)] == ["Yes.", "Yes."]
    assert [is_sent(each) for each in server.bodies] == [True, False, False]


TOOLS_REFUSED = (
    "Function tools with reasoning_effort are not supported for {} in /v1/chat/completions. To use "
    "function tools, use /v1/responses or set reasoning_effort to 'none'."
)


def test_tools_by_chat_completions_stop_the_reasoning_where_that_is_possible(
    server: ModelServer,
) -> None:
    model = open_model("openai", f"{server.address}/v1", "gpt-5.6-luna")
    server.says(openai_error(400, TOOLS_REFUSED.format("gpt-5.6-luna")), Reply(openai_text("Yes.")))
    answer = call_model(model, REQUEST)
    assert [body.get("reasoning_effort") for body in server.bodies] == [None, "none"]
    assert "openai.api responses" in answer.end.hint


def test_a_model_that_always_reasons_takes_no_tools_by_chat_completions(
    server: ModelServer,
) -> None:
    model: Any = open_model("openai", f"{server.address}/v1", "gpt-6-astra")
    server.says(
        openai_error(400, TOOLS_REFUSED.format("gpt-6-astra")),
        openai_error(400, "`reasoning_effort` does not support `none`. Supported values: `low`."),
    )
    assert call_model(model, REQUEST).error.kind == "no_tools"
    assert model.calls_tools is False


# doctor


def test_doctor_names_a_guessed_window_and_an_old_table() -> None:
    today = TABLE.checked
    known = official("gpt-5.6-sol")
    guessed = official("gpt-5.6-mars")
    for model in (known, guessed):
        model.window = model.find_window()
    assert not guessed_window(known)
    advice = advise_on_figures(guessed, window=guessed_window(guessed), today=today)
    assert "a guess (the smallest gpt-5.6 model in zkchat's table)" in advice
    old = advise_on_figures(known, window="", today=today.replace(year=today.year + 1))
    assert f"checked on {TABLE.checked}" in old
    assert not advise_on_figures(known, window="", today=today)


def test_a_refusal_is_remembered_by_later_processes_and_told_once_in_each(
    zkchat: Program, server: ModelServer
) -> None:
    zkchat.env |= {"OPENAI_BASE_URL": f"{server.address}/v1", "ZKCHAT_LLM__TEMPERATURE": "0.2"}
    said = "Unsupported parameter: 'temperature' is not supported with this model."
    server.says(openai_error(400, said), *[Reply(openai_text("A filter selects."))] * 2)
    for _ in range(2):
        done = zkchat("ask", "What is a filter?", "--model", "openai/m")
        assert done.err.count("takes no temperature") == 1
    assert ["temperature" in body for body in server.bodies] == [True, False, False]


def test_prices_are_those_of_the_user_then_the_server_then_the_table(
    zkchat: Program, server: ModelServer
) -> None:
    zkchat.env["OPENAI_BASE_URL"] = f"{server.address}/v1"
    pricing = {"prompt": "0.000002", "completion": "0.000008", "input_cache_read": "0.0000005"}
    server.gets["/v1/models"] = {"data": [{"id": "m", "pricing": pricing}]}

    def told() -> str:
        checks = zkchat("doctor", "--json", "--model", "openai/m").json["checks"]
        return next(each["detail"] for each in checks if each["name"] == "provider")

    assert "; $2.00 in, $0.50 cached, $8.00 out for a million tokens;" in told()
    zkchat("config", "set", "llm.prices", "openai/m* = 0.5/1.25 EUR, ollama/* = 0")
    assert "; 0.50 EUR in, 1.25 EUR out for a million tokens;" in told()
    done = zkchat("config", "set", "llm.prices", "openai/m: 3")
    assert (done.exit_status, "MODEL = INPUT/OUTPUT" in done.err) == (2, True)
