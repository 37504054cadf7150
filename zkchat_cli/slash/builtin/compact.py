"""Compacts the conversation, or undoes that."""

from collections.abc import Generator

from zkchat_cli.chat.session import ZkChatSession
from zkchat_cli.context.compaction_plan import CompactionRequest
from zkchat_cli.events import Event, TextDelta
from zkchat_cli.slash.base import CommandResult, Topic, declare_command
from zkchat_cli.views.turn_steps import requested_compaction_text

UNDO = "undo"
PREVIEW = "preview"


def compact(session: ZkChatSession, argument: str) -> CommandResult:
    """Summarize older turns now; undo restores them.

    The instructions say what the summary must contain. Nothing is deleted. `preview` only shows
    what it would do.
    """
    if argument == UNDO:
        return CommandResult(_undo(session))
    word, _, rest = argument.partition(" ")
    is_preview = word == PREVIEW
    instructions = rest.strip() if is_preview else argument
    request = CompactionRequest(instructions=instructions or None, preview=is_preview)
    price = session.runtime.price

    if not session.runtime.summary_model.summarizes:
        done = session.compact(instructions=request.instructions, preview=request.preview)
        return CommandResult(requested_compaction_text(done, price=price))

    # As events: the screen shows progress, and Ctrl-C stops it
    def summarize() -> Generator[Event, None, None]:
        done = yield from session.compaction_events(request)
        yield TextDelta(requested_compaction_text(done, price=price))

    return CommandResult(turn=summarize())


def _undo(session: ZkChatSession) -> str:
    if session.stored_state().undo_compaction() is None:
        return "No compaction to undo."
    return "Compaction undone: the prompt is as it was before."


def _first_words(_session: ZkChatSession) -> dict[str, str]:
    return {PREVIEW: "show what it would do", UNDO: "undo the last compaction"}


COMMAND = declare_command(
    compact,
    Topic.CONTEXT,
    order=20,
    argument="[[preview] [instructions] | undo]",
    values=_first_words,
    priority=1,
)
