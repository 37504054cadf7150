"""What notes are not, do not have or do not say: "that do not mention bees", "without a tag". Pure.

All languages share one table, as in `request_slots`.
"""

from typing import NamedTuple

from zkchat_cli.llm.offline.request_slots import bare_text, compile_filled
from zkchat_cli.text.patterns import lazy_pattern

_WHO = r"(?:,? ?(?:that|which|who|die|welche|qui|que|y|et|e|and|und) )?"
_HAVE = (
    r"(?:(?:do|does|did|have|has|are|is|were|was|haben|hat|sind|ist|werden|contain|tienen|tiene|tem"
    r"|sont|ont|estan|estao|sao|son) )?"
)
_MARK = compile_filled(
    rf"(?:^|[ ,]+)(?:{_WHO}{_HAVE}(?:not|nicht|nao|pas"
    r"|no(?= (?:son|mencion|habl|tien|ten[gd]|enla|trat|conti|est)))"
    r"|but not|aber nicht|mais pas|pero no"
    r"|mas nao|except(?: for)?|other than|outside(?: of)?|ausser(?:halb)?(?: von)?|sauf|hormis"
    r"|excepto|salvo|exceto|fora de"
    rf"|{_WHO}(?:do not have|have no|has no|with no|haben? keine?n?|hat keine?n?|(?:no tiene|nao"
    rf" tem)|mit keine[rmn]?"
    r"|without|lacking|missing|ohne|sans|sin|sem)"
    rf"|{_WHO}(?:ne |n['’])(?P<verb>[^ ]+) (?:pas|aucune?|rien))(?: |$)"
)
# "que nao mencionam X", "die X nicht erwähnen", "qui ne parlent pas de X"
_GERMAN = compile_filled(
    r"(?:^|[ ,]+)(?:die |welche )(?P<value>.+?) (?:nicht|nie) (?P<verb>erwahnen|enthalten"
    r"|verlinken|behandeln|haben|zitieren)"
    r"|(?:^|[ ,]+)(?:die |welche )?(?P<verb2>erwahnen|enthalten|verlinken|behandeln)"
    r" (?:nicht (?:auf )?|kein(?:e|en)? )?(?P<value2>.+?)(?: nicht)?"
)
_SUBJECT = compile_filled(r"(?:(?:are|is|sind|sont|son|sao) )?(?:{mention}|{about}) (?P<value>.+)")
_TAG = compile_filled(
    r"(?:(?:have|has|had|haben|avoir|with|mit|avec|con|com|any|the tag|tagged|getaggt|markiert"
    r"|etiquetad[oa]s?|marcad[oa]s?|taguees?|etiquetees?|ont|tienen|tem|een|eine?n?|une?|uma?|de|d"
    r"|a|as|aucune?|ninguna?|nenhuma?|o|la|le|el|das|l)[ '’]+)*"
    r"(?:(?:{label})[ :]*)?#(?P<value>[^\s#]+)"
    r"|(?:tagged|getaggt|etiquetad[oa]s?|marcad[oa]s?)"
    r"|(?:tagged|getaggt|etiquetad[oa]s?|marcad[oa]s?)(?: (?:as|with|mit|con|com|avec))?"
    r" (?P<value2>[^ ]+)"
    r"|(?:(?:have|has|haben|any|eine?n?|une?|uma?|d|de|a|aucune?|ninguna?|nenhuma?|the) |d['’] ?)*"
    r"(?:{label})(?: (?P<value3>[^ ]+))?"
)
_LINK = compile_filled(
    r"(?:(?:have|has|any|haben|tienen|tem|ont|eine?n?|ausgehende[nr]?|outgoing|de|d|aucun|ningun"
    r"|nenhum|a|une?) )*"
    r"(?:{link}|liens?|enlaces?|verlink(?:en|t)|enlazan?|ligam?|linkam?|lient|pointent|apuntan?"
    r"|apontam?)"
    r"(?: (?:to|anywhere|nowhere|anything|any (?:other )?notes?|other notes?|auf|zu|vers|a|con|com"
    r"|para|nada|irgendwas|nichts|at all))*(?: (?P<value>.+))?"
)
_FOLDER = compile_filled(
    r"(?:in|im|dans|en|em|na|no) (?:{the} )*(?:(?:folder|ordner|dossier|carpeta|pasta) )"
    r"(?P<value>.+)|(?:{the} )*(?:folder|ordner|dossier|carpeta|pasta) (?P<value2>.+)"
    r"|(?P<value3>[^ ]+)/"
)
_WITHOUT_ARTICLES = compile_filled(
    r"(?:(?:have|has|had|any|haben|hat|ont|tienen|tiene|tem|yet|with|mit|con|com|avec|{the}"
    r"|{all}) )*"
    r"(?:d['’] ?)?(?P<value>.+?)(?: haben| have| yet)?"
)


