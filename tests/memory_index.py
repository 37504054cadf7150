"""An index in plain dictionaries: the second implementation of the ports in `vault/index/port.py`.

It has no SQL and no full-text tables, so what it shares with the one in SQLite is what the ports
promise. tests/test_index_port.py runs against both.
"""

import math
import re
from collections import Counter
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import Any

from zkchat_cli.models.notes import ContentChunk
from zkchat_cli.text import words
from zkchat_cli.text.bm25 import Bm25
from zkchat_cli.text.case_folder import fold
from zkchat_cli.text.dates import Period
from zkchat_cli.text.languages import language_of_surroundings, main_language, written_language
from zkchat_cli.text.truncate import truncate_around
from zkchat_cli.vault import filesystem
from zkchat_cli.vault.filesystem import Stamp, VaultFiles
from zkchat_cli.vault.index.port import Direction
from zkchat_cli.vault.index.values import (
    BrokenLinkRow,
    ChunkPlace,
    ChunkText,
    IndexSizes,
    KnownNote,
    LinkEdge,
    LinkRow,
    NoteContent,
    NoteEntry,
    NoteFilter,
    RankingCandidate,
    WordCount,
    chunk_key,
    make_chunk,
)
from zkchat_cli.vault.index.word_match import Phrase, WordMatch, is_part
from zkchat_cli.vault.links.name_suggestions import character_pairs
from zkchat_cli.vault.links.wikilinks import (
    OTHER_NAMES,
    LinkName,
    ResolvedTarget,
    WrittenLink,
    link_key,
    resolve,
)
from zkchat_cli.vault.note_chunks import BYTES_PER_TOKEN, estimate_size

_TOKEN = re.compile("[^\x00-/:-@\\[-`{-\x7f]+")
BM25 = Bm25()
MOST_ANCHORS = 40
MAX_SNIPPET = 200


@dataclass(frozen=True)
class MemoryChunk:
    """A chunk with what it is ranked and found by."""

    id: int
    note_id: int
    heading: str | None
    headings: str
    start_line: int
    end_line: int
    text: str
    key: int


@dataclass(frozen=True)
class MemoryNote:
    """A note with its resolved links, and the aliases of the links to it."""

    id: int
    content: NoteContent
    chunks: tuple[MemoryChunk, ...]
    links: tuple[tuple[WrittenLink, ResolvedTarget], ...] = ()
    anchors: tuple[str, ...] = ()

    @property
    def path(self) -> str:
        return self.content.path

    @property
    def named(self) -> tuple[str, ...]:
        """Title, aliases, tags and anchors, one per line."""
        parsed = self.content.parsed
        lines = (parsed.other_names, parsed.tags, self.anchors)
        return (parsed.title, *("\n".join(each) for each in lines))


