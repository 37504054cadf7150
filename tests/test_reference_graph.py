"""`zkchat sessions graph` and `zkchat vault graph`: which notes conversations used, and how notes
are linked, drawn so that no name can act.
"""

import json
import re
import shutil
import subprocess
from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from conftest import Program, write_notes
from factories import NOON, chunk, message, open_vault
from hypothesis import given, settings
from hypothesis import strategies as st
from test_html_in_a_browser import CHROMIUM, seen

from zkchat_cli.models.citations import Citation
from zkchat_cli.models.conversations import ConversationOverview
from zkchat_cli.models.messages import ZkChatMessage
from zkchat_cli.models.notes import DocumentReference
from zkchat_cli.references.reference_graph import (
    ConversationBranch,
    GraphEdge,
    GraphNode,
    GraphOmissions,
    NodeKind,
    ReferenceGraph,
    conversation_graph,
    note_graph,
)
from zkchat_cli.vault.vault import Vault
from zkchat_cli.views.graph_formats import graph_format, names
from zkchat_cli.views.graph_formats.mermaid import MAX_CHARACTERS, MAX_LINES

NOTES = {
    "A.md": "Begins with [[B]], again [[b|the second]] and [[Nowhere]].\n",
    "B.md": "On to [[C]] and back to [[A]].\n",
    "C.md": "- [the fourth](folder/D.md)\n",
    "folder/D.md": "Ends here, at [[Missing too]].\n",
    "Alone.md": "Says nothing of others.\n",
}
HOSTILE = (
    'a"] --> b\\\n"; click n1 "javascript:alert(1)" %% </script><script>console.error("run")'
    "</script><img src=x onerror=\"console.error('run')\"> &lt; #quot; `x` | } { \x1b[2J\u202e\x00"
    " \\N \\G end style:#1; \ud800 \ufffe"
)


@pytest.fixture
def notes(tmp_path: Path) -> Iterator[Vault]:
    with closing(open_vault(write_notes(tmp_path / "notes", NOTES), tmp_path / "cache")) as vault:
        yield vault


def branch(*messages: ZkChatMessage, id_: str = "one", title: str = "A talk") -> ConversationBranch:
    overview = ConversationOverview(
        id=id_,
        vault="/notes",
        title=title,
        created_at=NOON,
        updated_at=NOON,
        messages=len(messages),
    )
    return ConversationBranch(overview, messages)


def named(path: str | None, kind: str = "direct", link: str = "[[X]]") -> DocumentReference:
    values = {"wikilink": link, "relative_path": path, "reference_type": kind}
    return DocumentReference.model_validate({**values, "status": "found" if path else "broken"})


def cited(path: str, verdict: str = "cited") -> Citation:
    return Citation.model_validate({"number": 1, "relative_path": path, "verdict": verdict})


def found(path: str, *numbers: int) -> ZkChatMessage:
    chunks = tuple(chunk(number, relative_path=path, id=f"{path}{number}") for number in numbers)
    return message("tool", "…", f"t{path}", tool_call_id="t", chunks=chunks)


def edges(graph: ReferenceGraph) -> set[tuple[str, str, str, int]]:
    """The edges with the labels of their nodes."""
    labels = {node.id: node.label for node in graph.nodes}
    return {
        (labels[edge.source], edge.kind, labels[edge.target], edge.weight) for edge in graph.edges
    }


def kinds(graph: ReferenceGraph) -> dict[str, NodeKind]:
    return {node.label: node.kind for node in graph.nodes}


# What is in a graph


def test_a_conversation_is_connected_with_the_notes_it_named_found_and_cited(
    notes: Vault,
) -> None:
    talk = branch(
        message("user", "How?", "q1", references=(named("A.md"), named(None))),
        found("C.md", 3, 4),
        message("assistant", "So.", "a1", citations=(cited("C.md"), cited("C.md", "misquoted"))),
    )
    graph = conversation_graph([talk], notes.graph, depth=0, limit=9)
    assert edges(graph) == {
        ("A talk", "named", "A", 1),
        ("A talk", "named", "[[X]]", 1),
        ("A talk", "found", "C", 2),
        ("A talk", "cited", "C", 2),
    }
    assert [edge.doubtful for edge in graph.edges if edge.kind == "cited"] == [1]
    assert kinds(graph) == {"A talk": "conversation", "A": "note", "C": "note", "[[X]]": "missing"}


def test_notes_of_two_conversations_are_linked_as_the_vault_links_them(notes: Vault) -> None:
    first = branch(message("user", "How?", "q1", references=(named("A.md"),)), title="First")
    second = branch(
        message("user", "And?", "q2", references=(named("B.md"),)), id_="two", title="Second"
    )
    graph = conversation_graph([first, second], notes.graph, depth=0, limit=9)
    assert {("A", "links", "B", 2), ("B", "links", "A", 1)} <= edges(graph)
    assert "C" not in kinds(graph)


