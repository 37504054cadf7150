"""/quit: leave the chat; the conversation stays stored."""

from zkchat_cli.slash.base import CommandResult, SlashCommand

COMMAND = SlashCommand(lambda _session, _argument: CommandResult(quit=True))
