"""How the code reads: figures of lines, syntax, complexity and packing, printed as a table.

    python tests/bench/readability.py [NAME=]PATH…
        a column for each folder of Python files (default: zkchat_cli), such as another program's
    python tests/bench/readability.py --list PATH…
        the places behind the figures, to work on
    python tests/bench/readability.py --check FILE PATH
        fails if a function has a complexity over 15 and is none of the exceptions listed in FILE

Complexity is radon's, which also counts conditional expressions and comprehensions. A code line is
neither blank, nor a comment, nor part of a docstring; its characters include its indentation.
"""

import argparse
import ast
import io
import statistics
import sys
import tokenize
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

from radon.complexity import cc_visit

LONG_LINE = 100
COMPLEX = 10
TOO_COMPLEX = 15
MOST_EXCEPTIONS = 15
WORDS_OF_A_SENTENCE = 7
BARE_NUMBERS = 3

FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef)
COMPREHENSIONS = (ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp)
# What the grammar has and nobody writes as a word of its own
UNWRITTEN = (ast.expr_context, ast.operator, ast.cmpop, ast.boolop, ast.unaryop, ast.arguments)
WITH_DOCSTRING = (ast.Module, ast.ClassDef, *FUNCTIONS)


class Finding(NamedTuple):
    """A place that a reader stumbles over."""

    kind: str
    file: Path
    line: int
    text: str


class ComplexFunction(NamedTuple):
    """A function as radon measures it; methods are named `Class.method`."""

    file: Path
    line: int
    name: str
    complexity: int


class CodeFigures(NamedTuple):
    """What was measured of one folder."""

    lines: int
    files: int
    longest_file: int
    characters: list[int]
    nodes: int
    statements: int
    conditional_expressions: int
    comprehensions: int
    functions: int
    complex_functions: list[ComplexFunction]
    findings: list[Finding]

    def rows(self) -> dict[str, str]:
        """The table's rows: a name and its figures."""
        code_lines = len(self.characters)
        over_10 = len(self.complex_functions)
        over_15 = sum(found.complexity > TOO_COMPLEX for found in self.complex_functions)
        long_lines = sum(length > LONG_LINE for length in self.characters)
        p90 = statistics.quantiles(self.characters, n=10)[-1]
        thousand = self.statements / 1000
        counts = dict.fromkeys(FINDING_KINDS, 0)
        for finding in self.findings:
            counts[finding.kind] += 1
        return {
            "lines; files; longest file": f"{self.lines:,}; {self.files}; {self.longest_file}",
            "characters of a code line: mean / p90": (
                f"{statistics.mean(self.characters):.0f} / {p90:.0f}"
            ),
            f"code lines over {LONG_LINE}": f"{100 * long_lines / code_lines:.1f} %",
            "syntax nodes per code line": f"{self.nodes / code_lines:.1f}",
            f"functions with a complexity over {COMPLEX}": (
                f"{100 * over_10 / self.functions:.1f} % ({over_10} of {self.functions})"
            ),
            f"functions with a complexity over {TOO_COMPLEX}": str(over_15),
            "conditional expressions per 1,000 statements": (
                f"{self.conditional_expressions / thousand:.0f}"
            ),
            "comprehensions per 1,000 statements": f"{self.comprehensions / thousand:.0f}",
            **{kind: str(count) for kind, count in counts.items()},
        }


FINDING_KINDS = (
    "a, b = x, y",
    "conditional expression in another",
    "comprehension in another",
    "three bare numbers in a call",
    "sentence as a trailing comment",
    "file over 400 lines",
)