@dataclass
class Contents:
    """Everything that an index holds."""

    notes: dict[str, MemoryNote] = field(default_factory=dict)
    attachments: set[str] = field(default_factory=set)
    problems: dict[str, str] = field(default_factory=dict)
    next_note: int = 1
    next_chunk: int = 1
    version: int = 0

    @property
    def names(self) -> list[LinkName]:
        """All names; the place of each is its number."""
        files = [LinkName(path, "file", path.rpartition("/")[2]) for path in self.attachments]
        return [*(name for note in self.notes.values() for name in note.content.names), *files]

    @property
    def chunks(self) -> dict[int, MemoryChunk]:
        return {chunk.id: chunk for note in self.notes.values() for chunk in note.chunks}

    def note_of(self, note_id: int) -> MemoryNote:
        [found] = [note for note in self.notes.values() if note.id == note_id]
        return found

    def allows(self, note: MemoryNote, wanted: NoteFilter | None) -> bool:
        if wanted is None:
            return True
        tags = [fold(tag) for tag in note.content.parsed.tags]
        path = fold(note.path)

        def has(tag: str) -> bool:
            return any(each == tag or each.startswith(f"{tag}/") for each in tags)

        return (
            (not wanted.folder or note.path.startswith(f"{wanted.folder}/"))
            and all(has(tag) for tag in wanted.tags)
            and not any(has(tag) for tag in wanted.without_tags)
            and all(part in path for part in wanted.path_parts)
            and not any(part in path for part in wanted.without_path_parts)
            and self._is_in_period(note, wanted)
        )

    def _is_in_period(self, note: MemoryNote, wanted: NoteFilter) -> bool:
        if wanted.period is None:
            return True
        period = wanted.period
        if dates := _dates(note):
            return any(each.first <= period.last and each.last >= period.first for each in dates)
        nanoseconds = note.content.stamp[0]
        day = datetime.fromtimestamp(nanoseconds / 10**9).date()
        minutes = Counter(each.content.stamp[0] // 60_000_000_000 for each in self.notes.values())
        is_copy = minutes[nanoseconds // 60_000_000_000] > 20
        return period.first <= day <= period.last and (wanted.also_copies or not is_copy)


class MemoryNames:
    """A `NameIndex`."""

    def __init__(self, contents: Callable[[], Contents]) -> None:
        self._contents = contents

    def has_file(self, path: str) -> bool:
        return any(name.path == path for name in self._contents().names)

    def with_key(self, key: str) -> list[LinkName]:
        def key_of(name: LinkName) -> str:
            return link_key(name.spelled if name.kind in OTHER_NAMES else name.path)

        return [name for name in self._contents().names if key_of(name) == key]

    def with_ids(self, ids: Sequence[int]) -> list[LinkName]:
        names = self._contents().names
        return [names[id_] for id_ in ids]

    def with_pairs(self, pairs: str, limit: int) -> list[int]:
        names = enumerate(self._contents().names)
        of_notes = ((id_, name.spelled) for id_, name in names if name.kind not in ("file", "id"))
        found = [
            id_
            for id_, spelled in of_notes
            if f" {pairs} " in f" {' '.join(character_pairs(spelled))} "
        ]
        return found[:limit]

    def aliases_and_titles(self) -> list[LinkName]:
        found = [name for name in self._contents().names if name.kind in ("alias", "title")]
        return sorted(found, key=lambda name: (name.kind, link_key(name.spelled), name.path))


class MemoryLinks:
    """A `LinkIndex`."""

    def __init__(self, contents: Callable[[], Contents]) -> None:
        self._contents = contents

    def links_from(self, path: str) -> list[LinkRow]:
        return [row for row, _ in self._rows() if row.source == path]

    def links_to(self, path: str) -> list[LinkRow]:
        return [row for row, _ in self._rows() if row.target == path != row.source]

    def links_between(self, source: str, target: str) -> list[LinkRow]:
        return [row for row in self.links_from(source) if row.target == target]

    def broken_links(self) -> list[BrokenLinkRow]:
        return [BrokenLinkRow(row, text) for row, text in self._rows() if row.target is None]

    def edges(self, paths: Sequence[str], direction: Direction) -> set[LinkEdge]:
        notes = self._contents().notes
        found: set[LinkEdge] = set()
        for row, _ in self._rows():
            if row.target is None or row.target == row.source or row.target not in notes:
                continue
            if direction != "in" and row.source in paths:
                found.add(LinkEdge(row.source, row.target))
            if direction != "out" and row.target in paths:
                found.add(LinkEdge(row.target, row.source))
        return found

    def notes_linking(self, path: str, keys: Sequence[str]) -> list[str]:
        return sorted(
            note.path
            for note in self._contents().notes.values()
            if any(to.target == path or link_key(link.text) in keys for link, to in note.links)
        )

    def notes_linked_in_chunk(self, chunk_id: int) -> list[int]:
        contents = self._contents()
        chunk = contents.chunks[chunk_id]
        lines = range(chunk.start_line, chunk.end_line + 1)
        targets = [
            contents.notes[to.target].id
            for link, to in contents.note_of(chunk.note_id).links
            if link.line in lines and to.target in contents.notes
        ]
        return [id_ for id_ in dict.fromkeys(targets) if id_ != chunk.note_id]

    def _rows(self) -> list[tuple[LinkRow, str]]:
        """All links that mean a note, with their targets as written, by source and line."""
        rows: list[tuple[LinkRow, str]] = []
        for note in sorted(self._contents().notes.values(), key=lambda note: note.path):
            for link, to in sorted(note.links, key=lambda pair: pair[0].line):
                if to.status is not None:
                    snippet = _line_around(link, note)
                    rows.append(
                        (LinkRow(note.path, to.target, link.raw, link.line, snippet), link.text)
                    )
        return rows


def _line_around(link: WrittenLink, note: MemoryNote) -> str:
    above = [chunk for chunk in note.chunks if chunk.start_line <= link.line <= chunk.end_line]
    line = link.raw
    if above:
        lines = above[-1].text.split("\n")[link.line - above[-1].start_line :]
        line = lines[0].strip(" \t#>") if lines else link.raw
    return truncate_around(line, max(line.find(link.raw), 0), MAX_SNIPPET)


class MemoryWords:
    """A `WordIndex`, which reads all texts for each question."""

    def __init__(self, contents: Callable[[], Contents]) -> None:
        self._contents = contents

    def count_chunks(self, match: WordMatch, most: int | None = None) -> int:
        return len(_matching(self._chunk_rows(None), match, (), None)[:most])

    def find_chunks(
        self,
        match: WordMatch,
        limit: int,
        *,
        without: Sequence[Phrase] = (),
        allowed: NoteFilter | None = None,
        weights: Sequence[float] | None = None,
    ) -> list[int]:
        return _matching(self._chunk_rows(allowed), match, without, weights)[:limit]

    def count_named(self, match: WordMatch, most: int | None = None) -> int:
        return len(_matching(self._name_rows(None), match, (), None)[:most])

    def find_named(
        self,
        match: WordMatch,
        limit: int,
        *,
        without: Sequence[Phrase] = (),
        allowed: NoteFilter | None = None,
        weights: Sequence[float] | None = None,
    ) -> list[int]:
        return _matching(self._name_rows(allowed), match, without, weights)[:limit]

    def notes_with_chunk(self, match: WordMatch, limit: int, *, ranked: bool) -> list[str]:
        rows = self._chunk_rows(None)
        ids = _matching(rows, match, (), (1.0, 1.0)) if ranked else _oldest(rows, match)
        contents = self._contents()
        paths = [contents.note_of(contents.chunks[id_].note_id).path for id_ in ids[:limit]]
        return list(dict.fromkeys(paths))

    def newest_chunks(
        self,
        limit: int,
        *,
        without: Sequence[Phrase] = (),
        allowed: NoteFilter,
        by_date: bool,
    ) -> list[int]:
        contents = self._contents()
        unnamed = {
            id_
            for id_, fields in self._name_rows(allowed).items()
            if not any(_occurs(phrase, fields) for phrase in without)
        }
        chunks = self._chunk_rows(allowed)
        first: dict[int, int] = {}
        for id_ in sorted(chunks):
            note = contents.chunks[id_].note_id
            if note in unnamed and not any(_occurs(phrase, chunks[id_]) for phrase in without):
                first.setdefault(note, id_)

        def date_of(note: int) -> str:
            dates = _dates(contents.note_of(note)) if by_date else ()
            return max((period.last.isoformat() for period in dates), default="")

        newest = sorted(first, key=lambda note: (date_of(note), first[note]), reverse=True)
        return [first[note] for note in newest[:limit]]

    def _chunk_rows(self, allowed: NoteFilter | None) -> dict[int, list[list[str]]]:
        contents = self._contents()
        notes = [note for note in contents.notes.values() if contents.allows(note, allowed)]
        return {
            chunk.id: [_tokens(chunk.headings), _tokens(chunk.text)]
            for note in notes
            for chunk in note.chunks
        }

    def _name_rows(self, allowed: NoteFilter | None) -> dict[int, list[list[str]]]:
        contents = self._contents()
        notes = [note for note in contents.notes.values() if contents.allows(note, allowed)]
        return {note.id: [_tokens(text) for text in note.named] for note in notes}


def _tokens(text: str) -> list[str]:
    return _TOKEN.findall(words.to_index_text(text).lower())


def _count(phrase: Phrase, tokens: list[str]) -> int:
    if len(phrase) == 1 and is_part(phrase[0]):
        return sum(token.startswith(phrase[0]) for token in tokens)
    # The tokenizer splits words such as "don't"
    wanted = [token for word in phrase for token in _TOKEN.findall(word)]
    size = len(wanted)
    return sum(tokens[place : place + size] == wanted for place in range(len(tokens) - size + 1))


def _occurs(phrase: Phrase, fields: list[list[str]]) -> bool:
    return any(_count(phrase, tokens) for tokens in fields)


def _matches(match: WordMatch, fields: list[list[str]]) -> bool:
    searched = fields[:1] if match.only_headings else fields
    return all(any(_occurs(phrase, searched) for phrase in group) for group in match.groups)


def _oldest(rows: Mapping[int, list[list[str]]], match: WordMatch) -> list[int]:
    return sorted(id_ for id_, fields in rows.items() if _matches(match, fields))


def _matching(
    rows: Mapping[int, list[list[str]]],
    match: WordMatch,
    without: Sequence[Phrase],
    weights: Sequence[float] | None,
) -> list[int]:
    """The matching rows, the best by BM25 with `weights` first, or the newest."""
    found = [
        id_
        for id_ in _oldest(rows, match)
        if not any(_occurs(phrase, rows[id_]) for phrase in without)
    ]
    if weights is None:
        return found[::-1]
    lengths = {id_: sum(map(len, fields)) for id_, fields in rows.items()}
    average = sum(lengths.values()) / max(len(lengths), 1)
    scores = dict.fromkeys(found, 0.0)
    for phrase in [phrase for group in match.groups for phrase in group]:
        having = sum(_occurs(phrase, fields) for fields in rows.values())
        rarity = max(math.log((len(rows) - having + 0.5) / (having + 0.5)), 1e-6)
        for id_ in found:
            pairs = zip(weights, rows[id_], strict=True)
            count = sum(weight * _count(phrase, tokens) for weight, tokens in pairs)
            norm = BM25.norm(lengths[id_], average)
            scores[id_] += BM25.word_score(rarity, count, norm)
    return sorted(found, key=lambda id_: -scores[id_])


class MemoryChunks:
    """A `ChunkIndex`."""

    def __init__(self, contents: Callable[[], Contents]) -> None:
        self._contents = contents

    def read(self, ids: Sequence[int]) -> list[ContentChunk]:
        contents = self._contents()
        found: list[ContentChunk] = []
        for id_ in ids:
            if chunk := contents.chunks.get(id_):
                parsed = contents.note_of(chunk.note_id).content.parsed
                place = (chunk.heading, chunk.start_line, chunk.end_line, chunk.text)
                found.append(make_chunk(parsed.relative_path, parsed.title, *place))
        return found

    def candidates(
        self, ids: Sequence[int], allowed: NoteFilter | None = None
    ) -> list[RankingCandidate]:
        contents = self._contents()
        found: list[RankingCandidate] = []
        for id_ in ids:
            chunk = contents.chunks[id_]
            note = contents.note_of(chunk.note_id)
            if contents.allows(note, allowed):
                named = (*note.named, chunk.headings, chunk.text)
                note_size = note.content.stamp[2] / BYTES_PER_TOKEN
                size = estimate_size(chunk.text)
                found.append(RankingCandidate._make((id_, note.id, *named, note_size, size)))
        return found

    def places(
        self, ids: Sequence[int], keys: Sequence[int], allowed: NoteFilter | None = None
    ) -> list[ChunkPlace]:
        contents = self._contents()
        found: list[ChunkPlace] = []
        for chunk in contents.chunks.values():
            is_near = chunk.key in keys
            if is_near:
                is_near = contents.allows(contents.note_of(chunk.note_id), allowed)
            if chunk.id in ids or is_near:
                found.append(ChunkPlace(chunk.id, chunk.note_id, chunk.key))
        return found

    def first_of_note(self, note_id: int, limit: int) -> list[int]:
        return [chunk.id for chunk in self._contents().note_of(note_id).chunks[:limit]]

    def keys(self, named: Sequence[str] = ()) -> list[int]:
        contents = self._contents()
        sources: dict[str, set[int]] = {}
        for note in contents.notes.values():
            for _, to in note.links:
                if to.target:
                    sources.setdefault(to.target, set()).add(note.id)
        notes = list(contents.notes.values())
        newest = sorted(notes, key=lambda note: -note.content.stamp[0])
        linked = sorted(notes, key=lambda note: -len(sources.get(note.path, ())))

        def rank(note: MemoryNote) -> int:
            places = [newest.index(note)]
            if note.path in sources:
                places.append(linked.index(note))
            return min(places)

        return [
            chunk.key
            for note in sorted(
                notes, key=lambda note: (note.path not in named, rank(note), note.chunks[0].id)
            )
            for chunk in note.chunks
        ]

    def texts(self, keys: Sequence[int]) -> dict[int, ChunkText]:
        contents = self._contents()
        texts: dict[int, ChunkText] = {}
        for chunk in contents.chunks.values():
            if chunk.key in keys:
                note = contents.note_of(chunk.note_id)
                title = note.content.parsed.title
                language = written_language(chunk.text) or self._language_around(note)
                texts[chunk.key] = ChunkText(title, chunk.headings, chunk.text, language)
        return texts

    def _language_around(self, note: MemoryNote) -> str | None:
        """The language of a note; of a short one, its folder's or the vault's."""
        folder = note.path.rpartition("/")[0]
        every = list(self._contents().notes.values())
        siblings = [other for other in every if folder and other.path.startswith(f"{folder}/")]
        own = language_of_surroundings("\n".join(chunk.text for chunk in note.chunks))
        return own or _language_of_most(siblings) or _language_of_most(every)


def _language_of_most(notes: Sequence[MemoryNote]) -> str | None:
    return main_language("\n".join(chunk.text for chunk in note.chunks) for note in notes)


class MemoryVocabulary:
    """A `Vocabulary`, which is counted for each question."""

    def __init__(self, contents: Callable[[], Contents]) -> None:
        self._contents = contents

    def languages(self) -> tuple[str, ...]:
        texts = [chunk.text[:1000] for chunk in self._contents().chunks.values()]
        return words.detect_languages(texts)

    def with_stems(self, language: str, stems: Sequence[str]) -> list[WordCount]:
        return [count for count in self._counts(language) if count.stem in stems]

    def with_part(self, language: str, part: str, limit: int) -> list[WordCount]:
        counts = self._counts(language)
        return [each for each in counts if each.stem.startswith(part) or each.stem.endswith(part)][
            :limit
        ]

    def _counts(self, language: str) -> list[WordCount]:
        contents = self._contents()
        chunks: Counter[str] = Counter()
        notes: Counter[str] = Counter()
        for chunk in contents.chunks.values():
            chunks.update({*_tokens(chunk.headings), *_tokens(chunk.text)})
        for note in contents.notes.values():
            notes.update({token for text in note.named for token in _tokens(text)})
        terms = sorted(term for term in {**chunks, **notes} if term < "\u3040")
        stems = words.stem_words(terms, language)
        pairs = zip(stems, terms, strict=True)
        return [WordCount(stem, term, chunks[term], notes[term]) for stem, term in pairs]


class MemoryNoteIndex:
    """A `NoteIndex`."""

    def __init__(self) -> None:
        self.contents = Contents()
        self.is_usable = False
        self.names = MemoryNames(lambda: self.contents)
        self.links = MemoryLinks(lambda: self.contents)
        self.words = MemoryWords(lambda: self.contents)
        self.chunks = MemoryChunks(lambda: self.contents)
        self.vocabulary = MemoryVocabulary(lambda: self.contents)

    @property
    def is_new(self) -> bool:
        return not self.is_usable

    @contextmanager
    def snapshot(self) -> Iterator[None]:
        yield

    @contextmanager
    def update(self, files: VaultFiles, *, anew: bool = False) -> Iterator["MemoryUpdate"]:
        before = Contents() if anew else self.contents
        changed = replace(before, notes=dict(before.notes), version=self.contents.version + 1)
        update = MemoryUpdate(changed, files)
        yield update
        update.settle()
        self.contents = changed
        self.is_usable = True

    def stamp(self) -> object:
        return self.contents.version

    def files(self) -> VaultFiles:
        contents = [note.content for note in self.contents.notes.values()]
        stamps = {each.path: each.stamp for each in contents if each.digest}
        return VaultFiles(stamps, set(self.contents.attachments), dict(self.contents.problems))

    def sizes(self) -> IndexSizes:
        notes = self.contents.notes.values()
        statuses = [to.status for note in notes for _, to in note.links]
        chunks = self.contents.chunks.values()
        return IndexSizes(
            notes=len(notes),
            chunks=len(chunks),
            links=sum(status is not None for status in statuses),
            broken_links=statuses.count("broken"),
            tokens=sum(estimate_size(chunk.text) for chunk in chunks),
        )

    def problems(self) -> list[str]:
        notes = [note.content for note in self.contents.notes.values() if note.content.problem]
        found = {filesystem.printable(each.path): each.problem for each in notes}
        found |= self.contents.problems
        return [f"{path}: {problem}" for path, problem in sorted(found.items())]

    def note_paths(self) -> list[str]:
        return sorted(self.contents.notes)

    def newest_notes(self, chunks: int) -> list[str]:
        found = self.contents.chunks
        newest = sorted(found, reverse=True)[:chunks]
        paths = [self.contents.note_of(found[id_].note_id).path for id_ in newest]
        return list(dict.fromkeys(paths))

    def list_notes(self, wanted: NoteFilter) -> list[NoteEntry]:
        notes = [
            note for note in self.contents.notes.values() if self.contents.allows(note, wanted)
        ]
        return sorted(map(_note_entry, notes))

    def tag_counts(self) -> Counter[str]:
        notes = self.contents.notes.values()
        return Counter(tag for note in notes for tag in note.content.parsed.tags)

    def check_integrity(self) -> None:
        pass


def _dates(note: MemoryNote) -> list[Period]:
    """The dates of a note, with the day first where that is not certain."""
    readings = note.content.parsed.dates
    return [each.period for each in readings if each.is_certain or each.order == "day"]


def _note_entry(note: MemoryNote) -> NoteEntry:
    parsed = note.content.parsed
    changed = note.content.stamp[0]
    day = datetime.fromtimestamp(changed / 10**9).date()
    if _dates(note):
        day = max(period.last for period in _dates(note))
    return NoteEntry(note.path, parsed.title, tuple(parsed.tags), day.isoformat(), changed)


class MemoryUpdate:
    """An `IndexUpdate`."""

    def __init__(self, contents: Contents, files: VaultFiles) -> None:
        self._contents = contents
        self._files = files

    def known_notes(self) -> Mapping[str, KnownNote]:
        only = self._files.only
        notes = [note.content for note in self._contents.notes.values()]
        return {
            each.path: KnownNote(each.stamp, each.digest)
            for each in notes
            if only is None or each.path in only
        }

    def put_note(self, content: NoteContent) -> None:
        old = self._contents.notes.get(content.path)
        note_id = old.id if old else self._contents.next_note
        self._contents.next_note += old is None
        chunks: list[MemoryChunk] = []
        for chunk in content.parsed.chunks:
            headings = "\n".join(chunk.headings)
            key = chunk_key(content.parsed.title, headings, chunk.text)
            place = (chunk.start_line, chunk.end_line, chunk.text)
            id_ = self._contents.next_chunk
            chunks.append(MemoryChunk(id_, note_id, chunk.heading, headings, *place, key))
            self._contents.next_chunk += 1
        self._contents.notes[content.path] = MemoryNote(note_id, content, tuple(chunks))

    def restamp_note(self, path: str, stamp: Stamp) -> None:
        note = self._contents.notes[path]
        self._contents.notes[path] = replace(note, content=note.content._replace(stamp=stamp))

    def remove_note(self, path: str) -> None:
        del self._contents.notes[path]

    def settle(self) -> None:
        """Resolve all links, and count the aliases that they use."""
        only = self._files.only
        others = set() if only is None else self._contents.attachments - only
        self._contents.attachments = others | self._files.attachments
        kept = {} if only is None else self._contents.problems
        self._contents.problems = {
            path: problem for path, problem in kept.items() if path not in (only or ())
        } | self._files.problems
        names = MemoryNames(lambda: self._contents)
        anchors: dict[str, Counter[str]] = {}
        for path, note in self._contents.notes.items():
            links = [
                (link, resolve(link, path, names.with_key))
                for link in note.content.parsed.markup.links
            ]
            for link, to in links:
                is_width = link.embed and (link.alias or "")[:1].isdigit()
                if to.target and to.target != path and link.alias and not is_width:
                    alias = " ".join(link.alias.split())[:200]
                    anchors.setdefault(to.target, Counter())[alias] += 1
            self._contents.notes[path] = replace(note, links=tuple(links))
        for path, note in self._contents.notes.items():
            counted = anchors.get(path, Counter())
            best = sorted(counted, key=lambda alias: (-counted[alias], alias))
            self._contents.notes[path] = replace(note, anchors=tuple(best[:MOST_ANCHORS]))


class MemoryIndexStorage:
    """An `IndexStorage`: what is stored is lost with the object."""

    def __init__(self) -> None:
        self._stored: MemoryNoteIndex | None = None

    def exists(self) -> bool:
        return self._stored is not None and self._stored.is_usable

    def open_index(self) -> MemoryNoteIndex:
        self._stored = self._stored or MemoryNoteIndex()
        return self._stored

    def open_in_memory(self) -> MemoryNoteIndex:
        return MemoryNoteIndex()

    def close(self, index: Any) -> None:
        pass

    def delete(self) -> None:
        self._stored = None

    def write_checksum(self) -> None:
        pass


class MemoryVectorStore:
    """A `VectorStore` that compares all vectors."""

    def __init__(self) -> None:
        self._vectors: dict[int, list[Any]] = {}

    @property
    def is_empty(self) -> bool:
        return not any(self._vectors.values())

    def count_windows(self) -> int:
        return sum(map(len, self._vectors.values()))

    def missing_keys(self, keys: Sequence[int]) -> list[int]:
        return [key for key in dict.fromkeys(keys) if key not in self._vectors]

    def keys_without_vectors(self, keys: Sequence[int]) -> list[int]:
        return [key for key in dict.fromkeys(keys) if self._vectors.get(key) == []]

    @property
    def share_without_vectors(self) -> float:
        return sum(not each for each in self._vectors.values()) / max(len(self._vectors), 1)

    def nearest(self, vector: Any, limit: int) -> dict[int, float]:
        cosines = self.cosines(vector, self._vectors)
        ranked = sorted(cosines.items(), key=lambda item: -item[1])
        return dict(ranked[:limit])

    def cosines(self, vector: Any, keys: Collection[int]) -> dict[int, float]:
        return {
            key: max(float(each @ vector) for each in self._vectors[key])
            for key in keys
            if self._vectors.get(key)
        }

    def sample_cosines(self, vector: Any) -> list[float]:
        return list(self.cosines(vector, self._vectors).values())

    @contextmanager
    def claim(self, keys: Sequence[int]) -> Iterator[list[int] | None]:
        yield self.missing_keys(keys)

    def add(self, key: int, vectors: Sequence[Any]) -> None:
        self._vectors[key] = list(vectors)

    def prune(self, used: Collection[int]) -> None:
        self._vectors = {key: some for key, some in self._vectors.items() if key in used}

    def close(self) -> None:
        pass
