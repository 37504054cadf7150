"""Searches the stored conversations with these notes."""

from typing import Annotated, TypedDict

from pydantic import Field

from zkchat_cli.tools.served_tool import Document, Query, ServedVault, declare_served_tool

MOST_MESSAGES = 50


class MessagesFound(TypedDict):
    results: list[Document]


def search_conversations(
    served: ServedVault,
    query: Query,
    limit: Annotated[int, Field(ge=1, le=MOST_MESSAGES)] = 10,
) -> MessagesFound:
    """Search what the user and zkchat said about these notes in stored conversations."""
    assert served.search_conversations
    return {"results": served.search_conversations(query, limit)}


TOOL = declare_served_tool(
    search_conversations, order=90, reads_notes=False, reads_conversations=True
)
