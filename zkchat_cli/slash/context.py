"""/context: show tokens per component against the budgets, and how to reduce them.

They are the tokens of the next prompt. /show prints it word for word.
"""

from functools import partial

from zkchat_cli.chat.session import ZkChatSession
from zkchat_cli.models import Prompt
from zkchat_cli.slash.base import CommandResult, slash_command
from zkchat_cli.views import prompts
from zkchat_cli.views.prompts import WIDTH
from zkchat_cli.views.text import IN_CHAT, CommandHints, StyledLine


@slash_command()
def run(session: ZkChatSession, _: str) -> CommandResult:
    render = partial(usage_lines, session, session.prompt())
    return CommandResult(lines=render(), render=render)


def usage_lines(session: ZkChatSession, prompt: Prompt, width: int = WIDTH, hints: CommandHints = IN_CHAT) -> list[StyledLine]:
    """The token usage of a prompt of this session."""
    return prompts.usage_lines(prompt, width, prompts.pinned_turns(session.history), hints)
