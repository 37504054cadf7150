"""What users read is short and plain: no string over 100 characters, and none of the words that
make a sentence hard to read.
"""

import ast
import re
from collections.abc import Iterable, Iterator

from conftest import syntax_nodes

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


def test_no_shown_string_is_long_or_hard_to_read() -> None:
    found = {
        (file, text)
        for file, nodes in syntax_nodes().items()
        for text in shown_strings(nodes)
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
