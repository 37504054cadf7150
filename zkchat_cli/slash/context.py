"""/context: show tokens per component against the budgets, and how to reduce them.

They are the tokens of the next prompt. /show prints it word for word.
"""

from collections.abc import Sequence

from zkchat_cli.chat.session import ZkChatSession
from zkchat_cli.slash.base import CommandResult, SlashCommand
from zkchat_cli.views import context_usage
from zkchat_cli.views.text import StyledLine


def _context(session: ZkChatSession, _: str) -> CommandResult:
    prompt = session.prompt()
    pinned = context_usage.pinned_turns(session.history)
    filtered = session.runtime.settings.context.tool_filter == "auto"

    reported = session.has_reported_usage

    def render(width: int) -> Sequence[StyledLine]:
        return context_usage.usage_lines(prompt, width, pinned, filtered=filtered, reported=reported)

    return CommandResult(lines=render(context_usage.WIDTH), render=render)


COMMAND = SlashCommand(_context)
