"""What summaries of notes by a model have cost, as text and as JSON."""

from typing import Any

from zkchat_cli.chat.document_summarizer import uses_model
from zkchat_cli.chat.session import ZkChatSession
from zkchat_cli.text.numbers import plural
from zkchat_cli.views.text import usage_text


def note_summaries_text(session: ZkChatSession) -> str:
    """What the summaries of notes by a model have cost; empty if no model writes any."""
    if not uses_model(session.runtime):
        return ""
    calls, usage = session.services.summary_cache.cost
    cost = f" ({usage_text(usage)})" if calls else ""
    return f"Summaries of notes by the model: {plural(calls, 'call')}{cost}."


def note_summaries_document(session: ZkChatSession) -> dict[str, Any]:
    """The same for JSON, as a key of the document."""
    if not uses_model(session.runtime):
        return {}
    calls, usage = session.services.summary_cache.cost
    return {"document_summaries": {"calls": calls, **usage.model_dump(mode="json")}}
