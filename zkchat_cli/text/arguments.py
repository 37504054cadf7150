"""A tool call's arguments as people read them."""

from collections.abc import Mapping
from typing import Any


def format_arguments(arguments: Mapping[str, Any]) -> str:
    """A call's arguments in short: texts in quotation marks, others as name=value."""
    return " ".join(f'"{value}"' if isinstance(value, str) else f"{key}={value}" for key, value in arguments.items())
