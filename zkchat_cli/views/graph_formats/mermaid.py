"""`mermaid`: for Markdown that GitHub, GitLab or Obsidian shows.

Each character of a label that could mean something in Mermaid, Markdown or HTML is written as an
entity of Mermaid (`#35;` for `#`). Mermaid refuses more than 500 lines between nodes, and more than
50,000 characters: a page cannot raise these limits. So the last lines are left out, which are links
between notes, with a comment that says how many.
"""

import re

from zkchat_cli.references.reference_graph import EdgeKind, GraphNode, NodeKind, ReferenceGraph
from zkchat_cli.text.numbers import plural
from zkchat_cli.views.graph_formats.base import DrawnLine, clean_text, drawn_lines, node_text

MAX_LINES = 500
MAX_CHARACTERS = 50_000
# Room for the comment at the end
_LONGEST_COMMENT = 100
_SPECIAL = re.compile(r"[^\w .,?!()'+/\u0080-\U0010ffff-]|_", re.ASCII)
_SHAPES: dict[NodeKind, tuple[str, str]] = {
    "conversation": ("([", "])"),
    "question": ("([", "])"),
    "note": ("[", "]"),
    "file": ("[[", "]]"),
    "missing": ("{{", "}}"),
}
_ARROWS: dict[EdgeKind, str] = {
    "cited": "==>",
    "named": "-->",
    "imported": "-->",
    "found": "-.->",
    "remembered": "-.->",
    "links": "-->",
}


def draw(graph: ReferenceGraph) -> str:
    """The graph as a flowchart in Mermaid."""
    lines = ["flowchart LR"]
    length = len(lines[0]) + _LONGEST_COMMENT
    drawn: set[str] = set()
    for node in graph.nodes:
        text = _node(node)
        length += len(text) + 1
        if length <= MAX_CHARACTERS:
            lines.append(text)
            drawn.add(node.id)
    omitted = len(graph.nodes) - len(drawn)
    edges = 0
    for line in drawn_lines(graph):
        text = _edge(line)
        length += len(text) + 1
        has_room = edges < MAX_LINES and length <= MAX_CHARACTERS
        if has_room and {line.source, line.target} <= drawn:
            lines.append(text)
            edges += 1
        else:
            omitted += 1
    if omitted:
        lines.append(f"  %% {plural(omitted, 'node')} and lines left out: Mermaid takes no more")
    return "\n".join([*lines, ""])


def _node(node: GraphNode) -> str:
    opening, closing = _SHAPES[node.kind]
    return f'  {node.id}{opening}"{_escaped(node_text(node))}"{closing}'


def _edge(line: DrawnLine) -> str:
    doubtful = "✗ " if line.is_doubtful else ""
    label = f'|"{_escaped(doubtful + line.label)}"|' if line.label else ""
    return f"  {line.source} {_ARROWS[line.kind]}{label} {line.target}"


def _escaped(text: str) -> str:
    return _SPECIAL.sub(lambda found: f"#{ord(found[0])};", clean_text(text)) or " "


FORMAT = draw