def test_more_depth_adds_notes_that_no_conversation_used(notes: Vault) -> None:
    talk = branch(message("user", "How?", "q1", references=(named("B.md"),)))
    graph = conversation_graph([talk], notes.graph, depth=2, limit=9)
    assert {node.label: node.distance for node in graph.nodes} == {
        "A talk": 0,
        "B": 1,
        "A": 2,
        "C": 2,
        "D": 3,
    }


def test_each_question_can_be_a_node(notes: Vault) -> None:
    talk = branch(
        message("assistant", "Hello.", "a0", references=(named("C.md", "memory"),)),
        message("user", "One?", "q1", references=(named("A.md"),)),
        message("assistant", "So.", "a1", citations=(cited("A.md"),)),
        message("user", "Two?", "q2", references=(named("A.md"),)),
    )
    graph = conversation_graph([talk], notes.graph, depth=0, limit=9, by_question=True)
    assert edges(graph) == {
        ("A talk", "remembered", "C", 1),
        ("One?", "named", "A", 1),
        ("One?", "cited", "A", 1),
        ("Two?", "named", "A", 1),
    }


def test_a_deleted_note_is_missing_and_a_file_from_outside_is_a_file(notes: Vault) -> None:
    references = (named("Gone.md"), named("/tmp/plan.txt", "import"))
    talk = branch(message("user", "How?", "q1", references=references))
    graph = conversation_graph([talk], notes.graph, depth=0, limit=9)
    assert kinds(graph) == {"A talk": "conversation", "Gone": "missing", "plan.txt": "file"}


def test_the_limit_keeps_what_was_cited_and_counts_the_rest(notes: Vault) -> None:
    talk = branch(
        message("user", "How?", "q1"),
        found("Alone.md", 1, 2, 3),
        found("B.md", 4),
        message("assistant", "So.", "a1", citations=(cited("B.md"),)),
    )
    unused = branch(message("user", "Hm?", "q2"), id_="two", title="Small talk")
    graph = conversation_graph([talk, unused], notes.graph, depth=0, limit=1)
    assert kinds(graph) == {"A talk": "conversation", "B": "note"}
    assert graph.omitted == GraphOmissions(conversations=1, notes=1)


def test_notes_with_one_name_are_labelled_with_their_paths(tmp_path: Path) -> None:
    folder = write_notes(tmp_path / "twins", {"a/Same.md": "[[b/Same]]", "b/Same.md": "text"})
    with closing(open_vault(folder, tmp_path / "cache2")) as vault:
        graph = note_graph(vault.graph, "a/Same.md", 1, 9)
    assert [node.label for node in graph.nodes] == ["a/Same", "b/Same"]


@pytest.mark.parametrize(
    ("depth", "expected"),
    [
        (0, {"A"}),
        (1, {"A", "B", "[[Nowhere]]"}),
        (2, {"A", "B", "C", "[[Nowhere]]"}),
        (9, {"A", "B", "C", "D", "[[Nowhere]]", "[[Missing too]]"}),
    ],
)
def test_a_note_is_drawn_with_what_is_so_many_links_away(
    notes: Vault, depth: int, expected: set[str]
) -> None:
    assert set(kinds(note_graph(notes.graph, "A.md", depth, 99))) == expected


def test_the_nearest_notes_are_kept_under_a_limit(notes: Vault) -> None:
    graph = note_graph(notes.graph, "A.md", 9, 2)
    assert set(kinds(graph)) == {"A", "B"}
    # The note C and the broken link: what is behind C was not looked for
    assert graph.omitted.notes == 2


# How it is drawn


def graph_of(*labels: str) -> ReferenceGraph:
    """A conversation that cited notes with these labels."""
    nodes = [GraphNode("c1", "conversation", labels[0], 0, conversation_id="one")]
    lines: list[GraphEdge] = []
    for number, label in enumerate(labels[1:], 1):
        nodes.append(GraphNode(f"n{number}", "note", label, 1, relative_path=f"{label}.md"))
        lines.append(GraphEdge("c1", f"n{number}", "cited", 2, doubtful=1))
        lines.append(GraphEdge("c1", f"n{number}", "found", 1))
    return ReferenceGraph(labels[0], tuple(nodes), tuple(lines), GraphOmissions(0, 0))


