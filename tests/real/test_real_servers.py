"""The same scenarios against real servers: whatever OPENAI_BASE_URL, ANTHROPIC_BASE_URL and
OLLAMA_HOST point to. See README.md.
"""

import os
import time
from collections.abc import Iterator
from contextlib import closing
from dataclasses import dataclass
from functools import cache
from typing import Any

import pytest
from factories import AppFixture, report_of, run_turn
from model_calls import REQUEST, Answer, call_model

from zkchat_cli.events import TextDelta, TurnCompleted
from zkchat_cli.llm import providers
from zkchat_cli.llm.base import ModelConfig, Options, Request, StreamFinished, Window
from zkchat_cli.llm.server_errors import parse_length_refusal
from zkchat_cli.models.prompts import PromptMessage

pytestmark = [pytest.mark.real, pytest.mark.timeout(1800)]
SHORT = Options(max_output_tokens=24, temperature=0)
WINDOW = Window(1024, "these tests")
"""Of the conversations' window: on a processor, a small model reads 40 tokens a second."""
TEXTS = {
    "English": "The compost heap needs air and water every day. ",
    "German": "Die Überprüfung der Kompostwärme fördert Mikroorganismen. ",
    "Greek": "Το κομπόστ χρειάζεται αέρα και νερό κάθε μέρα. ",
    "Russian": "Компосту нужен воздух и вода каждый день. ",
    "Chinese": "堆肥需要空气和水才能腐烂。",
    "Hindi": "खाद को हवा और पानी की जरूरत होती है। ",
    "code": "def f(x):\n    return {k: v for k, v in x.items() if v}\n",
}


OPENED: list[Any] = []


@dataclass(frozen=True)
class RealServer:
    provider: str
    variable: str
    api: str = ""

    @cache  # noqa: B019
    def model_name(self) -> str:
        return os.environ.get("ZKCHAT_REAL_MODEL") or next(iter(self.open("x").list_models())).name

    def open(self, name: str = "") -> Any:
        declared = providers.provider(self.provider)
        settings = {
            "timeout": 900.0,
            "stall_timeout": 300.0,
            **({"api": self.api} if self.api else {}),
        }
        opened: Any = declared.open(
            ModelConfig(name or self.model_name(), declared.settings(**settings), os.environ)
        )
        OPENED.append(opened)
        return opened

    def prepared(self) -> Any:
        model = self.open()
        model.prepare()
        return model


SERVERS = [
    RealServer("openai", "OPENAI_BASE_URL", "chat"),
    RealServer("openai", "OPENAI_BASE_URL", "responses"),
    RealServer("anthropic", "ANTHROPIC_BASE_URL"),
    RealServer("ollama", "OLLAMA_HOST"),
]


@pytest.fixture(params=SERVERS, ids=lambda server: server.api or server.provider)
def server(request: pytest.FixtureRequest) -> Iterator[RealServer]:
    if not os.environ.get(request.param.variable):
        pytest.skip(f"{request.param.variable} is not set")
    yield request.param
    for model in OPENED:
        model.server.close()


def question(text: str, options: Options = SHORT) -> Request:
    return Request(
        (PromptMessage(role="user", content=text, tokens=1, kind="conversation"),), options=options
    )


def test_streaming(server: RealServer) -> None:
    model = server.prepared()
    assert model.check() is None
    answer = call_model(model, question("Count from one to twenty in words."))
    assert len([delta for delta in answer.deltas if isinstance(delta, TextDelta)]) > 3
    assert answer.end.reason in ("length", "stop")
    assert answer.end.usage is not None
    assert answer.end.usage.prompt_tokens > 5
    assert 0 < answer.end.usage.completion_tokens <= 24


def test_tools(server: RealServer) -> None:
    """Models that call tools call this one, and others answer: neither is an error."""
    model = server.prepared()
    answer: Answer = call_model(model, REQUEST._replace(options=SHORT))
    if not isinstance(answer.deltas[-1], StreamFinished):
        assert (answer.error.kind, model.calls_tools) == ("no_tools", False)
    for call in answer.calls:
        assert call.name == "find_excerpts"


def test_grounding(server: RealServer, app: AppFixture) -> None:
    session = app.session(
        server.open(),
        retrieval="auto",
        configured_window=WINDOW,
        options=SHORT._replace(max_output_tokens=60),
    )
    report = report_of(session.send("When is compost ready?"))
    assert report.retrieval in ("before", "both")
    assert "Garden/Compost.md" in {reference.relative_path for reference in report.references}
    assert report.usage.prompt_tokens <= 0.9 * WINDOW.tokens
    print(f"\n{report.answer!r}, grounded: {report.grounded}")


def test_cancellation(server: RealServer) -> None:
    model = server.prepared()
    with closing(
        model.stream(question("Tell a very long story.", Options(max_output_tokens=2000)))
    ) as stream:
        next(delta for delta in stream if isinstance(delta, TextDelta))
        started = time.monotonic()
    assert time.monotonic() - started < 0.5
    assert call_model(model, question("Say yes.", Options(max_output_tokens=3))).text


def test_a_prompt_that_is_too_long_is_refused_with_its_limit(server: RealServer) -> None:
    model = server.prepared()
    window = model.window.tokens if model.window else 20_000
    if window > 50_000:
        pytest.skip("it would cost too much")
    error = call_model(
        model, question("Compost needs air. " * window)._replace(window=window)
    ).error
    assert error.kind == "context_length"
    assert model.window is None or parse_length_refusal(error.message)[0] in (window, None)


def test_a_message_that_is_too_long_is_not_sent(server: RealServer, app: AppFixture) -> None:
    session = app.session(server.open(), retrieval="auto", configured_window=WINDOW, tools=())
    _, last = run_turn(session.send(TEXTS["Chinese"] * 120))
    assert not isinstance(last, TurnCompleted)
    assert last.error.code == "prompt_too_large"


def test_the_servers_count_is_what_it_reports(server: RealServer) -> None:
    model = server.prepared()
    request = question(
        "How long does a compost heap take, and what does it need? 堆肥",
        Options(max_output_tokens=2),
    )
    counted = model.count_tokens(request)
    if counted is None:
        pytest.skip("this server does not count")
    usage = call_model(model, request).end.usage
    assert usage is not None
    assert counted == usage.prompt_tokens


@pytest.mark.parametrize("language", TEXTS)
def test_what_is_sent_fits_by_the_servers_own_count(
    server: RealServer, app: AppFixture, language: str
) -> None:
    """Two questions of a language, as long as fits by zkchat's count, the second after it has seen
    how the model counts.
    """
    session = app.session(
        server.open(),
        retrieval="auto",
        configured_window=WINDOW,
        tools=(),
        options=Options(max_output_tokens=2),
    )
    for _ in range(2):
        room = WINDOW.tokens // 2 - session.usage.system_tokens
        text = TEXTS[language] * max(1, room // app.runtime().counter.count(TEXTS[language]))
        _, last = run_turn(session.send(f"Is this so? {text}"))
        if isinstance(last, TurnCompleted):
            assert last.report.usage.prompt_tokens <= 0.9 * WINDOW.tokens
        else:
            assert last.error.code == "prompt_too_large"
