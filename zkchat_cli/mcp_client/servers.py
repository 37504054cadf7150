"""The configured MCP servers: they start in the background, the model is offered their tools, and
each call has limits of time and size.

A server is a guest: whatever it does costs one line, and the chat goes on. Its tools are offered as
`SERVER.tool`, and what they return is data for the model. It gets no notes but what the model
writes into a call's arguments, which the user approves.
"""

import json
import threading
import time
from collections.abc import Mapping, Sequence
from concurrent.futures import Future
from contextlib import ExitStack
from functools import partial
from typing import TYPE_CHECKING, Any

from zkchat_cli import __version__
from zkchat_cli.chat.runtime import ExternalServer
from zkchat_cli.config.schema import McpServer
from zkchat_cli.errors import reason
from zkchat_cli.llm.base import MAX_TOOL_NAME, wire_name
from zkchat_cli.llm.stop_signal import STOP_INTERVAL, raise_if_stopped, wait_for
from zkchat_cli.text.numbers import plural
from zkchat_cli.text.patterns import lazy_pattern
from zkchat_cli.text.sanitize import sanitize
from zkchat_cli.text.truncate import truncate
from zkchat_cli.tools.base import Tool, ToolArgumentError, ToolOutput

if TYPE_CHECKING:
    from anyio.from_thread import BlockingPortal

# How long a turn waits for servers that are starting; a program from npm or PyPI may be downloaded
# first
START_SECONDS = 20.0
CALL_SECONDS = 120.0
# How often a server that ends is started before it is given up
MAX_STARTS = 3
# How many tools of a server are offered, and how many pages of its list are read
MAX_TOOLS = 100
MAX_PAGES = 20
TOOL_NAME = lazy_pattern(r"[\w./-]+")
MAX_DESCRIPTION = 1_000
# Characters of a tool's input schema; a longer one would take thousands of tokens with every call
MAX_SCHEMA = 10_000
# Characters of a result; of these the model gets what its window has room for
MAX_RESULT = 1_000_000
MAX_PROBLEM = 200
MISSING_LIBRARY = "the MCP library is not installed: pip install 'zkchat[mcp]'"


class McpServers:
    """The servers by their names. `start` returns at once; `tools` waits for the servers that are
    starting, once.
    """

    def __init__(
        self,
        settings: Mapping[str, McpServer],
        *,
        start_seconds: float = START_SECONDS,
        call_seconds: float = CALL_SECONDS,
    ) -> None:
        self._connections = {
            name: _Connection(name, server, call_seconds) for name, server in settings.items()
        }
        self._start_seconds = start_seconds
        self._portal: BlockingPortal | None = None
        self._resources = ExitStack()
        self._has_waited = False

    def start(self) -> None:
        """Start the servers in the background, also those that have ended."""
        if not self._connections:
            return
        from anyio.from_thread import start_blocking_portal

        if self._portal is None:
            self._portal = self._resources.enter_context(start_blocking_portal(name="mcp servers"))
        for connection in self._connections.values():
            connection.start(self._portal)

    def tools(self) -> tuple[Tool, ...]:
        """The tools of the servers that are ready. The first time it waits for them,
        `start_seconds` at most; a stop ends that.
        """
        self.start()
        if not self._has_waited:
            self._has_waited = True
            deadline = time.monotonic() + self._start_seconds
            for connection in self._connections.values():
                while not connection.settled.wait(STOP_INTERVAL) and time.monotonic() < deadline:
                    raise_if_stopped()
                if not connection.settled.is_set():
                    connection.problems.append("it has not answered yet; its tools are missing")
        return tuple(
            tool for connection in self._connections.values() for tool in connection.status.tools
        )

    def take_notices(self) -> list[tuple[str, str]]:
        """What went wrong since the last time: message and hint."""
        notices = []
        for name, connection in self._connections.items():
            problems = connection.problems
            connection.problems = []
            notices += [(f"{name}: {problem}", "/mcp lists the servers.") for problem in problems]
        return notices

    def status(self) -> tuple[ExternalServer, ...]:
        """Every server with its state and its tools."""
        return tuple(connection.status for connection in self._connections.values())

    def add_problem(self, server: str, problem: str) -> None:
        """Report a problem of a server with the next notices."""
        self._connections[server].problems.append(problem)

    def close(self) -> None:
        """Stop all servers."""
        for connection in self._connections.values():
            if connection.task is not None:
                connection.task.cancel()
        self._resources.close()
        self._portal = None


