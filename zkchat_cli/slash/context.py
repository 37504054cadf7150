"""/context: show tokens per component against the budgets, and how to reduce them.

They are the tokens of the next prompt. /show prints it word for word.
"""

from functools import partial

from zkchat_cli.chat.session import ZkChatSession
from zkchat_cli.slash.base import CommandResult, slash_command
from zkchat_cli.views import prompts


@slash_command()
def run(session: ZkChatSession, _: str) -> CommandResult:
    render = partial(prompts.usage_lines, session.prompt(), pinned=prompts.pinned_turns(session.history))
    return CommandResult(lines=render(), render=render)
