"""What a prompt has in place of old messages."""

from typing import Literal

from zkchat_cli.models.base import Count, Value
from zkchat_cli.models.carried_statement import CarriedStatement
from zkchat_cli.models.messages import TokenUsage

CompactionMode = Literal["none", "masked", "full", "simple", "extractive", "truncated"]

# The fields that say what the summary is
_OF_SUMMARY = ("summary", "summary_tokens", "quoted", "carried", "last_id")


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
    """The first messages of the turns that an extractive summary quotes. The next summary chooses
    its sentences from these turns and from newer ones.
    """
    carried: tuple[CarriedStatement, ...] = ()
    """What this summary and the following ones state, oldest first."""
    mode: CompactionMode
    model_calls: Count = 0
    instructions: str | None = None
    preview: bool = False
    # Whether a preview had made the summary already: no model was called again
    previewed: bool = False
    masked: tuple[str, ...] = ()
    # Whether the results of later turns are shortened, too, as soon as these are finished
    masks_later: bool = False
    # The newest message when the compaction was made
    made_after: str | None = None
    # The model that was asked for the summary
    model: str | None = None
    # Tokens of the calls of that model
    usage: TokenUsage | None = None
    # Whether the user requested the compaction; then no answer's usage includes `usage`
    requested: bool = False
    # Why the first requested summary was not used
    problem: str | None = None
    # Only in a preview: a digest of everything that it was made from. A compaction of the same
    # state uses the preview instead of calling the model again.
    state: str | None = None
    # An undone compaction is no longer used, but earlier prompts had it
    undone: bool = False

    def with_summary_of(self, earlier: "Compaction | None") -> "Compaction":
        """The compaction as prompts use it: one that only masks gets the earlier summary, others
        stay as they are.
        """
        if self.summary or earlier is None:
            return self
        return self.model_copy(update={name: getattr(earlier, name) for name in _OF_SUMMARY})