def measure(folder: Path) -> CodeFigures:
    """The figures of a file, or of all Python files below a folder."""
    characters: list[int] = []
    findings: list[Finding] = []
    complex_functions: list[ComplexFunction] = []
    lines = nodes = statements = conditionals = comprehensions = functions = longest = 0
    files = [folder] if folder.is_file() else sorted(folder.rglob("*.py"))
    for file in files:
        text = file.read_text(encoding="utf-8")
        tree = ast.parse(text)
        length = text.count("\n")
        lines += length
        longest = max(longest, length)
        characters += code_line_lengths(text, tree)
        for node in ast.walk(tree):
            nodes += not isinstance(node, UNWRITTEN)
            statements += isinstance(node, ast.stmt)
            conditionals += isinstance(node, ast.IfExp)
            comprehensions += isinstance(node, COMPREHENSIONS)
        for function in measure_complexity(file, text):
            functions += 1
            if function.complexity > COMPLEX:
                complex_functions.append(function)
        findings += find_packing(file, tree)
        findings += find_trailing_sentences(file, text)
        if length > 400:
            findings.append(Finding("file over 400 lines", file, 1, f"{length} lines"))
    return CodeFigures(
        lines=lines,
        files=len(files),
        longest_file=longest,
        characters=characters,
        nodes=nodes,
        statements=statements,
        conditional_expressions=conditionals,
        comprehensions=comprehensions,
        functions=functions,
        complex_functions=complex_functions,
        findings=findings,
    )


def code_line_lengths(text: str, tree: ast.Module) -> list[int]:
    """The characters of each line that is neither blank, a comment, nor part of a docstring."""
    in_docstrings: set[int] = set()
    for node in ast.walk(tree):
        for child in getattr(node, "body", None) or () if isinstance(node, WITH_DOCSTRING) else ():
            is_text = isinstance(child, ast.Expr) and isinstance(child.value, ast.Constant)
            if is_text and isinstance(child.value.value, str):
                in_docstrings.update(range(child.lineno, (child.end_lineno or 0) + 1))
    lengths = []
    for number, line in enumerate(text.splitlines(), 1):
        stripped = line.strip()
        if stripped and not stripped.startswith("#") and number not in in_docstrings:
            lengths.append(len(line))
    return lengths


def measure_complexity(file: Path, text: str) -> Iterator[ComplexFunction]:
    """Every function and method, nested ones included, each once."""
    seen: set[tuple[str, int]] = set()
    pending = [(block, "") for block in cc_visit(text)]
    while pending:
        block, prefix = pending.pop()
        class_name = getattr(block, "classname", None) or prefix
        name = f"{class_name}.{block.name}" if class_name else block.name
        inner = [*getattr(block, "methods", ()), *getattr(block, "closures", ())]
        is_class = hasattr(block, "methods")
        pending += [(each, block.name if is_class else "") for each in inner]
        if not is_class and (block.name, block.lineno) not in seen:
            seen.add((block.name, block.lineno))
            yield ComplexFunction(file, block.lineno, name, block.complexity)


