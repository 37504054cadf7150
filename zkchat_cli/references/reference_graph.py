"""The graph of references: which notes the conversations named, found and cited, and how these
notes are linked. It is a value; `views/graph_formats` draws it.
"""

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from typing import Literal, NamedTuple

from zkchat_cli.models.conversations import ConversationOverview
from zkchat_cli.models.messages import ZkChatMessage
from zkchat_cli.references.provenance import Provenance, trace_documents
from zkchat_cli.text.truncate import truncate
from zkchat_cli.vault.links.neighbourhood import Neighbourhood
from zkchat_cli.vault.links.note_graph import NoteGraph
from zkchat_cli.vault.links.wikilinks import strip_suffix

NodeKind = Literal["conversation", "question", "note", "file", "missing"]
EdgeKind = Literal["cited", "named", "imported", "found", "remembered", "links"]
"""Why two nodes are connected, the strongest reason first. `links` connects two notes; the others
connect a conversation, or a question of it, with a note.
"""

MAX_LABEL = 60
# A note that was cited is drawn before one that was only found, however often
_RANK: dict[EdgeKind, int] = {"cited": 1000, "named": 100, "imported": 100}
_UNTITLED = "untitled"
_DOUBTFUL = ("misattributed", "misquoted", "cut")


class GraphNode(NamedTuple):
    """A conversation, a question of one, a note (or an attachment), a `file` from outside of the
    vault, or something `missing`: a link without a target, or a note deleted since.

    `distance` is the number of steps from the conversations, or from the note that the graph is
    about.
    """

    id: str
    kind: NodeKind
    label: str
    distance: int
    relative_path: str | None = None
    conversation_id: str | None = None
    message_id: str | None = None


class GraphEdge(NamedTuple):
    """A connection of two nodes by their ids. `weight` is how often there is such a use or link;
    `doubtful` of its citations are misattributed, misquoted or cut.
    """

    source: str
    target: str
    kind: EdgeKind
    weight: int
    doubtful: int = 0


class GraphOmissions(NamedTuple):
    """How much the graph leaves out: conversations that used no notes, and notes over the limit."""

    conversations: int
    notes: int


class ReferenceGraph(NamedTuple):
    """Nodes by distance, and the edges between them."""

    title: str
    nodes: tuple[GraphNode, ...]
    edges: tuple[GraphEdge, ...]
    omitted: GraphOmissions


class ConversationBranch(NamedTuple):
    """A conversation with the messages of its current branch."""

    overview: ConversationOverview
    messages: Sequence[ZkChatMessage]


class _DocumentUse(NamedTuple):
    """A use of a document in one turn. `is_file`: it was a file of the vault at that time."""

    turn: int
    document: str
    kind: EdgeKind
    is_file: bool
    is_doubtful: bool = False


def note_graph(notes: NoteGraph, path: str, depth: int, limit: int) -> ReferenceGraph:
    """The notes at most `depth` links from the note at `path`, and the broken links in them, at
    most `limit` together.
    """
    drawing = _Drawing()
    around = notes.neighbourhood([path], depth, limit)
    drawing.add_notes(around, 0)
    cut = drawing.add_broken_links(around, depth, limit - len(around.distances))
    omitted = GraphOmissions(0, around.omitted + cut)
    return drawing.graph(f"Links around {strip_suffix(path)}", omitted)


def conversation_graph(
    branches: Sequence[ConversationBranch],
    notes: NoteGraph,
    *,
    depth: int,
    limit: int,
    by_question: bool = False,
) -> ReferenceGraph:
    """The notes that conversations used, at most `limit`, those first that were cited and used most
    often; then the notes at most `depth` links from these. With `by_question`, each question is a
    node instead of its conversation.
    """
    drawing = _Drawing()
    uses = [list(_uses(branch.messages)) for branch in branches]
    kept, cut = _most_used(uses, limit)
    around = notes.neighbourhood(kept, depth, limit)
    unused = 0
    for branch, own in zip(branches, uses, strict=True):
        drawn = [use for use in own if use.document in kept]
        unused += not drawn
        drawing.add_uses(branch, drawn, by_question=by_question)
    drawing.add_notes(around, 1)
    title = "Notes of conversations"
    if len(branches) == 1:
        title = f"Notes of “{_title(branches[0].overview)}”"
    return drawing.graph(title, GraphOmissions(unused, cut + around.omitted))


def _uses(messages: Sequence[ZkChatMessage]) -> Iterator[_DocumentUse]:
    """Every use of a document in a conversation."""
    for document in trace_documents(messages).values():
        yield from _uses_of_document(document)


def _uses_of_document(document: Provenance) -> Iterator[_DocumentUse]:
    key = document.key
    is_file = document.has_path
    for named in document.named:
        kind: EdgeKind = "imported" if named.reference.reference_type == "import" else "named"
        yield _DocumentUse(named.turn, key, kind, is_file)
    for found in document.found:
        for _ in found.excerpts:
            yield _DocumentUse(found.turn, key, "found", is_file)
    for remembered in document.remembered:
        yield _DocumentUse(remembered.turn, key, "remembered", is_file)
    for cited in document.cited:
        is_doubtful = cited.citation.verdict in _DOUBTFUL
        yield _DocumentUse(cited.turn, key, "cited", is_file, is_doubtful)


class _DocumentSelection(NamedTuple):
    """The documents to draw, the most used first, and how many others there are."""

    kept: dict[str, None]
    cut: int


