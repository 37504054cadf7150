"""The columns that a request for a table names, among those that there are: "with ip and memory"
where a table has "IP address" and "RAM". Pure.
"""

from collections.abc import Sequence
from typing import NamedTuple

from zkchat_cli.llm.offline.kind_names import possible_singulars
from zkchat_cli.llm.offline.property_names import name_in_vault, same_names
from zkchat_cli.llm.offline.quotes import comparable_words
from zkchat_cli.llm.offline.request_slots import bare_text
from zkchat_cli.llm.offline.typos import is_typo
from zkchat_cli.text.patterns import lazy_pattern
from zkchat_cli.text.word_lists import REQUEST_LANGUAGES

# Names of columns that are rarely properties of notes
_SAME_COLUMNS = tuple(
    frozenset(line.split())
    for line in (
        "ram memory speicher arbeitsspeicher memoire memoria",
        "weight gewicht poids peso",
        "size grosse taille tamano tamanho",
        "amount quantity menge anzahl quantite cantidad quantidade",
        "color colour farbe couleur cor",
        "name namen nom nombre nome",
        "owner besitzer eigentumer proprietaire propietario dono",
    )
)
_JOINT = lazy_pattern(r"\s*(?:,|;|\band\b|\bund\b|\bet\b|\by\b|\be\b|&)\s*")
_ARTICLE = lazy_pattern(
    r"(?:the|their|its|der|die|das|ihre?[nrms]?|les?|la|leurs?|los?|las|el|sus?|os?|as?|suas?|seus?"
    r"|columns?|spalten?|colonnes?|columnas?|colunas?) "
)


class ChosenColumns(NamedTuple):
    """The wanted columns that there are, and those that there are not, as they were written."""

    found: tuple[str, ...] = ()
    missing: tuple[str, ...] = ()


def choose_columns(text: str, known: Sequence[str]) -> ChosenColumns:
    """The columns that a text names, "author and year", among the known ones."""
    found: list[str] = []
    missing: list[str] = []
    for written in named_columns(text):
        name = find_column(written, known)
        if name:
            found.append(name)
        else:
            missing.append(written)
    return ChosenColumns(tuple(dict.fromkeys(found)), tuple(missing))


def named_columns(text: str) -> list[str]:
    """The names in a text, without articles."""
    bare = bare_text(text)
    names: list[str] = []
    begin = 0
    for joint in [*_JOINT.finditer(bare), None]:
        name = text[begin : joint.start() if joint else len(text)].strip()
        begin = joint.end() if joint else len(text)
        article = _ARTICLE.match(bare_text(name))
        name = name[article.end() :] if article else name
        if name:
            names.append(name.strip())
    return names


def find_column(written: str, known: Sequence[str]) -> str:
    """The known name that a written one means: the same, one in another form or language, one with
    its words, or one a slip of the finger away; empty if there is none.
    """
    exact = name_in_vault(written, known)
    if exact:
        return exact
    wanted = comparable_words(written, REQUEST_LANGUAGES)
    bare = bare_text(written)
    synonyms = _synonyms(bare)
    for name in known:
        words = comparable_words(name, REQUEST_LANGUAGES)
        if words and wanted and (words == wanted or wanted < words):
            return name
    for name in known:
        if not synonyms.isdisjoint(bare_text(name).split()):
            return name
    return next((name for name in known if is_typo(bare, bare_text(name))), "")


def _synonyms(bare: str) -> frozenset[str]:
    """A name with those for the same in other languages, also if it is a plural."""
    found: set[str] = set()
    for form in possible_singulars(bare):
        found.update(same_names(form))
        found.update(*(group for group in _SAME_COLUMNS if form in group))
    return frozenset(found)
