"""Attacks by model servers: they drip, flood, compress, and send numbers that are none. And keys on
their way to others.
"""

import itertools
import json
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager, suppress
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
from conftest import Program
from factories import make_app, report_of
from model_calls import (
    ANTHROPIC,
    KEY,
    OLLAMA,
    OPENAI,
    QUESTION,
    REQUEST,
    RESPONSES,
    Protocol,
    call_model,
    open_model,
)
from model_server import (
    ModelServer,
    Reply,
    anthropic_block,
    anthropic_call,
    anthropic_events,
    anthropic_start,
    anthropic_text,
    anthropic_thinking,
    ndjson,
    ollama_end,
    ollama_frame,
    openai_delta,
    openai_text,
    responses_call,
    responses_events,
    responses_reasoning,
    responses_start,
    responses_text,
    responses_text_delta,
    sse,
)

import zkchat_cli
from zkchat_cli.errors import ProviderError
from zkchat_cli.llm import embedders, http_client
from zkchat_cli.llm.base import EmbedderConfig, ModelConfig, Options, Request, StreamFinished
from zkchat_cli.llm.http_client import Endpoint
from zkchat_cli.vault.search.embedder import compute_vectors

pytestmark = pytest.mark.usefixtures("no_proxies")
PROTOCOLS = [OPENAI, RESPONSES, OLLAMA, ANTHROPIC]
ALL = pytest.mark.parametrize("protocol", PROTOCOLS, ids=lambda protocol: protocol.name)


def short(value: object) -> str:
    return repr(value)[:20]


@contextmanager
def socket_server(serve: Callable[[socket.socket], object]) -> Iterator[str]:
    """The address of a server that does with each connection what `serve` does, until the other
    side leaves.
    """
    listening = socket.create_server(("127.0.0.1", 0))

    def connection(connected: socket.socket) -> None:
        with connected, suppress(OSError):
            connected.recv(65536)
            serve(connected)

    def accept() -> None:
        with suppress(OSError):
            while True:
                threading.Thread(
                    target=connection, args=(listening.accept()[0],), daemon=True
                ).start()

    threading.Thread(target=accept, daemon=True).start()
    try:
        yield f"http://127.0.0.1:{listening.getsockname()[1]}"
    finally:
        # Wakes `accept`, which would take the calls of the next server with this file number
        listening.shutdown(socket.SHUT_RDWR)
        listening.close()


def dripping(data: Iterable[bytes]) -> Any:
    """Pieces with a pause after each."""
    return itertools.chain.from_iterable((piece, 0.04) for piece in data)


def drip_headers(connected: socket.socket) -> None:
    connected.sendall(b"HTTP/1.1 200 OK\r\nX-Long: ")
    while True:
        connected.sendall(b"x")
        time.sleep(0.04)


# a server that drips

EMPTY_DELTAS = {
    "responses": responses_events({"output_index": 0, **responses_text_delta("")}),
    "openai": sse(openai_delta(content="")),
    "ollama": ndjson(ollama_frame("")),
    "anthropic": anthropic_events(
        {"type": "content_block_delta", "index": 0, "delta": {"type": "text_delta", "text": ""}}
    ),
}
ROLES = {
    "responses": responses_events(responses_start(), {"type": "response.in_progress"}),
    "openai": sse(openai_delta(role="assistant", tool_calls=[])),
    "ollama": ndjson({"model": "m", "message": {"role": "assistant"}, "done": False}),
    "anthropic": anthropic_events({"type": "ping"}),
}


@ALL
@pytest.mark.parametrize("begun", [False, True], ids=["before the first word", "after it"])
@pytest.mark.parametrize("drops", ["spaces", "messages"])
def test_a_server_that_drips_makes_no_progress(
    server: ModelServer, protocol: Protocol, begun: bool, drops: str
) -> None:
    """After 4 seconds it would have ended with "cut"."""
    comment = b": still here\n\n" if protocol is not OLLAMA else b"\n"
    messages = [comment, EMPTY_DELTAS[protocol.name], ROLES[protocol.name]]
    text = "A filter" if begun else ""
    beginning = [protocol.begin(text)] if begun or protocol is ANTHROPIC else []
    dripped = dripping([b" "] * 100 if drops == "spaces" else messages * 33)
    answer = protocol.ask(
        server, Reply([*beginning, *dripped]), timeout=5 if begun else 0.2, stall_timeout=0.2
    )
    assert (answer.error.kind, answer.text, len(server.asked)) == ("timeout", text, 1)