def _most_used(uses: Iterable[Iterable[_DocumentUse]], limit: int) -> _DocumentSelection:
    scores: Counter[str] = Counter()
    for own in uses:
        for use in own:
            scores[use.document] += _RANK.get(use.kind, 1)
    ranked = sorted(scores, key=lambda document: (-scores[document], document))
    return _DocumentSelection(dict.fromkeys(ranked[:limit]), len(ranked[limit:]))


def _title(overview: ConversationOverview) -> str:
    return truncate(overview.title or overview.first_line or _UNTITLED, MAX_LABEL)


class _NodeName(NamedTuple):
    """What identifies a node: the first letter of its id, and the id or path of what it shows."""

    letter: str
    name: str


class _Drawing:
    """A graph while it is made. Nodes get short ids in the order in which they come up."""

    def __init__(self) -> None:
        self._nodes: dict[_NodeName, GraphNode] = {}
        self._numbers: Counter[str] = Counter()
        self._imported: set[str] = set()
        self._counts: Counter[tuple[str, str, EdgeKind]] = Counter()
        self._doubtful: Counter[tuple[str, str, EdgeKind]] = Counter()

    def graph(self, title: str, omitted: GraphOmissions) -> ReferenceGraph:
        """Everything that was added."""
        nodes = sorted(self._nodes.values(), key=lambda node: node.distance)
        edges: list[GraphEdge] = []
        for key, count in self._counts.items():
            edges.append(GraphEdge(*key, count, self._doubtful[key]))
        return ReferenceGraph(title, _with_distinct_labels(nodes), tuple(edges), omitted)

    def add_uses(
        self, branch: ConversationBranch, uses: Iterable[_DocumentUse], *, by_question: bool
    ) -> None:
        """Connect a conversation, or its questions, with the documents that it used."""
        questions = [message for message in branch.messages if message.role == "user"]
        for use in uses:
            # Turns are numbered from 1; an imported log can begin with an answer, in turn 0
            if by_question and use.turn > 0:
                source = self._add_question(branch, questions[use.turn - 1])
            else:
                source = self._add_conversation(branch)
            target = self._add_document(use.document, 1, is_file=use.is_file)
            if use.kind == "imported":
                self._imported.add(use.document)
            edge = (source, target, use.kind)
            self._counts[edge] += 1
            self._doubtful[edge] += use.is_doubtful

    def add_notes(self, around: Neighbourhood, first_distance: int) -> None:
        """Add notes of the vault with the links between them. A document that is drawn already and
        is not among them is a file from outside, or was deleted.
        """
        for path, distance in around.distances.items():
            self._add_document(path, first_distance + distance, is_file=True)
        for name, node in self._nodes.items():
            path = node.relative_path or ""
            if node.kind == "note" and path not in around.distances:
                kind: NodeKind = "file" if path in self._imported else "missing"
                self._nodes[name] = node._replace(kind=kind)
        for link, count in around.links.items():
            source = self._add_document(link.source, first_distance, is_file=True)
            target = self._add_document(link.target, first_distance, is_file=True)
            self._counts[source, target, "links"] += count

    def add_broken_links(self, around: Neighbourhood, depth: int, most: int) -> int:
        """Add the targets of broken links in the notes that are less than `depth` from the first:
        at most `most` targets. Returns how many were left out.
        """
        near = [link for link in around.broken if around.distances[link.source] < depth]
        targets = list(dict.fromkeys(link.target for link in near))
        drawn = set(targets[:most])
        for link in near:
            if link.target in drawn:
                distance = around.distances[link.source]
                source = self._add_document(link.source, distance, is_file=True)
                target = self._add_document(link.target, distance + 1, is_file=False)
                self._counts[source, target, "links"] += around.broken[link]
        return len(targets) - len(drawn)

    def _add_conversation(self, branch: ConversationBranch) -> str:
        overview = branch.overview
        node = GraphNode("", "conversation", _title(overview), 0, conversation_id=overview.id)
        return self._add(_NodeName("c", overview.id), node)

    def _add_question(self, branch: ConversationBranch, question: ZkChatMessage) -> str:
        label = truncate(question.display_text, MAX_LABEL) or _UNTITLED
        node = GraphNode(
            "",
            "question",
            label,
            0,
            conversation_id=branch.overview.id,
            message_id=question.id,
        )
        return self._add(_NodeName("q", question.id), node)

    def _add_document(self, document: str, distance: int, *, is_file: bool) -> str:
        if not is_file:
            missing = GraphNode("", "missing", truncate(document, MAX_LABEL), distance)
            return self._add(_NodeName("m", document), missing)
        name = strip_suffix(document).rpartition("/")[2]
        label = truncate(name, MAX_LABEL) or document
        note = GraphNode("", "note", label, distance, relative_path=document)
        return self._add(_NodeName("n", document), note)

    def _add(self, name: _NodeName, node: GraphNode) -> str:
        """The id of the node with this name, which is added if there is none."""
        if name not in self._nodes:
            self._numbers[name.letter] += 1
            self._nodes[name] = node._replace(id=f"{name.letter}{self._numbers[name.letter]}")
        return self._nodes[name].id


def _with_distinct_labels(nodes: Sequence[GraphNode]) -> tuple[GraphNode, ...]:
    """The nodes; notes with the same name are labelled with their paths."""
    names = Counter(node.label for node in nodes)
    labelled: list[GraphNode] = []
    for node in nodes:
        if node.relative_path is not None and names[node.label] > 1:
            path = truncate(strip_suffix(node.relative_path), MAX_LABEL)
            labelled.append(node._replace(label=path))
        else:
            labelled.append(node)
    return tuple(labelled)
