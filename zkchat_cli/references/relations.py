"""What hangs together in a conversation: its questions, its answers and the notes they name, found and cite, as a graph to draw.

The graph is a value; drawing it, as DOT or Mermaid, is turning that into text. Whatever a note's name or a question holds, it stays text
there: what has a meaning in those languages is escaped, what is not printable becomes U+FFFD.
"""

from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import PurePosixPath
from typing import Any, Literal

from zkchat_cli.models import Citation, DocumentReference, ReferenceType, ZkChatMessage, exchanges
from zkchat_cli.text.truncate import truncate

NodeKind = Literal["question", "answer", "note", "broken"]
EdgeKind = Literal["answered", "named", "import", "link", "memory", "found", "cited"]
Standing = Literal["verified", "cited", "doubtful"]
"""All quotations of a note hold; nothing of it was quoted; some quotation does not hold."""

LONGEST_TEXT = 60
_KINDS: dict[ReferenceType, EdgeKind] = {"direct": "named", "import": "import", "link": "link", "memory": "memory", "search": "found"}
_JOINER = "\u200d"
"""Not printable, but what holds an emoji of several parts together."""


@dataclass(frozen=True, slots=True)
class Node:
    """A question or an answer of turn `turn` (from 1), its words shortened; or a note, its title; or a link that leads nowhere.

    `missing` are the numbers that an answer cites and that nothing in the prompt had.
    """

    id: str
    kind: NodeKind
    text: str
    turn: int | None = None
    relative_path: str | None = None
    missing: tuple[int, ...] = ()


@dataclass(frozen=True, slots=True)
class Edge:
    """`source` (a node's id) answered, named, found or cited `target`, in excerpts of these `numbers`; what is cited has a `status`."""

    source: str
    target: str
    kind: EdgeKind
    numbers: tuple[int, ...] = ()
    status: Standing | None = None


@dataclass(frozen=True, slots=True)
class Relations:
    """Nodes in the order in which they come up, edges in the order of turns."""

    nodes: tuple[Node, ...]
    edges: tuple[Edge, ...]


def relations(messages: Iterable[ZkChatMessage]) -> Relations:
    """The relations in a branch of a conversation: of every turn its question, its answer, and the notes that either used."""
    return _Drawing().of(messages)


@dataclass
class _Drawing:
    """A graph while it is drawn: notes by path (a broken link by its words), edges by their ends and kind."""

    nodes: dict[str, Node] = field(default_factory=dict)
    notes: dict[str, str] = field(default_factory=dict)
    edges: dict[tuple[str, str, EdgeKind], tuple[set[int], list[Citation]]] = field(default_factory=dict)
    titles: dict[str, str] = field(default_factory=dict)

    def of(self, messages: Iterable[ZkChatMessage]) -> Relations:
        for number, turn in enumerate(exchanges(messages), 1):
            self.titles |= {chunk.relative_path: chunk.title for message in turn for chunk in message.chunks}
            self._turn(number, turn)
        edges = (
            Edge(source, target, kind, tuple(sorted(numbers)), _standing(citations))
            for (source, target, kind), (numbers, citations) in self.edges.items()
        )
        return Relations(tuple(self.nodes.values()), tuple(edges))

    def _turn(self, number: int, turn: Sequence[ZkChatMessage]) -> None:
        asked = [message for message in turn if message.role == "user"]
        answered = [message for message in turn if message.role in ("assistant", "tool")]
        if asked:
            self._add(Node(f"q{number}", "question", truncate(asked[0].content, LONGEST_TEXT), number))
        if answered:
            said = [message.content for message in answered if message.role == "assistant" and message.content.strip()]
            citations = [citation for message in answered for citation in message.citations]
            missing = tuple(sorted({citation.number for citation in citations if citation.relative_path is None}))
            text = truncate(said[-1], LONGEST_TEXT) if said else "no answer"
            self._add(Node(f"a{number}", "answer", text, number, missing=missing))
        question = f"q{number}" if asked else f"a{number}"
        answer = f"a{number}" if answered else question
        if asked and answered:
            self._edge(question, answer, "answered")
        for message in (*asked, *answered):
            for reference in message.references:
                kind = _KINDS[reference.reference_type]
                self._edge(answer if kind in ("found", "memory") else question, self._note(reference), kind, reference.number)
        for message in answered:
            for chunk in message.chunks:
                self._edge(answer, self._note_at(chunk.relative_path), "found", chunk.number)
            for citation in message.citations:
                if citation.relative_path is not None:
                    self._edge(answer, self._note_at(citation.relative_path), "cited", citation.number, citation)

    def _add(self, node: Node) -> str:
        self.nodes[node.id] = node
        return node.id

    def _note(self, reference: DocumentReference) -> str:
        if reference.relative_path is not None:
            return self._note_at(reference.relative_path)
        return self._named(reference.wikilink, Node(f"n{len(self.notes) + 1}", "broken", truncate(reference.wikilink, LONGEST_TEXT)))

    def _note_at(self, path: str) -> str:
        title = truncate(self.titles.get(path) or PurePosixPath(path).stem, LONGEST_TEXT)
        return self._named(path, Node(f"n{len(self.notes) + 1}", "note", title, relative_path=path))

    def _named(self, name: str, node: Node) -> str:
        if name not in self.notes:
            self.notes[name] = self._add(node)
        return self.notes[name]

    def _edge(self, source: str, target: str, kind: EdgeKind, number: int | None = None, citation: Citation | None = None) -> None:
        numbers, citations = self.edges.setdefault((source, target, kind), (set(), []))
        numbers.update([] if number is None else [number])
        citations.extend([] if citation is None else [citation])