@ALL
def test_headers_that_drip_make_no_progress(protocol: Protocol) -> None:
    with socket_server(drip_headers) as address:
        assert call_model(open_model(protocol.name, address, timeout=0.2)).error.kind == "timeout"


def test_a_lookup_has_a_deadline_whatever_drips(server: ModelServer) -> None:
    server.gets["/list"] = Reply(list(dripping([b" "] * 100)))
    with socket_server(drip_headers) as headers:
        for address in (server.address, headers):
            client = Endpoint("The server", address, "Start it.")
            with pytest.raises(ProviderError, match=r"sent nothing for 0\.2 s"):
                client.fetch("/list", seconds=0.2)
    server.gets["/list"] = {"data": []}
    assert Endpoint("The server", server.address, "Start it.").fetch("/list", seconds=5) == {
        "data": []
    }


# a server that floods

FLOODS = Path(__file__).with_name("flooding_servers.py")
ENDS = {
    "line": "sent more than 8 MB at once",
    "text": "length",
    "indented": "sent more than 200,000 objects and lists at once",
    "reasoning": "length",
    "objects": "sent more than 200,000 objects and lists at once",
    "error": "rejects the request (400)",
    "compressed": "compressed its answer, and zkchat did not ask for that",
    "compressed error": "compressed its answer, and zkchat did not ask for that",
    "list": "sent more than 1 MB at once",
    "compressed list": "compressed its answer, and zkchat did not ask for that",
}


def test_a_flood_takes_less_than_100_megabytes_and_38_take_less_than_200() -> None:
    """Without limits, one takes gigabytes."""
    program = [sys.executable, "-W", "ignore", str(FLOODS), str(Path(__file__).parent.parent)]
    done = subprocess.run(program, capture_output=True, text=True, timeout=100, check=False)
    assert done.returncode == 0, done.stderr[-2000:]
    measured = json.loads(done.stdout)
    assert len(measured["seen"]) == 38
    for flood, end in measured["seen"].items():
        assert ENDS[flood.partition(": ")[2]] in end, flood
    peaks = measured["peaks"]
    assert max(after - before for before, after in pairwise(peaks)) < 100
    assert peaks[-1] - peaks[0] < 200


DONE = "response.output_item.done"
ITEM = {
    "type": "message",
    "id": "m",
    "role": "assistant",
    "content": [{"type": "output_text", "text": "x"}],
}


@pytest.mark.parametrize(
    "event",
    [
        *({"type": DONE, "output_index": 1, "item": item} for item in (None, [], "x", {})),
        {"type": DONE, "output_index": 1, "item": {**ITEM, "content": 7}},
        {"type": DONE, "output_index": 1, "item": {**ITEM, "content": ["x"]}},
        {
            "type": DONE,
            "output_index": 1,
            "item": {"type": "reasoning", "encrypted_content": 7, "summary": "x"},
        },
        {"type": "response.completed", "response": []},
        {"type": "response.completed", "response": {"output": [7]}},
    ],
    ids=lambda event: str(event)[:60],
)
def test_an_item_of_another_form_ends_the_answer(
    server: ModelServer, event: dict[str, Any]
) -> None:
    answer = RESPONSES.ask(
        server, Reply([responses_events(responses_start(), event), *responses_text("Yes.")])
    )
    assert answer.error.kind in ("bad_answer", "cut")


def test_phases_of_messages_count_as_length(server: ModelServer) -> None:
    phases = [
        {"type": DONE, "output_index": i, "item": {**ITEM, "content": [], "phase": "x" * 600}}
        for i in range(9)
    ]
    request = Request((QUESTION,), options=Options(max_answer_bytes=1001))
    answer = RESPONSES.ask(
        server,
        Reply([responses_events(responses_start(), *phases), *responses_text("Yes.")]),
        request=request,
    )
    assert (answer.text, answer.end.reason) == ("", "length")


# answers that are too long

LONG = "é" * 600
REASONING = {
    "openai": [sse(openai_delta(reasoning_content=LONG)), *openai_text("Yes.")],
    "responses": [responses_events(responses_start(), *responses_reasoning(0, LONG, "c2VjcmV0"))],
    "ollama": [
        ndjson(ollama_frame(message={"thinking": LONG}), ollama_frame("Yes."), ollama_end())
    ],
    "anthropic": [anthropic_events(anthropic_start(), *anthropic_thinking(0, LONG, ""))],
}
ARGUMENTS = json.dumps({"query": "x" * 1200})


