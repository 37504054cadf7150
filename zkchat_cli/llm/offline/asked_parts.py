"""Parts of a question that an answer must have, and questions that sentences do not answer by being
near. Pure.

"The password of the guest wifi" is near to each note about the wifi, and the password of something
else may stand in another. "Who did not come?" is near to the list of those who came. A year that
nothing in a note says is not the year of that note.
"""

import re
from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple

from zkchat_cli.llm.offline.asked_amounts import lack_asked_amount
from zkchat_cli.llm.offline.asked_values import lack_asked_value
from zkchat_cli.llm.offline.quotes import QuoteSource, RankedQuote
from zkchat_cli.llm.offline.term_weights import PassageVocabulary
from zkchat_cli.text.case_folder import fold
from zkchat_cli.text.patterns import lazy_pattern
from zkchat_cli.text.words import content_terms, is_stopword

_YEAR = lazy_pattern(r"(?<![\w.,/-])(?:19|20)\d\d(?![\w/]|[.,]\d)")
_SUBORDINATE = (
    r"(?:when|if|because|while|although|that|so|wenn|weil|falls|dass|si|quand|parce|porque|cuando"
    r"|quando|se)"
)
_ASKS_FOR_EXCEPTION = lazy_pattern(
    rf"^\W*(?:who|whom|whose|which)\b(?:(?!\b{_SUBORDINATE}\b).)*\b(?:not|never|nobody|no|\w+n't)\b"
    rf"|^\W*(?:wer|wen|wem|welche[nmrs]?)\b(?:(?!\b{_SUBORDINATE}\b).)*\b(?:nicht|nie|kein\w*)\b"
    rf"|^\W*(?:qui|quel(?:le)?s?)\b(?:(?!\b{_SUBORDINATE}\b).)*\b(?:pas|jamais|aucune?)\b"
    rf"|^\W*(?:quien(?:es)?|cual(?:es)?)\b(?:(?!\b{_SUBORDINATE}\b).)*"
    r"\b(?:no(?! \w+[ai]d[oa]s?\b)|nunca|ningun\w*)\b"
    rf"|^\W*(?:quem|qual|quais)\b(?:(?!\b{_SUBORDINATE}\b).)*\b(?:nao|nunca|nenhum\w*)\b"
)
"""In folded text: "who did not come?", "welche Bücher habe ich nicht gelesen"."""
_OWNER = lazy_pattern(r"\b(?P<owner>[^\W\d_]+)'s (?P<thing>[^\W\d_]+(?: [^\W\d_]+)?)")
_OF = (
    lazy_pattern(
        r"^\W*(?:what|which|who)(?: (?:is|are|was|were)|'s) (?:the )?(?P<thing>\w+(?: \w+)?) of "
        r"(?:(?:the|a|an|my|our|his|her|their|this) )?(?P<owner>\w+(?:'s)?(?: \w+)?)"
    ),
    lazy_pattern(
        r"^\W*(?:the )?(?P<thing>\w+(?: \w+)?) of (?:(?:the|a|an|my|our|his|her|their|this) )?"
        r"(?P<owner>[\w.'-]+(?: [\w.'-]+){0,3})\W*$"
    ),
    lazy_pattern(
        r"^\W*(?:(?:what|which|who)(?: (?:is|are|was|were)|'s) )?(?:the )?(?P<thing>\w+(?: \w+)?) "
        r"(?:on|for|in) (?:my|our|his|her|their) (?P<owner>[\w.'-]+(?: [\w.'-]+){0,2})\W*$"
    ),
    lazy_pattern(
        r"^\W*(?:was|wie|welche[rs]?) (?:ist|sind|war|waren|lautet|lauten|lautete|heisst|hiess) "
        r"(?:der|die|das) (?P<thing>\w+) (?:vom|von|des|der) "
        r"(?:(?:dem|der|den|meine[rnm]?|unsere[rnm]?) )?(?P<owner>[\w-]+)"
    ),
    lazy_pattern(
        r"^\W*(?P<thing>\w+) (?:vom|von|des|der) (?:(?:dem|der|den|meine[rnm]?|unsere[rnm]?) )?"
        r"(?P<owner>[\w-]+)\W*$"
    ),
    lazy_pattern(
        r"^\W*(?:cual(?:es)?|quel(?:le)?s?|qual|quais) (?:es|era|son|est|etait|sont|e|era|sao) "
        r"(?:el |la |los |las |le |les |l'|o |a |os |as )?(?P<thing>\w+(?: \w+)?) "
        r"(?:del|de|du|des|d'|do|da|dos|das) (?:(?:la|los|las|el|l'|mi|mon|ma|meu|minha) ?)?"
        r"(?P<owner>\w+)"
    ),
)
"""A thing and its owner: "what is the password of the wifi", "password of the wifi"."""
_GENERIC = frozenset(
    "name names number cost price score percentage date day time year amount kind type list "
    "meaning purpose term use cause reason way rest part end beginning title author name namen "
    "nummer kosten preis datum tag zeit jahr art sinn zweck grund ende anfang titel nachname "
    "vorname begriff prozentsatz endstand nom numero cout prix jour heure annee sorte sens but "
    "raison fin debut titre auteur nombre numero costo precio fecha dia hora ano tipo sentido "
    "objetivo razon final principio titulo autor apellido nombres porcentaje resultado nome custo "
    "preco data motivo fim inicio".split()
)
"""Words for what an answer says without naming it: the name of a dog is "Biscuit"."""
_ALTERNATIVES = lazy_pattern(
    r"^\W*(?:(?:is|are|should (?:i|we) (?:use|take|get|buy)|soll (?:ich|wir)|lieber|mieux|mejor"
    r"|melhor)\W+)?(?P<first>(?:[\w'.+#-]+ )?[\w'.+#-]+?),? "
    r"(?:or|vs\.?|versus|compared (?:to|with)|oder|gegenuber|ou|par rapport a|frente a"
    r"|em relacao a) (?:the |der |die |das |le |la |les |el |los |las |o |a |os |as )?"
    r"(?P<second>[\w'.+#-]+(?: [\w'.+#-]+)??)"
    r"(?=\W*$|[,:?!]| (?:which|what|who|is|are|for|to|in|at|when|wer|was|welche[rs]?|fur|zum|zu|im"
    r"|wenn|pour|quel(?:le)?|para|cual|que|qual)\b)"
)
"""Two sides at the beginning of a question: "curl or httpie for sending json"."""
_THAN = lazy_pattern(
    r"^\W*(?:is|are|was|were|do|does|did|ist|sind|war|waren|braucht|kostet|hat|es|son|e|sao|est"
    r"|sont|est-ce que)\b.*\b(?:(?:more|less|fewer|plus|moins|mas|menos|mais)\b.*"
    r"|(?!other|rather)\w+er\b.*|worse|mejor|peor|melhor|pior|mieux|meilleure?) "
    r"(?:than (?:(?:the|a|an|my|our|his|her|their) )?"
    r"|als (?:(?:der|die|das|ein|eine|mein|meine|unser|unsere) )?"
    r"|que (?:le |la |les |l'|un |une |el |los |las |una |o |a |os |as |um |uma ))"
    r"(?!(?:wir|ich|er|sie|es|du|ihr|we|i|he|she|they|you|it)\b)"
    r"(?P<second>[\w.+#-]+(?: [\w.+#-]+)?)\W*$"
)
"""A comparison and its second side: "is the inkjet cheaper than a laser printer?"."""


