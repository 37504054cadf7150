"""The drawer of export formats: each file here declares `EXPORTER`, and a new format is one new file.

An exporter turns a ConversationArchive into text and does nothing else; where the text goes is the caller's business.
"""

import importlib
import pkgutil
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache

from zkchat_cli.errors import UsageError
from zkchat_cli.models import ConversationArchive


@dataclass(frozen=True, slots=True)
class Exporter:
    """A format by the `name` one types; `suffix` (`.md`) for files of it, `help` in a few words."""

    name: str
    suffix: str
    help: str
    export: Callable[[ConversationArchive], str]


def exporter(name: str) -> Exporter:
    """The format of that name. Raises UsageError that names the valid ones."""
    if name not in _drawer():
        raise UsageError(f"{name!r} is not an export format", f"Use one of: {', '.join(names())}")
    return _drawer()[name]


def names() -> tuple[str, ...]:
    return tuple(sorted(_drawer()))


@cache
def _drawer() -> dict[str, Exporter]:
    found = [importlib.import_module(f"{__name__}.{module.name}").EXPORTER for module in pkgutil.iter_modules(__path__)]
    return {each.name: each for each in found}