def find_packing(file: Path, tree: ast.Module) -> Iterator[Finding]:
    """Expressions that say several things at once."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Assign) and assigns_unrelated_values(node):
            yield Finding("a, b = x, y", file, node.lineno, shorten(node))
        elif isinstance(node, ast.IfExp) and contains(node, (ast.IfExp,)):
            yield Finding("conditional expression in another", file, node.lineno, shorten(node))
        elif isinstance(node, COMPREHENSIONS) and contains(node, COMPREHENSIONS):
            kind = "comprehension in another"
            yield Finding(kind, file, node.lineno, shorten(node))
        elif isinstance(node, ast.Call) and sum(map(is_number, node.args)) >= BARE_NUMBERS:
            yield Finding("three bare numbers in a call", file, node.lineno, shorten(node))


def assigns_unrelated_values(node: ast.Assign) -> bool:
    """Whether it is `a, b = x, y`. An exchange, `a, b = b, a`, is one thought."""
    target = node.targets[0]
    if not (isinstance(target, ast.Tuple) and isinstance(node.value, ast.Tuple)):
        return False
    names = {ast.unparse(element) for element in target.elts}
    values = {ast.unparse(element) for element in node.value.elts}
    return names != values


def contains(node: ast.AST, kinds: tuple[type[ast.AST], ...]) -> bool:
    """Whether such a node is anywhere inside it."""
    return any(isinstance(inner, kinds) for inner in ast.walk(node) if inner is not node)


def is_number(node: ast.expr) -> bool:
    return isinstance(node, ast.Constant) and type(node.value) in (int, float)


def shorten(node: ast.AST) -> str:
    return " ".join(ast.unparse(node).split())[:90]


def find_trailing_sentences(file: Path, text: str) -> Iterator[Finding]:
    """Comments behind code that are long enough to be sentences. Directives do not count."""
    lines = text.splitlines()
    for token in tokenize.generate_tokens(io.StringIO(text).readline):
        if token.type != tokenize.COMMENT:
            continue
        row, column = token.start
        is_behind_code = bool(lines[row - 1][:column].strip())
        is_directive = token.string.startswith(("# noqa", "# type:", "# pragma", "# fmt:"))
        is_sentence = len(token.string.split()) > WORDS_OF_A_SENTENCE
        if is_behind_code and is_sentence and not is_directive:
            yield Finding("sentence as a trailing comment", file, row, token.string)


def print_table(columns: dict[str, CodeFigures]) -> None:
    tables = {name: figures.rows() for name, figures in columns.items()}
    labels = list(next(iter(tables.values())))
    label_width = max(map(len, labels))
    widths = {name: max(len(name), *map(len, table.values())) for name, table in tables.items()}
    print(" " * label_width, *(name.rjust(widths[name]) for name in tables), sep="  ")
    for label in labels:
        values = (table[label].rjust(widths[name]) for name, table in tables.items())
        print(label.ljust(label_width), *values, sep="  ")


def print_places(figures: CodeFigures) -> None:
    for function in sorted(figures.complex_functions, key=lambda found: -found.complexity):
        print(f"{function.file}:{function.line}: {function.name} has {function.complexity}")
    for finding in sorted(figures.findings):
        print(f"{finding.file}:{finding.line}: {finding.kind}: {finding.text}")


def check_complexity(figures: CodeFigures, exceptions: Path) -> list[str]:
    """What is wrong with the listed exceptions, which are lines of `FILE: NAME`."""
    lines = exceptions.read_text("utf-8").splitlines()
    listed = [line for line in lines if line.strip() and not line.startswith("#")]
    too_complex = [
        f"{function.file.as_posix()}: {function.name}"
        for function in figures.complex_functions
        if function.complexity > TOO_COMPLEX
    ]
    problems = [
        f"{name} has a complexity over {TOO_COMPLEX}" for name in too_complex if name not in listed
    ]
    problems += [
        f"{name} is simple by now: take it off the list"
        for name in listed
        if name not in too_complex
    ]
    if len(listed) > MOST_EXCEPTIONS:
        problems.append(f"{len(listed)} exceptions are listed; at most {MOST_EXCEPTIONS} may be")
    return problems


def main(arguments: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("folders", nargs="*", metavar="[NAME=]PATH", default=["zkchat_cli"])
    parser.add_argument("--list", action="store_true", help="the places behind the figures")
    parser.add_argument(
        "--check", type=Path, metavar="FILE", help="the functions that may be complex"
    )
    options = parser.parse_args(arguments)
    columns: dict[str, CodeFigures] = {}
    for folder in options.folders:
        name, _, path = folder.rpartition("=")
        columns[name or Path(path).name] = measure(Path(path))
    if options.check:
        every = [check_complexity(figures, options.check) for figures in columns.values()]
        problems = [problem for found in every for problem in found]
        sys.exit("\n".join(problems) or None)
    if options.list:
        for figures in columns.values():
            print_places(figures)
    print_table(columns)


if __name__ == "__main__":
    main()
