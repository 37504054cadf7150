"""Registry packages: folders of interchangeable things, a file or a folder each, which declares one
constant, such as `PROVIDER`.

Names are read from the folder without importing anything, so that `--help` stays fast.
"""

import ast
import importlib
import importlib.util
import pkgutil
from pathlib import Path
from typing import Generic, TypeVar

T = TypeVar("T")


class Registry(Generic[T]):
    """The entries of a package, each of which declares `constant`. `base.py` has what they
    share.
    """

    def __init__(self, package: str, constant: str) -> None:
        self._package = package
        self._constant = constant

    def names(self) -> list[str]:
        """The names of the entries, sorted, without importing them."""
        found = (
            module.name
            for module in pkgutil.iter_modules(importlib.import_module(self._package).__path__)
        )
        return sorted(name for name in found if not name.startswith("_") and name != "base")

    def load(self, name: str) -> T:
        """The constant of an entry. Raises KeyError for an unknown name."""
        if name not in self.names():
            raise KeyError(name)
        return self._import(name)

    def load_all(self) -> list[T]:
        """The constants of all entries, sorted by the names of their files."""
        return [self._import(name) for name in self.names()]

    def _import(self, name: str) -> T:
        found: T = getattr(importlib.import_module(f"{self._package}.{name}"), self._constant)
        return found

    def summary_line(self, name: str) -> str:
        """The first line of an entry's docstring, read without importing the file."""
        spec = importlib.util.find_spec(f"{self._package}.{name}")
        assert spec is not None and spec.origin is not None
        return (ast.get_docstring(ast.parse(Path(spec.origin).read_bytes())) or "").partition("\n")[
            0
        ]
