"""`zkchat sessions graph`: questions, answers and notes of a conversation and what hangs together, drawn so that any name stays text."""

import json
import re
import shutil
import subprocess
from collections.abc import Callable
from typing import Any

import pytest
from building import chunk, said
from conftest import Program
from hypothesis import given
from hypothesis import strategies as st

from zkchat_cli.models import Citation, DocumentReference, ZkChatMessage
from zkchat_cli.references.relations import Edge, Node, Relations, as_document, as_dot, as_mermaid, relations

HOSTILE = 'a"] --> b\\\n"; click q1 "javascript:alert(1)" %% <script> &lt; #quot; `x` | } { \x1b[2J\u202e\x00'


def named(path: str | None, kind: str = "direct", **more: object) -> DocumentReference:
    values = {"wikilink": "[[X]]", "relative_path": path, "reference_type": kind, "status": "found" if path else "broken"}
    return DocumentReference.model_validate({**values, **more})


def cited(number: int, path: str | None = "Filters.md", status: str = "cited") -> Citation:
    return Citation.model_validate({"number": number, "relative_path": path, "status": status, "valid": status in ("cited", "verified")})


def a_turn(**answer: object) -> tuple[ZkChatMessage, ...]:
    """A question that names a note, a tool that finds two, an answer."""
    return (
        said("user", "How?", "q", references=(named("Filters.md"),)),
        said("assistant", "", "c"),
        said("tool", "…", "t", chunks=(chunk(3), chunk(4, relative_path="a/B.md", title="Title of B"))),
        said("assistant", "So.", "a", **answer),
    )


def edges(*messages: ZkChatMessage) -> list[tuple[str, str, str]]:
    return [(edge.source, edge.kind, edge.target) for edge in relations(messages).edges]


def test_a_turn_is_its_question_its_answer_and_the_notes_of_both() -> None:
    graph = relations(a_turn(references=(named("a/B.md", "search", number=4),), citations=(cited(3), cited(9, None, "missing"))))
    assert graph.nodes == (
        Node("q1", "question", "How?", 1),
        Node("a1", "answer", "So.", 1, missing=(9,)),
        Node("n1", "note", "Filters", relative_path="Filters.md"),
        Node("n2", "note", "Title of B", relative_path="a/B.md"),
    )
    assert graph.edges == (
        Edge("q1", "a1", "answered"),
        Edge("q1", "n1", "named"),
        Edge("a1", "n2", "found", (4,)),
        Edge("a1", "n1", "found", (3,)),
        Edge("a1", "n1", "cited", (3,), "cited"),
    )


@pytest.mark.parametrize(
    ("statuses", "standing"),
    [
        (("cited",), "cited"),
        (("verified", "cited"), "verified"),
        (("verified", "misquoted"), "doubtful"),
        (("misquoted",), "doubtful"),
    ],
)
def test_an_edge_says_whether_the_citations_of_a_note_hold(statuses: tuple[str, ...], standing: str) -> None:
    graph = relations(a_turn(citations=tuple(cited(3, status=status) for status in statuses)))
    assert [edge.status for edge in graph.edges if edge.kind == "cited"] == [standing]


def test_a_citation_from_before_there_was_a_status_is_judged_by_what_it_says() -> None:
    held = Citation(number=3, relative_path="Filters.md", quote="capital letters", valid=True)
    lost = held.model_copy(update={"valid": False})
    standings = [relations(a_turn(citations=(citation,))).edges[-1].status for citation in (held, lost)]
    assert standings == ["verified", "doubtful"]


def test_a_note_is_one_node_however_often_it_is_used() -> None:
    graph = relations((*a_turn(citations=(cited(3),)), *a_turn(citations=(cited(3),))))
    assert [node.id for node in graph.nodes] == ["q1", "a1", "n1", "n2", "q2", "a2"]
    assert ("a2", "cited", "n1") in edges(*a_turn(), *a_turn(citations=(cited(3),)))


def test_what_the_user_brought_hangs_on_the_question_what_zkchat_brought_on_the_answer() -> None:
    question = said("user", "How?", "q", references=(named("i.md", "import"), named("l.md", "link")))
    answer = said("assistant", "So.", "a", references=(named("i.md", "import"), named("m.md", "memory"), named("s.md", "search")))
    assert edges(question, answer) == [
        ("q1", "answered", "a1"),
        ("q1", "import", "n1"),
        ("q1", "link", "n2"),
        ("a1", "memory", "n3"),
        ("a1", "found", "n4"),
    ]