def _standing(citations: Sequence[Citation]) -> Standing | None:
    if not citations:
        return None
    standings = {citation.standing for citation in citations}
    if standings & {"misquoted", "missing"}:
        return "doubtful"
    return "verified" if "verified" in standings else "cited"


# Drawing


def as_document(graph: Relations) -> dict[str, Any]:
    """For JSON: the nodes and edges with all their fields."""
    return {"nodes": [asdict(node) for node in graph.nodes], "edges": [asdict(edge) for edge in graph.edges]}


_DOT_SHAPES: dict[NodeKind, str] = {
    "question": "shape=box, style=rounded",
    "answer": "shape=box",
    "note": "shape=note",
    "broken": "shape=note, style=dashed",
}


def as_dot(graph: Relations) -> str:
    """The graph in the language of Graphviz."""
    lines = ["digraph conversation {", "  rankdir=LR;"]
    lines += [f'  {node.id} [{_DOT_SHAPES[node.kind]}, label="{_dot_label(_words(node))}"];' for node in graph.nodes]
    for edge in graph.edges:
        style = "bold" if edge.status == "doubtful" else "solid" if edge.kind in ("answered", "cited") else "dashed"
        lines.append(f'  {edge.source} -> {edge.target} [style={style}, label="{_dot_label([_label(edge)])}"];')
    return "\n".join([*lines, "}"]) + "\n"


def _dot_label(parts: Iterable[str]) -> str:
    """`\\n` between the parts; Graphviz reads backslashes and HTML's entities even between quotation marks."""
    return "\\n".join(_printable(part).replace("\\", "\\\\").replace('"', '\\"').replace("&", "&amp;") for part in parts)


_MERMAID_SHAPES: dict[NodeKind, tuple[str, str]] = {
    "question": ("([", "])"),
    "answer": ("[", "]"),
    "note": ("[/", "/]"),
    "broken": ("{{", "}}"),
}


def as_mermaid(graph: Relations) -> str:
    """The graph as a Mermaid flowchart, which Obsidian and GitHub draw."""
    lines = ["flowchart LR"]
    for node in graph.nodes:
        left, right = _MERMAID_SHAPES[node.kind]
        lines.append(f'  {node.id}{left}"{"<br/>".join(map(_mermaid_text, _words(node)))}"{right}')
    for edge in graph.edges:
        arrow = "==>" if edge.status == "doubtful" else "-->" if edge.kind in ("answered", "cited") else "-.->"
        lines.append(f'  {edge.source} {arrow}|"{_mermaid_text(_label(edge))}"| {edge.target}')
    return "\n".join(lines) + "\n"


def _mermaid_text(text: str) -> str:
    """All ASCII but letters, digits and what means nothing to Mermaid by its code."""
    return "".join(c if c.isalnum() or c in " .,-_/" or not c.isascii() else f"#{ord(c)};" for c in _printable(text))


def _words(node: Node) -> list[str]:
    """The lines of a node's label."""
    if node.relative_path is not None:
        return [node.text, node.relative_path]
    if node.kind == "broken":
        return [node.text, "not found"]
    missing = [f"no such source: {_numbers(node.missing)}"] if node.missing else []
    return [f"{node.turn} · {node.text}", *missing]


def _label(edge: Edge) -> str:
    status = {"verified": "✓ verified", "doubtful": "✗ doubtful"}.get(edge.status or "", "")
    return " ".join(filter(None, (edge.kind, _numbers(edge.numbers), status)))


def _numbers(numbers: Iterable[int]) -> str:
    return " ".join(f"[{number}]" for number in numbers)


def _printable(text: str) -> str:
    return "".join(c if c.isprintable() or c == _JOINER else "\ufffd" for c in " ".join(text.split()))
