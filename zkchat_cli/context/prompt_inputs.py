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
    """Everything that a prompt is made of.

    `history` has the finished turns, `current` the messages of the turn in progress.
    """

    instructions: str
    history: TurnHistory
    current: tuple[ZkChatMessage, ...] = ()
    # Memory that every prompt has
    memory: tuple[MemoryItem, ...] = ()
    # Memory that is relevant to this message only
    contextual_memory: tuple[MemoryItem, ...] = ()
    compaction: Compaction | None = None
    # Whether a compaction that is due runs before this prompt would be sent
    compacts_first: bool = False
    tool_descriptors: tuple[dict[str, Any], ...] = ()
    filter_tools: bool = False
    # The tools that are offered even if there is no room for all tools
    core_tools: frozenset[str] = frozenset()
    # The tools of the last prompt; they stay as long as there is room
    previous_tools: frozenset[str] = frozenset()
    retrieval: Retrieval | None = None
    # Returns the index of these turns; a caller that keeps an index from prompt to prompt passes
    # its own function. None: nothing is recalled
    index_turns: Callable[[Sequence[Turn]], RecallIndex] | None = index_turns

    @property
    def question(self) -> ZkChatMessage | None:
        """The user's message in the turn in progress."""
        return next((message for message in self.current if message.role == "user"), None)
