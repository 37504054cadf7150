"""Requests for notes of a kind ("books I have not finished", "projects without a due date"), in the
words that a vault has for it: the tags, folders and properties of its notes decide. Pure.
"""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NamedTuple

from zkchat_cli.llm.offline.amount_units import is_activity, is_money
from zkchat_cli.llm.offline.answer import OfflineAnswer, WantedCall
from zkchat_cli.llm.offline.asked_turn import AskedTurn, FinishedCall
from zkchat_cli.llm.offline.line_lists import DATES
from zkchat_cli.llm.offline.note_descriptions import list_arguments
from zkchat_cli.llm.offline.note_request import NoteRequest
from zkchat_cli.llm.offline.note_states import (
    DONE,
    NamedState,
    is_done,
    means_done,
    same_words,
)
from zkchat_cli.llm.offline.property_survey import (
    answer_without_property,
    asks_for_names,
    names_call,
    with_names,
    with_property,
)
from zkchat_cli.llm.offline.quotes import comparable_words
from zkchat_cli.llm.offline.request_handler import LIST_TOOL, RequestHandler
from zkchat_cli.llm.offline.request_slots import bare_text
from zkchat_cli.llm.offline.vault_kinds import (
    MOST_SAMPLED,
    NoteKind,
    find_kind,
    kind_calls,
    names_of_kind,
)
from zkchat_cli.models.notes import Similarities
from zkchat_cli.text import words
from zkchat_cli.text.patterns import lazy_pattern
from zkchat_cli.text.word_lists import REQUEST_LANGUAGES

# Properties that say how far something is
STATE_PROPERTIES = frozenset(
    "status state stage stand progress zustand statut etat avancement estado situacion situacao"
    " progreso progresso fase".split()
)
_DATE = lazy_pattern(r"(?:19|20)\d\d(?:-\d\d)*")
_OR = lazy_pattern(r" (?:or|oder|ou|o|u) ")
# States that are nouns, too
_STATES_ALONE = same_words("draft") | same_words("drafts")


def needs_vault(request: NoteRequest) -> bool:
    """Whether only the vault tells which notes are meant."""
    if request.what:
        return False
    return (
        _is_state_alone(request)
        or bool(request.noun or request.state or request.lacks or _subject_as_noun(request))
        or asks_for_names(request)
    )


def _is_state_alone(request: NoteRequest) -> bool:
    """Whether the subject of a list is a state: "which notes are drafts"."""
    is_list = request.kind in ("list", "count") and not request.noun
    is_state = bare_text(request.about) in _STATES_ALONE
    return is_list and is_state and list_arguments(request).keys() <= {"about", "order"}


def _subject_as_noun(request: NoteRequest) -> str:
    """The subject of a request that may as well be a kind of notes: "table of my books"."""
    is_kind = request.kind == "table" or (request.kind == "list" and request.may_be_lookup)
    # "Summarize my journal from October"
    is_kind |= request.kind == "outline" and bool(request.dates)
    # "The second one" of "list my books"
    is_kind |= bool(request.pick) and request.may_be_lookup
    is_word = bool(request.about) and len(request.about.split()) == 1
    has_more = request.tag or request.folder or request.note
    return request.about if is_kind and is_word and not has_more else ""


def with_kinds(handler: RequestHandler) -> RequestHandler:
    """A handler of requests that finds out first what a kind of notes is in the vault."""

    def next_calls(request: NoteRequest, turn: AskedTurn) -> Sequence[WantedCall]:
        surveyed = _survey(request, turn)
        if surveyed.calls:
            return surveyed.calls
        if surveyed.request is None:
            return []
        return handler.next_calls(surveyed.request, surveyed.turn)

    def answer(
        request: NoteRequest, turn: AskedTurn, similarities: Similarities | None
    ) -> OfflineAnswer | None:
        surveyed = _survey(request, turn)
        if surveyed.missing:
            return answer_without_property(surveyed.missing, surveyed.turn)
        if surveyed.request is None:
            return None
        if request.topic and _has_none(surveyed.turn):
            # "garden tools" need be no tools that are about the garden
            return None
        return handler.answer(surveyed.request, surveyed.turn, similarities)

    return RequestHandler(handler.tools | {LIST_TOOL}, next_calls, answer)


def _has_none(turn: AskedTurn) -> bool:
    """Whether the last list has no notes."""
    lists = turn.calls_of(LIST_TOOL)
    return bool(lists) and lists[-1].data.get("total") == 0


