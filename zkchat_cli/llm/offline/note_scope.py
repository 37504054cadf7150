"""The notes that a request means: "about bees, tagged #garden, from last year". Pure."""

import re
from collections.abc import Iterator
from datetime import date
from typing import NamedTuple

from zkchat_cli.llm.offline.mentions import mentioned_name
from zkchat_cli.llm.offline.negations import split_negation
from zkchat_cli.llm.offline.property_values import take_value
from zkchat_cli.llm.offline.request_slots import bare_text, compile_filled
from zkchat_cli.text.dates import NamedPeriod, find_period_words
from zkchat_cli.text.due_dates import find_due_period
from zkchat_cli.text.patterns import lazy_pattern


class _ScopePattern(NamedTuple):
    """What a restriction sets: the words of `pattern` are taken out of it."""

    name: str
    pattern: re.Pattern[str]


_WRITTEN = (
    r"are there|there are|is there|do i have|i have|have i|did i have"
    r"|(?:that )?(?:(?:i|we|did i|did we|have i|were|was) )?(?:wrote|write|written|made|took"
    r"|noted|created|changed)"
    r"|ich geschrieben habe|geschrieben|notiert|aufgeschrieben|erstellt|angelegt|gemacht|getaggt"
    r"|markiert|versehen|(?:que )?(?:j['’]ai )?ecrit(?:es?)?|creees?|escrit[ao]s?"
    r"|que escribi|que escrevi|escrevi|anotad[ao]s?|(?:are|is|sind|sont|sao|son|existe[mn]?"
    r"|exist|gibt es|es gibt|habe ich|ich habe|ai[- ]je|j['’]ai"
    r"|y a[- ]t[- ]il|tengo|hay|eu tenho|tenho|ha|tenemos)"
)
_FIELDS = (
    _ScopePattern(
        "tag",
        compile_filled(
            # "Notas" does not end with an article
            r"(?<!\w)(?:(?:that|which|qui|que|are|is|have|has|with|haben|hat|mit|avec|ont|con|tienen"
            r"|tiene|com|tem|having|under|for|and|{the}) )*"
            r"(?:(?:tags?|hashtags?|schlagwort|etiquett?es?|etiquetas?|tagged|getaggt)"
            r"(?: (?:mit|as|with|avec|con|com))? )*#(?P<value>[^\s#,;]+)"
        ),
    ),
    _ScopePattern(
        "tag",
        compile_filled(
            # "Montag" has no tag
            r"(?<!\w)(?:(?:are |is |have|has|with|haben|mit|avec|ont|con|tienen|com|tem"
            r"|having) {articles})?"
            r"(?:the )?(?:tagged(?: (?:as|with))?|getaggt mit|taguees?|etiquetad[oa]s?(?: con|"
            r" com)?"
            r"|tag|schlagwort|etiquette|etiqueta)"
            r" [\"'“”]?(?P<value>[\w/-]+)[\"'“”]?"
        ),
    ),
    _ScopePattern(
        "folder",
        compile_filled(
            r"(?:{stand} )?(?:in|inside|under|below|from|im|in der|unter"
            r"|dans|en|em|na|no|de|del|da|do|aus|aus dem)? ?(?:the |my |dem |meinem |le |mon |la "
            r"|el"
            r" |mi |a |minha )?(?:folder|directory|subfolder|ordner|verzeichnis|dossier|repertoire"
            r"|carpeta|directorio|pasta|diretorio) [\"'“”]?(?P<value>[^\"'“”]+)[\"'“”]?"
        ),
    ),
    _ScopePattern(
        "folder",
        compile_filled(
            r"(?:in|inside|under|below|from|im|unter|dans|en|em|na|no|aus) (?:the |my |dem "
            r"|meinem |le"
            r" |la |el |mi |a )?[\"'“”]?(?P<value>[^\s\"'“”/]+(?: [^\s\"'“”/]+)?/[^\"'“”]*?)"
            r"/?[\"'“”]?(?=$| (?:with|about|on|from|since|tagged))"
        ),
    ),
    _ScopePattern(
        "folder",
        compile_filled(
            r"(?:in |from )?(?:the |my )?[\"'“”]?(?P<value>[\w/-]+)[\"'“”]? (?:folder|directory)"
        ),
    ),
    _ScopePattern(
        "property",
        compile_filled(
            r"(?:(?:with|where|whose|having|that have|which have|have|has|haben|hat|ont|tienen"
            r"|tiene|tem|mit|bei denen|wo|avec|dont|con"
            r"|donde|cuyo|com|onde|cujo) )(?:{the} )*(?:property "
            r"|eigenschaft"
            r" |propriete |propiedad |propriedade )?(?P<value>[\w-]+(?: ?[:=] ?| is | ist | est "
            r"| es "
            r"| e | equals | gleich )[^,;]+)"
        ),
    ),
    _ScopePattern(
        "property",
        compile_filled(
            r"(?:(?:with|having|that have|which have|have|has|mit|haben|avec|ont|con|tienen|com"
            r"|tem)"
            r" )(?:{the} )*(?:property|eigenschaft|propriete|propiedad|propriedade)"
            r" (?P<value>[\w-]+)"
        ),
    ),
    _ScopePattern(
        "property",
        compile_filled(
            r"(?:with|having|mit|avec|con|com) (?:{the} )*(?P<value>{named_property} [^,;]{1,30})"
        ),
    ),
    _ScopePattern("property", lazy_pattern(r"(?:^| )(?P<value>[a-z_-]+: ?\S+)$")),
)
_LINKED = compile_filled(
    r"(?:that |which |die |qui |que )?(?:(?:{link}) (?:back )?to|(?:verlink(?:en|t)) (?:auf|zu)"
    r"|(?:auf|zu) (?=.* verlink)|pointe(?:nt)? vers|(?:enlaza|apunta)n? a|apontam para)"
    r" (?P<note>.+?)(?: verlink(?:en|t))?"
)
_COLUMNS = compile_filled(
    r"(?P<rest>.+?) (?:with|showing|mit|avec|con|com|(?:and|und|et|y|e) (?:its|their|ihre[nmrs]?"
    r"|deren|leurs?|ses|sus?|suas?|seus?)) (?:{the} |columns? |spalten? |colonnes?"
    r" |columnas? |colunas? )*(?!tag )(?P<columns>[^#:=]+)"
)
_SCOPE_BEGIN = compile_filled(
    r"(?:(?:everything|anything|all|alles|tout|todo|tudo|what) (?:that )?(?:i|we|ich|j['’]ai)"
    r" (?:wrote|have|know|noted|geschrieben habe|weiss|ecrit)(?: down)?"
    r"|everything|anything|alles|tout ce qui|todo|tudo"
    r"|(?:{all}|{the})|bitte|mal|doch|kurz|please|(?:items?|entries|points|list|contents?|listenpunkte|punkte|elements"
    r"|elementos|itens) (?:of|in|from|von|aus|de|do|del|du)"
    r"|(?:{notes})(?=$| (?:{about}|{mention}|that|which|die|qui|que|de|d['’]|of|from|in|im|en|em"
    r"|dans"
    r"|\[\[)\b)"
    r"|(?:that |which |die |qui |que )?(?:{mention})|(?:{about})"
    r"|(?:that|which|die|qui|que) (?:have|has|haben|ont|tienen|tem)(?: (?:{the}))*"
    rf"|(?:{_WRITTEN})"
    r")(?:[ ,:]+|(?<=['’])|$)"
)
_SCOPE_END = compile_filled(
    rf"[ ,]+(?:{_WRITTEN}|(?:{{notes}})|auf|machen|an|there|have|haben|note|folder)"
)
_ELISION = lazy_pattern(r"(?:d|l|qu)['’] ?")
_LINK = lazy_pattern(r"\[\[([^\[\]]+)\]\]")
# "in my notes", where "notes" was taken away: that is all of them
_ALL_MINE = lazy_pattern(
    r"(?:in|inside|from|of|in all|dans|en|em|de|aus|von)(?: (?:all|allen|toutes|todas|tod[ao]s))? ?"
    r"(?:(?:of )?(?:my|our|meinen|unseren|mes|nos|mis|nuestras|(?:as )?minhas|(?:as )?nossas))"
    r"(?: (?:vault|notes|notizen|notas))?",
    re.IGNORECASE,
)
_SINGLE_FOLDER = lazy_pattern(
    r"(?:that are |are )?(?:in|im|dans|en|em|inside|under) (?:the )?(?P<value>[^\W\d][\w-]*(?:"
    r" [A-ZÀ-Ý][\w-]*)*)"
)
NAMED_NOTE = lazy_pattern(
    r"(?:(?:my |the |meine |die |der |ma |la |mi |minha |a |da )(?:note|notiz|nota)|notiz|nota)"
    r" (?:called |named |titled |namens |intitulee |llamada |chamada )?(?!about |on |with |from "
    r"|uber |zu |sur |de |sobre |mit "
    r"|in |im |that )[\"'“”]?(?P<note>.+?)[\"'“”]?"
)
_QUOTES = "\"'“”„«»‘’ "
PUNCTUATION = " \t\n¿¡?!.…,;:"
# Only the words of dates matter here, not the days that they mean
_ANY_DAY = date(year=1950, month=1, day=1)
_DATE_JOINT = lazy_pattern(
    r"\b(?:de|del|do|da|du|von|vom|from|of|en|em|aus|na|(?:(?:el|no|o) )?d[ií]a)"
    r"(?:\s+(?:the|der|dem|la|el|le|les|los|las))?\s*$",
    re.IGNORECASE,
)


