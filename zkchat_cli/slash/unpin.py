"""/unpin: no longer keep what was said in a turn in every prompt."""

from zkchat_cli.chat import pins
from zkchat_cli.chat.session import ZkChatSession
from zkchat_cli.errors import UsageError
from zkchat_cli.slash import base
from zkchat_cli.slash.base import CommandResult, SlashCommand


def _run(session: ZkChatSession, argument: str) -> CommandResult:
    if not argument:
        raise UsageError("which turn?", "/unpin N; /pin lists what is kept, with the turns' numbers.")
    freed = session.unpin(argument)
    if not freed:
        return CommandResult("Nothing of that turn is kept; /pin lists what is.")
    parts = " and ".join(each.part for each in freed)
    return CommandResult(f"Turn {freed[0].turn}, {parts}: kept no longer, but still in the log, and recalled when a message bears on it.")


def _turns(session: ZkChatSession) -> list[str]:
    return base.turns(pins.pinned_parts(session.history))


COMMAND = SlashCommand("unpin", "no longer keep turn N (its pins, its instructions) in every prompt", _run, "N", _turns)
