"""The tools that follow links, list notes and find related ones; and what all tools that take a
path do with a hostile one.
"""

import json
from pathlib import Path
from typing import Any

import pytest
from conftest import NOTES, write_notes
from test_tools import TOOLS, mistake, run

from zkchat_cli.vault.vault import Vault

MORE = {
    "Roof.md": "---\ntitle: The old roof\ntags: [project/roof, Haus]\nup: '[[Combining]]'\n---\n"
    "See [[Combining#Nesting|nest]], [[Nowhere]].\n\n"
    "## How to *mend* it?\n\nWith slate. ^slate\n\n## Costs\n\nMuch.\n",
    "Diary/Monday.md": "Wrote to [[Roof]] about über ![[Roof]] again. #project\n",
    "Diary/Tuesday.md": "Nothing.\n\nOnly [the roof](../Roof.md), once more.\n",
    "Diary/Limiting.md": "A second note of that name.\n",
}


@pytest.fixture
def vault(vault: Path, tmp_path: Path) -> Path:
    (tmp_path / "secret.md").write_text("The secret is 42.")
    (tmp_path / "outside").mkdir()
    (tmp_path / "outside" / "inner.md").write_text("The secret is 42.")
    write_notes(
        vault,
        {**MORE, ".obsidian/app.json": '{"secret": 42}', ".obsidian/note.md": "The secret is 42."},
    )
    (vault / "Link.md").symlink_to(tmp_path / "secret.md")
    (vault / "Way").symlink_to(tmp_path / "outside")
    return vault


def answer(notes: Vault, tool: str, room: int = 5000, **arguments: Any) -> dict[str, Any]:
    """What the model reads of a call that went well."""
    result = run(notes, tool, room, **arguments)
    assert result.run.ok, result.content
    document: dict[str, Any] = json.loads(result.content)
    return document


def lines_of(document: dict[str, Any]) -> list[tuple[int, str, str]]:
    return [
        (excerpt["source"], f"{excerpt['path']}:{excerpt['lines']}", excerpt["text"])
        for excerpt in document.get("excerpts", [])
    ]


# naming a note


@pytest.mark.parametrize(
    "name",
    [
        *(
            "Roof.md",
            "./Roof.md",
            " Roof.md ",
            "Roof",
            "roof",
            "ROOF.MD",
            "[[Roof]]",
            "![[Roof|the roof]]",
            "The old roof",
            "the OLD roof",
        )
    ],
)
def test_a_note_is_found_by_name_title_or_link(notes: Vault, name: str) -> None:
    assert answer(notes, "find_backlinks", relative_path=name)["path"] == "Roof.md"


def test_a_name_of_several_notes_is_answered_with_their_paths(notes: Vault) -> None:
    told = mistake(notes, "read_zk_document", relative_path="Limiting")
    assert told == "Limiting may mean 2 notes. Give a path: Diary/Limiting.md, Queries/Limiting.md"


# reading by heading


@pytest.mark.parametrize(
    ("link", "lines"),
    [
        ("Roof#How to mend it?", (8, 10)),
        ("[[Roof#how-to-mend-it]]", (8, 10)),
        ("[[Roof#Costs]]", (12, 14)),
        ("[[Roof#^slate]]", (10, 10)),
    ],
)
def test_a_section_is_read_by_its_link(notes: Vault, link: str, lines: tuple[int, int]) -> None:
    chunks = run(notes, "read_zk_document", relative_path=link).chunks
    assert (chunks[0].start_line, chunks[-1].end_line) == lines


def test_a_missing_heading_is_answered_with_the_nearest(notes: Vault) -> None:
    assert (
        mistake(notes, "read_zk_document", relative_path="Roof#Cost")
        == "Roof.md has no heading Cost. Nearest: Costs"
    )
    assert (
        mistake(notes, "read_zk_document", relative_path="Roof#^x")
        == "Roof.md has no block ^x. Leave it out for the whole note."
    )


# resolve_wikilink


