"""/show: word for word what the next message would send, or what a turn was sent then, as `zkchat context show` prints it."""

import re

from zkchat_cli import marking
from zkchat_cli.context import past, showing
from zkchat_cli.session import ZkChatSession
from zkchat_cli.slash import Offer, Outcome, SlashCommand
from zkchat_cli.words import shorten

_TURN = re.compile(r"(\d{1,9}|last)(?:\s+(\d{1,9}))?")


def _run(session: ZkChatSession, argument: str) -> Outcome:
    then = _TURN.fullmatch(argument)
    if then is None:
        return Outcome(showing.text(session.prompt(argument or None)), paged=True)
    turn = sum(message.role == "user" for message in session.history) if then[1] == "last" else int(then[1])
    sent = session.parts.store.prompts(past.asked(session.history, turn).id)
    return Outcome(showing.past(past.past(session.history, turn, sent), int(then[2]) if then[2] else None), paged=True)


def _turns(session: ZkChatSession) -> list[str]:
    asked = [each for each in marking.numbered(session.history) if each.part == "question"]
    return [Offer(str(each.turn), shorten(each.message.content, 60)) for each in reversed(asked)]


COMMAND = SlashCommand(
    "show",
    "the exact prompt, word for word; N: the one of turn N, as it was sent",
    _run,
    "[N [call] | last | message]",
    _turns,
    more="Alone the next prompt as it stands, with a message the prompt with that as your next one. A turn that used tools made several "
    "calls; a second number shows one of them. /context has the figures.",
)
