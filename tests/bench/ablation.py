"""What each field and trick of the search contributes: `python tests/bench/ablation.py [--vault DIR] [--queries FILE.jsonl]`.

Each row is the ranking with one thing off, measured on queries of which it is known what they should find; so what earns its place shows,
and what does not. The peer is what FTS5 does by itself. Nothing is written to the vault: a copy of it is measured on.
"""

import argparse
import re
import shutil
import sqlite3
import tempfile
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, fields, replace
from pathlib import Path

import queries
from queries import Query

import zkchat_cli
from zkchat_cli.text.words import STOPWORDS
from zkchat_cli.vault import filesystem
from zkchat_cli.vault.search.ranking import RANKING, Ranking
from zkchat_cli.vault.vault import Vault

SEED = 7
DEMO = Path(zkchat_cli.__file__).parent / "demo"
EXCERPTS = 60
"""Results of a search, from which notes are ranked by their best one: enough for ten notes even where a few have many."""
EVERYTHING, PEER = "everything", "plain FTS5"
NO_SWITCH = {"saturation"}
"""At 0 a word would count the same in every field and however often: that is not BM25 with one thing less, but something else."""
NOISE = 1.5
"""Queries: what one of them more or less changes is no difference."""
PLAIN = "CREATE VIRTUAL TABLE notes USING fts5(path UNINDEXED, title, body, tokenize='unicode61')"
NOTES = """
R@5: how many queries find the right note among the first five. MRR: the mean of 1 / its place, 0 after the tenth.
"everything" and "plain FTS5" (a row a note: title and text; OR of the words, bm25) are figures, all other rows the difference to
"everything": · none, (in brackets) at most {noise:g} queries' worth, which is noise.
"source out": alias and context queries are taken from a note that links to the right one, and a search that knows the texts of links, or
lends a score along them, sees that very link. There, the source has been taken out of the index before it was asked. Judge by these.
"""

Search = Callable[[str], list[str]]


@dataclass(frozen=True, slots=True)
class Figures:
    """Of so many queries."""

    queries: int
    recall_at_5: float
    mrr_at_10: float


def rankings() -> dict[str, Ranking]:
    """The one in use, and then each with one of its weights off. A weight that is new gets its row by itself."""
    off = {f"no {field.name}": replace(RANKING, **{field.name: 0}) for field in fields(Ranking) if field.name not in NO_SWITCH}
    return {EVERYTHING: RANKING, **off}


class Copy:
    """A copy of a vault's notes with the searches that are compared; notes can be taken out of it for a while."""

    def __init__(self, vault: Path, folder: Path) -> None:
        notes = folder / "notes"
        for path in filesystem.scan(vault).stamps:
            (notes / path).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(vault / path, notes / path)  # with its time: chunks are numbered by that
        self.stash = folder / "stash"
        self.stash.mkdir()
        self.vault = Vault.open(notes, folder)
        self.vault.refresh()
        self.plain = sqlite3.connect(":memory:", isolation_level=None)
        self.plain.execute(PLAIN)
        texts = ((path, self.vault.note(path)) for path in self.vault.note_paths())
        self.plain.executemany("INSERT INTO notes VALUES (?, ?, ?)", ((path, note.title, note.body) for path, note in texts))

    def close(self) -> None:
        self.vault.close()
        self.plain.close()

    def searches(self) -> dict[str, Search]:
        """Each ranks the paths of notes."""

        def ranked(weights: Ranking) -> Search:
            return lambda text: [chunk.relative_path for chunk in self.vault.search(text, EXCERPTS, weights=weights)]

        return {**{name: ranked(weights) for name, weights in rankings().items()}, PEER: self._match}

    def _match(self, text: str) -> list[str]:
        every = re.findall(r"\w+", text)
        expression = " OR ".join(f'"{word}"' for word in dict.fromkeys([w for w in every if w.lower() not in STOPWORDS] or every))
        sql = "SELECT path FROM notes WHERE notes MATCH ? ORDER BY rank LIMIT ?"
        return [path for (path,) in self.plain.execute(sql, (expression, EXCERPTS))]

    @contextmanager
    def without(self, paths: Iterable[str]) -> Iterator[None]:
        """These notes are in no index meanwhile."""
        away = {self.vault.root / path: self.stash / str(number) for number, path in enumerate(sorted(paths))}
        known = [file.relative_to(self.vault.root).as_posix() for file in away]
        self.plain.execute("BEGIN")
        self.plain.executemany("DELETE FROM notes WHERE path = ?", [(path,) for path in known])
        for file, place in away.items():
            file.rename(place)
        self.vault.refresh(only=known)
        try:
            yield
        finally:
            for file, place in away.items():
                place.rename(file)
            self.vault.refresh(only=known)
            self.plain.execute("ROLLBACK")


