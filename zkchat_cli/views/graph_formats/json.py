"""`json`: the nodes and edges, for other programs."""

import json

from zkchat_cli.references.reference_graph import ReferenceGraph
from zkchat_cli.text.words import replace_surrogates


def draw(graph: ReferenceGraph) -> str:
    """The graph as one JSON document."""
    document = {
        "title": graph.title,
        "nodes": [node._asdict() for node in graph.nodes],
        "edges": [edge._asdict() for edge in graph.edges],
        "omitted": graph.omitted._asdict(),
    }
    return replace_surrogates(json.dumps(document, ensure_ascii=False, indent=2)) + "\n"


FORMAT = draw
