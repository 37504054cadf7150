"""/show: word for word what the next message would send, or what a turn was sent then, as `zkchat context show` prints it."""

import re

from zkchat_cli import slash
from zkchat_cli.context import past, showing
from zkchat_cli.session import ZkChatSession
from zkchat_cli.slash import Outcome, SlashCommand

_TURN = re.compile(r"(\d{1,9}|last)(?:\s+(\d{1,9}))?")


def _run(session: ZkChatSession, argument: str) -> Outcome:
    then = _TURN.fullmatch(argument)
    if then is None:
        return Outcome(showing.text(session.prompt(argument or None)), paged=True)
    asked = slash.question(session, then[1])
    sent = session.parts.store.prompts(asked.message.id)
    return Outcome(showing.past(past.past(session.history, asked.turn, sent), int(then[2]) if then[2] else None), paged=True)


COMMAND = SlashCommand(
    "show",
    "the exact prompt, word for word; N: the one of turn N, as it was sent",
    _run,
    "[N [call] | last | message]",
    slash.questions,
    more="Alone the next prompt as it stands, with a message the prompt with that as your next one. A turn that used tools made several "
    "calls; a second number shows one of them. /context has the figures.",
)