def test_a_resolved_heading_has_its_lines(notes: Vault) -> None:
    document = answer(notes, "resolve_wikilink", wikilink="[[Roof#Costs]]")
    assert (document["path"], document["heading"], document["lines"]) == (
        "Roof.md",
        "Costs",
        "12-14",
    )


def test_a_link_to_a_heading_that_is_not_there_still_has_its_note(notes: Vault) -> None:
    document = answer(notes, "resolve_wikilink", wikilink="[[Roof#Cost]]")
    assert (document["path"], document["lines"]) == ("Roof.md", None)
    assert document["note"] == "Roof.md has no heading Cost. Nearest: Costs"


def test_an_ambiguous_link_names_the_notes_that_lost(notes: Vault) -> None:
    document = answer(notes, "resolve_wikilink", wikilink="[[Limiting]]")
    assert (document["status"], document["path"], document["others"]) == (
        "ambiguous",
        "Diary/Limiting.md",
        ["Queries/Limiting.md"],
    )


# find_backlinks, find_forward_links


def test_backlinks_are_lines_that_can_be_cited_each_once(notes: Vault) -> None:
    document = answer(notes, "find_backlinks", relative_path="Roof.md")
    assert document["backlinks"] == 3
    assert lines_of(document) == [
        (1, "Diary/Monday.md:1-1", "Wrote to [[Roof]] about über ![[Roof]] again. #project"),
        (2, "Diary/Tuesday.md:3-3", "Only [the roof](../Roof.md), once more."),
    ]


def test_backlinks_that_were_left_out_are_counted_and_can_be_got(notes: Vault) -> None:
    write_notes(notes.root, {f"Many/{i:02}.md": f"{i}: [[Compost]]\n" for i in range(25)})
    notes.refresh()
    first = answer(notes, "find_backlinks", relative_path="Compost")
    assert (first["backlinks"], first["note"]) == (25, "5 more: ask again with offset=20.")
    rest = answer(notes, "find_backlinks", relative_path="Compost", offset=20)
    assert [text for _, _, text in lines_of(first) + lines_of(rest)] == [
        f"{i}: [[Compost]]" for i in range(25)
    ]


def test_forward_links_say_where_each_leads(notes: Vault) -> None:
    document = answer(notes, "find_forward_links", relative_path="Roof.md")
    assert document["count"] == 3
    assert document["links"] == [
        {"link": "[[Combining]]", "line": 4, "path": "Queries/Combining.md"},
        {"link": "[[Combining#Nesting|nest]]", "line": 6, "path": "Queries/Combining.md"},
        {"link": "[[Nowhere]]", "line": 6, "path": None},
    ]
    assert lines_of(document) == [
        (1, "Roof.md:4-4", "up: '[[Combining]]'"),
        (2, "Roof.md:6-6", "See [[Combining#Nesting|nest]], [[Nowhere]]."),
    ]


# find_link_path


def test_a_link_path_has_its_lines(notes: Vault) -> None:
    document = answer(notes, "find_link_path", source="Filters", target="Monday")
    assert document["path"] == ["Filters.md", "Queries/Combining.md", "Roof.md", "Diary/Monday.md"]
    assert [place for _, place, _ in lines_of(document)] == [
        "Filters.md:7-7",
        "Roof.md:4-4",
        "Diary/Monday.md:1-1",
    ]


# find_zk_documents_related_to


def test_related_notes_say_why_and_have_an_excerpt(notes: Vault) -> None:
    document = answer(
        notes, "find_zk_documents_related_to", relative_path="Diary/Monday.md", limit=2
    )
    assert document["documents"][0] == {
        "path": "Roof.md",
        "why": "linked from here; shares the word roof",
    }
    assert [excerpt["path"] for excerpt in document["excerpts"]] == [
        found["path"] for found in document["documents"]
    ]
    assert document["note"] == "There are more: ask for a limit up to 15."


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        ({}, "query or relative_path"),
        ({"query": " "}, "query or relative_path"),
        ({"query": "a", "relative_path": "Roof"}, "not both"),
    ],
)
def test_related_notes_need_a_query_or_a_note(
    notes: Vault, arguments: dict[str, str], told: str
) -> None:
    assert told in mistake(notes, "find_zk_documents_related_to", **arguments)


