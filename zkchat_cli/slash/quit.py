"""/quit: leave the chat."""

from zkchat_cli.slash.base import CommandResult, SlashCommand

COMMAND = SlashCommand("quit", "leave the chat; the conversation stays stored", lambda _session, _argument: CommandResult(quit=True))