class _Survey(NamedTuple):
    """The calls that are still needed to know what notes are meant; or the request in the vault's
    words, None if it has no such notes, and the turn without those calls. `missing` is a property
    that none of the notes has.
    """

    calls: Sequence[WantedCall]
    request: NoteRequest | None
    turn: AskedTurn
    missing: str = ""


def _survey(request: NoteRequest, turn: AskedTurn) -> _Survey:
    """What is known of the wanted notes: first of their kind, then of its properties and states."""
    if _is_state_alone(request):
        request = request._replace(state=request.about, about="")
    subject = "" if request.noun else _subject_as_noun(request)
    noun = request.noun or subject
    names = names_of_kind(noun)
    needed = kind_calls(names)
    made = turn.calls_of(LIST_TOOL)[: len(needed)]
    if len(made) < len(needed):
        return _Survey(needed, None, turn)
    turn = turn.after_calls()
    kind = find_kind(names, made) if noun else None
    if request.topic:
        # "Garden tools" may be a kind of its own, or tools that are about the garden
        whole_kind = find_kind((bare_text(f"{request.topic} {noun}"),), made[:2])
        if whole_kind is None:
            request = request._replace(about=f"{request.topic} {request.about}".strip())
        kind = whole_kind or kind
    if noun and kind is None:
        return _Survey((), _without_kind(request, subject), turn)
    if subject:
        request = request._replace(about="")
    wanted = _with_kind(request._replace(noun="", may_be_lookup=False), kind)
    named = _survey_names(wanted, kind, turn)
    if named.request is None:
        return named
    return _survey_state(named.request, kind, made, named.turn)


def _without_kind(request: NoteRequest, subject: str) -> NoteRequest | None:
    """The request where the vault has no such kind of notes; None if it cannot be answered."""
    if request.measure and is_activity(request.noun):
        # "total km of my runs", where lines say "ran 5 km"
        return request._replace(noun="", activity=request.noun, may_be_lookup=False)
    if request.measure == "sum" and is_money(request.amount) and request.noun:
        # "total cost of tapwise"
        return request._replace(noun="", about=request.noun, item=request.noun, amount="€")
    if request.kind == "list" and _is_of_time_only(request):
        # "Renewals in June" may be dates of a property
        return request._replace(noun="", what=DATES, dated=request.noun)
    # One of a list in a note is none of the notes
    return request if subject and not request.pick else None


def _is_of_time_only(request: NoteRequest) -> bool:
    """Whether a request says nothing of its noun but a time."""
    has_more = request.state or request.lacks or request.companion or request.maker or request.pick
    keys = list_arguments(request).keys()
    return (
        bool(request.noun)
        and "since" in keys
        and keys <= {"since", "until", "order"}
        and not has_more
    )


def _survey_names(request: NoteRequest, kind: NoteKind | None, turn: AskedTurn) -> _Survey:
    """The request with the names that the notes of the kind have for its properties."""
    if not asks_for_names(request):
        return _Survey((), request, turn)
    named = turn.calls_of(LIST_TOOL)[:1]
    if not named:
        call = names_call(list_arguments(_with_kind(NoteRequest(), kind)))
        return _Survey((call,), None, turn)
    found = with_names(request, list(named[0].data.get("notes", {})))
    wanted = None if found.missing else found.request
    return _Survey((), wanted, turn.after_calls(), found.missing)


def _survey_state(
    request: NoteRequest, kind: NoteKind | None, made: Sequence[FinishedCall], turn: AskedTurn
) -> _Survey:
    """The request with the property, tag or word for its state."""
    if not (request.state or request.lacks):
        return _Survey((), request, turn)
    sampled = turn.calls_of(LIST_TOOL)[:1]
    if not sampled:
        sample = WantedCall(LIST_TOOL, _sample_arguments(kind))
        return _Survey((sample,), None, turn)
    in_words_of_vault = _in_words_of_vault(request, made, sampled[0])
    return _Survey((), in_words_of_vault, turn.after_calls())


def _sample_arguments(kind: NoteKind | None) -> dict[str, Any]:
    of_kind = list_arguments(_with_kind(NoteRequest(), kind))
    return of_kind | {"show": "*", "limit": MOST_SAMPLED}


def _comparable(text: str) -> frozenset[str]:
    return comparable_words(text, REQUEST_LANGUAGES)


