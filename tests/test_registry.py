"""Drawers: a new thing is a new file, found by its name and loaded only when asked for."""

import sys
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType

import pytest

from zkchat_cli import registry


@pytest.fixture
def workspace(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[ModuleType]:
    folder = tmp_path / "shelf_of_this_test"
    folder.mkdir()
    (folder / "__init__.py").write_text("")
    (folder / "pear.py").write_text('"""A green fruit.\n\nIt is sweet.\n"""\nFRUIT = "pear"\n')
    (folder / "apple.py").write_text('FRUIT = "apple"\n')
    (folder / "_core.py").write_text('raise RuntimeError("never loaded")\n')
    monkeypatch.syspath_prepend(str(tmp_path))
    import shelf_of_this_test  # type: ignore[import-not-found]

    yield shelf_of_this_test
    for name in [name for name in sys.modules if name.startswith("shelf_of_this_test")]:
        del sys.modules[name]


def test_names_are_those_of_the_files_sorted_without_hidden_ones(shelf: ModuleType) -> None:
    assert registry.names(shelf) == ["apple", "pear"]


def test_reading_the_names_loads_nothing(shelf: ModuleType) -> None:
    registry.names(shelf)
    registry.summary_line(shelf, "pear")
    assert f"{shelf.__name__}.pear" not in sys.modules


@pytest.mark.parametrize("name", ["plum", "_core", "", "pear.x", "../pear"])
def test_an_unknown_name_is_a_key_error(shelf: ModuleType, name: str) -> None:
    with pytest.raises(KeyError):
        registry.load(shelf, name, "FRUIT")


def test_a_thing_may_have_rooms_of_its_own(shelf: ModuleType) -> None:
    rooms = Path(shelf.__path__[0]) / "melon"
    rooms.mkdir()
    (rooms / "__init__.py").write_text('"""A large fruit."""\nfrom shelf_of_this_test.melon.stone import FRUIT\n')
    (rooms / "stone.py").write_text('FRUIT = "melon"\n')
    assert registry.names(shelf) == ["apple", "melon", "pear"]
    assert registry.summary_line(shelf, "melon") == "A large fruit."
    assert registry.load(shelf, "melon", "FRUIT") == "melon"
