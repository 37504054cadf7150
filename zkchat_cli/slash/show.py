"""/show: word for word what the next message would send, or what a turn was sent then, as `zkchat context show` prints it."""

import re

from zkchat_cli.chat.session import ZkChatSession
from zkchat_cli.context import prompt_history
from zkchat_cli.slash import base
from zkchat_cli.slash.base import CommandResult, SlashCommand
from zkchat_cli.views import prompts

_TURN = re.compile(r"(\d{1,9}|last)(?:\s+(\d{1,9}))?")


def _run(session: ZkChatSession, argument: str) -> CommandResult:
    then = _TURN.fullmatch(argument)
    if then is None:
        return CommandResult(prompts.text(session.prompt(argument or None)), paged=True)
    asked = base.question(session, then[1])
    sent = session.store.prompts(asked.message.id)
    return CommandResult(
        prompts.past(prompt_history.restore_sent_prompts(session.history, asked.turn, sent), int(then[2]) if then[2] else None), paged=True
    )


COMMAND = SlashCommand(
    "show",
    "the exact prompt, word for word; N: the one of turn N, as it was sent",
    _run,
    "[N [call] | last | message]",
    base.questions,
    more="Alone the next prompt as it stands, with a message the prompt with that as your next one. A turn that used tools made several "
    "calls; a second number shows one of them. /context has the figures.",
)
