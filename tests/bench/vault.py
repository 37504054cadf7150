"""The vault's figures: how fast notes are indexed, looked over, searched and named, and how large
that makes the index and the process.

Goals that are given for a size grow with it. A build is warmed up on a small vault, so that a
hundred thousand notes are not built once more for nothing.
"""

import sqlite3
from collections.abc import Callable, Generator, Iterator
from dataclasses import dataclass
from functools import partial

import vaults
from ground import INDEX, STORE, ZKCHAT, Ground, bare, insert, walk
from measuring import Goal, Row, in_turns, timed

from zkchat_cli.citations.verify_text import verify_text
from zkchat_cli.text.words import content_terms
from zkchat_cli.vault.links.wikilinks import note_name
from zkchat_cli.vault.vault import Vault

LEAST = 1000
"""Notes below which no goal shrinks further: a few notes have the cost of any file."""
WARM_UP = 300
QUOTATIONS = 1000
LIBRARIES = "import sqlite3, typer, rich, yaml, zkchat_cli.models.reports"
NAMES = """
PRAGMA journal_mode = OFF;
CREATE TABLE names (name TEXT COLLATE NOCASE, path TEXT);
CREATE INDEX names_by_name ON names (name, path)
"""


@dataclass(frozen=True)
class Build:
    """A vault to be indexed and its floor: a plain FTS5 table that takes the same text, a row a
    note.
    """

    vault: Vault
    plain: sqlite3.Connection
    texts: list[tuple[str, str]]


def figures(ground: Ground) -> Iterator[Row]:
    yield peak(ground)
    last = yield from building(ground)
    yield from refreshing(ground, last.vault)
    yield from searching(ground, last.vault, last.plain)
    yield from naming(ground, last.vault)
    yield verifying(ground, last)
    last.vault.close()


def peak(ground: Ground) -> Row:
    command = (*ZKCHAT, "vault", "index", "--vault", str(ground.vault))
    figures = ground.peaks(
        [ground.fresh() for _ in range(ground.repetitions(3, large=1))], command, LIBRARIES
    )
    return Row(
        "peak memory of a build", *figures, "typer, rich, yaml, models", Goal(300, "median"), "MB"
    )


def building(ground: Ground) -> Generator[Row, None, Build]:
    """Yields its rows and returns the last build, for all that is asked of it."""
    few = ground.folder / "few notes"
    vaults.write(few, min(ground.notes, WARM_UP), ground.words)
    texts = {
        folder: [(str(file), file.read_text(encoding="utf-8")) for file in folder.rglob("*.md")]
        for folder in (few, ground.vault)
    }
    folders = [few, *[ground.vault] * ground.repetitions(5, large=2)]
    builds = [
        Build(Vault.open(folder, ground.fresh()), bare(ground, INDEX), texts[folder])
        for folder in folders
    ]
    taken = in_turns(
        timed(lambda build: build.vault.refresh()),
        timed(lambda build: insert(build.plain, build.texts)),
        builds,
    )
    many = max(ground.notes, LEAST)
    yield Row(
        f"build, {ground.notes} notes",
        *taken,
        "FTS5 inserts of the same text",
        Goal(0.6 * many, "median"),
    )
    index = builds[-1].vault.index_file
    read = sum(file.stat().st_size for file in ground.vault.rglob("*.md"))
    yield Row(
        "index size",
        [index.stat().st_size / 1e6],
        [read / 1e6],
        "the notes themselves",
        Goal(2.5, "ratio"),
        "MB",
    )
    for build in builds[:-1]:
        build.vault.close()
        build.plain.close()
    return builds[-1]


def refreshing(ground: Ground, vault: Vault) -> Iterator[Row]:
    unchanged = in_turns(
        timed(lambda _: vault.refresh()), timed(lambda _: walk(ground.vault)), ground.times(20)
    )
    goal = Goal(0.01 * max(ground.notes, LEAST), "median")
    yield Row("refresh, nothing changed", *unchanged, "scandir and stat", goal)

    plain = bare(ground, STORE)
    paths = vault.note_paths()

    def after_a_change(refresh: Callable[[str], object]) -> Callable[[str], float]:
        """The time of `refresh` alone, once a sentence and a link with a text of its own, which the
        other note is then found by, are in.
        """

        def run(path: str) -> float:
            said = (
                f"\n{ground.words.sentence()} See "
                f"[[{note_name(ground.words.dice.choice(paths))}|{ground.words.rare(2)}]].\n"
            )
            with (ground.vault / path).open("a", encoding="utf-8") as file:
                file.write(said)
            return timed(refresh)(path)

        return run

    def store(path: str) -> None:
        insert(plain, [(str(ground.fresh()), (ground.vault / path).read_text(encoding="utf-8"))])

    def walk_and_store(path: str) -> None:
        walk(ground.vault)
        store(path)

    known = after_a_change(lambda path: vault.refresh(only=[path]))
    changed = in_turns(
        known, timed(store), ground.words.dice.choices(paths, k=len(ground.times(100)))
    )
    yield Row(
        "one changed note, known", *changed, "read it, one bare transaction", Goal(20, "median")
    )
    found = after_a_change(lambda _: vault.refresh())
    changed = in_turns(
        found, timed(walk_and_store), ground.words.dice.choices(paths, k=len(ground.times(20)))
    )
    yield Row("one changed note, to be found", *changed, "scandir, stat and the same")


