"""What mojentic does for an answer: without it there is none, and its outcomes are what zkchat
tells. And zkchat's tools in a program of mojentic's.
"""

import asyncio
from contextlib import aclosing
from pathlib import Path
from typing import Any

import pytest
from conftest import Program
from model_calls import OLLAMA, OPENAI, Protocol
from model_server import ModelServer, Reply, openai_delta, openai_text, sse

BOTH = pytest.mark.parametrize("protocol", [OPENAI, OLLAMA], ids=lambda protocol: protocol.name)
STUB = '''
"""A package in mojentic's place: every module of it exists, and every name is a class."""
import sys
from importlib.machinery import ModuleSpec
from types import ModuleType


class Anything:
    def __init__(self, *args, **kwargs): pass
    def __call__(self, *args, **kwargs): return self
    def __aiter__(self): return self
    async def __anext__(self): raise StopAsyncIteration
    async def aclose(self): pass


class Module(ModuleType):
    __path__ = []
    def __getattr__(self, name):
        if name.startswith("__"):
            raise AttributeError(name)
        return type(name, (Anything,), {})


class Finder:
    def find_spec(self, name, path=None, target=None):
        return ModuleSpec(name, self, is_package=True) if name.startswith("mojentic.") else None
    def create_module(self, spec): return Module(spec.name)
    def exec_module(self, module): pass


sys.meta_path.insert(0, Finder())
'''


@pytest.fixture
def stub(tmp_path: Path) -> Path:
    """A folder with a package that has mojentic's name and does nothing."""
    package = tmp_path / "stub" / "mojentic"
    package.mkdir(parents=True)
    (package / "__init__.py").write_text(STUB)
    return package.parent


@BOTH
def test_an_answer_needs_the_real_mojentic(
    zkchat: Program, server: ModelServer, stub: Path, protocol: Protocol
) -> None:
    server.says(Reply(protocol.text("A filter ", "cleans.")))
    zkchat.env |= {"OPENAI_BASE_URL": protocol.address(server), "OLLAMA_HOST": server.address}
    ask = ("ask", "--model", f"{protocol.name}/m", "What is a filter?")
    assert zkchat(*ask).out.startswith("A filter cleans.")
    zkchat.env["PYTHONPATH"] = str(stub)
    done = zkchat(*ask)
    assert (done.exit_status, done.out) == (4, "")
    assert "broke the answer off" in done.err


# mojentic's outcomes


@BOTH
def test_mojentic_makes_the_attempts_and_says_so_in_the_log(
    server: ModelServer, protocol: Protocol, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level("INFO", "zkchat_cli.llm.gateways")
    answer = protocol.ask(
        server, protocol.error(503, "busy"), Reply(protocol.text("A ", "filter."))
    )
    assert answer.text == "A filter."
    steps = [record.message.partition(": attempt ")[2] for record in caplog.records]
    failed = " (http, status 503)"
    assert steps == [
        "1: attempt_started",
        f"1: attempt_failed{failed}",
        f"1: admission_pending{failed}",
        f"1: admission_allowed{failed}",
        f"1: delay_scheduled{failed}",
        f"1: retry_started{failed}",
        "2: attempt_started",
        "2: attempt_succeeded",
    ]


def test_the_gateways_are_mojentics() -> None:
    from mojentic.llm.gateways.ollama import OllamaGateway
    from mojentic.llm.gateways.openai import OpenAIGateway

    from zkchat_cli.llm.gateways.server_gateways import ChatCompletionsGateway, OllamaChatGateway

    assert issubclass(ChatCompletionsGateway, OpenAIGateway)
    assert issubclass(OllamaChatGateway, OllamaGateway)


# servers that deviate from the format

CALL = {"id": "a", "function": {"name": "find_excerpts", "arguments": ""}}
DEVIATIONS = {
    "no [DONE]": [sse(openai_delta(content="Yes.")), sse(openai_delta("stop"))],
    "a list of no choices": [sse({"choices": []}), *openai_text("Yes.")],
    "a list as text": [sse(openai_delta(content=[{"text": "Yes."}])), *openai_text("")],
    "a call without an index": [
        sse(openai_delta(content="Yes.", tool_calls=[CALL])),
        *openai_text("", finish="tool_calls"),
    ],
    "no arguments": [
        sse(openai_delta(content="Yes.", tool_calls=[{"index": 0, **CALL}])),
        *openai_text("", finish="tool_calls"),
    ],
}


def ask_stock_gateway(address: str) -> Any:
    """The last event of mojentic's own gateway."""
    from mojentic.llm.gateways.models import LLMMessage
    from mojentic.llm.gateways.openai import OpenAIGateway
    from mojentic.llm.recovery import RecoveryPolicy

    async def last_event() -> Any:
        gateway = OpenAIGateway("key", address, recovery_policy=RecoveryPolicy())
        messages = [LLMMessage(content="What is a filter?")]
        events = gateway.complete_stream_with_recovery(model="m", messages=messages)
        with gateway.client:
            async with aclosing(events):
                return [event async for event in events][-1]

    return asyncio.run(last_event())


@pytest.mark.usefixtures("no_proxies")
@pytest.mark.parametrize("body", DEVIATIONS.values(), ids=list(DEVIATIONS))
def test_an_answer_that_mojentic_alone_rejects_is_understood(
    server: ModelServer, body: list[bytes]
) -> None:
    answer = OPENAI.ask(server, Reply(body))
    assert (answer.text, len(server.asked)) == ("Yes.", 1)
    rejected = ask_stock_gateway(OPENAI.address(server))
    assert rejected.kind == "failed"
