"""/context: show tokens per component against the budgets, and how to reduce them.

They are the tokens of the next prompt. /show prints it word for word.
"""

from functools import partial

from zkchat_cli.chat.session import ZkChatSession
from zkchat_cli.slash.base import CommandResult, SlashCommand
from zkchat_cli.views import context_usage


def _context(session: ZkChatSession, _: str) -> CommandResult:
    render = partial(context_usage.session_usage_lines, session, session.prompt())
    return CommandResult(lines=render(), render=render)


COMMAND = SlashCommand(_context)
