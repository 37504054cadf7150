"""Words of a question as the user wrote them. Pure."""

from collections.abc import Collection

from zkchat_cli.text.literals import is_literal, written_form
from zkchat_cli.text.word_lists import FRENCH, GERMAN, PORTUGUESE, SPANISH
from zkchat_cli.text.words import content_terms, terms

_MARKS = ".,;:!?¿¡()[]{}\"'“”„«»`*"

_BEFORE_NOUNS = {
    FRENCH: "le la les un une des du de au aux mon ma mes ton ta tes son sa ses notre nos votre "
    "vos ce cette ces quel quelle quels quelles sur avec pour en par sans",
    SPANISH: "el la los las un una unos unas de del al mi mis tu tus su sus este esta estos estas "
    "cual cuanta cuantos cuantas con para en por sin sobre",
    PORTUGUESE: "o a os as um uma de do da dos das no na nos nas ao aos num numa meu minha meus "
    "minhas seu sua seus suas este esta quanta quantos quantas qual quais com para pra por "
    "pelo pela sem sobre em",
}
"""Articles, prepositions and such words, folded: a word behind one of them is hardly a verb."""
# English prepositions that are no stopwords: "nothing on against" names nothing
_PREPOSITIONS = frozenset(
    "against versus among amongst within upon via per towards toward beside besides".split()
)


def as_written(term: str, text: str) -> str:
    """A term with the case and accents that it has in a text."""
    for written in text.split():
        if term in content_terms(written):
            return written.strip(_MARKS) or written
    return written_form(term)


def phrases_of(terms: Collection[str], text: str) -> str:
    """These terms as they are written; those that follow each other in the text are one phrase,
    and a repeated one is said once.
    """
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
    return ", ".join(dict.fromkeys(" ".join(phrase) for phrase in phrases))


def is_name(term: str, text: str) -> bool:
    """Whether a term is a symbol, has a digit, or is written with a capital letter that does not
    begin the text: it names something.
    """
    written = as_written(term, text)
    if is_literal(term) or any(map(str.isdigit, written)):
        return True
    return written[:1].isupper() and not text.lstrip(_MARKS).startswith(written)


def is_noun(term: str, text: str, language: str | None) -> bool:
    """Whether a term of a question in this language can be named by itself: "nothing on the dog",
    but not "nothing on barked". In English any word can, as far as can be told.
    """
    written = as_written(term, text)
    if is_name(term, text) or language == GERMAN:
        return not written[:1].islower()
    before = _BEFORE_NOUNS.get(language or "")
    if before is None:
        return term not in _PREPOSITIONS
    followed = ""
    for each in text.split():
        if term in content_terms(each):
            return "'" in each or "’" in each or followed in before.split()
        followed = (terms(each) or [""])[-1]
    return False
