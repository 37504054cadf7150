"""Copies an answer, a code block or the conversation."""

from zkchat_cli import exporters
from zkchat_cli.chat.session import ZkChatSession
from zkchat_cli.errors import UsageError
from zkchat_cli.markdown.blocks import code_blocks
from zkchat_cli.slash import numbered_turns
from zkchat_cli.slash.base import CommandResult, Topic, declare_command
from zkchat_cli.slash.lookups import complete_questions

CODE = "code"
ALL = "all"


def copy(session: ZkChatSession, argument: str) -> CommandResult:
    """Copy the last answer; or answer N, the last code block, everything.

    `all` is the conversation as Markdown. It uses the terminal's clipboard (OSC 52, which works
    over ssh) and the system's; a piped chat prints the text.
    """
    if argument == ALL and session.history:
        return CommandResult(clipboard=exporters.exporter("md").export(session.archive()))
    word, _, _ = argument.partition(" ")
    if word != CODE:
        return CommandResult(clipboard=_answers(session, argument)[-1])
    turn = argument.removeprefix(CODE).strip()
    return CommandResult(clipboard=_last_code_block(session, turn))


def _answers(session: ZkChatSession, turn: str) -> list[str]:
    """The answer of a turn, or all of them. Raises UsageError if there is none."""
    if turn:
        parts = numbered_turns.resolve_turn(session.history, f"{turn} answer")
    else:
        parts = numbered_turns.list_turn_parts(session.history)
    answers = [each.message.content for each in parts if each.part == "answer"]
    if not answers:
        raise UsageError("there is no answer to copy yet", "Ask something first.")
    return answers


def _last_code_block(session: ZkChatSession, turn: str) -> str:
    """The last code block of a turn, or of the conversation. Raises UsageError if there is none."""
    blocks = []
    for answer in _answers(session, turn):
        blocks += code_blocks(answer)
    if not blocks:
        problem = "that answer has no code block" if turn else "no answer has a code block"
        raise UsageError(problem, "/copy copies a whole answer.")
    return blocks[-1]


def _what_to_copy(session: ZkChatSession) -> list[str]:
    return [CODE, ALL, *complete_questions(session)]


COMMAND = declare_command(
    copy,
    Topic.CONVERSATION,
    order=80,
    argument="[N | code [N] | all]",
    values=_what_to_copy,
    in_editors=False,
)
