"""The column by which the rows of a table are in order: "my servers sorted by ram". Pure."""

from collections.abc import Callable, Sequence
from operator import itemgetter
from typing import NamedTuple, TypeVar

from zkchat_cli.llm.offline.request_slots import bare_text, compile_filled
from zkchat_cli.text.numbers import read_decimal
from zkchat_cli.text.patterns import lazy_pattern

Row = TypeVar("Row")
_COLUMN = r"(?P<column{n}>(?!(?:dates?|datum|fecha|data)\b)[^\W\d][\w-]*(?: [\w-]+)??)"
_SORTED = r"(?:sort(?:ed)?|order(?:ed)?|rank(?:ed)?|sortiert|geordnet|triee?s?|ordenad[oa]s?)"
_DOWN = (
    r"(?P<down>,? (?:descending|desc|highest first|largest first|absteigend|decroissant"
    r"|descendente|de mayor a menor))"
)
_ORDER = compile_filled(
    rf"[ ,]+(?:and )?(?:{_SORTED} (?:by|nach|par|por) (?:{{the}} )*{_COLUMN.replace('{n}', '')}"
    rf"|nach (?:{{the}} )*{_COLUMN.replace('{n}', '2')} (?:sortiert|geordnet)){_DOWN}?[ .!?]*$"
)
_HINT = lazy_pattern(r"sort|order|rank|trie|ordena|geord")


class TextWithOrder(NamedTuple):
    """A request without its order, and the column of that; "-ram" from the highest down."""

    text: str
    column: str


def take_column_order(text: str) -> TextWithOrder | None:
    """The column that a request for a table is sorted by; None without one."""
    bare = bare_text(text)
    found = _ORDER.search(bare) if _HINT.search(bare) else None
    if found is None:
        return None
    name = "column" if found["column"] else "column2"
    sign = "-" if found["down"] else ""
    return TextWithOrder(text[: found.start()], sign + text[found.start(name) : found.end(name)])


def sort_rows(rows: Sequence[Row], order: str, value_of: Callable[[Row], str]) -> list[Row]:
    """The rows by their values, numbers before texts, and those without a value last."""
    numbers: list[tuple[float, Row]] = []
    texts: list[tuple[str, Row]] = []
    empty: list[Row] = []
    for row in rows:
        value = value_of(row)
        number = read_decimal(value)
        if number is not None:
            numbers.append((number, row))
        elif value:
            texts.append((bare_text(value), row))
        else:
            empty.append(row)
    is_down = order.startswith("-")
    numbers.sort(key=itemgetter(0), reverse=is_down)
    texts.sort(key=itemgetter(0), reverse=is_down)
    return [*(row for _, row in numbers), *(row for _, row in texts), *empty]
