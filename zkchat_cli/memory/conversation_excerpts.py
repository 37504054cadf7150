"""Excerpts of earlier messages for the model: who said what and when, with the notes an answer cites as links."""

import re

from zkchat_cli.models import FoundMessage, ZkChatMessage
from zkchat_cli.text.languages import detect_languages
from zkchat_cli.text.truncate import truncate_to_minute
from zkchat_cli.text.words import stem, terms
from zkchat_cli.vault.links.wikilinks import write_link

MAX_EXCERPT = 700
"""Characters of a message in an excerpt."""
_SEGMENT = re.compile(r".{1,240}(?:\s|$)|.{1,240}", re.DOTALL)


def describe_message(found: FoundMessage, query: str, *, same_conversation: bool) -> dict[str, object]:
    """A found message as JSON for the model. Source numbers are valid only in their own conversation; others become links."""
    message = found.message
    speaker = f"result of {message.tool_name or 'a tool'}" if message.role == "tool" else message.role
    text = message.content if same_conversation else citations_to_links(message)
    notes = dict.fromkeys([*(c.relative_path for c in message.citations), *(c.relative_path for c in message.chunks)])
    return {
        "who": speaker,
        "when": truncate_to_minute(message.timestamp),
        "conversation": "this one" if same_conversation else found.title or found.conversation_id,
        "said": cut_around_query(text, query),
        "notes": [write_link(path) for path in notes if path],
    }


def citations_to_links(message: ZkChatMessage) -> str:
    """The text of an answer with a link to each cited note in place of its number."""
    from zkchat_cli.citations.marks import cited_marks, split_at_marks  # 20 ms, which the budget bar does not need

    paths = {citation.number: citation.relative_path for citation in message.citations if citation.relative_path}
    text = ""
    for piece, mark in split_at_marks(message.content, cited_marks(message.content, message.citations)):
        links = dict.fromkeys(write_link(paths[number]) for number in mark.numbers if number in paths) if mark and not mark.name else None
        text += " ".join(links) if links else piece
    return text


def cut_around_query(text: str, query: str, max_length: int = MAX_EXCERPT) -> str:
    """The text in at most `max_length` characters around the segment with the most words of the query; "…" marks the cuts."""
    if len(text) <= max_length:
        return text
    languages = detect_languages([text])
    query_stems = {stem(term, languages) for term in terms(query)}
    segments = _SEGMENT.findall(text)
    scores = [len(query_stems.intersection(stem(term, languages) for term in terms(segment))) for segment in segments]
    first = last = max(range(len(segments)), key=lambda i: scores[i])
    length = len(segments[first])
    while neighbours := [i for i in (first - 1, last + 1) if 0 <= i < len(segments) and length + len(segments[i]) <= max_length]:
        best = max(neighbours, key=lambda i: (scores[i], i))
        first, last, length = min(first, best), max(last, best), length + len(segments[best])
    excerpt = "".join(segments[first : last + 1]).strip()
    return ("… " if first else "") + excerpt + (" …" if last < len(segments) - 1 else "")
