"""/copy: copy the last answer; or answer N, the last code block, everything.

`all` is the conversation as Markdown. It uses the terminal's clipboard (OSC 52, which works over ssh) and the system's; a piped chat prints
the text.
"""

from zkchat_cli import exporters
from zkchat_cli.chat import pins
from zkchat_cli.chat.session import ZkChatSession
from zkchat_cli.errors import UsageError
from zkchat_cli.markdown.blocks import code_blocks
from zkchat_cli.slash.base import CommandResult, complete_questions, slash_command

CODE, ALL = "code", "all"


@slash_command("[N | code [N] | all]", lambda session: [CODE, ALL, *complete_questions(session)])
def run(session: ZkChatSession, argument: str) -> CommandResult:
    if argument == ALL and session.history:
        return CommandResult(clipboard=exporters.exporter("md").export(session.archive()))
    is_code = argument.split(" ")[0] == CODE
    turn = argument.removeprefix(CODE).strip() if is_code else argument
    parts = pins.resolve_turn(session.history, f"{turn} answer") if turn else pins.list_turn_parts(session.history)
    answers = [each.message.content for each in parts if each.part == "answer"]
    if not answers:
        raise UsageError("there is no answer to copy yet", "Ask something first.")
    if not is_code:
        return CommandResult(clipboard=answers[-1])
    blocks = [block for answer in answers for block in code_blocks(answer)]
    if not blocks:
        raise UsageError("that answer has no code block" if turn else "no answer has a code block", "/copy copies a whole answer.")
    return CommandResult(clipboard=blocks[-1])
