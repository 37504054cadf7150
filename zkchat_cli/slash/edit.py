"""/edit: edit question N and ask it again; without text, puts it into the input line.

The conversation continues from there on a new branch. The default is the last question; /pin lists the numbers.
"""

from zkchat_cli.chat.session import ZkChatSession
from zkchat_cli.errors import UsageError
from zkchat_cli.slash.base import CommandResult, complete_questions, find_question, slash_command


@slash_command("[N [new text]]", complete_questions)
def run(session: ZkChatSession, argument: str) -> CommandResult:
    number, text = (*argument.split(maxsplit=1), "", "")[:2]
    question = find_question(session, number)
    if not text:
        return CommandResult(input_text=f"/edit {question.turn} {question.message.content}")
    if text == question.message.content:
        raise UsageError("the question is unchanged", "Change it, or use /retry for another answer.")
    return CommandResult(turn=session.ask_again(question.message, text))