def _with_kind(request: NoteRequest, kind: NoteKind | None, sign: str = "") -> NoteRequest:
    """A request for notes of this kind only, or with a minus for others."""
    if kind is None:
        return request
    value = f"{sign}{kind.value}"
    match kind.field:
        case "tag":
            return request._replace(tag=f"{request.tag} {value}".strip())
        case "folder" if not request.folder:
            return request._replace(folder=value)
        case "property":
            return with_property(request, value)
        case "title" if not sign:
            return request._replace(title=value)
    # A second folder cannot be asked for: its name is one of the words then
    return request._replace(about=f"{request.about} {value}".strip())


def _in_words_of_vault(
    request: NoteRequest, made: Sequence[FinishedCall], sample: FinishedCall
) -> NoteRequest | None:
    """A request with the properties, tags or words for its state and for what notes lack; None if
    the vault has no such state.
    """
    values: dict[str, set[str]] = {}
    for document in sample.data.get("documents", ()):
        for name, value in document.get("properties", {}).items():
            values.setdefault(name, set()).add(value)
    found: NoteRequest | None = request._replace(state="", lacks="", may_be_lookup=False)
    if request.state and found:
        state = NamedState(request.state, request.is_negated)
        if dated := _property_with_day(request, values):
            return found._replace(what=DATES, dated=dated)
        found = _with_state(found, state, values, made)
    if request.lacks and found:
        found = _without(found, request.lacks, values, made)
    return found


def _property_with_day(request: NoteRequest, values: Mapping[str, set[str]]) -> str:
    """The property that says when something was done, for "books I read in May": `read: 2026-05`;
    empty if the notes have none.
    """
    if not request.dates or request.is_negated or bare_text(request.state) not in DONE:
        return ""
    names = [name for name in values if not DONE.isdisjoint(bare_text(name).split("_"))]
    return next((name for name in names if all(map(_DATE.match, values[name]))), "")


def _with_state(
    request: NoteRequest,
    state: NamedState,
    values: Mapping[str, set[str]],
    made: Sequence[FinishedCall],
) -> NoteRequest | None:
    sign = "-" if state.is_negated else ""
    done = is_done(state)
    wanted = frozenset().union(*map(same_words, _OR.split(bare_text(state.value))))
    for name in sorted(values, key=lambda name: name not in STATE_PROPERTIES):
        fitting = [
            each for each in sorted(values[name]) if _is_value(each, wanted, any_form=done is None)
        ]
        if fitting:
            return with_property(request, f"{sign}{name}: {' | '.join(fitting)}")
    if done is not None:
        return _with_progress(request, values, done=done)
    for name in values:
        if name in wanted:
            return with_property(request, f"{sign}{name}")
    kind = find_kind(names_of_kind(state.value), made)
    return _with_kind(request, kind, sign) if kind else None


def _is_value(written: str, wanted: Iterable[str], *, any_form: bool) -> bool:
    """Whether a value is one of the words, perhaps in another form; "to read" is not "read"."""
    bare = bare_text(written)
    if bare in wanted or " " in bare or not any_form:
        return bare in wanted
    return any(_comparable(bare) == _comparable(word) for word in wanted)


def _with_progress(
    request: NoteRequest, values: Mapping[str, set[str]], *, done: bool
) -> NoteRequest | None:
    """The notes that are done or not, by the property that says how far they are."""
    for name in sorted(values):
        if bare_text(name) not in STATE_PROPERTIES:
            continue
        fitting = [each for each in sorted(values[name]) if means_done([each])]
        if fitting:
            sign = "" if done else "-"
            return with_property(request, f"{sign}{name}: {' | '.join(fitting)}")
    return None


def _without(
    request: NoteRequest,
    lacks: str,
    values: Mapping[str, set[str]],
    made: Sequence[FinishedCall],
) -> NoteRequest:
    """The notes without a property, a tag or, if there is none of that name, a word."""
    if bare_text(lacks) in STATE_PROPERTIES:
        for name in sorted(STATE_PROPERTIES & values.keys()):
            return with_property(request, f"-{name}")
    wanted = [word for word in words.terms(bare_text(lacks)) if word not in words.STOPWORDS]
    for word in wanted:
        names = same_words(word)
        for name in values:
            is_named = _comparable(name) & _comparable(word) or bare_text(name) in names
            if is_named:
                return with_property(request, f"-{name}")
    kind = find_kind(names_of_kind(lacks.removeprefix("#")), made)
    if kind:
        return _with_kind(request, kind, "-")
    return request._replace(excluded=f"{request.excluded} {lacks}".strip())
