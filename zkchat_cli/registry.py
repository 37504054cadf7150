"""Registry packages: folders of interchangeable entries. Each entry is a file or a folder that
declares one constant, such as `PROVIDER`.

Names are read from the folder without importing anything, so that `--help` stays fast.
"""

import importlib
import importlib.util
import keyword
import pkgutil
import re
from pathlib import Path
from typing import Generic, NamedTuple, TypeVar

T = TypeVar("T")
# The position of an entry is found by a pattern, because parsing the files took a sixth of the time
# of `zkchat --help`
_ORDER = re.compile(r"^ORDER = (\d+)$", re.MULTILINE)


class EntrySummary(NamedTuple):
    """An entry as a list shows it: the first line of its file, which begins with the docstring, and
    its position.
    """

    name: str
    line: str
    order: int


class Registry(Generic[T]):
    """The entries of a package. Each declares `constant`, and `base.py` has what they share."""

    def __init__(self, package: str, constant: str) -> None:
        self._package = package
        self._constant = constant

    def names(self) -> list[str]:
        """The names of the entries, sorted, without importing them. A name that Python reserves has
        a file that ends with `_`.
        """
        package = importlib.import_module(self._package)
        names = [module.name for module in pkgutil.iter_modules(package.__path__)]
        public = [name for name in names if not name.startswith("_") and name != "base"]
        return sorted(name.removesuffix("_") for name in public)

    def load(self, name: str) -> T:
        """The constant of an entry. Raises KeyError for an unknown name."""
        if name not in self.names():
            raise KeyError(name)
        return self._import(name)

    def load_all(self) -> list[T]:
        """The constants of all entries, sorted by their names."""
        return [self._import(name) for name in self.names()]

    def summaries(self) -> list[EntrySummary]:
        """The entries as a list shows them, sorted by their `ORDER` and then by name. They are read
        without importing the files.
        """
        found = [self._read_summary(name) for name in self.names()]
        return sorted(found, key=lambda entry: entry.order)

    def summary_line(self, name: str) -> str:
        """The first line of an entry's docstring, read without importing the file."""
        return self._read_summary(name).line

    def _module(self, name: str) -> str:
        suffix = "_" if keyword.iskeyword(name) else ""
        return f"{self._package}.{name}{suffix}"

    def _import(self, name: str) -> T:
        found: T = getattr(importlib.import_module(self._module(name)), self._constant)
        return found

    def _read_summary(self, name: str) -> EntrySummary:
        spec = importlib.util.find_spec(self._module(name))
        assert spec is not None and spec.origin is not None
        text = Path(spec.origin).read_text(encoding="utf-8")
        first_line, _, _ = text.partition("\n")
        declared = _ORDER.search(text)
        order = int(declared[1]) if declared else 0
        line = first_line.removeprefix('"""').removesuffix('"""')
        return EntrySummary(name, line, order)
