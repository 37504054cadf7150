"""What users read is short and plain: no string over 100 characters, and none of the words that
make a sentence hard to read.
"""

import ast
import io
import re
import tokenize
from collections.abc import Iterable, Iterator
from pathlib import Path

from conftest import Syntax

import zkchat_cli

PACKAGE = Path(zkchat_cli.__file__).parent

LONGEST = 100
HARD = re.compile(
    r"\b(?:which\b(?! \w+\?)|whose|stands|bears? on|goes on with|lest|as to|rests on|is "
    r"asked for)\b"
)
"""A question such as "which turn?" is plain."""
SHOWN_BY = {
    "print",
    "warn",
    "remark",
    "Notice",
    "Option",
    "Argument",
    "Field",
    "CommandResult",
    "styled_line",
    "Provider",
    "YesNoQuestion",
}
"""Functions whose text is shown, besides the errors."""
SHOWN_AS = {"hint", "problem", "question", "tip", "text"}
PASSIVE = re.compile(r"\b(?:is|are|was|were|be|been|being) \w+(?:ed|en|wn|ept|ent)\b")
MOST_PASSIVES = 2
"""In one string: more are a chain that nobody can follow."""


def shown_strings(nodes: Iterable[ast.AST]) -> Iterator[str]:
    for node in nodes:
        if isinstance(node, ast.Call):
            name = (
                node.func.attr
                if isinstance(node.func, ast.Attribute)
                else getattr(node.func, "id", "")
            )
            if name in SHOWN_BY or name.endswith("Error"):
                yield from filter(
                    None, map(text_of, [*node.args, *(keyword.value for keyword in node.keywords)])
                )
        elif isinstance(node, ast.Assign) and any(
            getattr(target, "id", "") in SHOWN_AS for target in node.targets
        ):
            yield from filter(None, [text_of(node.value)])


def text_of(node: ast.AST) -> str:
    if isinstance(node, ast.JoinedStr):
        return "".join(
            str(part.value) if isinstance(part, ast.Constant) else "…" for part in node.values
        )
    return node.value if isinstance(node, ast.Constant) and isinstance(node.value, str) else ""


def test_no_shown_string_is_long_or_hard_to_read(syntax: Syntax) -> None:
    found = {
        (file, text)
        for file, module in syntax.items()
        for text in shown_strings(module.nodes)
        if " " in text and not text.lstrip().startswith(("SELECT", "INSERT", "UPDATE", "DELETE"))
    }
    assert len(found) > 300
    hard = [
        each
        for each in found
        if HARD.search(each[1])
        or len(each[1]) > LONGEST
        or len(PASSIVE.findall(each[1])) > MOST_PASSIVES
    ]
    assert sorted(hard) == []


UNREADABLE = re.compile(
    r"\b(?:(?<!than )one may|what there is to|of which|whose|lest|bears? on|goes on with|rests? on"
    r"|is asked for|are asked for)\b",
    re.IGNORECASE,
)


def comments(text: str) -> Iterator[str]:
    """Each comment of several lines as one text."""
    block: list[str] = []
    last_row = 0
    for token in tokenize.generate_tokens(io.StringIO(text).readline):
        if token.type == tokenize.COMMENT:
            row = token.start[0]
            if row != last_row + 1:
                yield " ".join(block)
                block = []
            block.append(token.string.lstrip("# "))
            last_row = row
    yield " ".join(block)


def comments_and_docstrings(syntax: Syntax) -> Iterator[str]:
    for file, module in syntax.items():
        text = (PACKAGE / file).read_text(encoding="utf-8")
        # To find the tokens of a file takes longer than all else
        if "#" in text:
            yield from comments(text)
        for node in module.nodes:
            if isinstance(node, ast.Expr):
                yield " ".join(text_of(node.value).split())


def test_no_comment_or_docstring_is_hard_to_read(syntax: Syntax) -> None:
    texts = list(filter(None, comments_and_docstrings(syntax)))
    assert len(texts) > 3_000
    assert sorted(text for text in texts if UNREADABLE.search(text)) == []
