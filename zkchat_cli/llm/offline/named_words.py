"""Words of a question as the user wrote them. Pure."""

from collections.abc import Collection

from zkchat_cli.text.literals import is_literal, written_form
from zkchat_cli.text.words import content_terms

_MARKS = ".,;:!?¿¡()[]{}\"'“”„«»`*"


def as_written(term: str, text: str) -> str:
    """A term with the case and accents that it has in a text."""
    for written in text.split():
        if term in content_terms(written):
            return written.strip(_MARKS) or written
    return written_form(term)


def phrases_of(terms: Collection[str], text: str) -> str:
    """These terms as they are written; those that follow each other in the text are one phrase."""
    phrases: list[list[str]] = []
    last = -1
    for place, written in enumerate(text.split()):
        if terms and not frozenset(content_terms(written)).isdisjoint(terms):
            bare = written.strip(_MARKS) or written
            if phrases and last == place - 1:
                phrases[-1].append(bare)
            else:
                phrases.append([bare])
            last = place
    return ", ".join(" ".join(phrase) for phrase in phrases)


def is_name(term: str, text: str) -> bool:
    """Whether a term is a symbol, has a digit, or is written with a capital letter that does not
    begin the text: it names something.
    """
    written = as_written(term, text)
    if is_literal(term) or any(map(str.isdigit, written)):
        return True
    return written[:1].isupper() and not text.lstrip(_MARKS).startswith(written)
