"""Registry: what the model may call. Each file has the tools of a topic and declares `TOOLS`, see
`base`.
"""

from zkchat_cli.registry import Registry
from zkchat_cli.tools.base import Tool

TOPICS: Registry[list[Tool]] = Registry(__name__, "TOOLS")


def load_tools(*, unsafe: bool = False) -> list[Tool]:
    """The tools of a conversation by name; with `unsafe` those that write notes too."""
    tools = [
        tool for topic in TOPICS.names() for tool in TOPICS.load(topic) if unsafe or not tool.writes
    ]
    return sorted(tools, key=lambda tool: tool.name)