def test_a_link_that_leads_nowhere_is_drawn_as_such() -> None:
    graph = relations([said("user", "How?", "q", references=(named(None), named(None)))])
    assert graph.nodes[1:] == (Node("n1", "broken", "[[X]]"),)
    assert 'label="[[X]]\\nnot found"' in as_dot(graph)
    assert 'n1{{"#91;#91;X#93;#93;<br/>not found"}}' in as_mermaid(graph)


def test_an_imported_talk_may_begin_with_an_answer_and_a_turn_may_have_none() -> None:
    messages = [said("assistant", "Hello.", "a", references=(named("Filters.md"),)), said("user", "Hm", "q"), said("tool", "…", "t")]
    graph = relations(messages)
    assert [(node.id, node.text) for node in graph.nodes] == [("a1", "Hello."), ("n1", "Filters"), ("q2", "Hm"), ("a2", "no answer")]
    assert edges(*messages) == [("a1", "named", "n1"), ("q2", "answered", "a2")]
    assert relations([]) == Relations((), ())


def test_a_system_message_is_no_answer() -> None:
    graph = relations([said("system", "Be brief.", "s")])
    assert graph.nodes == ()


def test_long_texts_are_shortened() -> None:
    graph = relations([said("user", "why " * 100_000, "q", references=(named("x/" + "y" * 900 + ".md"),))])
    assert all(len(node.text) <= 61 for node in graph.nodes)


# Drawings


def test_dot_reads_as_one_would_write_it() -> None:
    graph = relations(a_turn(citations=(cited(3, status="misquoted"), cited(4, "a/B.md", "verified"), cited(9, None, "missing"))))
    assert as_dot(graph).splitlines() == [
        "digraph conversation {",
        "  rankdir=LR;",
        '  q1 [shape=box, style=rounded, label="1 · How?"];',
        '  a1 [shape=box, label="1 · So.\\nno such source: [9]"];',
        '  n1 [shape=note, label="Filters\\nFilters.md"];',
        '  n2 [shape=note, label="Title of B\\na/B.md"];',
        '  q1 -> a1 [style=solid, label="answered"];',
        '  q1 -> n1 [style=dashed, label="named"];',
        '  a1 -> n1 [style=dashed, label="found [3]"];',
        '  a1 -> n2 [style=dashed, label="found [4]"];',
        '  a1 -> n1 [style=bold, label="cited [3] ✗ doubtful"];',
        '  a1 -> n2 [style=solid, label="cited [4] ✓ verified"];',
        "}",
    ]


def test_mermaid_reads_as_one_would_write_it() -> None:
    graph = relations(a_turn(citations=(cited(3, status="misquoted"), cited(4, "a/B.md", "verified"))))
    assert as_mermaid(graph).splitlines() == [
        "flowchart LR",
        '  q1(["1 · How#63;"])',
        '  a1["1 · So."]',
        '  n1[/"Filters<br/>Filters.md"/]',
        '  n2[/"Title of B<br/>a/B.md"/]',
        '  q1 -->|"answered"| a1',
        '  q1 -.->|"named"| n1',
        '  a1 -.->|"found #91;3#93;"| n1',
        '  a1 -.->|"found #91;4#93;"| n2',
        '  a1 ==>|"cited #91;3#93; ✗ doubtful"| n1',
        '  a1 -->|"cited #91;4#93; ✓ verified"| n2',
    ]


DOT_LINE = re.compile(r' {2}(\w+)(?: -> (\w+))? \[(?:\w+=\w+, )+label="((?:[^"\\\n]|\\[\\"n])*)"\];')
MERMAID_NODE = re.compile(r' {2}(\w+)(?:\(\[|\[/|\[|\{\{)"((?:[\w .,/-]|[^\x00-\x7f]|#\d+;|<br/>)*)"(?:\]\)|/\]|\]|\}\})')
MERMAID_EDGE = re.compile(r' {2}(\w+) (?:-->|-\.->|==>)\|"((?:[\w .,/-]|[^\x00-\x7f]|#\d+;)*)"\| (\w+)')


def drawn_in_dot(text: str) -> tuple[dict[str, str], list[tuple[str, str]]]:
    """Labels by node, and edges, of a drawing each of whose lines is one statement."""
    first, second, *lines, last = text.removesuffix("\n").split("\n")
    assert (first, second, last) == ("digraph conversation {", "  rankdir=LR;", "}")
    found = [DOT_LINE.fullmatch(line) for line in lines]
    plain = lambda label: re.sub(r"\\(.)", lambda m: {"n": "\n"}.get(m[1], m[1]), label).replace("&amp;", "&")  # noqa: E731
    statements = [match.groups() for match in found if match]
    assert len(statements) == len(lines)
    return {s[0]: plain(s[2]) for s in statements if s[1] is None}, [(s[0], s[1]) for s in statements if s[1] is not None]


