"""`dot`: for Graphviz, such as `zkchat sessions graph --format dot | dot -Tsvg`.

In a quoted string of DOT only `\"` is an escape; labels know more, such as `\\N` for the name of
the node, and HTML entities. So backslashes are doubled, and `&` is written as an entity.
"""

from zkchat_cli.references.reference_graph import EdgeKind, GraphNode, NodeKind, ReferenceGraph
from zkchat_cli.views.graph_formats.base import (
    DrawnLine,
    clean_text,
    drawn_lines,
    node_place,
    node_text,
)

_SHAPES: dict[NodeKind, str] = {
    "conversation": 'shape=box, style="rounded,filled", fillcolor="#dbe7fb"',
    "question": 'shape=box, style="rounded,filled", fillcolor="#dbe7fb"',
    "note": "shape=note",
    "file": "shape=folder",
    "missing": "shape=note, style=dashed",
}
_STYLES: dict[EdgeKind, str] = {
    "cited": "style=bold",
    "named": "style=solid",
    "imported": "style=solid",
    "found": "style=dashed",
    "remembered": "style=dotted",
    "links": 'style=solid, color="#8a8f98"',
}


def draw(graph: ReferenceGraph) -> str:
    """The graph as a program in DOT."""
    lines = [
        f"digraph {_quoted(graph.title)} {{",
        "  rankdir=LR;",
        '  node [fontname="sans-serif"];',
        '  edge [fontname="sans-serif", fontsize=10];',
    ]
    lines += [_node(node) for node in graph.nodes]
    lines += [_edge(line) for line in drawn_lines(graph)]
    return "\n".join([*lines, "}\n"])


def _node(node: GraphNode) -> str:
    label = f"label={_quoted(node_text(node))}"
    tooltip = f"tooltip={_quoted(node_place(node))}"
    return f"  {node.id} [{_SHAPES[node.kind]}, {label}, {tooltip}];"


def _edge(line: DrawnLine) -> str:
    color = ', color="#b3261e"' if line.is_doubtful else ""
    label = f", label={_quoted(line.label)}" if line.label else ""
    return f"  {line.source} -> {line.target} [{_STYLES[line.kind]}{color}{label}];"


def _quoted(text: str) -> str:
    escaped = clean_text(text).replace("\\", "\\\\").replace('"', '\\"').replace("&", "&amp;")
    return f'"{escaped}"'


FORMAT = draw
