"""/verbose: show or hide the details of each turn.

The details are all arguments of tool calls, times, tokens and the model's reasoning. The setting
chat.show_details shows them in every chat.
"""

from zkchat_cli.chat.session import ZkChatSession
from zkchat_cli.slash.base import slash_command


@slash_command()
def run(session: ZkChatSession, _: str) -> str:
    shown = not session.runtime.settings.chat.show_details
    session.override_setting("chat.show_details", str(shown).lower())
    if not shown:
        return "Details are off."
    return "Details are on: reasoning, full tool arguments, times and tokens. /verbose turns them off."