# list_zk_documents


def test_all_notes_are_listed_by_path_with_title_and_tags_where_they_say_something(
    notes: Vault,
) -> None:
    document = answer(notes, "list_zk_documents")
    assert document["total"] == len(NOTES) + len(MORE) == len(document["documents"])
    assert document["documents"][1] == {"path": "Diary/Monday.md", "tags": ["project"]}
    assert document["documents"][-1] == {
        "path": "Roof.md",
        "title": "The old roof",
        "tags": ["project/roof", "Haus"],
    }


@pytest.mark.parametrize("folder", ["Diary", "Diary/", "/Diary", "./Diary"])
def test_notes_of_a_folder(notes: Vault, folder: str) -> None:
    paths = [
        entry["path"] for entry in answer(notes, "list_zk_documents", folder=folder)["documents"]
    ]
    assert paths == ["Diary/Limiting.md", "Diary/Monday.md", "Diary/Tuesday.md"]


@pytest.mark.parametrize(
    ("tag", "paths"),
    [
        ("project", ["Diary/Monday.md", "Roof.md"]),
        ("#Project/", ["Diary/Monday.md", "Roof.md"]),
        ("project/roof", ["Roof.md"]),
        ("haus", ["Roof.md"]),
    ],
)
def test_notes_with_a_tag_or_one_nested_in_it(notes: Vault, tag: str, paths: list[str]) -> None:
    assert [
        entry["path"] for entry in answer(notes, "list_zk_documents", tag=tag)["documents"]
    ] == paths


def test_an_unknown_folder_or_tag_is_answered_with_the_nearest(notes: Vault) -> None:
    assert (
        mistake(notes, "list_zk_documents", folder="Dairy")
        == "no note has the folder Dairy. Nearest: Diary"
    )
    assert (
        mistake(notes, "list_zk_documents", folder="½")
        == "no note has the folder ½. There are: Diary, Garden, Queries"
    )
    assert (
        mistake(notes, "list_zk_documents", tag="projects")
        == "no note has the tag projects. Nearest: project, project/roof"
    )


def test_a_list_continues_at_its_offset(notes: Vault) -> None:
    first = answer(notes, "list_zk_documents", limit=5)
    assert first["note"] == "3 more: ask again with offset=5, a folder or a tag."
    rest = answer(notes, "list_zk_documents", offset=5)
    assert first["documents"] + rest["documents"] == answer(notes, "list_zk_documents")["documents"]
    assert answer(notes, "list_zk_documents", offset=8)["note"] == "No note matches."


LISTED = {
    "Books/Dune.md": "---\nstatus: read\nauthor: Frank Herbert\ndate: 2024-03-01\n---\n"
    "Sand. #book\n",
    "Books/Emma.md": "---\nstatus: open\ndate: 2025-01-05\n---\nA match. See [[Dune]]. #book\n",
    "Books/Sandworms.md": "---\nstatus: [open, lent]\n---\nBig worms of sand.\n",
}