def read_scope(text: str, *, columns: bool = False) -> dict[str, object]:
    """The restriction to notes that a text says, by field; what remains is the subject."""
    found: dict[str, object] = {}
    if mentioned := mentioned_name(text):
        return {"about": clean_subject(mentioned)}
    negation = split_negation(text)
    if negation:
        return _join_tags(read_scope(negation.before), negation.fields)
    bare = bare_text(text)
    linked = _LINKED.fullmatch(bare)
    if linked:
        note = clean_subject(text[linked.start("note") : linked.end("note")])
        return {"note": note, "direction": "to"}
    named = NAMED_NOTE.fullmatch(bare)
    if named:
        return {"note": text[named.start("note") : named.end("note")]}
    if columns and (match := _COLUMNS.fullmatch(bare)):
        found["columns"] = text[match.start("columns") : match.end("columns")].strip()
        text = text[: match.end("rest")]
    text = _take_fields(text, found)
    for _ in range(2):
        text = _take_single_folder(_strip_scope(_take_dates(text, found)), found)
    return found | _read_subject(text)


def _join_tags(wanted: dict[str, object], others: dict[str, object]) -> dict[str, object]:
    """The fields of both; notes may have one tag and not have another."""
    tags = [str(fields["tag"]) for fields in (wanted, others) if "tag" in fields]
    joined = wanted | others
    return joined | {"tag": " ".join(tags)} if tags else joined


