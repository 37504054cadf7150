"""What two sides are compared on: "compare podman with docker on rootless ports", "the price of tea
and coffee", "was den Preis angeht". Pure.

"Regarding" and "in terms of" begin an aspect for sure. "On" and "of" may as well belong to a name,
as in "Lord of the Rings": then the request has the whole names, too, and the notes decide.
"""

import re
from collections.abc import Callable, Iterator
from typing import NamedTuple

from zkchat_cli.llm.offline.message_frame import without_frame, without_thanks
from zkchat_cli.llm.offline.note_request import NoteRequest
from zkchat_cli.llm.offline.note_scope import PUNCTUATION, clean_subject, has_date
from zkchat_cli.llm.offline.request_slots import bare_text, compile_filled, written_groups
from zkchat_cli.llm.offline.typos import COMMON_WORDS
from zkchat_cli.text.patterns import lazy_pattern

# Words of an aspect: more are a sentence
LONGEST_ASPECT = 6

_CLEAR = (
    r"(?:in terms of|when it comes to|(?:with|in) (?:regards?|respect|relation) to|as regards"
    r"|regarding|concerning"
    r"|bezuglich|hinsichtlich|betreffend|(?:in|mit) bezug auf|(?:im hin|mit )blick auf"
    r"|(?:in )?pun[ck]to|in sachen"
    r"|en termes? d|en matiere d|au niveau d|concernant|en ce qui concerne|pour ce qui est d"
    r"|quant a|du point de vue d|sur le plan d|cote|niveau|question|au sujet d|a propos d"
    r"|en cuanto a|(?:con )?respecto [ad]|en terminos d|en lo (?:que respecta|que se refiere"
    r"|referente) a|en materia d|a nivel d|desde el punto de vista d|en relacion (?:con|a)"
    r"|quanto a|(?:em|com) relacao a|com respeito a|em termos d|no que (?:diz respeito|se refere"
    r"|toca) a|a respeito d|em materia d|(?:no|em) quesito|do ponto de vista d|ao nivel d)"
    r"(?:[eolus]|el|es|ux|[oa]s?|['’])? ?(?<=[ '’])"
)
_AROUND = (
    r"(?:was (?P<aspect2>.+?) (?:angeht|betrifft|anbelangt)"
    r"|as far as (?P<aspect3>.+?) (?:is concerned|are concerned|goes?))"
)
_QUESTION = (
    r"(?:compar|contrast|vergleich|how |which |what|wie |was |worin |welche|en quoi|comment |que "
    r"|qu['’]|quel|lequel|laquelle|cual|como |em que|en que|qual |is |are |ist |sind )"
)
_BETTER_FOR = compile_filled(
    r"(?P<before>.{1,40}\b{better}) (?:for|on|in|at|fur|bei|beim|im|zum|zur|pour|sur|en|para|em|no"
    r"|na) (?P<aspect>[^,:]+)(?P<after>[,:] .+)"
)
_CLEAR_FORMS = (
    lazy_pattern(
        rf"(?P<before>.+?),? (?:{_CLEAR}(?P<aspect>.+?)|{_AROUND})"
        r"(?P<after> (?:vergleichen|im vergleich))?"
    ),
    lazy_pattern(
        rf"(?P<before>)(?:{_CLEAR}(?P<aspect>.+?)|{_AROUND})"
        rf"(?:[,:] ?(?P<after>.+)| (?P<after2>{_QUESTION}.+))"
    ),
    _BETTER_FOR,
    # "Difference in price between", "Unterschied im Preis zwischen", "différence de prix entre"
    lazy_pattern(
        r"(?P<before>.*\b(?:differences?|unterschiede?|diferencias?|diferencas?))"
        r" (?:in|on|im|bei|beim|de|du|del|do|da|en|em|d['’]) ?(?P<aspect>.+?)"
        r"(?P<after> (?:between|zwischen|entre) .+)"
    ),
    lazy_pattern(
        r"(?P<before>(?:.* )?)(?P<aspect>[^\W\d]{3,})(?P<after>unterschiede? (?:zwischen|von) .+)"
    ),
    lazy_pattern(
        r"(?P<before>(?:.* )?)(?!(?:main|key|only|big|biggest|important|basic|essential|real|exact"
        r"|actual|the|a|quick|short|brief|make|show|me|is|are|what)\b)(?P<aspect>[^\W\d]{3,})"
        r"(?P<after> (?:differences? between|comparison (?:of|between)) .+)"
    ),
)
"""The words before and after an aspect are a request without it."""
_POSSIBLE = lazy_pattern(
    r"(?P<joint>:| on| in| for| at| by| about| bei| beim| im| in der| in den| fur| zum| zur| nach"
    r"| sur| pour| en| dans| por| para| sobre| em| no| na| nos| nas| pelo| pela)"
    r" (?=(?P<aspect>\S.*?)"
    r"(?P<after> (?:vergleichen|im vergleich))?$)"
)
# "The price of tea"; the names of most languages begin with a capital letter, and nouns in German
_OWNED = lazy_pattern(
    r"(?P<aspect>\S+(?: \S+)?) (?:(?P<joint>of|du|del|de|do|da|dos|das)|(?:von|vom|der|des))"
    r" (?P<side>.+)|(?P<aspect2>\S+(?: \S+)?) (?P<joint2>d)['’] ?(?P<side2>.+)"
)
_OWNER = lazy_pattern(r"(?P<side>.+?)(?:['’]s|s['’])(?: (?P<aspect>.+))?")
# "That of", "celui de"
_SAME = lazy_pattern(
    r"(?:(?:that|those|the ones?|celui|celle|ceux|celles) (?:of|de|du|des|d['’]) ?)"
)
# "Compare them in general", "for me", "in one sentence"
_NO_ASPECT = lazy_pattern(
    r"(?:general|detail|details|short|brief|depth|particular|notes?|my notes|notizen|meinen notizen"
    r"|mes notes|mis notas|minhas notas|notas|kurze|allgemeinen|einzelnen|resumen|resumo|bref|geral"
    r"|detalle|detalhes?|me|us|mich|mir|uns|moi|nous|mi|mim|nosotros|nos"
    r"|(?:\w+ ){0,2}(?:sentences?|words?|lines?|bullet points?|satz|satze|satzen|worten"
    r"|stichpunkten|phrases?|mots|frases?|palabras|palavras))"
)

