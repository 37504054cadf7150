"""The registry of graph formats: each module declares `FORMAT`, a function that draws a
`ReferenceGraph` as text.
"""

from zkchat_cli.errors import UsageError
from zkchat_cli.registry import Registry
from zkchat_cli.views.graph_formats.base import GraphFormat

FORMATS: Registry[GraphFormat] = Registry(__name__, "FORMAT")
names = FORMATS.names


def graph_format(name: str) -> GraphFormat:
    """The format with this name. Raises UsageError, which names the valid ones."""
    if name not in names():
        raise UsageError(f"{name!r} is not a graph format", f"Use one of: {', '.join(names())}")
    return FORMATS.load(name)
