"""An answer as a note of its own: its citations become links to the notes it rests on, and what it quotes from them stands at its end.

Pure: from an answer to the text of a note, and from a question to a file's name. The links are Obsidian's, which zkchat reads as well.
"""

import json
import re
import unicodedata
from collections import defaultdict
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from itertools import count
from pathlib import PurePosixPath
from urllib.parse import quote

from zkchat_cli.citations import marks
from zkchat_cli.models import Citation
from zkchat_cli.text.truncate import truncate
from zkchat_cli.views.sources import citation_status, line_range

LONGEST_QUESTION = 2000
LONGEST_NAME = 60
MOST_BYTES = 180
"""Bytes of a file's name, of which file systems take 255, so that there is room for a number and an ending."""
_NOT_IN_A_LINK = re.compile(r"[\[\]#|^\x00-\x1f\x7f]|%%")
_NOT_IN_A_HEADING = re.compile(r"(?:[\[\]#|^\s]|%%)+")
_NOT_IN_YAML = re.compile("[\x7f-\x9f\u2028\u2029\ufeff\ufffe\uffff]")
_END = re.compile(r"[?!。？！\n]|\.\s")
_RESERVED = re.compile(r"(?i)(?:con|prn|aux|nul|com\d|lpt\d)$")
"""Names that Windows keeps for its devices."""


@dataclass(frozen=True, slots=True)
class AnswerNote:
    """What there is to save. `date` is when the answer came."""

    question: str
    text: str
    citations: tuple[Citation, ...]
    model: str | None
    date: str
    conversation: str


def note_text(answer: AnswerNote, name: Callable[[str], str]) -> str:
    """The note's text. `name` says how a link names the note at a path: its name, or its path without `.md` where others have that name."""

    def link(citation: Citation) -> str:
        return note_link(citation.relative_path or "", citation.heading, name)

    parts = [_front_matter(answer), _linked(answer, link).strip("\n"), _sources(answer.citations, link)]
    return "\n\n".join(part for part in parts if part) + "\n"


def note_link(relative_path: str, heading: str | None, name: Callable[[str], str]) -> str:
    """A link to a note and a heading in it. A note whose name no wikilink can hold gets a Markdown link."""
    path = PurePosixPath(relative_path)
    called = name(relative_path)
    if _NOT_IN_A_LINK.search(called):
        shown = " ".join(_NOT_IN_A_LINK.sub(" ", path.stem).split())
        return f"[{shown}]({quote(relative_path, errors='replace')})"
    section = _NOT_IN_A_HEADING.sub(" ", heading or "").strip()
    return f"[[{called}#{section}]]" if section and section != path.stem else f"[[{called}]]"


def file_name(question: str, exists: Callable[[str], bool]) -> str:
    """A name for the note, from the question's first sentence and safe on every file system; `exists` says which ones are taken."""
    asked = next(filter(str.strip, _END.split(question, 5)), "")
    kept = "".join(c if c.isalnum() or unicodedata.category(c).startswith("M") or c in "-_'’" else " " for c in asked)
    words = truncate(kept, LONGEST_NAME).rstrip("…").strip(" -_'’")
    while len(words.encode()) > MOST_BYTES:
        words = words[:-1].rstrip()
    base = words[:1].upper() + words[1:] if words and not _RESERVED.match(words) else f"Answer {words}".strip()
    candidates = (f"{base}.md" if n == 1 else f"{base} {n}.md" for n in count(1))
    return next(candidate for candidate in candidates if not exists(candidate))


def _front_matter(answer: AnswerNote) -> str:
    """Values as JSON strings, which are YAML as well, whatever stands in them."""
    fields = {
        "question": answer.question.strip()[:LONGEST_QUESTION],
        "model": answer.model,
        "date": answer.date,
        "conversation": answer.conversation,
    }
    return "\n".join(["---", *(f"{name}: {_yaml(value)}" for name, value in fields.items()), "tags: []", "---"])


def _yaml(value: str | None) -> str:
    return _NOT_IN_YAML.sub(lambda c: f"\\u{ord(c[0]):04x}", json.dumps(value, ensure_ascii=False))


def _linked(answer: AnswerNote, link: Callable[[Citation], str]) -> str:
    """The answer's text with links in place of its marks; a number that means nothing stays. A code block left open is closed."""
    at: defaultdict[tuple[int, int] | int, list[Citation]] = defaultdict(list)
    for citation in answer.citations:
        at[citation.number].append(citation)
        for span in citation.spans:
            at[span].append(citation)
    said: list[str] = []
    for piece, mark in marks.split_at_marks(answer.text, marks.cited_marks(answer.text, answer.citations)):
        meant = (at.get(mark.span) or [c for number in mark.numbers for c in at[number]]) if mark else []
        if all(citation.relative_path is None for citation in meant):
            said.append(piece)
            continue
        links = dict.fromkeys(f"[{c.number}]" if c.relative_path is None else link(c) for c in meant)
        if said and said[-1].endswith(("!", "[")):
            said.append(" ")  # `![[…]]` would embed the note
        said.append(", ".join(links))
    closing = marks.read_marks(answer.text).closing
    return "".join(said) + (f"\n{closing}" if closing else "")


def _sources(citations: Iterable[Citation], link: Callable[[Citation], str]) -> str:
    """Each source with its lines and the words quoted from it."""
    lines: dict[str, None] = {}
    for citation in citations:
        if citation.relative_path is None:
            lines[f"- [{citation.number}] no such source *(not verified)*"] = None
            continue
        path = "`" + " ".join(citation.relative_path.replace("`", "'").split()) + "`"
        where = "" if citation.start_line is None else f":{line_range(citation.start_line, citation.end_line)}"
        said = f" “{' '.join(citation.quote.split())}”" if citation.quote else ""
        doubt = " *(not verified: the quoted words are not there)*" if citation_status(citation) == "misquoted" else ""
        lines[f"- {link(citation)} {path}{where}{said}{doubt}"] = None
    return "\n".join(["## Sources", "", *lines]) if lines else ""
