"""Counts the tokens of a text."""

from typing import TypedDict

from zkchat_cli.tokens.encodings import ENCODINGS
from zkchat_cli.tools.served_tool import ServedVault, Text, declare_served_tool


class TokenCount(TypedDict):
    tokens: int
    encoding: str
    estimated: bool
    characters: int


def count_tokens(served: ServedVault, text: Text) -> TokenCount:
    """Count the tokens of a text."""
    return {
        "tokens": served.counter.count(text),
        "encoding": ENCODINGS[0],
        "estimated": served.counter.estimated,
        "characters": len(text),
    }


TOOL = declare_served_tool(count_tokens, order=100, reads_notes=False)
