"""Which note of a list a message means: "the second one", "open it", "what did we decide in the
last one?". Pure.
"""

import re
from typing import NamedTuple

from zkchat_cli.llm.offline.request_slots import bare_text
from zkchat_cli.text.patterns import lazy_pattern

# The last note of a list
LAST = -1
_NTH = {
    word: value
    for value, words in {
        1: "first 1st erste ersten erster erstes premier premiere primero primera primeiro"
        " primeira",
        2: "second 2nd zweite zweiten zweiter zweites deuxieme seconde segundo segunda",
        3: "third 3rd dritte dritten dritter drittes troisieme tercero tercera terceiro terceira",
        4: "fourth 4th vierte vierten quatrieme cuarto cuarta quarto quarta",
        5: "fifth 5th funfte funften cinquieme quinto quinta",
        6: "sixth 6th sechste sechsten sixieme sexto sexta",
        7: "seventh 7th siebte siebten septieme septimo septima setimo setima",
        8: "eighth 8th achte achten huitieme octavo octava oitavo oitava",
        LAST: "last letzte letzten letzter letztes dernier derniere ultimo ultima",
    }.items()
    for word in words.split()
}
_WORD = "|".join(_NTH)
_OPEN = (
    r"(?:(?:please|open|show|read|summari[sz]e|see|tell me (?:more )?about|what(?:['’]s| is) in|me"
    r"|(?:what|how) about|was ist mit|qu['’]en est[- ]il de|que hay de|e quanto a"
    r"|offne|zeige?|lies|fasse|mir|bitte|ouvre|montre|lis|moi|abre|abrir|muestra|muestrame|lee"
    r"|mostre|mostra|abra|leia|resume|resuma|and|und|et|y|e|number|nr\.?|note|nummer|numero|no\.?"
    r"|in|of|bei|aus|dans|de|en|em|na|da)[ -])*"
)
# What may be listed
_LISTED = (
    r"(?:note|task|to-?do|item|line|notiz|aufgabe|punkt|zeile|tache|ligne|nota|tarea|linea|tarefa"
    r"|linha)"
)
_PICK = lazy_pattern(
    # "Die letzten" are several
    rf"{_OPEN}(?!die letzten)(?:(?:the|die|den|das|der|dem|im|le|la|el|o|a) )?(?P<nth>{_WORD})"
    rf"(?: (?:one|zusammen|{_LISTED}))?"
    rf"|{_OPEN}(?:(?:the|die|la|a) )?(?:{_LISTED} )?(?P<number>\d{{1,2}})"
    r"(?:st|nd|rd|th|\.|e|eme|[ºª])?"
)
_IT = lazy_pattern(
    r"(?:please )?(?:open|show|read|summari[sz]e|offne|zeige?|lies|ouvre|montre|lis|abre|muestra"
    r"|lee|abra|mostre|leia)[- ]?(?:me |mir |moi )?(?:it|that|this(?: one| note)?|that (?:one|note)"
    r"|the note|es|sie|das|ihn|die notiz|le|la|lo|la note|la nota|isso|eso|a nota)|abrela|abrelo"
)
_CONTINUES = lazy_pattern(r"(?:and|und|et|y|e) (?:in|at|of|bei|zu|aus|dans|a|en|em|na|no|da|do) ")
# A noun may follow in German, and then no note of the list is meant: "in der letzten Woche". What
# ends a question has the form of a verb
_VERBS = (
    r"(?: (?:ge\w+|be\w+|ent\w+|ver\w+|\w+ge\w+t|passiert|los|dabei|wurde|steht|stand|war|ist|hat"
    r"|haben|gab|was|wir|ich|es|so))*"
)
_IN_QUESTION = lazy_pattern(
    rf"(?:(?:in|at|of|from|on|about|during|for) )?the (?P<english>{_WORD})"
    # "The last one we bought" is no note of the list
    rf" (?:one|of (?:them|these|those)|{_LISTED})(?=[ ?.!]*$|,| (?:say|mention|talk|tell|contain"
    r"|have|cost|take|need|mean|cover|link|about|due)s?\b)"
    r"|(?:(?:in|bei|aus|auf|von|zu|an|mit) (?:der|dem|das)|im|beim|vom|zum|zur|am)"
    rf" (?P<german>{_WORD})(?: {_LISTED})?(?={_VERBS}[ ?.!]*$)"
    rf"|(?:dans|de|lors de|pour|sur|a) (?:la |le |l['’])(?P<french>{_WORD})(?: {_LISTED})?"
    r"(?=[ ?.!]*$)"
    rf"|(?:(?:en|de|a|durante|sobre|con) (?:la|el)|del|al) (?P<spanish>{_WORD})(?: {_LISTED})?"
    r"(?=[ ?.!]*$)"
    rf"|(?:na|no|da|do|durante a|sobre a|com a) (?P<portuguese>{_WORD})(?: {_LISTED})?(?=[ ?.!]*$)"
)


class ListPosition(NamedTuple):
    """A note of a list by its place, from 1; and what is asked about it, if anything."""

    nth: int
    question: str = ""


def read_position(text: str) -> ListPosition | None:
    """The note that a whole message names by its place, or that a question does within it."""
    bare = bare_text(text)
    pick = _PICK.fullmatch(bare)
    if pick:
        nth = int(pick["number"]) if pick["number"] else _NTH[pick["nth"]]
        return ListPosition(nth) if nth else None
    found = _IN_QUESTION.search(bare)
    if found is None or not _starts_word(found):
        return None
    nth = _NTH[next(word for word in found.groups() if word)]
    rest = f"{text[: found.start()]} {text[found.end() :]}"
    return ListPosition(nth, " ".join(rest.split()))


def place_in_list(pick: int, page: int, size: int) -> dict[str, int]:
    """Where a place on a page of a list is: by itself, or in the page if it is the last one."""
    begin = page * size
    if pick == LAST:
        return {"offset": begin, "limit": size}
    return {"offset": begin + pick - 1, "limit": 1}


def last_page(page: int, total: int, size: int) -> int:
    """The page that was shown last: "more" may have shown that there are no further ones."""
    return max(0, min(page, (total - 1) // size))


def _starts_word(found: re.Match[str]) -> bool:
    return found.start() == 0 or not found.string[found.start() - 1].isalnum()


def names_shown_note(text: str) -> bool:
    """Whether a message means the note that was shown: "open it"."""
    return bool(_IT.fullmatch(bare_text(text)))


def continues_question(text: str) -> bool:
    """Whether a message asks the same about another note: "and in the second one?"."""
    return bool(_CONTINUES.match(bare_text(text)))
