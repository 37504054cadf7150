"""Resolving many links where many files have one name, as the `index.md` of a thousand folders. Pure.

Comparing each `[[index]]` with each of them takes a minute. So a link is compared with those files only that can win in its place, and
what a link of the same words got before is not found out again. Targets and statuses are those of `wikilinks.resolve`.
"""

import posixpath
from collections import defaultdict
from collections.abc import Mapping, Sequence

from zkchat_cli.vault.links.wikilinks import Name, Resolved, WrittenLink, fold_name, key, resolve

FEW = 8
"""Files of one name with which each link is simply compared."""


class BulkLinkResolver:
    """A table of names by their keys, for one run of resolving; `losers` of what it resolves may be missing."""

    def __init__(self, names: Mapping[str, Sequence[Name]], few: int = FEW) -> None:
        self._names = names
        self._few = few
        self._places: dict[str, _Places] = {}
        self._answers: dict[tuple[str, str, str | None], Resolved] = {}

    def resolve(self, link: WrittenLink, source: str) -> Resolved:
        folded = key(link.text)
        names = self._names.get(folded, ())
        if len(names) <= self._few or not link.text:
            return resolve(link, source, lambda _: names)
        places = self._places.get(folded) or self._places.setdefault(folded, _Places(names))
        folder = fold_name(source.rpartition("/")[0])
        if "/" in link.text:
            return self._answer(link, folder, source, places.for_path(fold_name(link.text), folder))
        anywhere = self._answer(link, None, "", names)
        if anywhere.target is None or anywhere.via or folder not in places.folders:
            return anywhere
        first = {anywhere.target, *anywhere.losers[:1]}  # whether there is another one decides whether the link is ambiguous
        near = [*places.folders[folder], *places.folders[""], *(name for name in names if name.path in first)]
        return self._answer(link, folder, source, list(dict.fromkeys(near)))

    def _answer(self, link: WrittenLink, place: str | None, source: str, names: Sequence[Name]) -> Resolved:
        asked = (link.kind, link.text, place)
        if asked not in self._answers:
            self._answers[asked] = resolve(link, source, lambda _: names)
        return self._answers[asked]


class _Places:
    """Files of one name by their folders. Aliases are no files: they count in every place."""

    def __init__(self, names: Sequence[Name]) -> None:
        self.folders: dict[str, list[Name]] = defaultdict(list)
        self._parents: dict[str, list[Name]] = defaultdict(list)
        self._aliases = [name for name in names if name.kind == "alias"]
        for name in names:
            if name.kind != "alias":
                folder = fold_name(name.path.rpartition("/")[0])
                self.folders[folder].append(name)
                self._parents[folder.rpartition("/")[2]].append(name)

    def for_path(self, target: str, folder: str) -> list[Name]:
        """Those that a target with folders in it may mean: the last of these is that of the file."""
        whole = posixpath.normpath(posixpath.join(folder, target)) if target.startswith(("./", "../")) else target
        return self._parents.get(whole.rpartition("/")[0].rpartition("/")[2], []) + self._aliases
