"""`zkchat acp`: one editor on standard input and output."""

import asyncio
import json
from collections.abc import Callable
from contextlib import closing, suppress
from pathlib import Path
from typing import Any

from acp import run_agent, stdio_streams

from zkchat_cli.acp.agent import NoteAgent
from zkchat_cli.app.factory import App

# Most bytes of a message
MAX_LINE = 50_000_000
# Error code of JSON-RPC
PARSE_ERROR = -32700


def serve(open_app: Callable[[Path], App]) -> None:
    """Serve one editor on standard input and output, until the editor closes them.

    `open_app` opens the vault of a session's folder.
    """
    with closing(NoteAgent(open_app)) as agent:
        asyncio.run(_serve_standard_streams(agent))


async def _serve_standard_streams(agent: Any) -> None:
    """Pass the SDK the lines that are messages, and answer others with an error: the SDK ends at
    JSON that is not an object.
    """
    lines, writer = await stdio_streams(limit=MAX_LINE)
    messages = asyncio.StreamReader(limit=MAX_LINE)
    error = {"code": PARSE_ERROR, "message": "a message is one JSON object on one line"}

    async def check_lines() -> None:
        async for line in lines:
            with suppress(RecursionError, ValueError):
                if isinstance(json.loads(line), dict):
                    messages.feed_data(line)
                    continue
            answer = {"jsonrpc": "2.0", "id": None, "error": error}
            writer.write(json.dumps(answer).encode() + b"\n")
        messages.feed_eof()

    checking = asyncio.create_task(check_lines())
    try:
        await run_agent(agent, writer, messages)
    finally:
        checking.cancel()
