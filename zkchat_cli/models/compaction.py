"""What a prompt has in place of old messages."""

from typing import Literal

from zkchat_cli.models.base import Count, Value
from zkchat_cli.models.messages import TokenUsage

CompactionMode = Literal["none", "masked", "full", "simple", "extractive", "truncated"]


class Compaction(Value):
    """What the prompt has in place of old messages: a summary of those from the first through
    `last_id`, and shortened results and documents of the `masked` messages. It deletes nothing.

    One that only masks has no summary; the earlier one stays in use. `mode` "none" changes nothing.
    """

    id: str
    created_at: str
    last_id: str | None = None
    tokens_before: Count
    tokens_after: Count
    messages_folded: Count
    results_masked: Count = 0
    summary: str | None = None
    summary_tokens: Count = 0
    quoted: tuple[str, ...] = ()
    """The first messages of the turns that an extractive summary quotes: the next one is chosen
    from them and newer turns.
    """
    mode: CompactionMode
    model_calls: Count = 0
    instructions: str | None = None
    preview: bool = False
    masked: tuple[str, ...] = ()
    made_after: str | None = None  # the newest message at that time
    # The model that was asked for the summary
    model: str | None = None
    usage: TokenUsage | None = None  # of its model calls
    # The user asked for it; `usage` is part of no answer's usage then
    requested: bool = False
    # Why the first requested summary was not used
    problem: str | None = None
    # Of a preview: a digest of everything that it was made from. A compaction of the same state
    # uses the preview.
    state: str | None = None
    # An undone compaction is no longer used, but earlier prompts had it
    undone: bool = False

    def with_summary_of(self, earlier: "Compaction | None") -> "Compaction":
        """The compaction as prompts use it: one that only masks gets the earlier summary, others
        stay as they are.
        """
        if self.summary or earlier is None:
            return self
        return self.model_copy(
            update=earlier.model_dump(include={"summary", "summary_tokens", "quoted", "last_id"})
        )
