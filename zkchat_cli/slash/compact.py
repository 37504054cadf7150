"""/compact: summarise the older turns now; `/compact undo` takes the last summary back."""

from zkchat_cli.models import Compaction
from zkchat_cli.session import ZkChatSession
from zkchat_cli.slash import Outcome, SlashCommand


def _run(session: ZkChatSession, argument: str) -> Outcome:
    if argument == "undo":
        undone = session.undo_compaction()
        return Outcome("There is no compaction to take back." if undone is None else "Taken back: the prompt is what it was before.")
    return Outcome(describe(session.compact(instructions=argument or None)))


def describe(compaction: Compaction) -> str:
    """What a compaction did, or would do."""
    if compaction.mode == "none":
        return "Nothing to compact: there are no older turns that a summary would make smaller."
    verb = "would fold" if compaction.preview else "folded"
    return (
        f"Compaction {verb} {compaction.messages_folded} messages into a summary of {compaction.summary_tokens} tokens: "
        f"the prompt {'would go' if compaction.preview else 'went'} from {compaction.tokens_before} to {compaction.tokens_after} tokens. "
        "Nothing is deleted; /compact undo takes it back."
    )


COMMAND = SlashCommand("compact", "summarise older turns now; `undo` takes the last one back", _run, "[instructions | undo]")
