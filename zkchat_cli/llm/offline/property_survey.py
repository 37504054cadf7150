"""What the properties that a request names are called in the vault: "Personen ohne Geburtstag"
where the key is `birthday`. Pure.
"""

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from zkchat_cli.llm.offline.answer import OfflineAnswer, WantedCall
from zkchat_cli.llm.offline.asked_turn import AskedTurn
from zkchat_cli.llm.offline.note_request import NoteRequest
from zkchat_cli.llm.offline.note_states import same_words
from zkchat_cli.llm.offline.property_names import (
    is_common_name,
    is_for_people,
    name_in_vault,
)
from zkchat_cli.llm.offline.property_values import readable_value
from zkchat_cli.llm.offline.request_handler import LIST_TOOL, plain_name
from zkchat_cli.text.line_phrases import line_phrases

PROPERTY_NAMES = "property names"


class NamedProperties(NamedTuple):
    """A request in the vault's names; or the property that none of its notes has."""

    request: NoteRequest
    missing: str = ""


def asks_for_names(request: NoteRequest) -> bool:
    """Whether a request names properties as its language does."""
    # "status: open" is what the user calls it
    compares = any(map(readable_value, _properties(request)))
    return bool(request.companion or request.maker or request.lacks) or compares


def names_call(of_kind: Mapping[str, Any]) -> WantedCall:
    """The call that counts the properties of the notes of a kind."""
    return WantedCall(LIST_TOOL, {**of_kind, "show": PROPERTY_NAMES})


def with_names(request: NoteRequest, names: Sequence[str]) -> NamedProperties:
    """The request with these names of properties, the most frequent first."""
    request = request._replace(property="; ".join(_translate(request, names)))
    if request.maker:
        request = _with_maker(request, names)
    if request.companion:
        return _with_companion(request, names)
    # A state is no property, and has words of its own
    if not request.lacks or len(same_words(request.lacks)) > 1:
        return NamedProperties(request)
    name = name_in_vault(request.lacks, names)
    if name:
        return NamedProperties(with_property(request._replace(lacks=""), f"-{name}"))
    return NamedProperties(request, request.lacks if is_common_name(request.lacks) else "")


def with_property(request: NoteRequest, value: str) -> NoteRequest:
    """The request with one more property."""
    return request._replace(property="; ".join(filter(None, (request.property, value))))


def answer_without_property(name: str, turn: AskedTurn) -> OfflineAnswer:
    """That none of the notes has a property."""
    phrases = line_phrases(turn.asked, turn.texts)
    return OfflineAnswer(f"{phrases.no_property.format(name=plain_name(name))}\n", "nothing")


def _properties(request: NoteRequest) -> list[str]:
    return [each for each in request.property.split("; ") if each]


def _name_of(written: str) -> str:
    return written.partition(":")[0].removeprefix("-")


def _translate(request: NoteRequest, names: Sequence[str]) -> list[str]:
    """The wanted properties by the names that the notes have for them."""
    translated: list[str] = []
    for written in _properties(request):
        name = _name_of(written)
        known = name_in_vault(name, names) if is_common_name(name) else ""
        translated.append(written.replace(name, known, 1) if known else written)
    return translated


def _with_maker(request: NoteRequest, names: Sequence[str]) -> NoteRequest:
    """Notes of an author, or about them where no note has a property for authors."""
    # "People from Porto" are of a place
    name = name_in_vault("author", names) or name_in_vault("city", names)
    maker = request.maker
    request = request._replace(maker="")
    if name:
        return with_property(request, f"{name}: {maker}")
    return request._replace(about=f"{request.about} {maker}".strip())


def _with_companion(request: NoteRequest, names: Sequence[str]) -> NamedProperties:
    """What notes are with: a property of that name, a person in the property for people, or a word
    of the notes.
    """
    companion = request.companion
    request = request._replace(companion="")
    if is_common_name(companion):
        name = name_in_vault(companion, names)
        return NamedProperties(with_property(request, name), "" if name else companion)
    people = [name for name in names if is_for_people(name)]
    if people and companion[:1].isupper():
        return NamedProperties(with_property(request, f"{people[0]}: {companion}"))
    return NamedProperties(request._replace(about=f"{request.about} {companion}".strip()))
