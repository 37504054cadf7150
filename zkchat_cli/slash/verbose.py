"""/verbose: show details of each turn; again to turn them off."""

from zkchat_cli.chat.session import ZkChatSession
from zkchat_cli.errors import UsageError
from zkchat_cli.slash.base import CommandResult, SlashCommand


def _run(session: ZkChatSession, argument: str) -> CommandResult:
    if argument not in ("", "on", "off"):
        raise UsageError(f"/verbose takes on or off, not {argument}", "/verbose without an argument toggles.")
    session.verbose = argument == "on" if argument else not session.verbose
    if not session.verbose:
        return CommandResult("Details are off.")
    return CommandResult("Details are on: reasoning, full tool arguments, times, tokens and what was not sent. /verbose turns them off.")


COMMAND = SlashCommand("verbose", "show or hide the details of each turn", _run, argument="[on|off]", values=lambda _: ("on", "off"))