@ALL
def test_text_reasoning_and_tool_calls_are_cut_at_the_limit(
    server: ModelServer, protocol: Protocol
) -> None:
    request = Request((QUESTION,), options=Options(max_answer_bytes=1001))
    call = ("a", "find_excerpts", ARGUMENTS if protocol is not OLLAMA else json.loads(ARGUMENTS))
    calls = protocol.calls(call[1:] if protocol is OLLAMA else call)
    text = protocol.ask(server, Reply(protocol.text(LONG, "more")), request=request)
    assert (text.text, text.end.reason) == ("é" * 500, "length")
    thought = protocol.ask(server, Reply(REASONING[protocol.name]), request=request)
    assert (thought.reasoning, thought.text, thought.end.reason) == ("é" * 500, "", "length")
    called = protocol.ask(server, Reply(calls), request=request)
    assert (called.calls, called.end.reason) == ((), "length")
    ends = [
        (text, "the answer"),
        (thought, "the reasoning"),
        (called, "the text of the tool calls"),
    ]
    for answer, what in ends:
        notice = f"{what} became longer than 1,001 bytes and was cut there"
        assert answer.end == StreamFinished(
            "length", notice=notice, hint="llm.max_answer_bytes sets the limit."
        )


def test_an_answer_at_the_limit_is_whole(server: ModelServer) -> None:
    request = Request((QUESTION,), options=Options(max_answer_bytes=1200))
    answer = OPENAI.ask(server, Reply(openai_text(LONG)), request=request)
    assert (answer.text, answer.end) == (LONG, StreamFinished("stop"))


def test_empty_parts_without_end_are_no_answer(server: ModelServer) -> None:
    call = {"tool_calls": [{"index": i, "function": {}} for i in range(1001)]}
    blocks = [anthropic_block(0, {"type": "text", "text": ""})[0]] * 1200
    items = [event for i in range(1200) for event in responses_reasoning(i, "", "")]
    empty = {
        OPENAI: sse(openai_delta(**call)),
        ANTHROPIC: anthropic_events(anthropic_start(), *blocks),
    }
    for protocol, body in {**empty, RESPONSES: responses_events(responses_start(), *items)}.items():
        assert protocol.ask(server, Reply([body])).error.kind == "bad_answer"


def test_the_program_says_that_it_cut_an_answer(zkchat: Program, server: ModelServer) -> None:
    zkchat.env |= {
        "OPENAI_BASE_URL": server.address + "/v1",
        "ZKCHAT_LLM__MAX_ANSWER_BYTES": "1000",
    }
    server.says(Reply(openai_text("word " * 300)))
    done = zkchat("ask", "--json", "--model", "openai/m", "What is a filter?")
    document = json.loads(done.out)
    assert (done.exit_status, document["finish_reason"], len(document["answer"])) == (
        0,
        "length",
        1000,
    )
    assert "openai/m: the answer became longer than 1,000 bytes and was cut there" in done.err
    assert "llm.max_answer_bytes" in done.err


# numbers that are none

NOT_COUNTS = [10**310, -1, "12", float("nan"), [3]]


@ALL
@pytest.mark.parametrize("value", NOT_COUNTS, ids=short)
# Of Anthropic's SDK; in the program they go to the log
@pytest.mark.filterwarnings("ignore:Pydantic serializer warnings")
def test_usage_that_is_no_number_is_left_out(
    server: ModelServer, protocol: Protocol, value: Any
) -> None:
    bodies: dict[str, Any] = {
        "openai": openai_text("Yes.", usage={"prompt_tokens": value, "completion_tokens": value}),
        "responses": responses_text("Yes.", usage={"input_tokens": value, "output_tokens": value}),
        "ollama": [
            ndjson(ollama_frame("Yes.")),
            ndjson(ollama_end() | {"prompt_eval_count": value, "eval_count": value}),
        ],
        "anthropic": anthropic_text("Yes.", input_tokens=value, output_tokens=value),
    }
    end = protocol.ask(server, Reply(bodies[protocol.name])).end
    assert (end.reason, end.usage) == ("stop", None)