class _Connection:
    """One server. Its session lives on the servers' thread; `status` and `problems` are read from
    others.
    """

    def __init__(self, name: str, server: McpServer, call_seconds: float) -> None:
        self.status = ExternalServer(
            name, server.url or " ".join((server.command, *server.args)), "off"
        )
        # Set when the server is ready or has failed
        self.settled = threading.Event()
        # What the user has not been told yet
        self.problems: list[str] = []
        self.task: Future[None] | None = None
        self._name = name
        self._server = server
        self._call_seconds = call_seconds
        self._starts = 0
        self._client: Any = None

    def start(self, portal: "BlockingPortal") -> None:
        if self.task is None or (self.task.done() and self._starts < MAX_STARTS):
            self.status = self.status._replace(state="starting")
            self._starts = self._starts + 1
            self._portal = portal
            self.task = portal.start_task_soon(self._serve)

    def _fail(self, problem: str) -> None:
        self.problems.append(truncate(" ".join(sanitize(problem).split()), MAX_PROBLEM))
        self.status = self.status._replace(state="failed", problem=self.problems[-1], tools=())

    async def _serve(self) -> None:
        """Connect, list the tools, and stay until the server ends. No error of a server leaves this
        method.
        """
        errors = bytearray()
        try:
            import anyio
            from mcp import Client
            from mcp.types import Implementation

            from zkchat_cli.mcp_client.transports import connect

            ended = anyio.Event()
            streams = connect(self._server, ended, errors)
            client_info = Implementation(name="zkchat", version=__version__)
            async with Client(
                streams, read_timeout_seconds=self._call_seconds, client_info=client_info
            ) as client:
                self._client = client
                described: list[Any] = []
                cursor = None
                for _ in range(MAX_PAGES):
                    page = await client.list_tools(cursor=cursor)
                    described += page.tools
                    cursor = page.next_cursor
                    if cursor is None:
                        break
                self.status = self.status._replace(state="ready", tools=self._read_tools(described))
                self.settled.set()
                await ended.wait()
            self._fail(f"the program has ended. {_last_line(errors)}".strip())
        except ImportError:
            self._fail(MISSING_LIBRARY)
        except Exception as e:  # noqa: BLE001, RUF100
            # Whatever a server makes of the protocol ends as one line
            self._fail(_last_line(errors) or _first_cause(e))
        finally:
            self._client = None
            self.settled.set()

    def _read_tools(self, described: Sequence[Any]) -> tuple[Tool, ...]:
        """The tools that can be offered; those that cannot are a problem."""
        tools: dict[str, Tool] = {}
        wrong = []
        allowed = self._server.tools
        for each in described:
            if allowed is not None and each.name not in allowed:
                continue
            name = f"{self._name}.{each.name}"
            schema = each.input_schema
            is_valid = (
                isinstance(schema, dict)
                and schema.get("type", "object") == "object"
                and len(json.dumps(schema)) <= MAX_SCHEMA
            )
            # What differs only in its punctuation would be one tool for a model
            key = wire_name(name)
            if (
                key in tools
                or len(name) > MAX_TOOL_NAME
                or not TOOL_NAME.fullmatch(each.name)
                or not is_valid
            ):
                wrong.append(each.name)
                continue
            description = sanitize(truncate(each.description or each.title or "", MAX_DESCRIPTION))
            tools[key] = Tool(
                name, description, schema, partial(self._call, name, each.name), "server"
            )
        if wrong:
            names = truncate(sanitize(", ".join(wrong)), 100)
            self.problems.append(
                f"{names} cannot be offered: a name, or what it takes, is too long or wrong"
            )
        if missing := set(allowed or ()) - {each.name for each in described}:
            self.problems.append(f"it has no tool {', '.join(sorted(missing))}")
        if len(tools) > MAX_TOOLS:
            self.problems.append(f"only its first {MAX_TOOLS} tools are offered")
        return tuple(tools.values())[:MAX_TOOLS]

    def _call(self, name: str, remote_name: str, arguments: Mapping[str, Any]) -> ToolOutput:
        """The text of a result, and a note about parts that are not text. Raises ToolArgumentError
        with a sentence for the model.
        """
        client = self._client
        if client is None:
            raise ToolArgumentError(
                f"{name} cannot be called: "
                f"{self.status.problem or 'its server is not ready'}. Answer without it"
            )
        future = self._portal.start_task_soon(client.call_tool, remote_name, dict(arguments))
        try:
            result = wait_for(future, self._call_seconds + 5)
        except TimeoutError:
            raise ToolArgumentError(
                f"{name} did not answer in {self._call_seconds:.0f} s. Answer without it"
            ) from None
        except ValueError as e:
            raise ToolArgumentError(
                f"{name} answered with something that is not the result of a tool"
            ) from e
        except Exception as e:
            # An error of the protocol, or of the connection
            raise ToolArgumentError(
                f"{name} failed: {truncate(sanitize(_first_cause(e)), MAX_PROBLEM)}"
            ) from e
        finally:
            future.cancel()  # a stop ends the call
        texts = []
        for block in result.content:
            if block.type == "resource_link":
                texts.append(f"{block.name}: {block.uri}")
            elif (text := getattr(getattr(block, "resource", block), "text", None)) is not None:
                # Of a text or an embedded file
                texts.append(text)
        others = len(result.content) - len(texts)
        if not texts and result.structured_content is not None:
            texts = [json.dumps(result.structured_content, ensure_ascii=False)]
        text = "\n".join(texts)
        if result.is_error:
            raise ToolArgumentError(
                f"{name}: {truncate(sanitize(text) or 'it failed and says nothing', 1000)}"
            )
        notes = [f"{plural(others, 'part')} left out: not text"] if others else []
        if len(text) > MAX_RESULT:
            notes.append(f"the result is cut after {MAX_RESULT:,} characters")
        return ToolOutput(
            data={"result": sanitize(text[:MAX_RESULT]).split("\n")},
            note=". ".join(notes),
            outcome=f"{len(text):,} characters",
        )


def _last_line(errors: bytearray) -> str:
    lines = errors.decode(errors="replace").strip().splitlines()
    return lines[-1] if lines else ""


def _first_cause(e: BaseException) -> str:
    """The reason of an error, or of the first in a group of them."""
    while isinstance(e, BaseExceptionGroup):
        e = e.exceptions[0]
    return (reason(e) if isinstance(e, Exception) else "") or type(e).__name__
