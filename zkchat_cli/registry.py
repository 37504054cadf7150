"""Drawers: folders of interchangeable things, one file each, found by name and loaded only when asked for.

A drawer is a package whose every module declares one constant (`TOOL = …`, `PROVIDER = …`). Adding a thing is adding its file: there is
no list to edit. A thing of several rooms is a folder, whose `__init__.py` is that file. Names are read from the folder without importing
anything, so that `--help` stays fast.
"""

import ast
import importlib
import pkgutil
from pathlib import Path
from types import ModuleType
from typing import Any


def names(package: ModuleType) -> list[str]:
    """The names of a registry's entries, sorted. `base.py` holds what they share, and is none. Nothing is imported."""
    return sorted(found.name for found in pkgutil.iter_modules(package.__path__) if not found.name.startswith("_") and found.name != "base")


def load(package: ModuleType, name: str, constant: str) -> Any:
    """The `constant` that the drawer's file `name` declares. Raises KeyError when there is no such file."""
    if name not in names(package):
        raise KeyError(name)
    return _loaded(package, name, constant)


def load_all(package: ModuleType, constant: str) -> list[Any]:
    """All things of a drawer, loaded, sorted by file name."""
    return [_loaded(package, name, constant) for name in names(package)]


def _loaded(package: ModuleType, name: str, constant: str) -> Any:
    return getattr(importlib.import_module(f"{package.__name__}.{name}"), constant)


def summary_line(package: ModuleType, name: str) -> str:
    """The first line of a drawer file's docstring, read without importing the file."""
    for folder in map(Path, package.__path__):
        file = next((file for file in (folder / f"{name}.py", folder / name / "__init__.py") if file.is_file()), None)
        if file is not None:
            return (ast.get_docstring(ast.parse(file.read_bytes())) or "").partition("\n")[0].strip()
    return ""
