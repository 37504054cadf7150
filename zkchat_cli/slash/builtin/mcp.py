"""Lists the servers of other programs' tools."""

import json

from zkchat_cli.chat.session import ZkChatSession
from zkchat_cli.slash.base import Lines, Topic, declare_command
from zkchat_cli.text.truncate import truncate
from zkchat_cli.tools.base import Tool
from zkchat_cli.views.text import StyledLine, StyledSpan, styled_line

NO_SERVERS = (
    "No MCP server is set up. Each one is a table [mcp.servers.NAME] in your settings file; "
    "`zkchat config path` says where that is."
)
MAX_ADDRESS = 200
MAX_DESCRIPTION = 80


def mcp(session: ZkChatSession, _: str) -> Lines:
    """List the servers of other programs' tools, and what each tool costs.

    Servers are set in your settings file as tables [mcp.servers.NAME]. A tool's tokens are sent
    with every message that offers it.
    """
    external = session.services.external
    runtime = session.runtime
    if external is None:
        yield styled_line(NO_SERVERS)
        return
    for server in external.status():
        style = "yellow" if server.state == "failed" else "dim"
        state = _state_text(server.state, server.problem)
        yield StyledLine((StyledSpan(f"{server.name}  ", "bold"), StyledSpan(state, style)))
        yield styled_line(f"    {truncate(server.address, MAX_ADDRESS)}", "dim")
        yield from (_tool_line(session, tool) for tool in server.tools)
    if not runtime.takes_external:
        yield styled_line(f"{runtime.speaker_label} is not offered these tools.", "yellow")


def _state_text(state: str, problem: str) -> str:
    if state == "failed":
        return f"failed: {problem}"
    return "not started yet" if state == "off" else state


def _tool_line(session: ZkChatSession, tool: Tool) -> StyledLine:
    descriptor = json.dumps(tool.descriptor, ensure_ascii=False)
    tokens = session.runtime.counter.count(descriptor)
    description = truncate(tool.description, MAX_DESCRIPTION)
    return styled_line(f"    {tool.name}  {tokens} tokens  {description}")


COMMAND = declare_command(mcp, Topic.SETTINGS, order=40)
