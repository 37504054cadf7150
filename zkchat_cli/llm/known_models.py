"""What zkchat knows about models that their servers do not say: the lines of known_models.toml.

An exact name counts before a family. Of an unknown member of a family the smallest figures of its
known members are assumed, so that no prompt is too large for it, and no parameter is left out that
one of them takes. What it costs is unknown.
"""

import re
import tomllib
from collections.abc import Callable, Iterable, Mapping, Sequence
from datetime import date
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

from zkchat_cli.fileio import read_file
from zkchat_cli.llm.base import Window
from zkchat_cli.models.money import Price

TABLE = Path(__file__).with_name("known_models.toml")
MAX_BYTES = 1_000_000
# A snapshot of a model has its date at the end of its name
_SNAPSHOT = re.compile(r"-(\d{4}-\d\d-\d\d|\d{8}|latest)$")
# The beginning of the source of a window that is not certain
GUESS = "a guess"
TABLE_SOURCE = "zkchat's table of models"
MIN_WINDOW_OF_CLAUDE = "the minimum of all Claude models; the server does not say"
MAX_WINDOW = 1_048_576
"""Tokens of a reported window that are used unless the user sets more: a larger figure is more
often a mistake than a window.
"""
# What follows the name of a family in the name of a member
_BOUNDARY = re.compile(r"[-.:@]|$")
# Days after which the table is old: half a year
OLD_DAYS = 183


class KnownModel(NamedTuple):
    """A line of the table; None is unknown. `guessed_from` is the family of a name that is not in
    the table.
    """

    name: str
    window: int | None = None
    largest_prompt: int | None = None
    output: int | None = None
    input: tuple[str, ...] | None = None
    api: tuple[str, ...] | None = None
    refuses: frozenset[str] = frozenset()
    encoding: str | None = None
    price: Price | None = None
    source: str = ""
    day: date | None = None
    guessed_from: str = ""

    @property
    def takes_images(self) -> bool | None:
        """Whether it takes pictures."""
        return None if self.input is None else "image" in self.input

    def find_window(self) -> Window | None:
        """Its window, with where the figure comes from."""
        if self.window is None:
            return None
        source = f"{TABLE_SOURCE}, {self.day}"
        if self.guessed_from:
            source = f"{GUESS}: the smallest {self.guessed_from} model in zkchat's table"
        return Window(self.window, source, self.largest_prompt)

    def nearest_effort(self, effort: str, efforts: Sequence[str]) -> str:
        """The effort that it takes and that is nearest to this one, the higher of two."""
        position = efforts.index(effort)
        others = sorted(
            efforts, key=lambda e: (abs(efforts.index(e) - position), e in efforts[:position])
        )
        return next((each for each in others if f"effort {each}" not in self.refuses), effort)


class KnownModels(NamedTuple):
    """The whole table: the day on which it was checked, and its lines by provider."""

    checked: date
    models: Mapping[str, Mapping[str, KnownModel]]
    families: Mapping[str, tuple[str, ...]]
    # What models refuse, by the beginnings of their names
    beginnings: tuple[tuple[str, frozenset[str]], ...]

    def find(self, provider: str, name: str) -> KnownModel | None:
        """The line of a model, or what its family has in common."""
        known = self.models.get(provider, {})
        exact = self.find_exact(provider, name)
        if exact is not None:
            return exact
        plain = _plain_name(name)
        for family in sorted(self.families.get(provider, ()), key=len, reverse=True):
            if is_member(plain, family):
                members = [model for each, model in known.items() if is_member(each, family)]
                return _smallest(plain, family, members)
        return None

    def find_exact(self, provider: str, name: str) -> KnownModel | None:
        """The line of a model, by its name with or without the date of a snapshot."""
        known = self.models.get(provider, {})
        plain = _plain_name(name)
        return known.get(plain) or known.get(_SNAPSHOT.sub("", plain))

    def refuses(self, name: str, what: str) -> bool:
        """Whether a model is known by the beginning of its name to refuse something."""
        plain = _plain_name(name)
        return any(
            what in refused and plain.startswith(begin) for begin, refused in self.beginnings
        )

    def is_old(self, today: date) -> bool:
        """Whether the table was checked more than half a year ago."""
        return (today - self.checked).days > OLD_DAYS


