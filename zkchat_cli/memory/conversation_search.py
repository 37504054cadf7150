"""The search of earlier messages, for the model: who said what, when, and in which conversation."""

from collections.abc import Iterator
from typing import Any

from zkchat_cli.models.conversations import FoundMessage
from zkchat_cli.models.messages import ZkChatMessage
from zkchat_cli.text.truncate import truncate_to_minute
from zkchat_cli.text.words import detect_languages, terms
from zkchat_cli.vault.links.wikilinks import write_link

# Characters of a message that the model gets
MAX_EXCERPT = 700


def describe_found(found: FoundMessage, query: str, conversation_id: str | None) -> dict[str, Any]:
    """A message as the model reads it. `conversation_id` is the conversation that the search was
    made in: source numbers are valid only there, so those of other conversations become links.
    """
    message = found.message
    is_here = found.conversation_id == conversation_id
    text = message.content if is_here else citations_to_links(message)
    speaker: str = message.role
    if message.role == "tool":
        speaker = f"result of {message.tool_name or 'a tool'}"
    return {
        "who": speaker,
        "when": truncate_to_minute(message.timestamp),
        "conversation": "this one" if is_here else found.title or found.conversation_id,
        "said": cut_around_query(text, query),
        "notes": [write_link(path) for path in _notes_of(message)],
    }


def _notes_of(message: ZkChatMessage) -> Iterator[str]:
    """The paths of the notes that a message cites or found, each once."""
    cited = [citation.relative_path for citation in message.citations]
    found = [chunk.relative_path for chunk in message.chunks]
    for path in dict.fromkeys((*cited, *found)):
        if path:
            yield path


def citations_to_links(message: ZkChatMessage) -> str:
    """The text of an answer with a link to each cited note in place of its number."""
    # 20 ms, which the budget bar does not need
    from zkchat_cli.citations.cited_marks import cited_marks, split_at_marks

    paths: dict[int, str] = {}
    for citation in message.citations:
        if citation.relative_path:
            paths[citation.number] = citation.relative_path
    text = ""
    marks = cited_marks(message.content, message.citations)
    for piece, mark in split_at_marks(message.content, marks):
        links: dict[str, None] = {}
        if mark and not mark.name:
            for number in mark.numbers:
                if number in paths:
                    links[write_link(paths[number])] = None
        text += " ".join(links) if links else piece
    return text


def cut_around_query(text: str, query: str) -> str:
    """The text if it is short, else its lines with the most words of the query."""
    # 12 ms, which the budget bar does not need
    from zkchat_cli.vault.search.snippet import snippet

    if len(text) <= MAX_EXCERPT:
        return text
    first_line = 1
    return snippet(text, first_line, terms(query), MAX_EXCERPT, detect_languages([text])).text