@pytest.mark.parametrize(
    ("wanted", "paths"),
    [
        ({"property": "status: open"}, ["Emma", "Sandworms"]),
        ({"property": "status"}, ["Dune", "Emma", "Sandworms"]),
        ({"property": "author: herbert"}, ["Dune"]),
        ({"tag": "book", "property": "status: open"}, ["Emma"]),
        ({"about": "worm"}, ["Sandworms"]),
        ({"about": "sand"}, ["Dune", "Sandworms"]),
        ({"about": "books", "order": "newest"}, ["Sandworms", "Emma", "Dune"]),
        ({"links_to": "Dune"}, ["Emma"]),
        ({"folder": "Books", "until": "before 2025"}, ["Dune"]),
        ({"about": "xylophone"}, []),
        ({"about": "sand -worm"}, ["Dune"]),
        ({"tag": "book", "about": "-sand"}, ["Emma"]),
        ({"folder": "Books", "property": "-author"}, ["Emma", "Sandworms"]),
        ({"folder": "Books", "property": "-status: open"}, ["Dune"]),
        ({"property": "status: read | lent"}, ["Dune", "Sandworms"]),
        ({"property": "status: open; -status: lent"}, ["Emma"]),
        ({"folder": "Books", "links_to": "-"}, ["Dune", "Sandworms"]),
        ({"folder": "Books", "links_to": "-Dune"}, ["Dune", "Sandworms"]),
        ({"folder": "-Books", "tag": "book"}, []),
        ({"folder": "Books", "tag": "-book"}, ["Sandworms"]),
        ({"tag": "book", "order": "oldest"}, ["Dune", "Emma"]),
    ],
)
def test_notes_by_subject_property_link_and_date(
    notes: Vault, wanted: dict[str, str], paths: list[str]
) -> None:
    write_notes(notes.root, LISTED)
    notes.refresh()
    listed = answer(notes, "list_zk_documents", **wanted)
    assert [entry["path"] for entry in listed["documents"]] == [f"Books/{p}.md" for p in paths]
    assert listed["total"] == len(paths)


@pytest.mark.parametrize(
    ("show", "about", "texts"),
    [
        ("open tasks", "", ["- [ ] buy lamps", "\t- TODO call Ann", "- [/] paint the fence"]),
        ("done tasks", "", ["- [x] sweep", "- DONE pay"]),
        ("open tasks", "lamp", ["- [ ] buy lamps"]),
        ("open tasks", "chores fence", ["- [/] paint the fence"]),
        ("open tasks", "xylophone", []),
    ],
)
def test_tasks_are_listed_as_their_lines(
    notes: Vault, show: str, about: str, texts: list[str]
) -> None:
    tasks = "- [ ] buy lamps\n- [x] sweep\n\t- TODO call Ann\n- DONE pay\n"
    code = "```\n- [ ] in code\n```\n"
    write_notes(notes.root, {"Chores.md": f"{tasks}- [/] paint the fence\n\n{code}"})
    notes.refresh()
    listed = answer(notes, "list_zk_documents", show=show, about=about, folder="")
    assert [excerpt["text"] for excerpt in listed.get("excerpts", [])] == texts
    assert listed["total"] == len(texts)


def test_list_with_properties_and_beginnings(notes: Vault) -> None:
    write_notes(notes.root, LISTED)
    notes.refresh()
    listed = answer(
        notes, "list_zk_documents", tag="book", show="author, Status", excerpts=1, order="newest"
    )
    assert listed["documents"][1]["properties"] == {"author": "Frank Herbert", "status": "read"}
    assert listed["documents"][0]["date"] == "2025-01-05"
    [excerpt] = listed["excerpts"]
    assert excerpt["path"] == "Books/Emma.md"


@pytest.mark.parametrize(
    ("group", "counts"),
    [
        ("tags", {"book": 2, "project": 1, "Haus": 1, "project/roof": 1}),
        ("folders", {"": 2, "Books": 3, "Diary": 3, "Garden": 1, "Queries": 2}),
    ],
)
def test_notes_are_counted_by_tag_and_folder(
    notes: Vault, group: str, counts: dict[str, int]
) -> None:
    write_notes(notes.root, LISTED)
    notes.refresh()
    assert answer(notes, "list_zk_documents", show=group)["notes"] == counts


def test_unknown_order_is_refused(notes: Vault) -> None:
    assert "order must be path, newest or oldest" in mistake(
        notes, "list_zk_documents", order="best"
    )


# limits and room


def test_a_limit_above_the_maximum_is_clamped(notes: Vault) -> None:
    write_notes(notes.root, {f"Many/{i}.md": "a filter\n" for i in range(120)})
    notes.refresh()
    for tool, arguments, most in (
        ("find_excerpts", {"query": "filter"}, 20),
        ("find_zk_documents_related_to", {"query": "filter"}, 15),
    ):
        assert len(run(notes, tool, 50_000, limit=10**30, **arguments).chunks) == most
    assert len(answer(notes, "list_zk_documents", limit=10**30)["documents"]) == 100