def _take_fields(text: str, found: dict[str, object]) -> str:
    """Put what `_FIELDS` finds into `found`, and a comparison; the text without it."""
    compared = take_value(text)
    if compared:
        found["property"] = compared.property
        text = compared.rest
    for field in _FIELDS:
        match = field.pattern.search(bare_text(text))
        if match is None or field.name in found:
            continue
        value = text[match.start("value") : match.end("value")].strip(_QUOTES)
        if field.name == "folder" and find_period_words(value):
            continue
        found[field.name] = _read_property(value) if field.name == "property" else value
        text = " ".join(f"{text[: match.start()]} {text[match.end() :]}".split())
    return text


def _read_property(text: str) -> str:
    """`status: open` for "status is open" or "status open"; a name alone as it is."""
    joined = _OR.sub(" | ", _PROPERTY_JOINT.sub(": ", text, count=1))
    return joined if ":" in joined else joined.replace(" ", ": ", 1)


def _take_single_folder(text: str, found: dict[str, object]) -> str:
    """Take "in Projects" for a folder; empty then, else the text."""
    if _ALL_MINE.fullmatch(text):
        return ""
    single = _SINGLE_FOLDER.fullmatch(text)
    if single is None or "folder" in found or find_period_words(text):
        return text
    found["folder"] = single["value"]
    found["is_guess"] = True
    return ""


_OR = lazy_pattern(r" (?:or|oder|ou|o|u) ")
_PROPERTY_JOINT = lazy_pattern(r" ?(?:::?|=) ?| (?:is|ist|gleich|est|es|é|e|equals) ")


def _take_dates(text: str, found: dict[str, object]) -> str:
    """Put the words of a date at the beginning or end of a text into `found`; the text without
    them.
    """
    text = text.strip(PUNCTUATION)
    if not text or "dates" in found:
        return text
    if _YESTERDAY.fullmatch(text):
        found["dates"] = text
        return ""
    for variant in _date_variants(text):
        named = find_period_words(variant)
        if named is None:
            continue
        if variant.startswith(named.words) or variant.endswith(named.words):
            found["dates"] = named.words
            return _DATE_JOINT.sub("", named.rest)
    return text


def read_dates(text: str) -> NamedPeriod | None:
    """The words of a date in a text, and the text without them. A year needs no word before it:
    "gab es 2026".
    """
    dated = find_period_words(text)
    year = None if dated else _YEAR.search(text)
    if year is None:
        return dated
    rest = f"{text[: year.start()]} {text[year.end() :]}"
    named = find_period_words(f"in {year[0]}")
    return named and named._replace(words=year[0], rest=" ".join(rest.split()))


