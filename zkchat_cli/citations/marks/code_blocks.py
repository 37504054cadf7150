"""The code in an answer, for taking it elsewhere: each fenced block without its fences and the indentation they stand in."""

import re

_FENCE = re.compile(r"([ \t>]*+(?:(?:[-*+]|\d{1,9}[.)])[ \t]++)?+)(`{3,}(?=[^`]*$)|~{3,})")
_MARGIN = re.compile(r"[ \t>]*+")


def code_blocks(text: str) -> list[str]:
    """The blocks in their order; one that nothing closes runs to the end of the text."""
    blocks: list[str] = []
    inside: list[str] | None = None
    mark, margin = "", 0
    for line in text.split("\n"):
        found = _FENCE.match(line)
        if inside is None:
            if found:
                inside, mark, margin = [], found[2], len(found[1])
        elif found and found[2].startswith(mark) and not line[found.end() :].strip():
            blocks.append("\n".join(inside))
            inside = None
        else:
            indent = _MARGIN.match(line)
            inside.append(line[min(margin, indent.end() if indent else 0) :])
    if inside is not None:
        blocks.append("\n".join(inside).rstrip("\n"))
    return blocks
