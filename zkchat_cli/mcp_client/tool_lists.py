"""Cleans the lists of tools in a server's messages before the SDK reads them.

The SDK refuses a whole list for one wrong tool, and runs the regular expressions of a result's
schema, which may take minutes. What a tool returns is text for the model, so nobody needs that
schema.
"""

from collections.abc import Callable
from typing import Any

from mcp import types
from mcp.shared.message import SessionMessage

from zkchat_cli.mcp_client.converted_messages import ConvertedMessages, Received
from zkchat_cli.text.sanitize import sanitize_name
from zkchat_cli.text.truncate import truncate

# Most characters of a name that is reported
MAX_NAME = 40
_TEXTS = ("title", "description")


def clean_lists(messages: Any, leave_out: Callable[[str], None]) -> ConvertedMessages:
    """The messages from a server, with tools that the SDK can read. `leave_out` gets the name of
    each tool that was left out.
    """

    def clean(received: Received) -> Received:
        if isinstance(received, SessionMessage):
            _clean_list(received.message, leave_out)
        return received

    return ConvertedMessages(messages, clean)


def _clean_list(message: Any, leave_out: Callable[[str], None]) -> None:
    """Keep only tools that the SDK can read in a message, if it lists some."""
    if not isinstance(message, types.JSONRPCResponse):
        return
    described = message.result.get("tools")
    if not isinstance(described, list):
        return
    tools: list[dict[str, Any]] = []
    for each in described:
        tool = read_tool(each)
        if tool is not None:
            tools.append(tool)
            continue
        name = each.get("name") if isinstance(each, dict) else each
        leave_out(truncate(sanitize_name(str(name)), MAX_NAME))
    message.result["tools"] = tools


def read_tool(described: Any) -> dict[str, Any] | None:
    """The name, the texts and the schema of the arguments of a tool; None if a model cannot call
    it.
    """
    if not isinstance(described, dict) or not isinstance(described.get("name"), str):
        return None
    schema = described.get("inputSchema")
    if not isinstance(schema, dict) or not _describes_arguments(schema):
        return None
    tool = {"name": described["name"], "inputSchema": {**schema, "type": "object"}}
    for key in _TEXTS:
        if isinstance(described.get(key), str):
            tool[key] = described[key]
    return tool


def _describes_arguments(schema: dict[str, Any]) -> bool:
    """Whether a schema describes an object, in the form that the protocol demands."""
    properties = schema.get("properties", {})
    required = schema.get("required", [])
    return (
        schema.get("type", "object") == "object"
        and isinstance(properties, dict)
        and all(isinstance(each, dict) for each in properties.values())
        and isinstance(required, list)
        and all(isinstance(each, str) for each in required)
    )
