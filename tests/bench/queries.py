"""Queries with the notes that they should find: from a file, or made from a vault's own sentences, headings and links.

A made query is left out where it asks for nothing or would tell nothing:

    too short    fewer words than `LEAST_WORDS`, stopwords aside
    trivial      it is all in a name of the note, or (around a link) has that name in it
    ambiguous    the same text leads to several notes; a sentence with several links counts as that, too

Links that are broken, ambiguous, embeds, to a file or to the note itself ask for nothing.
"""

import json
import random
from collections import defaultdict
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from zkchat_cli.markdown.blocks import sentences
from zkchat_cli.text import words
from zkchat_cli.vault.note_parser import ParsedNote
from zkchat_cli.vault.vault import Vault

LEAST_WORDS = {"first_sentence": 4, "heading": 2, "alias": 2, "context": 5}
"""The kinds: how a note begins, a heading in it, what another note calls it in a link, the sentence there without the link."""


@dataclass(frozen=True, slots=True)
class Query:
    """`sources`: the notes it was taken from, if not from a `relevant` one; finding them is neither right nor wrong."""

    kind: str
    text: str
    relevant: frozenset[str]
    sources: frozenset[str] = frozenset()


def read(file: Path) -> list[Query]:
    """One JSON object a line: `kind`, `query`, and the paths `relevant` and `exclude`."""
    lines = map(json.loads, file.read_text(encoding="utf-8").splitlines())
    return [Query(line["kind"], line["query"], frozenset(line["relevant"]), frozenset(line["exclude"])) for line in lines]


def make(vault: Vault, seed: int, most: int) -> list[Query]:
    """At most so many of each kind; the same ones for the same notes and seed."""
    notes = {path: vault.note(path) for path in vault.note_paths()}
    meant: dict[tuple[str, str], set[str]] = defaultdict(set)
    sources: dict[tuple[str, str], set[str]] = defaultdict(set)
    for path in notes:
        for kind, text, target in _asked(vault, notes, path):
            asked = kind, " ".join(text.split())
            meant[asked].add(target)
            sources[asked] |= {path} - {target}
    telling: dict[str, list[Query]] = {kind: [] for kind in LEAST_WORDS}
    for (kind, text), targets in meant.items():
        if len(targets) == 1 and not _tells_nothing(kind, text, notes[next(iter(targets))]):
            telling[kind].append(Query(kind, text, frozenset(targets), frozenset(sources[kind, text])))
    dice = random.Random(seed)
    return [query for some in telling.values() for query in dice.sample(some, min(most, len(some)))]


def _asked(vault: Vault, notes: Mapping[str, ParsedNote], path: str) -> Iterator[tuple[str, str, str]]:
    """Kind, text and the note meant, of all that a note may be asked for and all that it asks for by its links."""
    note = notes[path]
    found = sentences(note.body)
    yield from (("first_sentence", sentence, path) for sentence in found[:1])
    yield from (("heading", heading.text, path) for heading in note.markup.headings)
    links = vault.resolve_links(note.body, path)
    others = [link for link in links if link.status == "found" and link.target in notes and link.target != path and not link.embed]
    for link in others:
        if link.alias and link.target:
            yield "alias", link.alias, link.target
    for sentence in found:
        held = {link.raw for link in links if link.raw in sentence}
        for link in others:
            if held == {link.raw} and link.target:
                yield "context", sentence.replace(link.raw, " "), link.target


def _tells_nothing(kind: str, text: str, note: ParsedNote) -> bool:
    asked = set(words.terms(text))
    names = [set(words.terms(name)) for name in (note.title, *note.aliases)]
    if kind == "context":
        trivial = any(name and name <= asked for name in names)
    else:
        trivial = any(asked <= name for name in names)
    return trivial or len(set(words.content_terms(text)) - words.STOPWORDS) < LEAST_WORDS[kind]
