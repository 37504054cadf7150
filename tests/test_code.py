"""Promises about the text of the package: short files, and docstrings where others look first."""

import ast
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path, PurePath

import pytest
from conftest import ModuleSyntax, Syntax

import zkchat_cli

PACKAGE = Path(zkchat_cli.__file__).parent
MOST_LINES = 400
# Packages in which state has one owner: others change it by its verbs
WITH_OWNED_STATE = ("zkchat_cli.chat", "zkchat_cli.memory", "zkchat_cli.slash")
Definition = ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef


def module_name(file: str) -> str:
    """The name of a module by its path in the package."""
    dotted = ".".join((PACKAGE.name, *PurePath(file).with_suffix("").parts))
    return dotted.removesuffix(".__init__")


def package_of(module: str) -> str:
    """The package of the architecture that a module belongs to: `zkchat_cli.store`."""
    return ".".join(module.split(".")[:2])


@pytest.fixture
def modules(syntax: Syntax) -> dict[str, ModuleSyntax]:
    """The modules of the package by their names."""
    return {module_name(file): module for file, module in syntax.items()}


def find_faces(modules: dict[str, ModuleSyntax]) -> dict[str, set[str]]:
    """What each module offers to other packages: the names that they import from it."""
    faces: dict[str, set[str]] = defaultdict(set)
    for importer, module in modules.items():
        for node in module.nodes:
            if not isinstance(node, ast.ImportFrom) or node.module not in modules:
                continue
            if package_of(node.module) != package_of(importer):
                faces[node.module].update(alias.name for alias in node.names)
    return faces


def find_undocumented(definition: Definition, module: str) -> Iterator[str]:
    """The definition and, of a class, its public methods, as far as they have no docstring.

    Decorated methods, most of which are properties, say what they are by their names.
    """
    if ast.get_docstring(definition) is None:
        yield f"{module}.{definition.name}"
    if not isinstance(definition, ast.ClassDef):
        return
    for member in definition.body:
        if not isinstance(member, ast.FunctionDef) or member.name.startswith("_"):
            continue
        if not member.decorator_list and ast.get_docstring(member) is None:
            yield f"{module}.{definition.name}.{member.name}"


def find_foreign_assignments(module: ModuleSyntax) -> Iterator[str]:
    """The attributes of other objects, and the items of these, that a module assigns or deletes."""
    for node in module.nodes:
        if not isinstance(node, ast.Attribute | ast.Subscript) or isinstance(node.ctx, ast.Load):
            continue
        target: ast.expr = node
        while isinstance(target, ast.Subscript):
            target = target.value
        if isinstance(target, ast.Attribute) and ast.unparse(target.value) != "self":
            yield ast.unparse(node)


def test_no_file_is_longer_than_400_lines() -> None:
    lengths = {file: file.read_text("utf-8").count("\n") for file in PACKAGE.rglob("*.py")}
    assert {str(file): length for file, length in lengths.items() if length > MOST_LINES} == {}


def test_what_other_packages_import_has_a_docstring(
    modules: dict[str, ModuleSyntax],
) -> None:
    undocumented: list[str] = []
    for module, names in find_faces(modules).items():
        if ".sqlite." in module or ".postgres." in module:
            # What the methods do is said once, in the ports.
            continue
        for node in modules[module].tree.body:
            if isinstance(node, Definition) and node.name in names:
                undocumented += find_undocumented(node, module)
    assert sorted(undocumented) == []


def test_engine_memory_and_commands_assign_no_attribute_of_another_object(
    modules: dict[str, ModuleSyntax],
) -> None:
    assigned: dict[str, list[str]] = {}
    for name, module in modules.items():
        if package_of(name) in WITH_OWNED_STATE:
            assigned[name] = list(find_foreign_assignments(module))
    assert {module: targets for module, targets in assigned.items() if targets} == {}
