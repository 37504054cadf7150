"""Registry packages: folders of interchangeable things, a file or a folder each, which declares one constant (`TOOL = …`, `PROVIDER = …`).

Names are read from the folder without importing anything, so that `--help` stays fast.
"""

import ast
import importlib
import importlib.util
import pkgutil
from pathlib import Path
from types import ModuleType
from typing import Any


def names(package: ModuleType) -> list[str]:
    """The names of a registry's entries, sorted, without importing them. `base.py` has what they share."""
    return sorted(found.name for found in pkgutil.iter_modules(package.__path__) if _is_entry(found.name))


def load(package: ModuleType, name: str, constant: str) -> Any:
    """The `constant` of the entry `name`. Raises KeyError when there is no such file."""
    if not _is_entry(name) or importlib.util.find_spec(f"{package.__name__}.{name}") is None:
        raise KeyError(name)
    return getattr(importlib.import_module(f"{package.__name__}.{name}"), constant)


def _is_entry(name: str) -> bool:
    return name.isidentifier() and not name.startswith("_") and name != "base"


def summary_line(package: ModuleType, name: str) -> str:
    """The first line of an entry's docstring, read without importing the file."""
    spec = importlib.util.find_spec(f"{package.__name__}.{name}")
    assert spec is not None and spec.origin is not None
    return (ast.get_docstring(ast.parse(Path(spec.origin).read_bytes())) or "").partition("\n")[0]
