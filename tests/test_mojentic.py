"""What mojentic does for an answer: without it there is none, and its outcomes are what zkchat
tells. And zkchat's tools in a program of mojentic's.
"""

import asyncio
import json
import re
from contextlib import aclosing
from pathlib import Path
from typing import Any

import pytest
from conftest import Program
from model_calls import OLLAMA, OPENAI, Protocol
from model_server import ModelServer, Reply, openai_delta, openai_text, sse

import zkchat_cli
from zkchat_cli.references.manager import ReferenceManager
from zkchat_cli.tools import as_mojentic
from zkchat_cli.vault.edit.approval import ALLOWED, DECLINED, Decision
from zkchat_cli.vault.edit.transaction import Change
from zkchat_cli.vault.vault import Vault

ROOT = Path(__file__).parent.parent
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


# zkchat's tools in a program of mojentic's


def completion(finish: str, **message: Any) -> dict[str, Any]:
    """An answer of chat completions that is not streamed."""
    choice = {"index": 0, "message": {"role": "assistant", **message}, "finish_reason": finish}
    return {"id": "x", "object": "chat.completion", "created": 0, "model": "m", "choices": [choice]}


def called(name: str, **arguments: Any) -> dict[str, Any]:
    """An answer that calls a tool."""
    function = {"name": name, "arguments": json.dumps(arguments)}
    call = {"id": "call_1", "type": "function", "function": function}
    return completion("tool_calls", content=None, tool_calls=[call])


@pytest.fixture
def notes(tmp_path: Path) -> Path:
    folder = tmp_path / "notes"
    folder.mkdir()
    (folder / "Filter.md").write_text("# Filter\n\nA filter is cleaned with hot water.\n")
    return folder


def test_the_example_in_the_documentation_answers_by_mojentics_own_tool_loop(
    server: ModelServer,
    notes: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    page = (ROOT / "docs/reference/python.md").read_text(encoding="utf-8")
    [example] = re.findall(r"```python\n(.*?)```", page, re.DOTALL)

    def answer(_path: str, body: dict[str, Any]) -> dict[str, Any]:
        if body["messages"][-1]["role"] == "user":
            return called("find_excerpts", query="filter")
        return completion("stop", content="With hot water [1].")

    server.compute = answer
    monkeypatch.chdir(notes.parent)
    monkeypatch.setenv("OPENAI_API_ENDPOINT", f"{server.address}/v1")
    monkeypatch.setenv("OPENAI_API_KEY", "none")
    # mojentic counts tokens with a vocabulary that it would download
    vocabulary = Path(zkchat_cli.__file__).parent / "tokens/vocabulary"
    monkeypatch.setenv("TIKTOKEN_CACHE_DIR", str(vocabulary))
    exec(example, {"__name__": "__main__"})
    assert capsys.readouterr().out.splitlines() == ["With hot water [1].", "[1] Filter.md"]
    first, second = server.bodies
    assert "find_excerpts" in [tool["function"]["name"] for tool in first["tools"]]
    result = json.loads(second["messages"][-1]["content"])
    assert result["excerpts"][0]["text"].endswith("A filter is cleaned with hot water.")


@pytest.fixture
def shelf(notes: Path) -> Any:
    opened = Vault.open(notes, notes.parent / "cache")
    yield opened
    opened.close()


def by_name(tools: list[Any]) -> dict[str, Any]:
    return {tool.name: tool for tool in tools}


def test_a_wrong_call_is_an_error_that_the_model_can_correct(shelf: Vault) -> None:
    tools = by_name(as_mojentic(shelf))
    assert tools["find_excerpts"].run() == {"error": "find_excerpts needs query"}
    missing = tools["read_zk_document"].run(relative_path="Nothing.md")
    assert "Nothing.md" in missing["error"]


def test_tools_that_need_a_conversation_are_not_offered(shelf: Vault) -> None:
    names = set(by_name(as_mojentic(shelf)))
    assert not names & {"recall_conversation", "store_in_smart_memory", "create_note"}
    assert {"find_excerpts", "find_backlinks"} <= names


@pytest.mark.parametrize("decision", [ALLOWED, DECLINED], ids=["allowed", "declined"])
def test_a_change_is_made_only_if_it_is_approved(
    shelf: Vault, notes: Path, decision: Decision
) -> None:
    asked: list[str] = []

    def approve(change: Change) -> Decision:
        asked.append(change.summary)
        return decision

    tools = by_name(as_mojentic(shelf, approve=approve))
    result = tools["create_note"].run(path="New.md", content="Text")
    assert len(asked) == 1
    assert ("done" in result, (notes / "New.md").exists()) == (decision.allowed,) * 2
    assert decision.allowed or result["error"] == DECLINED.reason


def test_a_note_that_was_written_meanwhile_is_found_and_numbers_go_on(
    shelf: Vault, notes: Path
) -> None:
    references = ReferenceManager()
    find = by_name(as_mojentic(shelf, references=references))["find_excerpts"]
    assert [each["source"] for each in find.run(query="filter")["excerpts"]] == [1]
    (notes / "Other.md").write_text("A valve is older.\n")
    shelf.refresh()
    assert [each["source"] for each in find.run(query="valve")["excerpts"]] == [2]
    assert [chunk.relative_path for chunk in references.get_chunks()] == ["Filter.md", "Other.md"]


def test_a_result_has_room_for_a_part_and_says_what_it_left_out(shelf: Vault, notes: Path) -> None:
    for number in range(20):
        (notes / f"Long {number}.md").write_text(f"gear {number} " + "word " * 600 + "\n")
    find = by_name(as_mojentic(shelf))["find_excerpts"]
    result = find.run(query="gear", limit=20)
    assert 0 < len(result["excerpts"]) < 20
    assert "Left out, because there is no room for them" in result["note"]