@ALL
@pytest.mark.parametrize("value", NOT_COUNTS, ids=short)
def test_a_window_that_is_no_number_is_unknown(
    server: ModelServer, protocol: Protocol, value: Any
) -> None:
    rows = [{"id": "m", "name": "m", "max_model_len": value, "max_input_tokens": value}]
    server.gets |= {protocol.listing: {"data": rows, "models": rows}, "/v1/models/m": rows[0]}
    server.gets["/api/show"] = {
        "model_info": {"general.architecture": "l", "l.context_length": value},
        "parameters": f"num_ctx {value}",
    }
    model: Any = open_model(protocol.name, protocol.address(server))
    model.prepare()
    assert (model.window, [listed.window for listed in model.list_models()]) == (None, [None])


@pytest.mark.parametrize("index", [10**310, -1, "0", True, None, 1.5, float("nan"), [0]], ids=short)
def test_an_index_that_is_no_index_ends_in_an_answer_or_an_error(
    server: ModelServer, index: Any
) -> None:
    pieces = [
        {**event, "index": index} if "index" in event else event
        for event in anthropic_call(0, "a", "find", "{}")
    ]
    for protocol, body in (
        (ANTHROPIC, [anthropic_events(anthropic_start(), *pieces)]),
        (
            RESPONSES,
            [
                responses_events(
                    *({**e, "output_index": index} for e in responses_call(0, "a", "find", "{}"))
                )
            ],
        ),
        (
            OPENAI,
            [
                sse(
                    openai_delta(
                        tool_calls=[
                            {
                                "index": index,
                                "id": "a",
                                "function": {"name": "find", "arguments": "{}"},
                            }
                        ]
                    )
                )
            ],
        ),
    ):
        answer = protocol.ask(server, Reply(body))
        assert answer.error.kind in ("bad_answer", "cut")


@ALL
@pytest.mark.parametrize(
    "value", ["1" * 400, "nan", "-1", "inf", "1e400", "true", "Fri, 31 Dec 9999 23:59:59 GMT", "٣"]
)
def test_retry_after_is_a_bounded_number_of_seconds(
    server: ModelServer, protocol: Protocol, value: str
) -> None:
    reply = protocol.error(429, "slow down", {"retry-after": value.encode().decode("latin-1")})
    answer = protocol.ask(server, reply)
    assert answer.error.kind == "rate_limit"
    assert len(answer.error.hint) < 40
    assert all(delay <= 120 for delay in answer.waits)


@pytest.mark.parametrize(
    "number", [10**310, 1e300, float("nan"), float("inf"), "12", None, [1.0], {}], ids=short
)
def test_vectors_are_finite_numbers(server: ModelServer, number: Any) -> None:
    server.gets["/api/embed"] = Reply([json.dumps({"embeddings": [[number, 0.5]]}).encode()])
    with pytest.raises(ProviderError, match="without a vector"):
        compute_vectors(
            embedders.embedder("ollama").open(
                EmbedderConfig(server=ModelConfig(env={"OLLAMA_HOST": server.address}))
            ),
            ["x"],
            "query",
        )


@pytest.mark.parametrize("index", [None, "0", [0]], ids=short)
def test_the_index_of_a_vector_is_a_number_or_an_error(server: ModelServer, index: Any) -> None:
    rows = [{"index": index, "embedding": [1.0]}, {"index": 1, "embedding": [0.5]}]
    server.gets["/v1/embeddings"] = Reply([json.dumps({"data": rows}).encode()])
    embedder = embedders.embedder("openai").open(
        EmbedderConfig(server=ModelConfig(env={"OPENAI_BASE_URL": server.address + "/v1"}))
    )
    with pytest.raises(ProviderError, match=r"contains no embeddings"):
        compute_vectors(embedder, ["x", "y"], "query")


# keys over plain http, proxies


