"""/edit: ask a question of this conversation in other words; what was said after it stays on the old branch."""

from zkchat_cli import marking
from zkchat_cli.errors import UsageError
from zkchat_cli.session import ZkChatSession
from zkchat_cli.slash import Offer, Outcome, SlashCommand
from zkchat_cli.words import shorten


def _run(session: ZkChatSession, argument: str) -> Outcome:
    number, text = (*argument.split(maxsplit=1), "", "")[:2]
    asked = marking.meant(session.history, f"{number or marking.LAST} question")[0]
    if not text:
        return Outcome(typed=f"/edit {asked.turn} {asked.message.content}")
    if text == asked.message.content:
        raise UsageError("the question is as it was", "Change it, or say /retry for another answer.")
    return Outcome(turn=session.ask_again(asked.message, text))


def _questions(session: ZkChatSession) -> list[str]:
    asked = [each for each in marking.numbered(session.history) if each.part == "question"]
    return [Offer(str(each.turn), shorten(each.message.content, 60)) for each in reversed(asked)]


COMMAND = SlashCommand(
    "edit",
    "ask question N in other words; alone: put it into the input line",
    _run,
    "[N [new text]]",
    _questions,
    more="The conversation goes on from there on a branch of its own. Without N the last question is meant; /pin lists the numbers.",
)
