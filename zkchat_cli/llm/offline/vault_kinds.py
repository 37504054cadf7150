"""What notes of a kind have in common in a vault: a tag, a folder, a property or the beginning of
their titles. Pure.
"""

from collections.abc import Iterable, Mapping, Sequence
from pathlib import PurePosixPath
from typing import NamedTuple

from zkchat_cli.llm.offline.answer import WantedCall
from zkchat_cli.llm.offline.asked_turn import FinishedCall
from zkchat_cli.llm.offline.kind_names import JOURNAL, KINDS, possible_singulars
from zkchat_cli.llm.offline.note_lists import FEWEST_OF_A_KIND, KIND_PROPERTIES
from zkchat_cli.llm.offline.request_handler import LIST_TOOL
from zkchat_cli.llm.offline.request_slots import bare_text
from zkchat_cli.text.note_titles import kinds_named_by, written_form

# Notes of a kind that are looked at to see what properties and values the vault has
MOST_SAMPLED = 100
SHORTEST_NOUN = 3
# Names of a kind that are looked up in texts, too
MOST_NAMES = 7
# Letters that forms of a word in two languages have in common: "reuniões" and "réunion"
LENGTH_OF_ROOT = 4
_IN_JOURNAL = ("journal", "diar", "tagebuch", "daily")


class NoteKind(NamedTuple):
    """What the notes of a kind have in common: a field of a request, and its value."""

    field: str
    value: str


def names_of_kind(noun: str) -> tuple[str, ...]:
    """A noun, and the words of all languages for the same kind of notes: singulars that are
    like it, then English ones first.
    """
    bare = bare_text(noun)
    if any(word in bare for word in _IN_JOURNAL):
        return JOURNAL
    names = [bare]
    for kind in KINDS:
        if bare in kind:
            names += sorted(kind, key=lambda name: not _is_singular_like(name, bare, kind))
    return tuple(dict.fromkeys(names))


def _is_singular_like(name: str, noun: str, kind: Sequence[str]) -> bool:
    """Whether a name of a kind is a singular with the root of a noun: texts have that, too."""
    has_root = name[:LENGTH_OF_ROOT] == noun[:LENGTH_OF_ROOT]
    return has_root and not any(each in kind for each in _shorter(name))


def kind_calls(names: Sequence[str]) -> list[WantedCall]:
    """The tags and folders, and the types of notes that have the noun."""
    calls = [WantedCall(LIST_TOOL, {"show": group}) for group in ("tags", "folders")]
    shown = ", ".join(sorted(KIND_PROPERTIES))
    # Where the singular is looked up, its plural need not be
    names = [name for name in names if name]
    plurals = {name for name in names[1:] if any(each in names for each in _shorter(name))}
    about = [name for name in names if name not in plurals][:MOST_NAMES]
    of_noun = {"show": shown, "limit": MOST_SAMPLED}
    return calls + [WantedCall(LIST_TOOL, {"about": name, **of_noun}) for name in about]


def is_name(text: str, names: Iterable[str]) -> bool:
    """Whether a text is one of the names, in the singular or the plural. Stems are too coarse here:
    a library is no "libro".
    """
    bare = bare_text(text)
    ends = frozenset(possible_singulars(bare))
    forms: set[str] = set()
    for name in filter(None, names):
        forms.update(_singulars(name))
    return not ends.isdisjoint(forms)


def _shorter(name: str) -> Iterable[str]:
    return (each for each in _singulars(name) if each != name)


def _singulars(name: str) -> Iterable[str]:
    return possible_singulars(name) if len(name) > SHORTEST_NOUN else (name,)


def find_kind(names: Iterable[str], made: Sequence[FinishedCall]) -> NoteKind | None:
    """What most notes of a kind have in common; None if the vault has no such kind."""
    names = list(names)
    counts: dict[NoteKind, int] = {}
    for tag, count in made[0].data.get("notes", {}).items():
        if is_name(tag.rpartition("/")[2], names):
            counts[NoteKind("tag", tag)] = count
    folders: Mapping[str, int] = made[1].data.get("notes", {})
    for folder in folders:
        if is_name(folder.rpartition("/")[2], names):
            below = [
                count for path, count in folders.items() if f"{path}/".startswith(f"{folder}/")
            ]
            counts[NoteKind("folder", folder)] = sum(below)
    counts |= _count_types(names, made[2:])
    kinds = [kind for kind, count in counts.items() if count >= FEWEST_OF_A_KIND]
    return max(kinds, key=lambda kind: counts[kind], default=_kind_of_titles(names, made[2:]))


def _count_types(names: Sequence[str], listed: Iterable[FinishedCall]) -> dict[NoteKind, int]:
    """How many notes have a property with one of the names; a vault may have `type: meeting` and
    `type: Sitzung`.
    """
    values: dict[str, set[str]] = {}
    paths: dict[str, set[str]] = {}
    for call in listed:
        for document in call.data.get("documents", ()):
            for name, written in document.get("properties", {}).items():
                # An outliner writes the name of a page: `type:: [[book]]`
                value = written.strip("[]")
                if is_name(value, names):
                    values.setdefault(name, set()).add(value)
                    paths.setdefault(name, set()).add(document["path"])
    kinds = {name: " | ".join(sorted(values[name])) for name in values}
    return {NoteKind("property", f"{name}: {kinds[name]}"): len(paths[name]) for name in kinds}


def _kind_of_titles(names: Sequence[str], listed: Iterable[FinishedCall]) -> NoteKind | None:
    """The kind that the titles of several notes say: "Machine - nas"; None if they do not."""
    written: dict[str, str] = {}
    paths: set[str] = set()
    for call in listed:
        for document in call.data.get("documents", ()):
            path = str(document["path"])
            for title in (str(document.get("title", "")), PurePosixPath(path).stem):
                fitting = [kind for kind in kinds_named_by(title) if is_name(kind, names)]
                written |= {kind: written_form(kind, title) for kind in fitting}
                paths.update(path for _ in fitting)
    if len(paths) < FEWEST_OF_A_KIND:
        return None
    return NoteKind("title", "|".join(sorted(written.values())))
