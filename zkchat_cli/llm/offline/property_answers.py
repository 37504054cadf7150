"""Answers to questions for a property of a note that they name: "when is Helga's birthday?" where
the note has `geburtstag: 1951-12-03`. Pure.
"""

from collections.abc import Sequence
from functools import cache

from zkchat_cli.llm.offline.answer import OfflineAnswer, format_quotes
from zkchat_cli.llm.offline.kind_names import KINDS
from zkchat_cli.llm.offline.property_names import same_names
from zkchat_cli.llm.offline.quotes import QuoteSource, RankedQuote, find_quotes
from zkchat_cli.llm.offline.request_handler import plain_name
from zkchat_cli.llm.offline.request_slots import bare_text
from zkchat_cli.text import words
from zkchat_cli.text.answer_phrases import AnswerPhrases
from zkchat_cli.text.patterns import lazy_pattern
from zkchat_cli.text.word_lists import REQUEST_LANGUAGES

_FIELD = lazy_pattern(r"(?P<name>[^\W\d][\w -]{0,39}?)::? \S.*")
_MEANT = {
    word: name
    for name, words_of_name in {
        "city": "live lives living wohnt wohnen lebt leben habite habitent vit vivent vive viven"
        " mora moram",
        "birthday": "born geboren nee naissance nacio nasceu cumple anos",
        "author": "wrote write written schrieb geschrieben ecrit escribio escrito escreveu",
        "duration": "long lange dauert dauern take takes dure durent dura duran tarda tardan demora"
        " longtemps temps tiempo tempo",
        "price": "cost costs kostet kosten teuer coute coutent cuesta cuestan vale custa custam",
        "attendees": "attended attend there dabei anwesend teilgenommen participe assiste asistio"
        " participo participou",
    }.items()
    for word in words_of_name.split()
}
"""The property that a verb asks for."""
_COUNTED = frozenset(
    "many much high old viele hoch alt combien cuanto cuanta cuantos cuantas quanto quanta quantos"
    " quantas exact exactly genau tell please bitte".split()
)
_ASKS_WHO = lazy_pattern(r"(?:and |und |et |y |e )?(?:who|wer|qui|quien|quienes|quem)\b.*")


def answer_with_property(
    question: str, excerpts: Sequence[QuoteSource], phrases: AnswerPhrases
) -> OfflineAnswer | None:
    """The property that a question names besides the name of one note; None if it asks for more."""
    asked = _content(question)
    found: dict[str, RankedQuote] = {}
    for excerpt in excerpts:
        title = _content(excerpt.title)
        if title & asked and (quote := _find(asked - title, excerpt)):
            found.setdefault(excerpt.path, quote)
    best = max((len(_content(each.excerpt.title) & asked) for each in found.values()), default=0)
    nearest = [each for each in found.values() if len(_content(each.excerpt.title) & asked) == best]
    if len(nearest) != 1:
        return None
    said = f"{plain_name(nearest[0].excerpt.title)}: {format_quotes(nearest)}"
    return OfflineAnswer(f"{phrases.from_notes}\n\n{said}", "answer")


def find_property(question: str, excerpts: Sequence[QuoteSource]) -> RankedQuote | None:
    """The property of a note that a question about it asks for; None if it asks for more."""
    asked = _content(question)
    if not asked and _ASKS_WHO.fullmatch(bare_text(question)):
        asked = frozenset(("attendees",))
    return next(filter(None, (_find(asked, each) for each in excerpts)), None)


def _find(asked: frozenset[str], excerpt: QuoteSource) -> RankedQuote | None:
    """The property that these words name, and nothing else."""
    if not asked:
        return None
    languages = words.detect_languages([excerpt.text])
    for quote in find_quotes([excerpt], languages):
        field = _FIELD.fullmatch(quote.text)
        if field is None:
            continue
        names = frozenset(same_names(field["name"]))
        if all(word in names or _MEANT.get(word) in names for word in asked):
            return quote
    return None


def _content(text: str) -> frozenset[str]:
    """The words of a text without the common ones of any language, as they are compared."""
    found = words.terms(bare_text(text).replace("'", " ").replace("’", " "))
    common = _common_words()
    return frozenset(word for word in found if word in _MEANT or word not in common)


@cache
def _common_words() -> frozenset[str]:
    """The common words of five languages without accents, and what kinds of notes are called."""
    common = {
        bare_text(word) for language in REQUEST_LANGUAGES for word in words.stopwords(language)
    }
    return frozenset(common.union(_COUNTED, *KINDS))
