"""Drawer: what the model may call. Each file declares `TOOL`: a name, a descriptor in the OpenAI function form, and `run`.

A tool gets the model's arguments as they came and what it is `of`, the notes or memory, and answers with a Finding; wrong arguments are a
ToolMistake, which goes back to the model as a short error that it can correct. Tools are plain values of our own, so that the offline
provider never loads a model library.
"""

import sys

from zkchat_cli import registry
from zkchat_cli.tools.base import FINISH, Tool


def load_tools(*, unsafe: bool = False) -> list[Tool]:
    """All tools of a conversation that change no note, by name; with `unsafe` all of them. A run has one more, `finish`."""
    every: list[Tool] = registry.load_all(sys.modules[__name__], "TOOL")
    return [tool for tool in every if tool.scope != "run" and (unsafe or not tool.writes)]


def load_finish_tool() -> Tool:
    """The tool that ends a run."""
    found: Tool = registry.load(sys.modules[__name__], FINISH, "TOOL")
    return found
