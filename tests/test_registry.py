"""Registries: a new thing is a new file, found by its name and loaded only when asked for."""

import sys
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType

import pytest

from zkchat_cli import registry


@pytest.fixture
def package(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[ModuleType]:
    folder = tmp_path / "registry_of_this_test"
    folder.mkdir()
    (folder / "__init__.py").write_text("")
    (folder / "pear.py").write_text('"""A green fruit.\n\nIt is sweet.\n"""\nFRUIT = "pear"\n')
    (folder / "apple.py").write_text('FRUIT = "apple"\n')
    (folder / "_core.py").write_text('raise RuntimeError("never loaded")\n')
    monkeypatch.syspath_prepend(str(tmp_path))
    import registry_of_this_test  # type: ignore[import-not-found]

    yield registry_of_this_test
    for name in [name for name in sys.modules if name.startswith("registry_of_this_test")]:
        del sys.modules[name]


def test_names_are_those_of_the_files_sorted_without_hidden_ones_and_reading_them_loads_nothing(package: ModuleType) -> None:
    assert registry.names(package) == ["apple", "pear"]
    registry.summary_line(package, "pear")
    assert f"{package.__name__}.pear" not in sys.modules


@pytest.mark.parametrize("name", ["plum", "_core", "", "pear.x", "../pear"])
def test_an_unknown_name_is_a_key_error(package: ModuleType, name: str) -> None:
    with pytest.raises(KeyError):
        registry.load(package, name, "FRUIT")


def test_a_thing_of_several_files_is_a_folder(package: ModuleType) -> None:
    folder = Path(package.__path__[0]) / "melon"
    folder.mkdir()
    (folder / "__init__.py").write_text('"""A large fruit."""\nfrom registry_of_this_test.melon.stone import FRUIT\n')
    (folder / "stone.py").write_text('FRUIT = "melon"\n')
    assert registry.names(package) == ["apple", "melon", "pear"]
    assert registry.summary_line(package, "melon") == "A large fruit."
    assert registry.load(package, "melon", "FRUIT") == "melon"
