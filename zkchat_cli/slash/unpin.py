"""/unpin: no longer keep what was said in a turn in every prompt."""

from zkchat_cli import marking, slash
from zkchat_cli.errors import UsageError
from zkchat_cli.session import ZkChatSession
from zkchat_cli.slash import Outcome, SlashCommand


def _run(session: ZkChatSession, argument: str) -> Outcome:
    if not argument:
        raise UsageError("which turn?", "/unpin N; /pin lists what is kept, with the turns' numbers.")
    freed = marking.unpin(session, argument)
    if not freed:
        return Outcome("Nothing of that turn is kept; /pin lists what is.")
    parts = " and ".join(each.part for each in freed)
    return Outcome(f"Turn {freed[0].turn}, {parts}: kept no longer, but still in the log, and recalled when a message bears on it.")


def _turns(session: ZkChatSession) -> list[str]:
    return slash.turns(marking.kept(session.history))


COMMAND = SlashCommand("unpin", "no longer keep turn N (its pins, its instructions) in every prompt", _run, "N", _turns)