# After a comparison: "and on price?", "what about the price?", "und beim Preis?"
_FURTHER = lazy_pattern(
    rf"(?:(?:and|but|now|und|aber|jetzt|et|mais|maintenant|y|pero|ahora|e|mas|agora) )?(?:{_CLEAR}"
    r"|(?:on|in|by|for|at|bei|beim|im|in der|nach|zur?|zum|sur|pour|en|dans|por|para|sobre|em|nos?"
    r"|nas?|pel[oa]) (?:(?:the|der|den|dem|las?|les?|los?|el|[ao]s?) |l['’])?"
    r"|(?:(?:what|how) about|was ist mit|wie (?:sieht|steht) es mit|qu['’]en est[- ]il d|que tal"
    r"|que hay d|e quanto a) ?(?:the |dem |der |den |e la |e |u |es |el |la |el |e l['’]|o |a ))"
    r"(?P<aspect>[^\W\d][\w-]*(?: [\w-]+){0,2}?)(?: aus)?"
)


_TABLE = lazy_pattern(
    r"(?:an? |one |eine[rm]? |une? |una |uma )?(?:table|tabelle|tableau|tabla|tabela)"
)


class _WithoutAspect(NamedTuple):
    """A message without the words of an aspect. `joint` is what may be a part of a name instead;
    empty if the aspect is clear.
    """

    text: str
    aspect: str
    joint: str = ""


def read_aspect(
    text: str, found: NoteRequest | None, parse: Callable[[str], NoteRequest | None]
) -> NoteRequest | None:
    """The comparison that a message asks for, with its aspect if it has one; None if it asks for
    none. `found` is the request of the whole message, and `parse` reads one without the aspect.
    """
    if found is not None and found.kind != "compare":
        return None
    framed = without_frame(without_thanks(text)).strip(PUNCTUATION)
    if found is not None and framed != text.strip(PUNCTUATION):
        # "For me" and "in my notes" belong to no side
        bare = parse(framed)
        found = bare if bare is not None and bare.kind == "compare" else found
    for each in _without_aspects(framed):
        request = parse(each.text)
        if request is not None and request.kind == "compare":
            with_aspect = _with_aspect(each, request, found)
            if with_aspect is not None:
                return with_aspect
    return found and (_read_owned(found) or found)