@cache
def known_models() -> KnownModels:
    """The table that is shipped with zkchat. It is read when it is first needed."""
    table = tomllib.loads(read_file(TABLE, MAX_BYTES).decode())
    families = {provider: tuple(names) for provider, names in table["families"].items()}
    models: dict[str, dict[str, KnownModel]] = {}
    for provider in families:
        models[provider] = {row["name"]: _read_row(row) for row in table[provider]}
    beginnings: list[tuple[str, frozenset[str]]] = []
    for row in table["beginnings"]:
        beginnings += [(name, frozenset(row["refuses"])) for name in row["names"]]
    return KnownModels(table["checked"], models, families, tuple(beginnings))


def model_names(provider: str) -> Callable[[], tuple[str, ...]]:
    """A function that returns the names of a provider's models in the table."""
    return lambda: tuple(known_models().models[provider])


def _read_row(row: Mapping[str, Any]) -> KnownModel:
    return KnownModel(
        row["name"],
        window=row.get("window"),
        largest_prompt=row.get("largest_prompt"),
        output=row.get("output"),
        input=_texts(row.get("input")),
        api=_texts(row.get("api")),
        refuses=frozenset(row.get("refuses", ())),
        encoding=row.get("encoding"),
        price=_read_price(row),
        source=row["source"],
        day=row["date"],
    )


def _texts(values: Iterable[str] | None) -> tuple[str, ...] | None:
    return None if values is None else tuple(values)


def _read_price(row: Mapping[str, Any]) -> Price | None:
    if "price" not in row:
        return None
    long_price = dict(row.get("long_price", {}))
    over = long_price.pop("over", None)
    long = Price(**long_price) if over else None
    return Price(**row["price"], long_prompt=over, long_price=long)


def _plain_name(name: str) -> str:
    """The name without folders, in which servers and llama.cpp put models, in small letters."""
    return name.replace("\\", "/").rpartition("/")[2].lower()


def is_member(name: str, family: str) -> bool:
    """Whether a model's name is the family's, or goes on after it with another word or number."""
    return name.startswith(family) and _BOUNDARY.match(name, len(family)) is not None


def _smallest(name: str, family: str, members: Sequence[KnownModel]) -> KnownModel | None:
    """What the members of a family have in common, and the smallest of their figures."""
    if not members:
        return None
    inputs = [set(model.input) for model in members if model.input is not None]
    apis = [set(model.api) for model in members if model.api is not None]
    encodings = {model.encoding for model in members}
    return KnownModel(
        name,
        window=_least(model.window for model in members),
        largest_prompt=_least(model.largest_prompt for model in members),
        output=_least(model.output for model in members),
        input=tuple(sorted(set.intersection(*inputs))) if inputs else None,
        api=tuple(sorted(set.intersection(*apis))) if apis else None,
        refuses=frozenset.intersection(*(model.refuses for model in members)),
        encoding=encodings.pop() if len(encodings) == 1 else None,
        guessed_from=family,
    )


def _least(figures: Iterable[int | None]) -> int | None:
    return min((figure for figure in figures if figure is not None), default=None)


def usable_window(found: Window | None) -> Window | None:
    """A window that a server reports, at most `MAX_WINDOW`, or one of zkchat's table."""
    is_known = found is not None and found.source.startswith((TABLE_SOURCE, GUESS))
    if found is None or is_known or found.tokens <= MAX_WINDOW:
        return found
    source = f"{found.source} has {found.tokens:,}; set context.max_tokens for more"
    return Window(MAX_WINDOW, source)
