"""`html`: a page that shows the graph and loads nothing. It has no script: the picture is an SVG
with the nodes in columns by their distance, and below it each node is listed with its lines, for
readers who do not see the picture.

Jinja2 escapes every value, and a policy in the head forbids everything but the page's own style.
"""

import base64
import hashlib
from collections import defaultdict
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from markupsafe import Markup

from zkchat_cli.references.reference_graph import GraphNode, ReferenceGraph
from zkchat_cli.views.graph_formats.base import (
    KINDS,
    DrawnLine,
    clean_text,
    describe_omissions,
    drawn_lines,
    node_place,
    node_text,
)
from zkchat_cli.views.graph_formats.html.layout import (
    BOX_HEIGHT,
    BOX_WIDTH,
    Point,
    arrange_nodes,
    curve,
    picture_size,
)

if TYPE_CHECKING:
    from jinja2 import Template

_HERE = Path(__file__).parent
_STYLE = (_HERE / "style.css").read_text(encoding="utf-8")
# Space around the picture
_MARGIN = 12
# Width of a box in letters of average width; a CJK character takes two
_BOX_CELLS = 29


class _Box(NamedTuple):
    """A node as the template draws it."""

    node: GraphNode
    at: Point
    text: str
    label: str
    place: str
    lines: list["_ListedLine"]


class _ListedLine(NamedTuple):
    """A line of a node in words: `cited 2× → Compost`."""

    text: str
    arrow: str
    other: GraphNode
    other_label: str


class _Curve(NamedTuple):
    """A line as the template draws it."""

    line: DrawnLine
    path: str
    title: str


def draw(graph: ReferenceGraph) -> str:
    """The graph as a page."""
    lines = list(drawn_lines(graph))
    places = arrange_nodes(graph.nodes, [(line.source, line.target) for line in lines])
    nodes = {node.id: node for node in graph.nodes}
    labels = {node.id: node_text(node) for node in graph.nodes}
    listed = _listed_lines(lines, nodes, labels)
    boxes: list[_Box] = []
    for node in graph.nodes:
        label = labels[node.id]
        text = _fit(label)
        boxes.append(_Box(node, places[node.id], text, label, node_place(node), listed[node.id]))
    curves: list[_Curve] = []
    for line in lines:
        path = curve(places[line.source], places[line.target])
        curves.append(_Curve(line, path, _describe_line(line, labels)))
    shown_kinds = {line.kind for line in lines}
    style = _STYLE + _hover_rules(graph)
    return _template().render(
        title=clean_text(graph.title),
        style=Markup(style),
        style_digest=base64.b64encode(hashlib.sha256(style.encode()).digest()).decode(),
        boxes=boxes,
        curves=curves,
        kinds=[kind for kind in KINDS if kind in shown_kinds],
        omitted=describe_omissions(graph),
        margin=_MARGIN,
        has_doubtful=any(line.is_doubtful for line in lines),
        size=picture_size(places.values()),
        box_width=BOX_WIDTH,
        box_height=BOX_HEIGHT,
    )


def _describe_line(line: DrawnLine, labels: dict[str, str]) -> str:
    return f"{labels[line.source]} → {labels[line.target]}: {line.label or 'link'}"


def _listed_lines(
    lines: list[DrawnLine], nodes: dict[str, GraphNode], labels: dict[str, str]
) -> defaultdict[str, list[_ListedLine]]:
    """The lines of each node, by its id."""
    listed: defaultdict[str, list[_ListedLine]] = defaultdict(list)
    for line in lines:
        text = line.label or "link"
        there = _ListedLine(text, "→", nodes[line.target], labels[line.target])
        here = _ListedLine(text, "←", nodes[line.source], labels[line.source])
        listed[line.source].append(there)
        listed[line.target].append(here)
    return listed


def _fit(label: str) -> str:
    """The label, cut to the width of a box."""
    from unicodedata import east_asian_width

    cells = 0
    for position, character in enumerate(label):
        cells += 2 if east_asian_width(character) in "WF" else 1
        if cells > _BOX_CELLS:
            return label[: position - 1].rstrip() + "…"
    return label


def _hover_rules(graph: ReferenceGraph) -> str:
    """Rules of style: while the pointer is on a node, lines of other nodes are faint."""
    rules = []
    for node in graph.nodes:
        here = f"svg:has(#{node.id}:hover, #{node.id}:focus-visible)"
        rules.append(f"{here} .line:not(.{node.id}) {{ opacity: .08; }}")
    return "\n".join(rules)


def _template() -> "Template":
    # 60 ms, for this format only
    from jinja2 import Environment, FileSystemLoader, StrictUndefined

    environment = Environment(
        loader=FileSystemLoader(_HERE),
        autoescape=True,
        trim_blocks=True,
        lstrip_blocks=True,
        undefined=StrictUndefined,
    )
    return environment.get_template("graph.html.j2")


FORMAT = draw
