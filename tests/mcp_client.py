"""A client of the official SDK, as a test uses it: `client.call("search_notes",
query="filter")`.
"""

import json
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from anyio.from_thread import BlockingPortal, start_blocking_portal
from httpx2 import AsyncClient
from mcp import Client, StdioServerParameters
from mcp.client.stdio import stdio_client
from mcp.client.streamable_http import streamable_http_client
from mcp.server.mcpserver import MCPServer


class Refused(Exception):
    """A call that was answered with an error; the text is what the client's model is told."""


class NoteClient:
    """The SDK's client, called from a thread without an event loop."""

    def __init__(self, client: Client, portal: BlockingPortal) -> None:
        self.client = client
        self.portal = portal

    def run(self, method: str, *arguments: Any, **named: Any) -> Any:
        """What a method of the SDK's client returns."""

        async def call() -> Any:
            return await getattr(self.client, method)(*arguments, **named)

        return self.portal.call(call)

    def call(self, tool: str, **arguments: Any) -> Any:
        """The structured content of a tool's result. Raises Refused with the sentence of an
        error.
        """
        result = self.run("call_tool", tool, arguments)
        [text] = result.content
        if result.is_error:
            raise Refused(text.text)
        assert json.loads(text.text) == result.structured_content
        return result.structured_content


@contextmanager
def connected_by_pipe(
    command: list[str], env: dict[str, str], log: Any, **options: Any
) -> Iterator[NoteClient]:
    """A client of the server that a command starts; the server's standard error goes to the file
    `log`.
    """
    parameters = StdioServerParameters(command=command[0], args=command[1:], env=env)
    with start_blocking_portal() as portal:
        client = Client(stdio_client(parameters, errlog=log), **options)
        with portal.wrap_async_context_manager(client):
            yield NoteClient(client, portal)


@contextmanager
def connected_in_memory(server: MCPServer[Any], **options: Any) -> Iterator[NoteClient]:
    """A client of a server in this process."""
    with start_blocking_portal() as portal:
        client = Client(server, **options)
        with portal.wrap_async_context_manager(client):
            yield NoteClient(client, portal)


@contextmanager
def connected_by_http(address: str, token: str, **options: Any) -> Iterator[NoteClient]:
    http = AsyncClient(headers={"Authorization": f"Bearer {token}"})
    with start_blocking_portal() as portal, portal.wrap_async_context_manager(http):
        client = Client(streamable_http_client(address, http_client=http), **options)
        with portal.wrap_async_context_manager(client):
            yield NoteClient(client, portal)
