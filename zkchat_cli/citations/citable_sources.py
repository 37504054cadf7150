"""What was in the prompt for an answer to cite: by number, and by the names of the notes it came from."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from functools import cached_property

from zkchat_cli.citations.quotes import QuoteLocation
from zkchat_cli.models import ContentChunk
from zkchat_cli.vault.links.resolver import Name, resolve
from zkchat_cli.vault.links.wikilinks import WrittenLink, fold_name, key, stem

MOST_WORDS = 12
"""Words of a file's name that an answer may spell out without brackets."""


@dataclass(frozen=True)
class CitableSources:
    """The chunks that were in the prompt. Make it with `of`; it remembers what it had to look up, and is for one answer."""

    by_number: Mapping[int, ContentChunk]
    _excerpts: dict[int, QuoteLocation] = field(default_factory=dict, compare=False, repr=False)
    _found: dict[str, tuple[str, ...]] = field(default_factory=dict, compare=False, repr=False)

    @classmethod
    def of(cls, chunks: Iterable[ContentChunk]) -> "CitableSources":
        """Of chunks without a number nothing can be cited; of several with one number the last counts."""
        return cls({chunk.number: chunk for chunk in chunks if chunk.number is not None})

    @cached_property
    def highest(self) -> int:
        return max(self.by_number, default=0)

    def excerpt(self, number: int) -> QuoteLocation | None:
        """The chunk with that number, ready to be searched."""
        if number not in self._excerpts and number in self.by_number:
            self._excerpts[number] = QuoteLocation(self.by_number[number])
        return self._excerpts.get(number)

    def notes(self, name: str) -> tuple[str, ...]:
        """The paths of the notes that a link or a path may mean, the likeliest first; compared as wikilinks are, then by title."""
        if name not in self._found:
            resolved = resolve(WrittenLink("", "wikilink", name, None, None, embed=False), None, lambda of: self._names.get(of, ()))
            self._found[name] = (resolved.target, *resolved.losers) if resolved.target else ()
        return self._found[name]

    def may_end_a_name(self, word: str) -> bool:
        """Whether the file name of some note, if it has several words, ends with this one."""
        return fold_name(stem(word)) in self._last_words

    def number_of(self, notes: Iterable[str], quote: str | None, heading: str | None, line: int | None) -> int:
        """The chunk of these notes that is meant: with the quoted words, else under the heading, else with the line, else the first."""
        numbers = [number for note in notes for number in self._numbers[note]]
        excerpts = [excerpt for number in numbers if (excerpt := self.excerpt(number))]
        wanted = fold_name(heading.rpartition("#")[2].strip()) if heading else None
        for fits in (
            lambda e: quote is not None and e.locate(quote) is not None,
            lambda e: wanted is not None and wanted in (fold_name(e.chunk.heading or ""), *(fold_name(h) for _, h in e.headings)),
            lambda e: line is not None and e.chunk.start_line <= line <= e.chunk.end_line,
        ):
            for number, excerpt in zip(numbers, excerpts, strict=True):
                if fits(excerpt):
                    return number
        return numbers[0]

    @cached_property
    def _numbers(self) -> dict[str, list[int]]:
        numbers: dict[str, list[int]] = {}
        for number in sorted(self.by_number):
            numbers.setdefault(self.by_number[number].relative_path, []).append(number)
        return numbers

    @cached_property
    def _names(self) -> dict[str, list[Name]]:
        names: dict[str, dict[Name, None]] = {}
        for chunk in self.by_number.values():
            path, title = chunk.relative_path, chunk.title
            names.setdefault(key(path), {})[Name(path, "note", path.rpartition("/")[2])] = None
            names.setdefault(key(title), {})[Name(path, "alias", title)] = None
        return {of: list(found) for of, found in names.items()}

    @cached_property
    def _last_words(self) -> frozenset[str]:
        return frozenset(name.rpartition(" ")[2] for name in map(key, self._numbers) if " " in name)
