"""Previews of a compaction: how one is recognized as that of the same state, and what the
compaction takes from it.
"""

from hashlib import blake2b

from zkchat_cli.chat.runtime import Runtime
from zkchat_cli.chat.state import ConversationState
from zkchat_cli.context.compaction_plan import CompactionRequest
from zkchat_cli.models.compaction import Compaction

_DIGEST_BYTES = 16
_MADE = (
    "last_id",
    "messages_folded",
    "results_masked",
    "summary",
    "summary_tokens",
    "quoted",
    "carried",
    "mode",
    "model_calls",
    "masked",
    "masks_later",
    "model",
    "usage",
    "problem",
)
"""The fields that a preview and the compaction made from it have in common. The others say when and
for what each was made.
"""


def made_fields(preview: Compaction) -> dict[str, object]:
    """What a compaction of the same state takes from the preview."""
    fields: dict[str, object] = {name: getattr(preview, name) for name in _MADE}
    return fields | {"previewed": True}


def state_digest(state: ConversationState, runtime: Runtime, request: CompactionRequest) -> str:
    """A digest of everything that determines the summary of a compaction."""
    counter = runtime.counter
    previous = state.compaction
    fixed: list[str] = []
    for turn in state.turns(counter).all_turns:
        for message in turn.fixed:
            fixed += message.source_ids
    made_from = (
        state.head,
        previous.id if previous else None,
        fixed,
        state.turns(counter).set_priorities,
        request.reason,
        request.instructions,
        request.target,
        request.keep,
        runtime.summary_model.name,
        runtime.window.tokens,
        runtime.strategy.name,
        counter.factor,
        counter.estimated,
        runtime.settings.context.model_dump_json(),
    )
    return blake2b(repr(made_from).encode(), digest_size=_DIGEST_BYTES).hexdigest()
