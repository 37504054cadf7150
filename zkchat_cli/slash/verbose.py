"""/verbose: show or hide the details of each turn.

The details are all arguments of tool calls, times, tokens and the model's reasoning.
"""

from zkchat_cli.chat.session import ZkChatSession
from zkchat_cli.slash.base import CommandResult, SlashCommand


def _verbose(session: ZkChatSession, _: str) -> CommandResult:
    session.verbose = not session.verbose
    if not session.verbose:
        return CommandResult("Details are off.")
    return CommandResult("Details are on: reasoning, full tool arguments, times and tokens. /verbose turns them off.")


COMMAND = SlashCommand(_verbose)
