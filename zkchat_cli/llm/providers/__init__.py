"""Registry: one provider per file, each declaring `PROVIDER`."""

import sys

from zkchat_cli import registry
from zkchat_cli.llm.base import Provider


def names() -> list[str]:
    return registry.names(sys.modules[__name__])


def suggested_names() -> list[str]:
    """The providers that errors and completion name: all but the one for tests and demonstrations."""
    return [name for name in names() if name != "scripted"]


def provider(name: str) -> Provider:
    """Raises KeyError for an unknown name."""
    found: Provider = registry.load(sys.modules[__name__], name, "PROVIDER")
    return found