def figures(places: Sequence[int | None]) -> Figures:
    """From the place (from 0) at which each query found a right note."""
    found = [place for place in places if place is not None]
    return Figures(
        len(places),
        sum(place < 5 for place in found) / len(places),
        sum(1 / (place + 1) for place in found if place < 10) / len(places),
    )


def place(query: Query, search: Search) -> int | None:
    """Where the first right note comes; None where none does."""
    others = (path for path in dict.fromkeys(search(query.text)) if path not in query.sources)
    return next((at for at, path in enumerate(others) if path in query.relevant), None)


def measured(copy: Copy, asked: Iterable[Query]) -> dict[str, dict[str, Figures]]:
    """By column (a kind, or a kind with the source out) and search."""
    searches = copy.searches()
    places: dict[str, dict[str, list[int | None]]] = defaultdict(lambda: {name: [] for name in searches})
    by_sources: dict[frozenset[str], list[Query]] = defaultdict(list)
    for query in asked:
        by_sources[query.sources].append(query)

    def ask(column: str, query: Query) -> None:
        for name, search in searches.items():
            places[column][name].append(place(query, search))

    for some in by_sources.values():
        for query in some:
            ask(query.kind, query)
    for sources, some in by_sources.items():  # last: a note that was away has its chunks numbered anew
        if sources:
            with copy.without(sources):
                for query in some:
                    ask(f"{query.kind}, source out", query)
    return {column: {name: figures(values) for name, values in places[column].items()} for column in sorted(places)}


def table(columns: Mapping[str, Mapping[str, Figures]]) -> str:
    heads = [f"{column} ({of[EVERYTHING].queries})" for column, of in columns.items()]
    widths = [max(len(head), 15) for head in heads]
    names = [EVERYTHING, PEER, *(name for name in rankings() if name != EVERYTHING)]
    margin = max(map(len, names))
    figures_alone = (EVERYTHING, PEER)
    rows = [(name, [_cell(of[name], None if name in figures_alone else of[EVERYTHING]) for of in columns.values()]) for name in names]
    lines = [("", heads), ("", ["   R@5     MRR"] * len(heads)), *rows]
    padded = ([name.ljust(margin), *(c.ljust(width) for c, width in zip(cells, widths, strict=True))] for name, cells in lines)
    return "\n".join("  ".join(cells).rstrip() for cells in padded)


def _cell(own: Figures, whole: Figures | None) -> str:
    if whole is None:
        return f"{own.recall_at_5:6.3f}  {own.mrr_at_10:6.3f} "
    differences = own.recall_at_5 - whole.recall_at_5, own.mrr_at_10 - whole.mrr_at_10
    return " ".join(_difference(value, own.queries) for value in differences)


def _difference(value: float, asked: int) -> str:
    shown = f"{value:+.3f}"
    if abs(value) < 0.0005:
        return "     · "
    return f"({shown})" if abs(value) <= NOISE / asked else f" {shown} "


def main() -> None:
    parser = argparse.ArgumentParser(description="Measure what each field and trick of the search contributes.")
    parser.add_argument("--vault", type=Path, default=DEMO, help="a folder of notes; default: the demo notes")
    parser.add_argument("--queries", type=Path, help="a JSON object a line: kind, query, relevant, exclude; default: made from the notes")
    parser.add_argument("--most", type=int, default=80, help="queries of a kind that are made; default 80")
    chosen = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="zkchat-bench-") as folder:
        copy = Copy(chosen.vault.resolve(), Path(folder))
        asked = queries.read(chosen.queries) if chosen.queries else queries.make(copy.vault, SEED, chosen.most)
        print(f"{len(copy.vault.note_paths())} notes, {len(asked)} queries{'' if chosen.queries else ' made from them'}\n")
        print(table(measured(copy, asked)))
        print(NOTES.format(noise=NOISE), end="")
        copy.close()


if __name__ == "__main__":
    main()