def test_dot_is_what_graphviz_expects() -> None:
    assert graph_format("dot")(graph_of("A talk", "Compost")).splitlines() == [
        'digraph "A talk" {',
        "  rankdir=LR;",
        '  node [fontname="sans-serif"];',
        '  edge [fontname="sans-serif", fontsize=10];',
        '  c1 [shape=box, style="rounded,filled", fillcolor="#dbe7fb", label="A talk", '
        'tooltip="one"];',
        '  n1 [shape=note, label="Compost", tooltip="Compost.md"];',
        '  c1 -> n1 [style=bold, color="#b3261e", label="cited 2× (1 doubtful), found"];',
        "}",
    ]


def test_mermaid_is_what_a_markdown_page_expects() -> None:
    assert graph_format("mermaid")(graph_of("A talk?", "Compost")).splitlines() == [
        "flowchart LR",
        '  c1(["A talk?"])',
        '  n1["Compost"]',
        '  c1 ==>|"✗ cited 2× (1 doubtful), found"| n1',
    ]


def shown(text: str) -> str:
    """The text as a drawing shows it."""
    from zkchat_cli.views.graph_formats.base import clean_text

    return clean_text(text)


def labels_in_dot(text: str) -> tuple[list[str], list[tuple[str, str]]]:
    """Labels of nodes and pairs of connected nodes, as pydot's parser reads them."""
    pydot = pytest.importorskip("pydot")
    (graph,) = pydot.graph_from_dot_data(text)
    nodes = [node for node in graph.get_nodes() if node.get_name() not in ("node", "edge")]
    labels = [plain_dot(node.get("label")) for node in nodes]
    lines = [(edge.get_source(), edge.get_destination()) for edge in graph.get_edges()]
    return labels, lines


def plain_dot(label: str) -> str:
    r"""What Graphviz shows of a quoted label: `\\` is a backslash, `&amp;` an ampersand."""
    inner = label.removeprefix('"').removesuffix('"')
    assert not re.search(r'(?<!\\)(?:\\\\)*\\[^\\"]', inner)
    return re.sub(r"\\(.)", r"\1", inner).replace("&amp;", "&")


LABEL = r"(?:[A-Za-z0-9 .,?!()'+/-]|[^\x00-\x7f]|#\d+;)+"
MERMAID_NODE = re.compile(rf' {{2}}(\w+)(?:\(\[|\[)"({LABEL})"(?:\]\)|\])')
MERMAID_LINE = re.compile(rf' {{2}}(\w+) (?:-->|-\.->|==>)(?:\|"{LABEL}"\|)? (\w+)')
"""Mermaid's grammar, as far as it is used: quoted labels without quotation marks."""


def labels_in_mermaid(text: str) -> tuple[list[str], list[tuple[str, str]]]:
    first, *lines = text.removesuffix("\n").split("\n")
    assert first == "flowchart LR"
    labels: list[str] = []
    pairs: list[tuple[str, str]] = []
    for line in lines:
        node = MERMAID_NODE.fullmatch(line)
        pair = MERMAID_LINE.fullmatch(line)
        if node:
            labels.append(re.sub(r"#(\d+);", lambda found: chr(int(found[1])), node[2]))
        else:
            assert pair, line
            pairs.append((pair[1], pair[2]))
    return labels, pairs


Reader = Callable[[str], tuple[list[str], list[tuple[str, str]]]]


# pydot calls pyparsing by its old names, and takes 40 ms for a graph
@pytest.mark.filterwarnings("ignore:.*deprecated:DeprecationWarning")
@pytest.mark.untraced
@pytest.mark.parametrize(
    ("format_", "read", "examples"),
    [("dot", labels_in_dot, 10), ("mermaid", labels_in_mermaid, 30)],
)
def test_any_name_stays_a_label(format_: str, read: Reader, examples: int) -> None:
    names = st.text(min_size=1, max_size=40) | st.just(HOSTILE)

    @settings(max_examples=examples)
    @given(title=names, name=names)
    def check_labels(title: str, name: str) -> None:
        labels, lines = read(graph_format(format_)(graph_of(title, name)))
        assert labels == [shown(title), shown(name)]
        assert lines == [("c1", "n1")]

    check_labels()


@pytest.mark.skipif(shutil.which("dot") is None, reason="Graphviz is not installed")
def test_graphviz_draws_it() -> None:
    text = graph_format("dot")(graph_of(HOSTILE, HOSTILE))
    done = subprocess.run(
        ["dot", "-Tsvg"], input=text.encode(), capture_output=True, check=True, timeout=60
    )
    assert b"<svg" in done.stdout


def test_every_format_is_utf_8_without_control_characters() -> None:
    for name in names():
        drawn = graph_format(name)(graph_of(HOSTILE, HOSTILE))
        assert drawn.encode()
        assert not re.search("[\x00-\x08\x0b-\x1f\x7f-\x9f]", drawn)


