"""Everything that a prompt is made of, as one value."""

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

from zkchat_cli.context.recall import RecallIndex, index_turns
from zkchat_cli.context.turns import Turn, TurnHistory
from zkchat_cli.memory.project import MemoryItem
from zkchat_cli.models.compaction import Compaction
from zkchat_cli.models.messages import ZkChatMessage
from zkchat_cli.models.prompts import Retrieval


class PromptInputs(NamedTuple):
    """Everything that a prompt is made of. `history` are the finished turns, `current` the messages
    of the turn in progress.
    """

    instructions: str
    history: TurnHistory
    current: tuple[ZkChatMessage, ...] = ()
    # Memory for every prompt
    memory: tuple[MemoryItem, ...] = ()
    # Memory for this message only
    contextual_memory: tuple[MemoryItem, ...] = ()
    compaction: Compaction | None = None
    tool_descriptors: tuple[dict[str, Any], ...] = ()
    filter_tools: bool = False
    # The tools that are offered even where there is no room for all
    core_tools: frozenset[str] = frozenset()
    # The tools of the last prompt; they stay while there is room
    previous_tools: frozenset[str] = frozenset()
    retrieval: Retrieval | None = None
    # The index of these turns; whoever keeps one from prompt to prompt passes another function
    index_turns: Callable[[Sequence[Turn]], RecallIndex] = index_turns

    @property
    def question(self) -> ZkChatMessage | None:
        """The user's message in the turn in progress."""
        return next((message for message in self.current if message.role == "user"), None)
