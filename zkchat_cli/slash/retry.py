"""/retry: ask the last question again.

The previous answer stays: /branches goes back to it.
"""

from zkchat_cli.slash.base import CommandResult, find_question, slash_command

run = slash_command()(lambda session, _: CommandResult(turn=session.ask_again(find_question(session).message)))
