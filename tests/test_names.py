"""Names in the package: one class per name, modules that are nouns, and a glossary whose terms are
in the code.
"""

import ast
from collections import defaultdict
from pathlib import Path, PurePath

from conftest import Syntax

ROOT = Path(__file__).parent.parent

MODULES_IN_ING = {
    "byte_preserving": "an adjective: text whose untouched bytes stay",
    "chunking": "the field's term for cutting documents into chunks",
    "library_logging": "logging is the standard library's noun",
    "onboarding": "the field's noun for a first start",
    "paste_folding": "folding is the editors' noun",
    "quote_ranking": "ranking is the field's noun",
    "ranking": "ranking is the field's noun",
    "sentence_scoring": "scoring is the summarizers' noun",
    "streaming_markdown": "an adjective: Markdown that arrives in pieces",
    "streaming_view": "an adjective",
}
"""Modules that may end in -ing, with the reason. Any other is a participle, which does not say what
the module holds.
"""


def module_names(syntax: Syntax) -> set[str]:
    return {PurePath(file).stem for file in syntax}


def test_no_class_name_is_defined_twice(syntax: Syntax) -> None:
    defined = defaultdict(list)
    for file, module in syntax.items():
        for node in module.nodes:
            if isinstance(node, ast.ClassDef):
                defined[node.name].append(file)
    assert {name: files for name, files in defined.items() if len(files) > 1} == {}


def test_modules_are_named_by_nouns(syntax: Syntax) -> None:
    participles = {name for name in module_names(syntax) if name.endswith("ing")}
    assert participles - set(MODULES_IN_ING) == set()


def test_every_term_of_the_glossary_is_in_the_code(syntax: Syntax) -> None:
    table = (
        (ROOT / "CONTRIBUTING.md")
        .read_text(encoding="utf-8")
        .split("## Glossary", 1)[1]
        .split("| --- | --- | --- |\n", 1)[1]
    )
    terms = {
        row.split("|")[1].strip(): row.split("`")[1]
        for row in table.splitlines()
        if row.startswith("|")
    }
    assert 30 <= len(terms) <= 50
    names = module_names(syntax)
    for module in syntax.values():
        names |= {
            node.name for node in module.nodes if isinstance(node, ast.ClassDef | ast.FunctionDef)
        }
    assert {term: name for term, name in terms.items() if name not in names} == {}
