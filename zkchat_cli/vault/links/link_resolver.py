"""Finds the targets of links in the vault, and suggests notes for broken ones."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from itertools import islice
from typing import NamedTuple

from zkchat_cli.models.notes import ContentChunk, LinkResolution
from zkchat_cli.text.words import replace_surrogates
from zkchat_cli.vault.index.manager import IndexManager
from zkchat_cli.vault.links import name_suggestions
from zkchat_cli.vault.links.name_suggestions import (
    LEAST_SIMILARITY,
    TYPO_SIMILARITY,
    is_attachment,
)
from zkchat_cli.vault.links.wikilinks import (
    NOTE_SUFFIXES,
    ResolvedTarget,
    WrittenLink,
    possible_names,
    resolve,
    strip_suffix,
)

MOST_SUGGESTIONS = 3
# Broken names that get suggestions, at 3 ms each
MOST_SUGGESTED = 1000
# Names of missing notes that are searched by meaning, at 10 ms each
MOST_SUGGESTED_BY_MEANING = 50
# The cosine of a note that a broken link may mean
SUGGESTION_COSINE = 0.4


class _Resolution(NamedTuple):
    """A link and what it points to."""

    link: WrittenLink
    target: ResolvedTarget


class LinkResolver:
    """Resolves links by the names in the index. `search_by_meaning` finds notes for a name that is
    like no other; None without search by meaning.
    """

    def __init__(
        self,
        index: IndexManager,
        search_by_meaning: Callable[[str, int], list[ContentChunk]] | None,
    ) -> None:
        self._index = index
        self._search_by_meaning = search_by_meaning

    def resolve(self, written: Sequence[WrittenLink], source: str | None) -> list[LinkResolution]:
        """The links with their targets, without those that mean no note; broken ones with the notes
        that they may mean.
        """
        found = self._index.ask(
            lambda index: [
                _Resolution(link, resolve(link, source, index.names.with_key)) for link in written
            ]
        )
        broken = [each.link.text for each in found if each.target.status == "broken"]
        near = self.suggest_notes(broken)
        return [_link_resolution(each, near) for each in found if each.target.status is not None]

    def notes_named(self, name: str) -> tuple[str, ...]:
        """The paths of the notes that a name, a path or an alias may mean, the likeliest first."""
        link = WrittenLink("", "wikilink", replace_surrogates(name))
        found = self._index.ask(lambda index: resolve(link, None, index.names.with_key))
        paths = [*found.candidates]
        if found.target:
            paths.insert(0, found.target)
        return tuple(path for path in paths if path.lower().endswith(NOTE_SUFFIXES))

    def shortest_name(self, path: str) -> str:
        """The shortest name of the file at `path` for a link from outside of notes: with folders as
        far as other files have its name.
        """
        names = list(possible_names(path))
        links = [WrittenLink("", "wikilink", name) for name in names]
        targets = self._index.ask(
            lambda index: [resolve(link, None, index.names.with_key) for link in links]
        )
        ambiguous: list[str] = []
        for name, found in zip(names, targets, strict=True):
            if found.target == path and found.status == "found":
                return name
            if found.target == path:
                ambiguous.append(name)
        return ambiguous[0] if ambiguous else strip_suffix(path)

    def suggest_names(self, name: str) -> list[str]:
        """The names of notes nearest to a misspelt one, nearest first."""
        near = self._index.ask(
            lambda index: name_suggestions.suggest_names(index, name, MOST_SUGGESTIONS)
        )
        return [each.name for each in near]

    def suggest_notes(self, names: Iterable[str]) -> dict[str, tuple[str, ...]]:
        """The paths that names of missing notes may mean: those of a similar name; with search by
        meaning those of much the same name, else those of a similar meaning.
        """
        wanted = list(islice(dict.fromkeys(names), MOST_SUGGESTED))
        near = self._similar_names(wanted)
        if self._search_by_meaning:
            near |= self._similar_meanings([name for name in wanted if not near[name]])
        return {name: tuple(dict.fromkeys(paths)) for name, paths in near.items()}

    def _similar_names(self, names: Sequence[str]) -> dict[str, list[str]]:
        """The paths of the notes that have much the same name."""
        suggest = name_suggestions.suggest_names
        least = TYPO_SIMILARITY if self._search_by_meaning else LEAST_SIMILARITY
        found = self._index.ask(
            lambda index: [suggest(index, name, MOST_SUGGESTIONS, least) for name in names]
        )
        near: dict[str, list[str]] = {}
        for name, suggested in zip(names, found, strict=True):
            near[name] = [each.path for each in suggested]
        return near

    def _similar_meanings(self, names: Iterable[str]) -> dict[str, list[str]]:
        """The paths of the notes with a similar meaning, of the first names that are a phrase: the
        note of a day is like no other by its meaning.
        """
        from zkchat_cli.vault.search.query import as_words

        phrases = [name for name in names if not is_attachment(name) and _has_letter(name)]
        near: dict[str, list[str]] = {}
        for name in phrases[:MOST_SUGGESTED_BY_MEANING]:
            assert self._search_by_meaning
            near[name] = [
                chunk.relative_path
                for chunk in self._search_by_meaning(as_words(name), MOST_SUGGESTIONS)
                if (chunk.score_meaning or 0) >= SUGGESTION_COSINE
            ]
        return near


def _link_resolution(found: _Resolution, near: Mapping[str, tuple[str, ...]]) -> LinkResolution:
    """The link for other programs; a broken one with the notes `near` its name."""
    fields = found.link._asdict() | found.target._asdict()
    del fields["place"]
    if found.target.status == "broken":
        fields["candidates"] = near.get(found.link.text, ())
    return LinkResolution(**fields)


def _has_letter(name: str) -> bool:
    return any(character.isalpha() for character in name)