# "but not meetings", "that are not meetings", "have no meetings"
_EXCEPTING = lazy_pattern(
    r"\b(?:have|has|haben|hat|tienen|tiene|tem|with|mit|but|aber|mais|pero|mas|are|is|were|sind|ist|sont|est|son|es|sao|e)\b"
)
_VERB_AT_END = lazy_pattern(r" (?:sind|ist|haben|hat|werden|wurden)$")
# "no tags and are in inbox": where the notes are
_PLACE = lazy_pattern(
    r"(?:^| )(?:(?:and|und|et|y|e) )?(?:(?:are|is|sind|ist|sont|est|estan|estao) )?"
    r"(?P<place>(?:in|im|dans|en|em|no|na) (?:(?:the|der|dem|le|la|el|o|a) )?[^\s,]+)$"
)
_BARE_NEGATIONS = ("not", "nicht", "nao", "no", "pas")
_HAVING = lazy_pattern(
    r"(?:have|has|had|haben|hat|tienen|tiene|tem|tengan|with|mit|con|com|avec) |(?:ont|a) d"
)


class Negation(NamedTuple):
    """The part of a text before a negation, and the fields of what is negated."""

    before: str
    fields: dict[str, object]


def split_negation(text: str) -> Negation | None:
    """A restriction that has a negation; None without one."""
    bare = bare_text(text)
    german = _GERMAN.fullmatch(bare)
    if german and ("nicht" in bare or "kein" in bare):
        verb = german["verb"] or german["verb2"]
        value = german["value"] or german["value2"]
        name = {"verlinken": "unlinked", "haben": "lacks"}.get(verb, "excluded")
        return Negation("", {name: text[bare.find(value) :][: len(value)]})
    mark = _MARK.search(bare)
    if mark is None or mark.end() >= len(bare):
        return None
    rest = _VERB_AT_END.sub("", text[mark.end() :])
    if mark["verb"]:
        rest = f"{mark['verb']} {rest}"
    rest, where = _split_place(rest)
    fields = read_negated(rest.strip())
    # "that do not need a key" says more than what notes have
    written = bare[mark.start() : mark.end()]
    is_bare = written.split()[-1] in _BARE_NEGATIONS and not _EXCEPTING.search(written)
    is_bare = is_bare or mark["verb"] == "ont"
    if "lacks" in fields and is_bare and not _HAVING.match(bare_text(rest.strip())):
        return None
    before = text[: mark.start()].strip(" ,")
    return Negation(f"{before} {where}".strip(), fields)


def _split_place(text: str) -> tuple[str, str]:
    """What is negated, and where the notes are: "tags" and "in inbox"."""
    place = _PLACE.search(bare_text(text))
    if place is None:
        return text, ""
    return text[: place.start()], text[place.start("place") :]


def read_negated(text: str) -> dict[str, object]:
    """The fields of what notes are not: "tagged core", "about bees", "a due date"."""
    bare = bare_text(text)
    for name, pattern in (
        ("tag", _TAG),
        ("unlinked", _LINK),
        ("folder", _FOLDER),
        ("excluded", _SUBJECT),
        ("lacks", _WITHOUT_ARTICLES),
    ):
        found = pattern.fullmatch(bare)
        if found is None:
            continue
        group = next((each for each, value in found.groupdict().items() if value), "")
        value = text[found.start(group) : found.end(group)].strip("\"'“” ") if group else ""
        if name in ("tag", "folder"):
            return {name: f"-{value.strip('#')}"}
        return {name: value or "-"}
    return {}
