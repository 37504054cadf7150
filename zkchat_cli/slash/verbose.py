"""/verbose: tell of each turn what it did, took and was made of; said again, no longer."""

from zkchat_cli.chat.session import ZkChatSession
from zkchat_cli.errors import UsageError
from zkchat_cli.slash.base import CommandResult, SlashCommand


def _run(session: ZkChatSession, argument: str) -> CommandResult:
    if argument not in ("", "on", "off"):
        raise UsageError(f"/verbose is on or off, not {argument}", "/verbose alone switches it over.")
    session.verbose = argument == "on" if argument else not session.verbose
    if not session.verbose:
        return CommandResult("Details are off.")
    return CommandResult(
        "Details are on: reasoning, whole arguments of tools, times, tokens, what the prompt held and lacked. /verbose ends it."
    )


COMMAND = SlashCommand(
    "verbose", "tell what each turn did, took and was made of", _run, argument="[on|off]", values=lambda _: ("on", "off")
)
