"""The connection to one MCP server: it connects, lists the tools, and calls them.

Its session is on the servers' thread, and `status` and `problems` are read from others.
"""

import threading
from collections.abc import Mapping
from concurrent.futures import Future
from functools import partial
from typing import TYPE_CHECKING, Any

from zkchat_cli import __version__
from zkchat_cli.chat.runtime import ExternalServer
from zkchat_cli.config.schema import McpServer
from zkchat_cli.errors import reason
from zkchat_cli.llm.stop_signal import wait_for
from zkchat_cli.mcp_client.offered_tools import find_offered_tools
from zkchat_cli.mcp_client.tool_result import read_tool_result
from zkchat_cli.text.sanitize import sanitize
from zkchat_cli.text.truncate import truncate
from zkchat_cli.tools.base import Tool, ToolArgumentError, ToolOutput

if TYPE_CHECKING:
    from anyio.from_thread import BlockingPortal

# Number of starts of a server that keeps ending, before it is given up
MAX_STARTS = 3
# Most pages that are read of a server's list of tools
MAX_PAGES = 20
# Seconds that a call may take beyond its limit: in this time the SDK reports a better error
EXTRA_SECONDS = 5
MAX_PROBLEM = 200
MISSING_LIBRARY = "the MCP library is not installed: pip install 'zkchat[mcp]'"


class ServerConnection:
    """One server: `status` has its state and its tools."""

    def __init__(self, name: str, server: McpServer, call_seconds: float) -> None:
        address = server.url or " ".join((server.command, *server.args))
        self.status = ExternalServer(name, address, "off")
        # Set when the server is ready or has failed
        self.settled = threading.Event()
        # Problems that the user has not been told yet
        self.problems: list[str] = []
        self.task: Future[None] | None = None
        self._name = name
        self._server = server
        self._call_seconds = call_seconds
        self._starts = 0
        self._client: Any = None

    def start(self, portal: "BlockingPortal") -> None:
        """Start the server on the thread of `portal`, unless it is running or has ended too
        often.
        """
        has_ended = self.task is not None and self.task.done() and self._starts < MAX_STARTS
        if self.task is None or has_ended:
            self.status = self.status._replace(state="starting")
            self._starts += 1
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
        # The names of tools that cannot be read
        unreadable: list[str] = []
        try:
            import anyio
            from mcp import Client
            from mcp.types import Implementation

            from zkchat_cli.mcp_client.transports import connect

            ended = anyio.Event()
            async with Client(
                connect(self._server, ended, errors, unreadable.append),
                read_timeout_seconds=self._call_seconds,
                client_info=Implementation(name="zkchat", version=__version__),
            ) as client:
                self._client = client
                tools = self._read_tools(await _list_tools(client), unreadable)
                self.status = self.status._replace(state="ready", tools=tools)
                self.settled.set()
                await ended.wait()
            self._fail(f"the program has ended. {_last_line(errors)}".strip())
        except ImportError:
            self._fail(MISSING_LIBRARY)
        except Exception as e:  # noqa: BLE001
            # Whatever a server makes of the protocol ends as one line
            self._fail(_last_line(errors) or _first_cause(e))
        finally:
            self._client = None
            self.settled.set()

    def _read_tools(self, described: list[Any], unreadable: list[str]) -> tuple[Tool, ...]:
        """The tools that the model is offered; the others are reported as problems."""
        offered, problems = find_offered_tools(
            self._name, self._server.tools, described, unreadable
        )
        self.problems += problems
        tools: list[Tool] = []
        for each in offered:
            call = partial(self._call, each.name, each.remote_name)
            tools.append(Tool(each.name, each.description, each.schema, call, scope="server"))
        return tuple(tools)

    def _call(self, name: str, remote_name: str, arguments: Mapping[str, Any]) -> ToolOutput:
        """The result of a tool of the server.

        Raises ToolArgumentError with a sentence for the model.
        """
        client = self._client
        if client is None:
            problem = self.status.problem or "its server is not ready"
            raise ToolArgumentError(f"{name} cannot be called: {problem}. Answer without it")
        future = self._portal.start_task_soon(client.call_tool, remote_name, dict(arguments))
        try:
            result = wait_for(future, self._call_seconds + EXTRA_SECONDS)
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
            # A stopped turn cancels the call
            future.cancel()
        return read_tool_result(name, result)


async def _list_tools(client: Any) -> list[Any]:
    """The tools of a server as it describes them, from up to MAX_PAGES pages of its list."""
    described: list[Any] = []
    cursor = None
    for _ in range(MAX_PAGES):
        page = await client.list_tools(cursor=cursor)
        described += page.tools
        cursor = page.next_cursor
        if cursor is None:
            break
    return described


def _last_line(errors: bytearray) -> str:
    lines = errors.decode(errors="replace").strip().splitlines()
    return lines[-1] if lines else ""


def _first_cause(e: BaseException) -> str:
    """The cause of an error, or of the first error in a group."""
    while isinstance(e, BaseExceptionGroup):
        e = e.exceptions[0]
    return (reason(e) if isinstance(e, Exception) else "") or type(e).__name__
