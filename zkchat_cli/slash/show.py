"""/show: show the next prompt word for word; N: the prompt that turn N sent.

With a message: the prompt if that were your next message. A turn that used tools made several model calls; a second number shows only that
call. /context shows the token counts.
"""

import re

from zkchat_cli.chat.session import ZkChatSession
from zkchat_cli.context import prompt_history
from zkchat_cli.slash.base import complete_questions, find_question, slash_command
from zkchat_cli.views import prompts

_TURN = re.compile(r"(\d{1,9}|last)(?:\s+(\d{1,9}))?")


@slash_command("[N [call] | last | message]", complete_questions)
def run(session: ZkChatSession, argument: str) -> str:
    turn = _TURN.fullmatch(argument)
    if turn is None:
        return prompts.prompt_text(session.prompt(argument or None))
    question = find_question(session, turn[1])
    sent = prompt_history.restore_sent_prompts(session.history, question.turn, session.store.prompts)
    return prompts.sent_prompts_text(sent, int(turn[2]) if turn[2] else None)
