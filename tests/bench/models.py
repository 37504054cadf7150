"""What a streamed token costs zkchat: the loop alone, and through a server beside a bare HTTP
client that reads the same stream.
"""

import json
import subprocess
import sys
import time
from collections.abc import Callable, Generator, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path

import httpx
from ground import Ground
from measuring import Goal, Row

from zkchat_cli.app import factory
from zkchat_cli.app.settings import StartupOptions
from zkchat_cli.chat.session import ZkChatSession
from zkchat_cli.events import TextDelta, TurnCompleted
from zkchat_cli.llm import providers
from zkchat_cli.llm.base import Delta, Model, ModelConfig, Request, StreamFinished

TOKENS = 4000
SERVER = """
import sys, time
sys.path.insert(0, sys.argv[1])
from model_server import Reply, running_server, ollama_text, openai_text
pieces = [f"word{i} " for i in range(int(sys.argv[3]))]
with running_server() as server:
    server.says(Reply({"openai": openai_text, "ollama": ollama_text}[sys.argv[2]](*pieces)))
    print(server.address, flush=True)
    sys.stdin.read()
"""
"""A process of its own, or it would take its time from the one that is measured."""
PATHS = {"openai": "/v1/chat/completions", "ollama": "/api/chat"}


@dataclass
class Fast(Model):
    """A model that answers as fast as Python can."""

    tokens: int
    name = "fast"

    def stream(self, request: Request) -> Generator[Delta, None, None]:  # noqa: ARG002
        for i in range(self.tokens):
            yield TextDelta(f"word{i} ")
        yield StreamFinished("stop")


def figures(ground: Ground) -> Iterator[Row]:
    bench = factory.open_app(
        StartupOptions(vault=ground.vault, model="offline", store=False), ground.env, ground.vault
    )
    count = 200 if ground.quick else TOKENS
    plain = bench.session()

    def looped() -> float:
        return _between_tokens(
            ZkChatSession(plain.services, replace(plain.runtime, model=Fast(count))), count
        )

    def generated() -> float:
        model = Fast(count)
        return _timed(lambda: sum(1 for _ in model.stream(Request(()))), count)

    times = ground.times(10)
    yield Row(
        "a token through the loop",
        [looped() for _ in times],
        [generated() for _ in times],
        "the generator alone",
        Goal(100, "p95"),
        "µs",
    )
    for provider, path in PATHS.items():
        with _server(provider, count) as address:
            env = {"OPENAI_BASE_URL": f"{address}/v1", "OLLAMA_HOST": address}
            model = providers.provider(provider).open(ModelConfig("m", None, env))
            model.prepare()

            def wired(model: Model = model) -> float:
                return _between_tokens(
                    ZkChatSession(plain.services, replace(plain.runtime, model=model)), count
                )

            def read(address: str = address, path: str = path) -> float:
                return _timed(lambda: _read(address + path), count)

            yield Row(
                f"a token through {provider}",
                [wired() for _ in times],
                [read() for _ in times],
                "httpx and json alone",
                None,
                "µs",
            )
    bench.close()


def _between_tokens(session: ZkChatSession, count: int) -> float:
    """Microseconds a token, from the first to the last; what comes before and after is measured
    elsewhere. Tokens that come together may be one event.
    """
    first = last = 0.0
    for event in session.send("How fast?"):
        if isinstance(event, TextDelta):
            last = time.perf_counter()
            first = first or last
        ended = event
    assert isinstance(ended, TurnCompleted), ended
    return 1e6 * (last - first) / max(1, count - 1)


def _timed(run: Callable[[], object], count: int) -> float:
    begin = time.perf_counter()
    run()
    return 1e6 * (time.perf_counter() - begin) / count


def _read(url: str) -> int:
    with (
        httpx.Client(trust_env=False) as client,
        client.stream("POST", url, json={"stream": True}) as response,
    ):
        return sum(
            len(json.loads(line.removeprefix("data: ")))
            for line in response.iter_lines()
            if line.strip() and "[DONE]" not in line
        )


@contextmanager
def _server(provider: str, count: int) -> Iterator[str]:
    command = [
        sys.executable,
        "-c",
        SERVER,
        str(Path(__file__).parent.parent),
        provider,
        str(count),
    ]
    with subprocess.Popen(
        command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as process:
        assert process.stdout is not None
        yield process.stdout.readline().strip()
        process.communicate("")