def is_due_date(text: str) -> bool:
    """Whether a text says when something is due: "next week"."""
    return find_due_period(text, _ANY_DAY) is not None


def has_date(text: str) -> bool:
    """Whether a text has the words of a date."""
    return any(find_period_words(each) is not None for each in _date_variants(text))


def _date_variants(text: str) -> Iterator[str]:
    """A text, and what `find_period` understands instead of some dates in it."""
    yield text
    for pattern, replacement in _DATE_VARIANTS:
        variant = pattern.sub(replacement, text)
        if variant != text:
            yield variant


_YEAR = lazy_pattern(r"(?<![^\s(])(?:19|20)\d\d(?![^\s,?!.)])")
_YESTERDAY = lazy_pattern("hier", re.IGNORECASE)
_DATE_VARIANTS = (
    # A month by itself is no date
    (lazy_pattern(r"^d[eo] (?=\w+(?:eiro|ço|io|ho|bro)$)", re.IGNORECASE), "em "),
    (lazy_pattern(r"^(?:de |del |d['’])(?=\w+$)", re.IGNORECASE), "en "),
    (lazy_pattern(r"^vom (?=\w+(?:tag|woch)$)", re.IGNORECASE), "am "),
    (lazy_pattern(r"^(?:von|vom) (?=\w+$)", re.IGNORECASE), "im "),
    # "Mon journal d'octobre"
    (lazy_pattern(r"(?<=\s)d[eo] (?=[^\W\d_]+(?:eiro|ço|io|ho|ubro|mbro)$)", re.IGNORECASE), "em "),
    (lazy_pattern(r"(?<=\s)(?:de |del |d['’])(?=[^\W\d_]{3,10}$)", re.IGNORECASE), "en "),
    (lazy_pattern(r"(?<=\s)(?:von|vom) (?=[^\W\d_]{3,10}$)", re.IGNORECASE), "im "),
    (lazy_pattern(r"\b(?:von |aus |seit )?(?:der )?letzte[rn]\b", re.IGNORECASE), "letzte"),
    (lazy_pattern(r"\b(?:von )?letztem\b", re.IGNORECASE), "letzten"),
    (lazy_pattern(r"\bdel (?=\w+ pasad)", re.IGNORECASE), "el "),
    (lazy_pattern(r"\b(?:du|le) mois passé", re.IGNORECASE), "le mois dernier"),
    (lazy_pattern(r"\b(?:du|de l['’])\s?(?=\w+ derni)", re.IGNORECASE), "le "),
    (lazy_pattern(r"\bce mois(?!-)", re.IGNORECASE), "ce mois-ci"),
    (lazy_pattern(r"\bcette année\b|\bde cette année\b", re.IGNORECASE), "this year"),
    (lazy_pattern(r"\bcette semaine\b", re.IGNORECASE), "this week"),
    (lazy_pattern(r"\bce mois-ci\b", re.IGNORECASE), "this month"),
)


def _strip_scope(text: str) -> str:
    """A text without the words around its subject: "the notes about", "that I wrote"."""
    text = text.strip(PUNCTUATION)
    while True:
        bare = bare_text(text)
        begin = _SCOPE_BEGIN.match(bare) or _ELISION.match(bare)
        if begin and begin.end() and not bare.startswith("[["):
            text = text[begin.end() :].strip(PUNCTUATION)
            continue
        for end in _SCOPE_END.finditer(bare):
            if end.end() == len(bare):
                text = text[: end.start()]
                break
        else:
            return text


def _read_subject(text: str) -> dict[str, object]:
    """The note that a text names, or what it is about."""
    link = _LINK.search(text)
    if link:
        return {"note": clean_subject(link[1])}
    about = clean_subject(text)
    return {"about": about} if about else {}


def clean_subject(text: str) -> str:
    """A subject without the marks of a link, quotation marks and articles."""
    text = text.strip(PUNCTUATION)
    link = _LINK.fullmatch(text)
    if link:
        return link[1].partition("|")[0]
    text = text.strip(_QUOTES)
    while (begin := _ARTICLES.match(bare_text(text))) and begin.end() < len(text):
        text = text[begin.end() :]
    return text.strip(_QUOTES)


_ARTICLES = compile_filled(r"(?:(?:{the}) |(?:l|d|qu)['’] ?|(?:{notes}) (?:{about}) )")
