"""/copy: an answer, its code, or the whole conversation into the clipboard; in a pipe, to standard output."""

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
        return CommandResult(copied=exporters.exporter("md").export(session.store.archive(session.conversation.id)))
    word, _, which = argument.partition(" ")
    if word != CODE:
        return CommandResult(copied=_answers(session, argument)[-1])
    if which == ALL:
        return CommandResult(copied="\n\n".join(_code(session, "")))
    return CommandResult(copied=_code(session, which.strip())[-1])


def _answers(session: ZkChatSession, number: str) -> list[str]:
    """The last answer, or what was answered in turn `number`."""
    if number:
        return [each.message.content for each in pins.resolve_turn(session.history, f"{number} answer")]
    answers = [each.message.content for each in pins.list_turn_parts(session.history) if each.part == "answer"]
    if not answers:
        raise UsageError("there is no answer to copy yet", "Ask something first.")
    return answers[-1:]


def _code(session: ZkChatSession, number: str) -> list[str]:
    """The blocks of code in that answer; without a number in the last answer that has any."""
    if number:
        blocks = [block for answer in _answers(session, number) for block in code_blocks(answer)]
    else:
        answers = reversed([each.message.content for each in pins.list_turn_parts(session.history) if each.part == "answer"])
        blocks = next(filter(None, map(code_blocks, answers)), [])
    if not blocks:
        raise UsageError(
            "there is no block of code in that answer" if number else "no answer has a block of code", "/copy copies an answer."
        )
    return blocks


def _values(session: ZkChatSession) -> list[str]:
    turns = [str(each.turn) for each in pins.list_turn_parts(session.history) if each.part == "answer"]
    return [CODE, ALL, *dict.fromkeys(reversed(turns))]


COMMAND = SlashCommand(
    "copy",
    "the last answer into the clipboard; or answer N, the last code, everything",
    _run,
    "[N | code [N | all] | all]",
    _values,
    more="`code` is the last block of code, `code all` every block of that answer, `all` the conversation as Markdown. It goes by the "
    "terminal's own clipboard (OSC 52, over ssh and in tmux, too) and by the system's; in a pipe it is printed.",
)
