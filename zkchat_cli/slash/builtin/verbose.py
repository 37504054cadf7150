"""Shows or hides the details of each turn."""

from zkchat_cli.chat.session import ZkChatSession
from zkchat_cli.slash.base import Topic, declare_command


def verbose(session: ZkChatSession, _: str) -> str:
    """Show or hide the details of each turn.

    They are all arguments of tool calls, times, tokens and the model's reasoning. The setting
    chat.show_details shows them in every chat.
    """
    is_shown = not session.runtime.settings.chat.show_details
    session.runtimes.override_setting("chat.show_details", str(is_shown).lower())
    if is_shown:
        return "Details are on: reasoning, full tool arguments, times and tokens."
    return "Details are off."


COMMAND = declare_command(verbose, Topic.SETTINGS, order=50, in_editors=False)
