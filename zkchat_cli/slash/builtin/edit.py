"""Edits a question and asks it again."""

from zkchat_cli.chat.session import ZkChatSession
from zkchat_cli.errors import UsageError
from zkchat_cli.slash.base import CommandResult, Topic, declare_command, split_first_word
from zkchat_cli.slash.lookups import complete_questions, find_question


def edit(session: ZkChatSession, argument: str) -> CommandResult:
    """Edit question N and ask it again; without text, puts it into the input line.

    The conversation continues from there on a new branch. The default is the last question; /pin
    lists the numbers.
    """
    number, text = split_first_word(argument)
    question = find_question(session, number)
    if not text:
        return CommandResult(input_text=f"/edit {question.turn} {question.message.content}")
    if text == question.message.content:
        raise UsageError(
            "the question is unchanged", "Change it, or use /retry for another answer."
        )
    return CommandResult(turn=session.ask_again(question.message, text))


COMMAND = declare_command(
    edit,
    Topic.CONVERSATION,
    order=40,
    argument="[N [new text]]",
    values=complete_questions,
    in_editors=False,
)
