"""/compact: summarize older turns now; undo restores them.

The instructions say what the summary must contain. Nothing is deleted. `preview` only shows what it would do.
"""

from collections.abc import Generator

from zkchat_cli.chat.session import ZkChatSession
from zkchat_cli.context.compaction_policy import CompactionRequest
from zkchat_cli.events import CompactionDone, Event, TextDelta
from zkchat_cli.slash.base import CommandResult, slash_command
from zkchat_cli.views.turn_steps import describe_compaction


@slash_command("[[preview] [instructions] | undo]", lambda _: {"preview": "show what it would do", "undo": "undo the last compaction"})
def run(session: ZkChatSession, argument: str) -> CommandResult:
    if argument == "undo":
        undone = session.undo_compaction()
        return CommandResult("No compaction to undo." if undone is None else "Compaction undone: the prompt is as it was before.")
    word, _, rest = argument.partition(" ")
    preview = word == "preview"
    request = CompactionRequest(instructions=(rest.strip() if preview else argument) or None, preview=preview)

    def compact() -> Generator[Event, None, None]:
        events = session.compaction_events(request)
        while True:
            try:
                event = next(events)
            except StopIteration as end:
                yield TextDelta(describe_compaction(end.value))
                return
            if not isinstance(event, CompactionDone):  # the text at the end says it in full
                yield event

    if session.runtime.summary_model.can_summarize:  # it takes time: as events, the screen shows progress and Ctrl-C stops it
        return CommandResult(turn=compact())
    return CommandResult(describe_compaction(session.compact(instructions=request.instructions, preview=preview)))
