"""Footnotes with labels instead of numbers, `[^compost]`: the text's front matter says which notes
they mean (`sources` in the Open Knowledge Format). Labels of digits are numbers as others.
"""

import re
from collections.abc import Iterator

from zkchat_cli.citations.citing_marks import Footnote, read_footnote
from zkchat_cli.citations.marks import CitationMark
from zkchat_cli.citations.sources import MatchingNotes
from zkchat_cli.vault.knowledge_format import read_trust_fields

_LABEL = r"\[\^(?P<label>[^\s\[\]^]{1,200})\]"
# Not its definition
_MARK = re.compile(rf"{_LABEL}(?!:)")
_DEFINITION = re.compile(rf"^[ ]{{0,3}}{_LABEL}:(?P<definition>[^\n]*)", re.MULTILINE)


def labelled_marks(prose: str, text: str) -> Iterator[CitationMark]:
    """The footnotes in the `prose` of a text, which has no code, as marks that name their notes."""
    sources = _labelled_sources(text)
    for found in _MARK.finditer(prose) if sources else ():
        if found["label"] in sources:
            yield CitationMark(*found.span(), name=sources[found["label"]])


def labelled_footnotes(body: str, text: str, matching_notes: MatchingNotes) -> Iterator[Footnote]:
    """What the definitions of these footnotes quote."""
    sources = _labelled_sources(text)
    for found in _DEFINITION.finditer(body) if sources else ():
        notes = matching_notes(sources.get(found["label"], ""))
        if notes:
            footnote = read_footnote(found["definition"], matching_notes)
            yield footnote._replace(notes=notes)


def _labelled_sources(text: str) -> dict[str, str]:
    """The notes that the front matter of a text lists as sources, by their labels."""
    sources: dict[str, str] = {}
    for source in read_trust_fields(text).sources:
        if source.id and not source.id.isdecimal() and "://" not in source.resource:
            sources[source.id] = source.resource
    return sources
