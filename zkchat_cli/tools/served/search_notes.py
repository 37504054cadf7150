"""Searches the notes."""

from typing import Annotated, TypedDict

from pydantic import Field

from zkchat_cli.tools.note_lookups import search_passages
from zkchat_cli.tools.served_tool import Day, Document, Query, ServedVault, Tag, declare_served_tool

MOST_PASSAGES = 50


class Passages(TypedDict):
    results: list[Document]
    more: str | None


def search_notes(
    served: ServedVault,
    query: Query,
    limit: Annotated[int, Field(ge=1, le=MOST_PASSAGES)] = 10,
    after: Day = None,
    before: Day = None,
    tag: Tag = None,
    path: Annotated[
        str | None, Field(description="Only notes with this in their path.", max_length=4096)
    ] = None,
) -> Passages:
    """Search the user's notes by words and meaning. Returns passages with path, heading and lines,
    best first.

    The query may have "phrases" and -words that must not occur. Cite a passage by its path and
    lines.
    """
    filters = {"after": after, "before": before, "tag": tag, "path": path}
    words = []
    for name, value in filters.items():
        if value:
            unquoted = value.replace('"', " ")
            words.append(f'{name}:"{unquoted}"')
    words.append(query)
    found = search_passages(served.vault, " ".join(words), limit, MOST_PASSAGES)
    results = [chunk.to_result() for chunk in found.passages]
    return {"results": results, "more": found.more or None}


TOOL = declare_served_tool(search_notes, order=10)
