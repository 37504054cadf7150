"""Drawer: one provider per file, each declaring `PROVIDER`."""

import sys

from zkchat_cli import drawer
from zkchat_cli.llm import Provider


def names() -> list[str]:
    return drawer.names(sys.modules[__name__])


def provider(name: str) -> Provider:
    """The provider of that name. Raises KeyError when there is none."""
    found: Provider = drawer.take(sys.modules[__name__], name, "PROVIDER")
    return found


def label(name: str) -> str:
    """What a provider is, in a line, without loading it."""
    return drawer.label(sys.modules[__name__], name)
