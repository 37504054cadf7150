"""/edit: ask a question of this conversation in other words; what was said after it stays on the old branch."""

from zkchat_cli import slash
from zkchat_cli.errors import UsageError
from zkchat_cli.session import ZkChatSession
from zkchat_cli.slash import Outcome, SlashCommand


def _run(session: ZkChatSession, argument: str) -> Outcome:
    number, text = (*argument.split(maxsplit=1), "", "")[:2]
    asked = slash.question(session, number)
    if not text:
        return Outcome(typed=f"/edit {asked.turn} {asked.message.content}")
    if text == asked.message.content:
        raise UsageError("the question is as it was", "Change it, or say /retry for another answer.")
    return Outcome(turn=session.ask_again(asked.message, text))


COMMAND = SlashCommand(
    "edit",
    "ask question N in other words; without the text: put it into the input line",
    _run,
    "[N [new text]]",
    slash.questions,
    more="The conversation goes on from there on a branch of its own. Without N the last question is meant; /pin lists the numbers.",
)
