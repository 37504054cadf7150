"""What the graph formats share: one line for each pair of nodes, and texts that cannot act."""

import re
from collections.abc import Callable, Iterator
from typing import NamedTuple

from zkchat_cli.references.reference_graph import EdgeKind, GraphEdge, GraphNode, ReferenceGraph
from zkchat_cli.text.numbers import plural
from zkchat_cli.text.sanitize import sanitize_name

GraphFormat = Callable[[ReferenceGraph], str]

# The strongest reason first: it decides how the line between two nodes looks
KINDS: tuple[EdgeKind, ...] = ("cited", "named", "imported", "found", "remembered", "links")
# Noncharacters, which neither XML nor HTML allows
_NOT_IN_MARKUP = re.compile("[\ufdd0-\ufdef\ufffe\uffff]")


class DrawnLine(NamedTuple):
    """All edges from one node to another as one line. `kind` is its strongest reason; `label` is
    empty for a single link between notes.
    """

    source: str
    target: str
    kind: EdgeKind
    label: str
    is_doubtful: bool


def drawn_lines(graph: ReferenceGraph) -> Iterator[DrawnLine]:
    """The lines between nodes, those between conversations and notes first."""
    by_nodes: dict[tuple[str, str], list[GraphEdge]] = {}
    for edge in graph.edges:
        by_nodes.setdefault((edge.source, edge.target), []).append(edge)
    for (source, target), edges in by_nodes.items():
        edges.sort(key=lambda edge: KINDS.index(edge.kind))
        label = ", ".join(filter(None, map(_describe_edge, edges)))
        is_doubtful = any(edge.doubtful for edge in edges)
        yield DrawnLine(source, target, edges[0].kind, label, is_doubtful)


def _describe_edge(edge: GraphEdge) -> str:
    """`cited 3×, 1 doubtful`, `named`, or `2 links`."""
    if edge.kind == "links":
        return plural(edge.weight, "link") if edge.weight > 1 else ""
    times = f" {edge.weight}×" if edge.weight > 1 else ""
    doubtful = f" ({edge.doubtful} doubtful)" if edge.doubtful else ""
    return f"{edge.kind}{times}{doubtful}"


def node_text(node: GraphNode) -> str:
    """The label of a node on one line, without control characters; a missing one says so."""
    suffix = " (missing)" if node.kind == "missing" else ""
    return clean_text(node.label) + suffix


def node_place(node: GraphNode) -> str:
    """Where to find what the node shows: the path of a note, the id of a conversation."""
    return clean_text(node.relative_path or node.conversation_id or node.label)


def clean_text(text: str) -> str:
    """The text on one line with control characters made visible, and without characters that
    markup does not allow.
    """
    return _NOT_IN_MARKUP.sub("\ufffd", sanitize_name(text))


def describe_omissions(graph: ReferenceGraph) -> str:
    """What the limits left out, as a sentence; empty if nothing."""
    omitted = graph.omitted
    if not omitted.notes:
        return ""
    return f"{plural(omitted.notes, 'more note')} left out"