def searching(ground: Ground, vault: Vault, plain: sqlite3.Connection) -> Iterator[Row]:
    """Words as they come, so mostly frequent ones; the floor looks for the same ones, stopwords
    only where there is nothing else.
    """

    def match(query: str) -> list[tuple[str, str]]:
        expression = " OR ".join(f'"{term}"' for term in dict.fromkeys(content_terms(query)))
        return plain.execute(
            "SELECT path, body FROM texts WHERE texts MATCH ? ORDER BY rank LIMIT 10", (expression,)
        ).fetchall()

    words = ground.words
    asked: dict[str, Callable[[], str]] = {
        f"{n} word{'s' * (n > 1)}": partial(words.common, n) for n in range(1, 6)
    }
    for what, query in (*asked.items(), ("a question", words.question)):
        found = in_turns(timed(vault.search), timed(match), [query() for _ in ground.times(200)])
        yield Row(f"search, {what}", *found, "FTS5 OR of the same words", Goal(20, "p95"))


def naming(ground: Ground, vault: Vault) -> Iterator[Row]:
    """Names as people type them: the beginning, something from within, the whole of it, and all but
    one letter.
    """
    plain = bare(ground, NAMES)
    dice = ground.words.dice
    names = [(note_name(path), path) for path in vault.note_paths()]
    plain.executemany("INSERT INTO names VALUES (?, ?)", names)
    some = [name for name, _ in dice.choices(names, k=len(ground.times(200)))]

    def like(pattern: str) -> Callable[[str], object]:
        sql = "SELECT name, path FROM names WHERE name LIKE ? ORDER BY name LIMIT 30"
        return lambda typed: plain.execute(sql, (pattern.format(typed),)).fetchall()

    def look_up(name: str) -> list[tuple[str]]:
        return plain.execute(
            "SELECT path FROM names WHERE name = ? ORDER BY path", (name,)
        ).fetchall()

    def within(name: str) -> str:
        begin = dice.randrange(1, len(name) - 2)
        return name[begin : begin + dice.randint(2, 6)]

    def misspelt(name: str) -> str:
        dropped = dice.randrange(1, len(name))
        return name[:dropped] + name[dropped + 1 :]

    beginnings = [name[: dice.randint(1, 6)] for name in some]
    yield Row(
        "complete a beginning",
        *in_turns(timed(vault.complete), timed(like("{}%")), beginnings),
        "SQL LIKE 'x%'",
        Goal(20, "p95"),
    )
    middles = [within(name) for name in some]
    yield Row(
        "complete a substring",
        *in_turns(timed(vault.complete), timed(like("%{}%")), middles),
        "SQL LIKE '%x%'",
        Goal(20, "p95"),
    )
    for what, links in (
        ("resolve a link", some),
        ("resolve a broken link", [misspelt(name) for name in some]),
    ):
        yield Row(
            what,
            *in_turns(timed(vault.resolve), timed(look_up), links),
            "one indexed look-up",
            Goal(1, "median"),
        )


def verifying(ground: Ground, build: Build) -> Row:
    """A text with quotations without a source, every tenth of them with another word in it."""
    dice = ground.words.dice
    paragraphs = [
        line
        for _, text in build.texts
        for line in text.splitlines()
        if line[:1].isupper() and len(line.split()) > 8
    ]

    def quoted() -> str:
        words = dice.choice(paragraphs).partition(". ")[0].rstrip(".").split()
        if dice.random() < 0.1:
            words[dice.randrange(len(words))] = ground.words.rare(1)
        return " ".join(words)

    def match(text: str) -> None:
        for quotation in text.split("”")[:-1]:
            phrase = " ".join(content_terms(quotation.partition("“")[2]))
            build.plain.execute(
                "SELECT path FROM texts WHERE texts MATCH ? LIMIT 1", (f'"{phrase}"',)
            ).fetchall()

    texts = [
        "\n\n".join(f"They say “{quoted()}”." for _ in range(ground.repetitions(QUOTATIONS)))
        for _ in ground.times(3)
    ]
    figures = in_turns(timed(lambda text: verify_text(text, build.vault)), timed(match), texts)
    return Row(
        f"verify {ground.repetitions(QUOTATIONS)} quotations",
        *figures,
        "FTS5 phrases of the same words",
        Goal(5000, "median"),
    )
