"""Drawer: one provider per file, each declaring `PROVIDER`."""

import sys

from zkchat_cli import registry
from zkchat_cli.llm.base import Provider


def names() -> list[str]:
    return registry.names(sys.modules[__name__])


def provider(name: str) -> Provider:
    """The provider of that name. Raises KeyError when there is none."""
    found: Provider = registry.load(sys.modules[__name__], name, "PROVIDER")
    return found


def label(name: str) -> str:
    """What a provider is, in a line, without loading it."""
    return registry.summary_line(sys.modules[__name__], name)
