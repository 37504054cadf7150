"""/copy: copy an answer, its code or the whole conversation to the clipboard; a piped chat prints it instead."""

from zkchat_cli import exporters
from zkchat_cli.chat import pins
from zkchat_cli.chat.session import ZkChatSession
from zkchat_cli.errors import UsageError
from zkchat_cli.markdown.blocks import code_blocks
from zkchat_cli.slash.base import CommandResult, SlashCommand

CODE, ALL = "code", "all"


def _run(session: ZkChatSession, argument: str) -> CommandResult:
    if argument == ALL:
        if not session.history:
            raise UsageError("there is nothing to copy yet", "Ask something first.")
        return CommandResult(clipboard=exporters.exporter("md").export(session.store.archive(session.conversation.id)))
    word, _, which = argument.partition(" ")
    if word != CODE:
        return CommandResult(clipboard=_answers(session, argument)[-1])
    if which == ALL:
        return CommandResult(clipboard="\n\n".join(_code_blocks(session, "")))
    return CommandResult(clipboard=_code_blocks(session, which.strip())[-1])


def _answers(session: ZkChatSession, turn: str) -> list[str]:
    """The answers of this branch, or those of one turn. Raises UsageError if there are none."""
    if turn:
        return [each.message.content for each in pins.resolve_turn(session.history, f"{turn} answer")]
    answers = [each.message.content for each in pins.list_turn_parts(session.history) if each.part == "answer"]
    if not answers:
        raise UsageError("there is no answer to copy yet", "Ask something first.")
    return answers


def _code_blocks(session: ZkChatSession, turn: str) -> list[str]:
    """The code blocks of that turn's answer; without a turn, of the last answer that has any."""
    answers = _answers(session, turn)
    if turn:
        blocks = [block for answer in answers for block in code_blocks(answer)]
    else:
        blocks = next(filter(None, map(code_blocks, reversed(answers))), [])
    if not blocks:
        raise UsageError("that answer has no code block" if turn else "no answer has a code block", "/copy copies a whole answer.")
    return blocks


def _complete(session: ZkChatSession) -> list[str]:
    turns = [str(each.turn) for each in pins.list_turn_parts(session.history) if each.part == "answer"]
    return [CODE, ALL, *dict.fromkeys(reversed(turns))]


COMMAND = SlashCommand(
    "copy",
    "copy the last answer; or answer N, the last code block, everything",
    _run,
    "[N | code [N | all] | all]",
    _complete,
    details="`code` is the last code block, `code all` every block of that answer, `all` the conversation as Markdown. It uses the "
    "terminal's clipboard (OSC 52, which works over ssh and in tmux) and the system's; a piped chat prints the text.",
)
