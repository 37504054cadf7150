"""The configured MCP servers: they start in the background, the model is offered their tools, and
each call has limits of time and size.

A server is a guest: whatever it does costs one line, and the chat goes on. Its tools are offered as
`SERVER.tool`, and what they return is data for the model. It gets no notes but what the model
writes into a call's arguments, which the user approves.
"""

import time
from collections.abc import Mapping
from contextlib import ExitStack
from typing import TYPE_CHECKING

from zkchat_cli.chat.runtime import ExternalServer
from zkchat_cli.config.schema import McpServer
from zkchat_cli.events import Notice
from zkchat_cli.llm.stop_signal import STOP_INTERVAL, raise_if_stopped
from zkchat_cli.mcp_client.connection import ServerConnection
from zkchat_cli.tools.base import Tool

if TYPE_CHECKING:
    from anyio.from_thread import BlockingPortal

# Seconds that a turn waits for servers that are starting; a program from npm or PyPI may have to be
# downloaded first
START_SECONDS = 20.0
CALL_SECONDS = 120.0


class McpServers:
    """The servers by name.

    `start` returns at once; `tools` waits once for the servers that are starting.
    """

    def __init__(
        self,
        settings: Mapping[str, McpServer],
        *,
        start_seconds: float = START_SECONDS,
        call_seconds: float = CALL_SECONDS,
    ) -> None:
        self._connections = {
            name: ServerConnection(name, server, call_seconds) for name, server in settings.items()
        }
        self._start_seconds = start_seconds
        self._portal: BlockingPortal | None = None
        self._resources = ExitStack()
        self._has_waited = False

    def start(self) -> None:
        """Start the servers in the background, including those that have ended."""
        if not self._connections:
            return
        from anyio.from_thread import start_blocking_portal

        if self._portal is None:
            self._portal = self._resources.enter_context(start_blocking_portal(name="mcp servers"))
        for connection in self._connections.values():
            connection.start(self._portal)

    def tools(self) -> tuple[Tool, ...]:
        """The tools of the servers that are ready.

        The first call waits for them, `start_seconds` at most; a stop ends the wait.
        """
        self.start()
        if not self._has_waited:
            self._has_waited = True
            self._wait_until_settled()
        found: list[Tool] = []
        for connection in self._connections.values():
            found += connection.status.tools
        return tuple(found)

    def _wait_until_settled(self) -> None:
        deadline = time.monotonic() + self._start_seconds
        for connection in self._connections.values():
            while not connection.settled.wait(STOP_INTERVAL) and time.monotonic() < deadline:
                raise_if_stopped()
            if not connection.settled.is_set():
                connection.problems.append("it has not answered yet; its tools are missing")

    def take_notices(self) -> list[Notice]:
        """The problems since the last call."""
        notices: list[Notice] = []
        for name, connection in self._connections.items():
            problems = connection.problems
            connection.problems = []
            hint = "/mcp lists the servers."
            notices += [Notice(f"{name}: {problem}", hint) for problem in problems]
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