@pytest.mark.parametrize("tool", ["list_zk_documents", "find_forward_links"])
@pytest.mark.parametrize("room", [120, 250])
def test_a_list_fits_its_budget_and_says_what_is_missing(
    notes: Vault, tool: str, room: int
) -> None:
    write_notes(notes.root, {f"Many/{i}.md": "[[0]] and more\n" for i in range(100)})
    write_notes(notes.root, {"Many/0.md": "".join(f"Then [[{i}]] and so on\n" for i in range(100))})
    notes.refresh()
    result = run(
        notes,
        tool,
        room,
        **({"relative_path": "Many/0.md"} if tool == "find_forward_links" else {"folder": "Many"}),
    )
    assert result.run.tokens <= room
    assert "no room for them" in json.loads(result.content)["note"]


# paths that lead out

PATHS = [
    (name, argument)
    for name, tool in TOOLS.items()
    for argument in ("relative_path", "source", "target")
    if argument in tool.schema["properties"]
]
HOSTILE = {
    "up": "../secret.md",
    "up from within": "Queries/../../secret.md",
    "up in a link": "[[../secret]]",
    "up with backslashes": "..\\secret.md",
    "up, encoded": "%2e%2e/secret.md",
    "absolute": "/etc/passwd",
    "a drive": "C:\\secret.md",
    "a link out": "Link.md",
    "a link out, by name": "[[Link]]",
    "a folder out": "Way/inner.md",
    "case": "LINK.MD",
    "case of a folder": "wAY/INNER.md",
    "hidden": ".obsidian/app.json",
    "hidden note": ".obsidian/note.md",
    "hidden, by name": "[[.obsidian/note]]",
    "hidden further down": "Queries/../.obsidian/app.json",
    "home": "~/secret.md",
    "home of root": "~root/secret.md",
    "NUL": "Roof.md\0../secret.md",
    "4096 characters": "a" * 4096,
    "4096 characters of folders": "a/" * 2048,
    "5000 steps up": "../" * 5000 + "etc/passwd",
    "half a pair": "\ud800.md",
    "a folder": "Queries",
    "a dot": ".",
    "nothing": "",
    "blank": " \n\t",
    "brackets": "[[]]",
    "a newline": "Link.md\nsecret",
    "an address": "file:///etc/passwd",
}


@pytest.mark.parametrize(
    ("tool", "argument"), PATHS, ids=[f"{tool} {argument}" for tool, argument in PATHS]
)
def test_no_path_leads_out_of_the_vault(notes: Vault, tool: str, argument: str) -> None:
    others = {name: "Roof.md" for name in TOOLS[tool].schema["required"] if name != argument}
    for kind, path in HOSTILE.items():
        assert "42" not in mistake(notes, tool, **{**others, argument: path}), kind


@pytest.mark.parametrize(
    ("tool", "argument"), [("list_zk_documents", "folder"), ("resolve_wikilink", "wikilink")]
)
def test_no_folder_and_no_wikilink_leads_out_of_the_vault(
    notes: Vault, tool: str, argument: str
) -> None:
    for kind, path in HOSTILE.items():
        content = run(notes, tool, **{argument: path}).content
        assert "secret is" not in content, kind
        assert len(content) < 1000, kind


@pytest.mark.parametrize(
    ("tool", "argument"), PATHS, ids=[f"{tool} {argument}" for tool, argument in PATHS]
)
def test_a_note_that_became_a_link_out_since_it_was_indexed_is_not_followed(
    notes: Vault, tool: str, argument: str, tmp_path: Path
) -> None:
    (notes.root / "Roof.md").unlink()
    (notes.root / "Roof.md").symlink_to(tmp_path / "secret.md")
    others = {name: "Filters.md" for name in TOOLS[tool].schema["required"] if name != argument}
    assert "42" not in run(notes, tool, **{**others, argument: "Roof"}).content
