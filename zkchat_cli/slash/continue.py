"""/continue: continue an answer that was cut off or stopped."""

from zkchat_cli.slash.base import CommandResult, slash_command

run = slash_command()(lambda session, _: CommandResult(turn=session.continue_answer()))