def test_mermaid_gets_no_more_than_it_takes() -> None:
    nodes = tuple(GraphNode(f"n{i}", "note", "Ä?" * 20, 0) for i in range(300))
    lines = tuple(
        GraphEdge(f"n{i % 300}", f"n{(i + 1 + i // 300) % 300}", "links", 1) for i in range(3000)
    )
    graph = ReferenceGraph("Many", nodes, lines, GraphOmissions(0, 0))
    drawn = graph_format("mermaid")(graph)
    assert len(drawn) <= MAX_CHARACTERS
    assert drawn.count("-->") <= MAX_LINES
    assert drawn.splitlines()[-1].startswith("  %% ")


@pytest.mark.skipif(CHROMIUM is None, reason="there is no Chromium here")
def test_a_browser_shows_the_page_and_nothing_in_it_acts(tmp_path: Path) -> None:
    document, console = seen(graph_format("html")(graph_of(HOSTILE, HOSTILE, "Compost")), tmp_path)
    assert console == []
    assert "<script" not in document
    assert "<img" not in document
    assert document.count("<rect ") == 3
    assert "Compost.md" in document


def test_the_page_asks_for_nothing() -> None:
    page = graph_format("html")(graph_of("A talk", "Compost"))
    assert "default-src 'none'" in page
    addresses = re.findall(r'(?:href|src)="([^"]*)"', page)
    assert addresses
    assert all(address.startswith("#") for address in addresses)


# On the command line


def test_the_conversations_of_the_vault_are_drawn(
    zkchat: Program, script: Callable[..., str]
) -> None:
    find = {"tool_calls": [{"name": "find_excerpts", "arguments": {"query": "joined AND OR"}}]}
    answer = {"text": 'They "must be written in capitals" [2].'}
    asked = zkchat("ask", "See [[Filters]]?", "--model", script(find, answer), "--json").json
    drawn = zkchat("sessions", "graph", "--format", "json").json
    by_id = {node["id"]: node for node in drawn["nodes"]}
    used = {(edge["kind"], by_id[edge["target"]]["relative_path"]) for edge in drawn["edges"]}
    assert {("named", "Filters.md"), ("cited", "Queries/Combining.md")} <= used
    assert by_id["c1"]["conversation_id"] == asked["conversation_id"]
    for arguments in (("--json",), (asked["conversation_id"][:6], "--json")):
        again = zkchat("sessions", "graph", *arguments).json
        assert again["edges"] == drawn["edges"]
    questions = zkchat("sessions", "graph", "--questions", "--json").json
    assert questions["nodes"][0]["kind"] == "question"


def test_a_note_is_drawn_with_its_links(zkchat: Program) -> None:
    drawn = zkchat("vault", "graph", "Filters", "--json").json
    assert drawn["nodes"][0]["relative_path"] == "Filters.md"
    assert set(drawn["nodes"][0]) == set(GraphNode._fields)
    assert {edge["kind"] for edge in drawn["edges"]} == {"links"}
    assert zkchat("vault", "graph", "Filters").out.startswith("flowchart LR\n")
    assert zkchat("vault", "graph", "No such note").exit_status == 3


@pytest.mark.parametrize(
    ("file", "begins"),
    [
        ("g.html", "<!DOCTYPE html>"),
        ("g.dot", "digraph "),
        ("g.gv", "digraph "),
        ("g.json", "{"),
        ("g.mmd", "flowchart LR"),
        ("g.md", "```mermaid\nflowchart LR"),
    ],
)
def test_the_file_decides_about_the_format(
    zkchat: Program, tmp_path: Path, file: str, begins: str
) -> None:
    done = zkchat("vault", "graph", "Filters", "--output", tmp_path / file)
    assert done.out == ""
    assert (tmp_path / file).read_text(encoding="utf-8").startswith(begins)


def test_what_is_left_out_is_said(zkchat: Program) -> None:
    done = zkchat("vault", "graph", "Filters", "--limit", 1)
    assert "left out" in done.err
    assert "left out" not in done.out


def refused(zkchat: Program, *arguments: Any) -> tuple[int, str]:
    done = zkchat(*arguments)
    assert done.out == ""
    return done.exit_status, done.err


def test_a_wrong_format_or_file_is_refused(zkchat: Program, tmp_path: Path) -> None:
    status, error = refused(zkchat, "vault", "graph", "Filters", "--format", "png")
    assert status == 2
    assert "dot, html, json, mermaid" in error
    status, error = refused(zkchat, "vault", "graph", "Filters", "-o", tmp_path / "no" / "g.dot")
    assert status == 3
    assert "cannot be written" in error


def test_without_conversations_the_graph_is_empty(zkchat: Program) -> None:
    done = zkchat("sessions", "graph", "--format", "json")
    assert json.loads(done.out)["nodes"] == []
    assert "used a note" in done.err
    assert zkchat("sessions", "graph", "nosuch").exit_status == 3
