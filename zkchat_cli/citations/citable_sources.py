"""The chunks that were in the prompt of an answer, by number and by the names of their notes."""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from functools import cached_property

from zkchat_cli.citations.quotes import QuotableChunk
from zkchat_cli.citations.support import Evidence
from zkchat_cli.models import ContentChunk
from zkchat_cli.vault.links.resolver import Name, resolve
from zkchat_cli.vault.links.wikilinks import WrittenLink, fold_name, key, stem

MAX_NAME_WORDS = 12
"""Words of a file name that an answer may write without brackets."""

EarlierChunk = Callable[[int], tuple[ContentChunk, str] | None]
"""The chunk of an earlier prompt with this number, and the current text of its note."""


@dataclass(frozen=True)
class CitableSources:
    """Made with `from_chunks` for one answer; remembers what was looked up."""

    by_number: Mapping[int, ContentChunk]
    earlier: EarlierChunk = lambda _: None
    _chunks: dict[int, QuotableChunk] = field(default_factory=dict, compare=False, repr=False)
    _evidence: dict[int, Evidence] = field(default_factory=dict, compare=False, repr=False)
    _notes: dict[str, tuple[str, ...]] = field(default_factory=dict, compare=False, repr=False)

    @classmethod
    def from_chunks(cls, chunks: Iterable[ContentChunk], earlier: EarlierChunk = lambda _: None) -> "CitableSources":
        """Chunks without a number cannot be cited; of several with the same number the last counts."""
        return cls({chunk.number: chunk for chunk in chunks if chunk.number is not None}, earlier)

    @cached_property
    def highest_number(self) -> int:
        return max(self.by_number, default=0)

    def chunk(self, number: int) -> QuotableChunk | None:
        if number not in self._chunks and number in self.by_number:
            self._chunks[number] = QuotableChunk(self.by_number[number])
        return self._chunks.get(number)

    def evidence(self, number: int) -> Evidence | None:
        """What the chunk says, for the verdict on support."""
        if number not in self._evidence and number in self.by_number:
            self._evidence[number] = Evidence(self.by_number[number])
        return self._evidence.get(number)

    def earlier_chunk(self, number: int, quote: str) -> QuotableChunk | None:
        """The current note behind a number of an earlier prompt, if both what was sent then and the note contain the quotation."""
        found = self.earlier(number)
        if found is None or QuotableChunk(found[0]).locate(quote) is None:
            return None
        chunk, text = found
        note = QuotableChunk(chunk.model_copy(update={"text": text, "start_line": 1, "end_line": text.count("\n") + 1}))
        return note if note.locate(quote) else None

    def matching_notes(self, name: str) -> tuple[str, ...]:
        """The paths of the notes that a link or path may mean, the likeliest first; matched as wikilinks are, then by title."""
        if name not in self._notes:
            resolved = resolve(WrittenLink("", "wikilink", name, None, None, embed=False), None, lambda of: self._names.get(of, ()))
            self._notes[name] = (resolved.target, *resolved.losers) if resolved.target else ()
        return self._notes[name]

    def has_name_ending_with(self, word: str) -> bool:
        """Whether some note's file name has several words and ends with this one."""
        return fold_name(stem(word)) in self._last_words

    def choose_chunk(self, notes: Iterable[str], quote: str | None, heading: str | None, line: int | None) -> int:
        """The number of the chunk of these notes with the quoted words, else under the heading, else with the line, else the first."""
        numbers = [number for note in notes for number in self._numbers[note]]
        chunks = [chunk for number in numbers if (chunk := self.chunk(number))]
        wanted = fold_name(heading.rpartition("#")[2].strip()) if heading else None
        for matches in (
            lambda c: quote is not None and (place := c.locate(quote)) is not None and place.verdict == "verified",
            lambda c: quote is not None and c.locate(quote) is not None,
            lambda c: wanted is not None and wanted in (fold_name(c.chunk.heading or ""), *(fold_name(h) for _, h in c.headings)),
            lambda c: line is not None and c.chunk.start_line <= line <= c.chunk.end_line,
        ):
            for number, chunk in zip(numbers, chunks, strict=True):
                if matches(chunk):
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
        return {name: list(found) for name, found in names.items()}

    @cached_property
    def _last_words(self) -> frozenset[str]:
        return frozenset(name.rpartition(" ")[2] for name in map(key, self._numbers) if " " in name)