def read_further_aspect(text: str) -> str:
    """The aspect that a message after a comparison names, "and on price?"; empty for others."""
    found = _FURTHER.fullmatch(bare_text(text).strip(PUNCTUATION))
    if found is None or has_date(text):
        return ""
    return _named(_written(found, "aspect", text.strip(PUNCTUATION)))


def _with_aspect(
    split: _WithoutAspect, request: NoteRequest, whole: NoteRequest | None
) -> NoteRequest | None:
    """The request with its aspect; None if that is rather a part of a name."""
    if _TABLE.fullmatch(bare_text(split.aspect)):
        return request._replace(what="table")
    aspect = _named(split.aspect)
    if not split.joint or not aspect:
        return request._replace(aspect=aspect)
    if whole is None:
        return request._replace(aspect=aspect)
    if not _suits(split, request, whole):
        return None
    return request._replace(aspect=aspect, whole_left=whole.left, whole_right=whole.right)


def _without_aspects(text: str) -> Iterator[_WithoutAspect]:
    """The message without each aspect that it may have, clear ones first. Of the others only short
    ones, because each is parsed by itself.
    """
    bare = bare_text(text)
    for pattern in _CLEAR_FORMS:
        if match := pattern.fullmatch(bare):
            before = text[: match.end("before")]
            rest = f"{before}{_written(match, 'after', text)}"
            yield _WithoutAspect(" ".join(rest.split()), _written(match, "aspect", text))
    for match in _POSSIBLE.finditer(bare):
        aspect = _written(match, "aspect", text)
        if len(aspect.split()) <= LONGEST_ASPECT:
            rest = f"{text[: match.start()]}{_written(match, 'after', text)}"
            yield _WithoutAspect(rest, aspect, match["joint"].strip())


def _written(match: re.Match[str], name: str, text: str) -> str:
    """The group of a match as it is written; empty without it."""
    return written_groups(match, text).get(name, "")


def _named(aspect: str) -> str:
    cleaned = clean_subject(aspect)
    return "" if _NO_ASPECT.fullmatch(bare_text(cleaned)) else cleaned


def _suits(split: _WithoutAspect, request: NoteRequest, whole: NoteRequest) -> bool:
    """Whether what follows "on" or "in" may be an aspect: it is no date, belongs to the right side,
    and the left one has none of its own, as in "life in Rome with life in Paris".
    """
    if request.left != whole.left or not whole.right.lstrip("[").startswith(request.right):
        return False
    if f" {split.joint} " in f" {bare_text(request.left)} " or has_date(f"in {split.aspect}"):
        return False
    last = bare_text(request.right).rpartition(" ")[2]
    return last not in COMMON_WORDS and not has_date(f"{split.joint} {split.aspect}")


def _read_owned(found: NoteRequest) -> NoteRequest | None:
    """A request with "the price of tea" or "podman's" on its left side; None for another."""
    sides = _owned_sides(found)
    if sides is None or len(sides.aspect.split()) > LONGEST_ASPECT:
        return None
    return found._replace(
        left=clean_subject(sides.left),
        right=clean_subject(sides.right),
        aspect=_named(sides.aspect),
        whole_left=found.left,
        whole_right=found.right,
    )


class _OwnedSides(NamedTuple):
    left: str
    right: str
    aspect: str


def _owned_sides(found: NoteRequest) -> _OwnedSides | None:
    left = _read_owner(found.left)
    if left is None:
        return None
    same = _SAME.match(bare_text(found.right))
    alone = _Owner(found.right[same.end() :] if same else found.right, "")
    right = alone if same else _read_owner(found.right) or alone
    aspects = {bare_text(each.aspect) for each in (left, right) if each.aspect}
    if len(aspects) != 1:
        return None
    return _OwnedSides(left.name, right.name, left.aspect or right.aspect)


class _Owner(NamedTuple):
    """A side, and what is compared of it; empty if it is only said of the other side."""

    name: str
    aspect: str


def _read_owner(side: str) -> _Owner | None:
    bare = bare_text(side)
    owner = _OWNER.fullmatch(bare)
    if owner:
        return _Owner(_written(owner, "side", side), _written(owner, "aspect", side))
    owned = _OWNED.fullmatch(bare)
    if owned is None:
        return None
    aspect = _written(owned, "aspect", side)
    is_name = _written(owned, "joint", side) and not aspect.islower()
    return None if is_name else _Owner(_written(owned, "side", side), aspect)
