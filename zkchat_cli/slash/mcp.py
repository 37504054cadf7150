"""/mcp: list the servers of other programs' tools, and what each tool costs.

Servers are set in your settings file as tables [mcp.servers.NAME]. A tool's tokens are sent with every message that offers it.
"""

import json

from zkchat_cli.chat.session import ZkChatSession
from zkchat_cli.slash.base import Lines, slash_command
from zkchat_cli.text.truncate import truncate
from zkchat_cli.views.text import StyledLine, StyledSpan, styled_line

NO_SERVERS = "No servers of tools are set. They are tables [mcp.servers.NAME] in your settings file; `zkchat config path` names it."


@slash_command()
def run(session: ZkChatSession, _: str) -> Lines:
    external, runtime = session.services.external, session.runtime
    if external is None:
        yield styled_line(NO_SERVERS)
        return
    for server in external.status():
        state = f"failed: {server.problem}" if server.state == "failed" else "not started yet" if server.state == "off" else server.state
        style = "yellow" if server.state == "failed" else "dim"
        yield StyledLine((StyledSpan(f"{server.name}  ", "bold"), StyledSpan(state, style)))
        yield styled_line(f"    {truncate(server.address, 200)}", "dim")
        for tool in server.tools:
            tokens = runtime.counter.count(json.dumps(tool.descriptor, ensure_ascii=False))
            yield styled_line(f"    {tool.name}  {tokens} tokens  {truncate(tool.description, 80)}")
    if not runtime.takes_external:
        yield styled_line(f"{runtime.speaker_label} is not offered these tools.", "yellow")
