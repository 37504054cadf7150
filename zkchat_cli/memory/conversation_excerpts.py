"""What was said before, as a model gets it: the part of a message that answers, and the notes that it rested on as links."""

import re

from zkchat_cli.citations.marks.marks import cited, pieces
from zkchat_cli.models import FoundMessage, ZkChatMessage
from zkchat_cli.text.words import stem, terms

LONGEST = 700
"""Characters of a message that are shown."""
_PIECE = re.compile(r".{1,240}(?:\s|$)|.{1,240}", re.DOTALL)


def describe_message(said: FoundMessage, query: str, *, here: bool) -> dict[str, object]:
    """Who said what, when and where. `here`: in this conversation, whose numbers of excerpts hold; those of another become links."""
    message = said.message
    who = {"user": "user", "assistant": "assistant", "tool": f"result of {message.tool_name or 'a tool'}"}.get(message.role, message.role)
    text = message.content if here else citations_to_links(message)
    notes = dict.fromkeys([*(c.relative_path for c in message.citations), *(c.relative_path for c in message.chunks)])
    return {
        "who": who,
        "when": message.timestamp[:16].replace("T", " "),
        "conversation": "this one" if here else said.title or said.conversation_id,
        "said": cut_around_query(text, query),
        "notes": [wikilink_to(path) for path in notes if path],
    }


def citations_to_links(message: ZkChatMessage) -> str:
    """An answer with links to the notes it cites in place of their numbers."""
    paths = {citation.number: citation.relative_path for citation in message.citations if citation.relative_path}
    text = ""
    for piece, mark in pieces(message.content, cited(message.content, message.citations)):
        links = dict.fromkeys(wikilink_to(paths[number]) for number in mark.numbers if number in paths) if mark and not mark.name else None
        text += " ".join(links) if links else piece
    return text


def wikilink_to(relative_path: str) -> str:
    """A note's path as a link in an answer."""
    return f"[[{re.sub(r'[.](?:md|markdown)$', '', relative_path, flags=re.IGNORECASE)}]]"


def cut_around_query(text: str, query: str, longest: int = LONGEST) -> str:
    """As much of a text as `longest` characters hold, around the place that has most of the query's words; cuts are marked."""
    if len(text) <= longest:
        return text
    wanted = {stem(term) for term in terms(query)}
    parts = _PIECE.findall(text)
    scores = [len(wanted.intersection(map(stem, terms(part)))) for part in parts]
    first = last = max(range(len(parts)), key=lambda i: scores[i])
    length = len(parts[first])
    while True:  # it grows to the better side, as long as there is room
        sides = [i for i in (first - 1, last + 1) if 0 <= i < len(parts) and length + len(parts[i]) <= longest]
        if not sides:
            break
        best = max(sides, key=lambda i: (scores[i], i))
        first, last, length = min(first, best), max(last, best), length + len(parts[best])
    body = "".join(parts[first : last + 1]).strip()
    return ("… " if first else "") + body + (" …" if last < len(parts) - 1 else "")
