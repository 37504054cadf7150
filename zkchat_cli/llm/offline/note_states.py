"""The states of notes and tasks that a request names: "books I have not finished". Pure.

The words between a noun and a state differ by language, tense and order: what remains without them
is the state. Vaults write it as the value of a property, `status: reading`.
"""

from collections.abc import Iterable
from typing import NamedTuple

from zkchat_cli.llm.offline.request_slots import bare_text
from zkchat_cli.text.patterns import lazy_pattern

_FILLERS = frozenset(
    """
    took take takes taken place happened happen occurred
    that which who are is were was am be been being do does did have has had i we you my ve s still
    yet now currently so far already there exist really ever all so right
    die der das sind ist war waren wird werden habe haben hatte hatten bin ich wir noch jetzt
    gerade zurzeit aktuell schon bereits gibt gab es fand fanden statt stattgefunden
    qui que quels est sont etait etaient ai as avons a je on nous suis ce ne encore
    actuellement deja en moment toujours y t il ils elle elles eu eue eus eues lieu
    son es esta estan era eran he hemos estoy estamos todavia aun ahora ya se hay hubo tengo tuve
    tuvimos han
    e sao esta estao eu estou ainda agora ja tenho tive tivemos houve foram foi ha
""".split()
)
_NEGATIONS = frozenset("not never nicht nie niemals pas jamais no nunca nao non kein keine".split())
_WORD = lazy_pattern(r"[^\W_]+(?:-[^\W_]+)?")
_ELIDED = lazy_pattern(r"\b(?:n|j|c|qu|l|d)['’]|-(?=(?:je|t|il|on|nous|ils|elles|ce)\b)")
_SHORT = lazy_pattern(r"n['’]t\b")

DONE = frozenset(
    """
    done finished finish read complete completed closed ended ticked checked solved over past
    fertig gelesen erledigt erledigte erledigten abgeschlossen abgeschlossene abgeschlossenen
    beendet beendete geschafft fertige fertigen
    fini finis finie finies lu lus lue lues termine termines terminee terminees fait faits faite
    faites acheve acheves
    leido leidos leida leidas lei leimos terminado terminados terminada terminadas acabado acabados
    acabada acabadas hecho hechos hecha hechas completado completados completada completadas
    finalizado lido lidos lida lidas li lemos terminei terminou acabei concluido concluidos
    concluida concluidas feito feitos feita feitas finalizada finalizados finalizadas
""".split()
)
NOT_DONE = frozenset(
    """
    open unread unfinished undone pending outstanding incomplete remaining unresolved
    offen offene offenen ungelesen ungelesene ungelesenen unerledigt unerledigte unerledigten
    unvollendet ausstehend ausstehende
    ouvert ouverts ouverte ouvertes restant restants restante restantes inacheve inacheves
    inachevees
    pendiente pendientes abierto abiertos abierta abiertas inacabado inacabados
    aberto abertos aberta abertas pendente pendentes inacabada inacabadas
""".split()
)
_SAME = (
    "reading started lese lesend leyendo lendo lis lecture lectura leitura",
    "active ongoing current running aktiv aktive aktiven laufend laufende laufenden actif actifs"
    " active actives activo activos activa activas ativo ativos ativa ativas",
    "paused pausiert pausierte pausierten pausado pausados pausada pausadas pause onhold",
    "draft drafts entwurf entwurfe brouillon brouillons borrador borradores rascunho rascunhos",
    "outdated obsolete stale veraltet veraltete veralteten perime perimes perimee perimees obsolete"
    " obsoletes obsoleto obsoletos obsoleta obsoletas desactualizado desactualizados desactualizada"
    " desactualizadas desatualizado desatualizados desatualizada desatualizadas",
    "stable stabil stabile stabilen stables estable estables estavel estaveis",
    "abandoned dropped abgebrochen abgebrochene abandonne abandonnes abandonado abandonados",
    "planned geplant geplante prevu prevus planificado planeado planejado planejados",
    "rated rating bewertet bewertung bewertete valorado valorados avaliado avaliados",
    "dated date datiert datum date datado fecha data",
)
_GROUPS = tuple(frozenset(words.split()) for words in _SAME)
_OR = ("or", "oder", "ou", "o", "u")
# States of two words
_PHRASE = lazy_pattern(
    r"(?:to[- ](?:read|do)|in progress|zu lesen|in arbeit|a (?:lire|faire)"
    r"|en (?:cours|pause|lecture)|por (?:leer|hacer|ler|fazer)|para (?:leer|ler|fazer)"
    r"|em (?:andamento|pausa|aberto))"
)
_PLACED = lazy_pattern(r"(?:in|im|en|em|as|als|comme|como) (?:an? |un |ein |um )?(?P<value>[^ ]+)")


class NamedState(NamedTuple):
    """A state as it is written, and whether the notes are not in it."""

    value: str
    is_negated: bool = False


def read_state(clause: str) -> NamedState | None:
    """The state that a clause is about ("I have not finished yet"), with an empty value for a
    clause without one ("do I have"); None for a clause that says more.
    """
    bare = _SHORT.sub(" not ", bare_text(clause))
    bare = _ELIDED.sub(" ", bare).strip()
    words = _WORD.findall(bare)
    is_negated = any(word in _NEGATIONS for word in words)
    rest = " ".join(word for word in words if word not in _FILLERS and word not in _NEGATIONS)
    phrase = _PHRASE.search(bare)
    if phrase:
        others = _WORD.findall(bare.replace(phrase[0], " "))
        is_whole = all(word in _FILLERS or word in _NEGATIONS for word in others)
        return NamedState(phrase[0], is_negated) if is_whole else None
    placed = _PLACED.fullmatch(rest)
    if placed and any(placed["value"] in group for group in _GROUPS):
        rest = placed["value"]
    return _join_names(rest.split(), is_negated=is_negated)


def _join_names(names: list[str], *, is_negated: bool) -> NamedState | None:
    """The state of the words that remain; None for words that are no state."""
    # "draft or outdated" are two states, and "fertig gelesen" is one
    is_choice = len(names) == 3 and names[1] in _OR
    if len(names) <= 1 or is_choice:
        return NamedState(" ".join(names), is_negated)
    is_doubled = len(names) == 2 and all(name in DONE for name in names)
    return NamedState(names[0], is_negated) if is_doubled else None


def is_known_state(word: str) -> bool:
    """Whether a word names a state, whatever the notes have."""
    bare = bare_text(word).split(" ")[0]
    return bare in DONE or bare in NOT_DONE or any(bare in group for group in _GROUPS)


def is_done(state: NamedState) -> bool | None:
    """Whether a state means that something is done; None if it is another state."""
    bare = bare_text(state.value)
    if bare in DONE:
        return not state.is_negated
    if bare in NOT_DONE or _PHRASE.fullmatch(bare):
        return state.is_negated
    return None


def same_words(word: str) -> frozenset[str]:
    """A word with those of other languages for the same state."""
    bare = bare_text(word)
    return frozenset((bare,)).union(*(group for group in _GROUPS if bare in group))


def means_done(values: Iterable[str]) -> bool:
    """Whether the value of a property says that something is done."""
    return any(map(_means_done, values))


def _means_done(value: str) -> bool:
    """Whether it has a word for that, and is neither "to read" nor "not read"."""
    found = _WORD.findall(bare_text(value))
    is_open = _PHRASE.search(bare_text(value)) or any(word in _NEGATIONS for word in found)
    return not is_open and any(word in DONE for word in found)