@ALL
def test_a_key_is_not_sent_over_plain_http_to_another_machine(
    server: ModelServer, protocol: Protocol, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The proxy would see it."""
    monkeypatch.setenv("http_proxy", server.address)
    host = "notes.example" if protocol is not OLLAMA else "me:secret-word@notes.example"
    model: Any = open_model(protocol.name, f"http://{host}{protocol.path}")
    model.prepare()
    error = call_model(model).error
    with pytest.raises(ProviderError, match="over plain http"):
        model.list_models()
    assert server.everything == []
    assert error.kind == "auth"
    assert "over plain http, where others can read it; nothing was sent" in error.message
    assert "secret-word" not in error.message
    table = "openai" if protocol is RESPONSES else protocol.name
    assert f"zkchat config set {table}.allow_insecure true" in error.hint
    server.says(Reply(protocol.text("Yes.")))
    allowed = open_model(protocol.name, f"http://{host}{protocol.path}", allow_insecure=True)
    assert call_model(allowed, REQUEST).text == "Yes."


def test_no_command_sends_a_key_over_plain_http(zkchat: Program, server: ModelServer) -> None:
    zkchat.env |= {
        "OPENAI_BASE_URL": "http://notes.example/v1",
        "OPENAI_API_KEY": KEY,
        "http_proxy": server.address,
    }
    done = zkchat("ask", "--model", "openai/m", "What is a filter?")
    assert (done.exit_status, done.out) == (4, "")
    assert "would get the key over plain http" in done.err
    assert "openai.allow_insecure true" in done.err
    assert "over plain http" in zkchat("doctor", "--model", "openai/m").out
    assert server.everything == []


def test_which_addresses_are_this_machine() -> None:
    # Servers print 0.0.0.0 as where they listen
    local = ["http://localhost:1", "http://0.0.0.0:8000/v1", "http://[::1]:80"]
    masked = [
        "http://localhost.example",
        "http://127.0.0.1.example",
        "http://127.0.0.1@notes.example",
        "http://2130706433",
    ]
    assert [
        each
        for each in (*local, *masked, "http://192.168.1.5", "http://[::ffff:1.2.3.4]", "http://")
        if Endpoint("", each, "").is_local
    ] == local


@pytest.mark.parametrize(
    ("variable", "value"),
    [
        ("ALL_PROXY", "socks5://127.0.0.1:1"),
        ("https_proxy", "nonsense://x"),
        ("OLLAMA_HOST", "http://notes.lan:many"),
    ],
)
def test_a_variable_for_other_servers_does_not_matter_to_a_local_one(
    zkchat: Program, server: ModelServer, variable: str, value: str
) -> None:
    """A library reads all of them when it is imported."""
    zkchat.env |= {"OPENAI_BASE_URL": server.address + "/v1", variable: value}
    server.says(Reply(openai_text("Yes.")))
    done = zkchat("ask", "--answer-only", "--model", "openai/m", "What is a filter?")
    assert (done.exit_status, done.out.strip(), done.err) == (0, "Yes.", "")


@pytest.mark.parametrize(
    ("variable", "value"),
    [
        ("all_proxy", "socks5://127.0.0.1:1"),
        ("all_proxy", "nonsense://user:word@127.0.0.1:1"),
        ("all_proxy", "http://[::1"),
        ("SSL_CERT_FILE", "/nowhere"),
    ],
)
def test_proxies_and_certificates_that_cannot_be_used_are_named(
    variable: str, value: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(variable, value)
    http_client._tls.cache_clear()
    model: Any = open_model("openai", "https://notes.example/v1")
    with pytest.raises(ProviderError) as listing:
        model.list_models()
    for error in (call_model(model).error, listing.value):
        assert error.kind == "connection"
        assert "the environment names a proxy or certificates that cannot be used" in error.message
        assert "word" not in f"{error.message} {error.hint}"


# clocks


def test_a_clock_that_jumps_during_turns_changes_no_order_and_no_duration(
    vault: Path, tmp_path: Path
) -> None:
    times = (
        f"{year}-01-01T00:00:00+00:00" for year in itertools.cycle((2030, 1970, 2099, 2026, 2001))
    )
    session = make_app(vault, tmp_path / "cache").session(now=lambda: next(times))
    for text in ("What is a filter?", "And what is a roof?"):
        timings = report_of(session.send(text)).timings_ms
        assert min(timings.values()) >= 0
    opened = session.open_conversation(session.conversation.id)
    assert [message.content for message in opened.history if message.role == "user"] == [
        "What is a filter?",
        "And what is a roof?",
    ]


def test_no_duration_is_measured_by_a_clock_that_can_be_set() -> None:
    sources = Path(zkchat_cli.__file__).parent.rglob("*.py")
    assert [file.name for file in sources if "time.time(" in file.read_text(encoding="utf-8")] == []