def drawn_in_mermaid(text: str) -> tuple[dict[str, str], list[tuple[str, str]]]:
    first, *lines = text.removesuffix("\n").split("\n")
    assert first == "flowchart LR"
    nodes = [match for line in lines if (match := MERMAID_NODE.fullmatch(line))]
    arrows = [match for line in lines if (match := MERMAID_EDGE.fullmatch(line))]
    assert len(nodes) + len(arrows) == len(lines)
    plain = lambda label: re.sub(r"#(\d+);", lambda m: chr(int(m[1])), label.replace("<br/>", "\n"))  # noqa: E731
    return {node[1]: plain(node[2]) for node in nodes}, [(arrow[1], arrow[3]) for arrow in arrows]


@pytest.mark.parametrize("draw", [(as_dot, drawn_in_dot), (as_mermaid, drawn_in_mermaid)])
@given(title=st.text(max_size=40) | st.just(HOSTILE), question=st.text(max_size=40) | st.just(HOSTILE))
def test_any_words_stay_words_in_a_drawing(draw: tuple[Callable[..., str], Callable[..., Any]], title: str, question: str) -> None:
    path = f"{title}.md"
    graph = relations([said("user", question, "q", references=(named(path),)), said("assistant", title, "a")])
    labels, arrows = draw[1](draw[0](graph))
    shown = lambda text: "".join(c if c.isprintable() or c == "\u200d" else "\ufffd" for c in " ".join(text.split()))  # noqa: E731
    assert set(labels) == {"q1", "a1", "n1"}
    assert labels["q1"].rstrip() == shown(f"1 · {graph.nodes[0].text}").rstrip()
    assert labels["n1"].split("\n")[1] == shown(path)
    assert arrows == [("q1", "a1"), ("q1", "n1")]


@pytest.mark.skipif(shutil.which("dot") is None, reason="Graphviz is not installed")
def test_graphviz_draws_it() -> None:
    text = as_dot(relations([said("user", HOSTILE, "q", references=(named(HOSTILE),))]))
    assert subprocess.run(["dot", "-Tsvg"], input=text.encode(), capture_output=True, check=True, timeout=60).stdout


def test_the_document_has_every_field_of_every_node_and_edge() -> None:
    document = json.loads(json.dumps(as_document(relations(a_turn(citations=(cited(3),))))))
    assert all(set(node) == {"id", "kind", "text", "turn", "relative_path", "missing"} for node in document["nodes"])
    assert all(set(edge) == {"source", "target", "kind", "numbers", "status"} for edge in document["edges"])
    ids = {node["id"] for node in document["nodes"]}
    assert all({edge["source"], edge["target"]} <= ids for edge in document["edges"])


# On the command line


def test_the_latest_conversation_is_drawn_and_any_other_by_a_beginning_of_its_id(zkchat: Program, script: Callable[..., str]) -> None:
    find = {"tool_calls": [{"name": "find_excerpts", "arguments": {"query": "joined AND OR"}}]}
    asked = zkchat("ask", "See [[Filters]]?", "--model", script(find, {"text": 'They "must be written in capitals" [2].'}), "--json").json
    drawn = zkchat("sessions", "graph", "--format", "json").json
    assert (drawn["conversation_id"], drawn["title"]) == (asked["conversation_id"], "See [[Filters]]?")
    by_id = {node["id"]: node for node in drawn["nodes"]}
    links = {(edge["source"], edge["kind"], by_id[edge["target"]]["relative_path"], edge["status"]) for edge in drawn["edges"]}
    assert {("q1", "named", "Filters.md", None), ("a1", "cited", "Queries/Combining.md", "verified")} <= links
    for arguments in (("--json",), (asked["conversation_id"][:6], "--format", "json")):
        assert zkchat("sessions", "graph", *arguments).json == drawn
    assert zkchat("sessions", "graph").out.startswith("flowchart LR\n")
    assert zkchat("sessions", "graph", "--format", "dot").out.startswith("digraph conversation {\n")


def test_an_unknown_format_is_refused_with_the_valid_ones_named(zkchat: Program) -> None:
    done = zkchat("sessions", "graph", "--format", "png")
    assert done.exit_status == 2
    assert "dot, mermaid, json" in done.err


def test_without_a_conversation_there_is_nothing_to_draw(zkchat: Program) -> None:
    assert zkchat("sessions", "graph").exit_status == 3
    assert zkchat("sessions", "graph", "nosuch", "--json").json["error"]["code"] == "store"
    assert "graph" in zkchat("sessions", "--help").out
