"""Standard input and output as the SDK takes them. Each line is checked first, because the SDK ends at JSON that is not an object."""

import asyncio
import json
from typing import Any, cast

from acp import run_agent
from acp.interfaces import Agent
from acp.stdio import stdio_streams

MAX_LINE = 50_000_000
"""Bytes of a message."""
PARSE_ERROR, INVALID_REQUEST = -32700, -32600
"""Codes of JSON-RPC 2.0."""


async def serve_standard_streams(agent: object) -> None:
    """Serve the editor on standard input and output until it closes them. Lines that are not messages are answered with an error."""
    lines, writer = await stdio_streams(limit=MAX_LINE)
    messages = asyncio.StreamReader(limit=MAX_LINE)
    checking = asyncio.create_task(_check_lines(lines, messages, writer))
    try:
        await run_agent(cast("Agent", agent), writer, messages)
    finally:
        checking.cancel()


async def _check_lines(lines: asyncio.StreamReader, messages: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    try:
        while True:
            try:
                line = await lines.readline()
            except ValueError:
                writer.write(_error(INVALID_REQUEST, f"a message has more than {MAX_LINE // 1_000_000} MB"))
                continue
            if not line:
                return
            if problem := _find_problem(line):
                writer.write(problem)
            else:
                messages.feed_data(line)
    finally:
        messages.feed_eof()


def _find_problem(line: bytes) -> bytes | None:
    """The error for a line that is not a message; None for one that is."""
    if not line.strip():
        return None
    try:
        message: Any = json.loads(line)
    except (RecursionError, ValueError):
        return _error(PARSE_ERROR, "a line is not JSON; a message is one JSON object on one line")
    return None if isinstance(message, dict) else _error(INVALID_REQUEST, "a message is one JSON object on one line")


def _error(code: int, text: str) -> bytes:
    return json.dumps({"jsonrpc": "2.0", "id": None, "error": {"code": code, "message": text}}).encode() + b"\n"
