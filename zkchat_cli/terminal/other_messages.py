"""Shows what another program wrote into the open conversation."""

from zkchat_cli.chat.other_programs import OtherMessages
from zkchat_cli.chat.session import ZkChatSession
from zkchat_cli.terminal.screen import Screen
from zkchat_cli.text.sanitize import sanitize_name
from zkchat_cli.text.truncate import truncate
from zkchat_cli.views.stored_items import said_lines

# Most characters of a question on another branch
MAX_QUESTION = 60


def show_other_messages(other: OtherMessages, session: ZkChatSession, screen: Screen) -> None:
    """Show messages that continue the conversation where the session is, which then continues
    after them; of those on another branch only the question. Nothing if the session has gone on
    meanwhile.
    """
    if other.stored is None:
        asked = [message for message in other.messages if message.role == "user"]
        question = truncate(sanitize_name(asked[-1].display_text), MAX_QUESTION) if asked else ""
        screen.warn(
            f"another program continued on another branch: “{question}”",
            "Yours stays as it is; /branches lists both.",
        )
        screen.print()
        return
    if session.other_programs.follow(other):
        screen.print("  another program continued this conversation:", "dim")
        screen.show(said_lines(other.messages, session.runtime.settings.references.max_displayed))
        screen.print()
