"""/compact: summarise the older turns now; `/compact undo` takes the last summary back."""

from collections.abc import Generator

from zkchat_cli.chat.compactor import CompactionRequest
from zkchat_cli.chat.session import ZkChatSession
from zkchat_cli.events import CompactionDone, Event, TextDelta
from zkchat_cli.slash.base import CommandResult, CompletionValue, SlashCommand
from zkchat_cli.views.context_usage import describe


def _run(session: ZkChatSession, argument: str) -> CommandResult:
    if argument == "undo":
        undone = session.undo_compaction()
        return CommandResult("There is no compaction to take back." if undone is None else "Taken back: the prompt is what it was before.")
    if session.can_summarize:
        return CommandResult(turn=_compacting(session, argument))
    return CommandResult(describe(session.compact(instructions=argument or None)))


def _compacting(session: ZkChatSession, instructions: str) -> Generator[Event, None, None]:
    """With a model it takes its time: the screen says what it waits for, and Ctrl-C ends it."""
    climbing = session.compaction_events(CompactionRequest(instructions=instructions or None))
    while True:
        try:
            event = next(climbing)
        except StopIteration as end:
            yield TextDelta(describe(end.value))
            return
        if not isinstance(event, CompactionDone):  # told in full at the end
            yield event


def _undo(session: ZkChatSession) -> list[str]:  # noqa: ARG001  every command has this shape
    return [CompletionValue("undo", "take the last one back")]


COMMAND = SlashCommand(
    "compact",
    "summarise older turns now; `undo` takes the last one back",
    _run,
    "[instructions | undo]",
    _undo,
    more="The words say what must not be missing from the summary. Nothing is deleted. `zkchat context compact --preview` looks first.",
)
