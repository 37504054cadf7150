"""Promises about the text of the package: short files, and docstrings where others look first."""

import ast
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import zkchat_cli

PACKAGE = Path(zkchat_cli.__file__).parent
MOST_LINES = 400
# Packages in which state has one owner: others change it by its verbs
WITH_OWNED_STATE = ("zkchat_cli.chat", "zkchat_cli.memory", "zkchat_cli.slash")
Definition = ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef


class ImportedName(NamedTuple):
    """A name that one module gets from another: `from MODULE import NAME`."""

    module: str
    name: str


def module_name(file: Path) -> str:
    dotted = ".".join(file.relative_to(PACKAGE.parent).with_suffix("").parts)
    return dotted.removesuffix(".__init__")


def package_of(module: str) -> str:
    """The package of the architecture that a module belongs to: `zkchat_cli.store`."""
    return ".".join(module.split(".")[:2])


TREES = {module_name(file): ast.parse(file.read_text("utf-8")) for file in PACKAGE.rglob("*.py")}


def imports_of_other_packages(module: str) -> Iterator[ImportedName]:
    for node in ast.walk(TREES[module]):
        if not (isinstance(node, ast.ImportFrom) and node.module in TREES):
            continue
        if package_of(node.module) != package_of(module):
            yield from (ImportedName(node.module, alias.name) for alias in node.names)


def find_faces() -> dict[str, set[str]]:
    """What each module offers to other packages: the names that they import from it."""
    faces: dict[str, set[str]] = defaultdict(set)
    for module in TREES:
        for imported in imports_of_other_packages(module):
            faces[imported.module].add(imported.name)
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


def find_foreign_assignments(tree: ast.Module) -> Iterator[str]:
    """The attributes of other objects, and the items of these, that a module assigns or deletes."""
    for node in ast.walk(tree):
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


def test_what_other_packages_import_has_a_docstring() -> None:
    undocumented: list[str] = []
    for module, names in find_faces().items():
        if ".sqlite." in module or ".postgres." in module:
            # What the methods do is said once, in the ports.
            continue
        for node in TREES[module].body:
            if isinstance(node, Definition) and node.name in names:
                undocumented += find_undocumented(node, module)
    assert sorted(undocumented) == []


def test_engine_memory_and_commands_assign_no_attribute_of_another_object() -> None:
    assigned: dict[str, list[str]] = {}
    for module, tree in TREES.items():
        if package_of(module) in WITH_OWNED_STATE:
            assigned[module] = list(find_foreign_assignments(tree))
    assert {module: targets for module, targets in assigned.items() if targets} == {}
