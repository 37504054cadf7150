"""/edit: ask a question of this conversation in other words; what was said after it stays on the old branch."""

from zkchat_cli.chat.session import ZkChatSession
from zkchat_cli.errors import UsageError
from zkchat_cli.slash import base
from zkchat_cli.slash.base import CommandResult, SlashCommand


def _run(session: ZkChatSession, argument: str) -> CommandResult:
    number, text = (*argument.split(maxsplit=1), "", "")[:2]
    asked = base.question(session, number)
    if not text:
        return CommandResult(typed=f"/edit {asked.turn} {asked.message.content}")
    if text == asked.message.content:
        raise UsageError("the question is as it was", "Change it, or say /retry for another answer.")
    return CommandResult(turn=session.ask_again(asked.message, text))


COMMAND = SlashCommand(
    "edit",
    "ask question N in other words; without the text: put it into the input line",
    _run,
    "[N [new text]]",
    base.questions,
    more="The conversation goes on from there on a branch of its own. Without N the last question is meant; /pin lists the numbers.",
)
