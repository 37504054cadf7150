"""/compact: summarise the older turns now; `/compact undo` takes the last summary back."""

from zkchat_cli.context.figures import describe
from zkchat_cli.session import ZkChatSession
from zkchat_cli.slash import Outcome, SlashCommand


def _run(session: ZkChatSession, argument: str) -> Outcome:
    if argument == "undo":
        undone = session.undo_compaction()
        return Outcome("There is no compaction to take back." if undone is None else "Taken back: the prompt is what it was before.")
    return Outcome(describe(session.compact(instructions=argument or None)))


COMMAND = SlashCommand("compact", "summarise older turns now; `undo` takes the last one back", _run, "[instructions | undo]")