class _OwnedThing(NamedTuple):
    thing: str
    owner: str


def is_year(word: str) -> bool:
    """Whether a word is a year from 1900 to 2099."""
    return _YEAR.fullmatch(word) is not None


def lacks_asked_parts(
    question: str,
    leading: Sequence[RankedQuote],
    excerpts: Iterable[QuoteSource],
    vocabulary: PassageVocabulary,
) -> bool:
    """Whether the leading passages cannot answer, although they may be near: the question asks who
    or which one does *not*, for a year that is nowhere in what was found of the first one's note,
    for what belongs to somebody or something, and no passage has both, or for a kind of value or an
    amount that none has.
    """
    folded = fold(question).replace("’", "'")
    if _ASKS_FOR_EXCEPTION.search(folded):
        return True
    if lack_asked_amount(question, (each.text for each in leading)):
        return True
    if lack_asked_value(question, (each.with_names for each in leading)):
        return True
    if leading and _lacks_year(folded, leading[0].excerpt.path, excerpts):
        return True
    return any(_is_apart(each, leading, vocabulary) for each in _owned_things(folded))


def _lacks_year(folded: str, path: str, excerpts: Iterable[QuoteSource]) -> bool:
    """Whether the question has years, and neither the excerpts of a note nor its names have one."""
    years: list[str] = _YEAR.findall(folded)
    texts = [path]
    for each in excerpts:
        if each.path == path:
            texts += (each.title, each.heading or "", each.text)
    return bool(years) and not any(year in text for year in years for text in texts)


def _owned_things(folded: str) -> Iterator[_OwnedThing]:
    """What the question asks of whom: the size of a shoe, and the shoe of Nora."""
    for found in _OWNER.finditer(folded):
        if not is_stopword(found["owner"]):
            yield _OwnedThing(found["thing"], found["owner"])
    for pattern in _OF:
        of = pattern.search(folded)
        if of is not None:
            yield _OwnedThing(of["thing"], of["owner"])


def _is_apart(
    owned: _OwnedThing, leading: Iterable[RankedQuote], vocabulary: PassageVocabulary
) -> bool:
    """Whether no passage, with the names above it, has all words of the thing and of its owner
    that others have: the frame number of the cargo bike is not that of the road bike.
    """
    things = [word for word in content_terms(owned.thing) if word not in _GENERIC]
    owners = content_terms(owned.owner.replace("'s", ""))
    if not things or not owners:
        return False
    needed = _known(things, vocabulary) + _known(owners, vocabulary)
    return not any(all(_has(quote, word, vocabulary) for word in needed) for quote in leading)


def _known(names: list[str], vocabulary: PassageVocabulary) -> list[str]:
    """The words of a name that any passage has; all if none has any."""
    return [word for word in names if vocabulary.has_word(word)] or names


def _has(quote: RankedQuote, word: str, vocabulary: PassageVocabulary) -> bool:
    """Whether a passage, with the names above it, has a word in one of its forms."""
    return any(form in quote.words or form in quote.above for form in vocabulary.forms(word))


def unknown_alternative(question: str, vocabulary: PassageVocabulary) -> str | None:
    """A word of the unknown side of a choice ("curl or httpie"), which no passage has any word of,
    or of the second side of a comparison ("cheaper than a laser printer"), if no passage has it.
    """
    folded = fold(question)
    choice: re.Match[str] | None = _ALTERNATIVES.search(folded)
    if choice is not None:
        for side in (choice["first"], choice["second"]):
            named = content_terms(side)
            if named and not any(map(vocabulary.has_word, named)):
                return named[-1]
    comparison: re.Match[str] | None = _THAN.search(folded)
    named = content_terms(comparison["second"]) if comparison is not None else []
    return next((word for word in named if not vocabulary.has_word(word)), None)
