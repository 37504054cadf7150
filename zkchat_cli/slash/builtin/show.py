"""Shows a prompt word for word."""

from zkchat_cli.chat.session import ZkChatSession
from zkchat_cli.context.prompt_history import restore_sent_prompts
from zkchat_cli.slash.base import Topic, declare_command
from zkchat_cli.slash.lookups import complete_questions, find_question
from zkchat_cli.slash.numbered_turns import LAST
from zkchat_cli.text.numbers import parse_number
from zkchat_cli.views.prompts import prompt_text, sent_prompts_text


def show(session: ZkChatSession, argument: str) -> str:
    """Show the next prompt word for word; N: the prompts that turn N sent.

    With a message: the prompt if that were your next message. /context shows the token counts.
    """
    if argument != LAST and parse_number(argument) is None:
        return prompt_text(session.prompt(argument or None))
    turn = find_question(session, argument).turn
    return sent_prompts_text(
        restore_sent_prompts(session.history, turn, session.store.prompts.sent_for)
    )


COMMAND = declare_command(
    show,
    Topic.CONTEXT,
    order=30,
    argument="[N | last | message]",
    values=complete_questions,
)
