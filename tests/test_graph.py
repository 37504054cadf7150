"""The link graph: shortest paths, related notes."""

import random
from collections import deque
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest
from conftest import write_notes
from factories import open_vault
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from zkchat_cli.vault.vault import Vault

NOTES = {
    # a chain with a side road, a circle and everything that is no line of the graph
    "A.md": "Begins with [[B]], again [[b|the second]], and itself: [[A]], [[#Here]].\n\n# Here\n",
    "B.md": "# B\n\nOn to ![[C]] and back to [[A]].\n",
    "C.md": "- [the fourth](folder/D.md)\n- ![[logo.png]]\n",
    "folder/D.md": "---\nup: '[[C]]'\n---\nEnds here.\n",
    "Side.md": "Leads to [[D#Nothing]] and shows ![[logo.png]].\n",
    "Broken.md": "[[Nowhere]], [[Broken]] and [[#Nothing]]\n",
    "Picture.md": "![[logo.png]]\n",
    "Alone.md": "Says nothing of others.\n",
    "logo.png": "a picture",
}


@pytest.fixture
def notes(tmp_path: Path) -> Iterator[Vault]:
    with closing(open_vault(write_notes(tmp_path / "notes", NOTES), tmp_path / "cache")) as vault:
        yield vault


def way(notes: Vault, source: str, target: str) -> tuple[str, ...] | None:
    found = notes.graph.shortest_path(source, target)
    return found and tuple(found[0])


# ways


def test_a_path_may_not_exist_and_leads_over_no_picture(notes: Vault) -> None:
    assert way(notes, "A.md", "Side.md") == ("A.md", "B.md", "C.md", "folder/D.md", "Side.md")
    assert way(notes, "A.md", "A.md") == ("A.md",)
    assert way(notes, "A.md", "Picture.md") is None


@settings(max_examples=25, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.integers(0, 10**6))
def test_a_path_is_as_short_as_in_a_simple_search(
    tmp_path_factory: pytest.TempPathFactory, seed: int
) -> None:
    dice = random.Random(seed)
    links = {
        str(i): {str(dice.randrange(12)) for _ in range(dice.choice((0, 1, 1, 2)))}
        for i in range(12)
    }
    folder = tmp_path_factory.mktemp("random")
    vault = open_vault(
        write_notes(
            folder / "n",
            {f"{i}.md": " ".join(f"[[{t}]]" for t in sorted(to)) for i, to in links.items()},
        ),
        folder / "c",
    )
    joined = {(a, b) for a, to in links.items() for b in to} | {
        (b, a) for a, to in links.items() for b in to
    }
    distance = {"0": 0}
    queue = deque(["0"])
    while queue:
        here = queue.popleft()
        for there in sorted(b for a, b in joined if a == here and b not in distance):
            distance[there] = distance[here] + 1
            queue.append(there)
    for target in links:
        found = vault.graph.shortest_path("0.md", f"{target}.md")
        assert (len(found[1]) if found else None) == distance.get(target)
        on_path, steps = found or ([], [])
        for step, *ends in zip(steps, on_path, on_path[1:], strict=False):
            assert [step.source, step.target] in (ends, ends[::-1])
    vault.close()


# related notes


def test_notes_are_related_by_links_and_words(tmp_path: Path) -> None:
    texts = {
        "Roof.md": "The roof leaks at the chimney. Slate and flashing were ordered, see [[House]].",
        "Chimney.md": "Flashing around the chimney keeps the roof dry. Part of [[House]].",
        "House.md": "All about the house.",
        "Cellar.md": "Damp below, also [[House]].",
        "Bread.md": "Flour, water, salt.",
        "Slate.md": "Slate lasts a hundred years on any roof.",
    }
    vault = open_vault(write_notes(tmp_path / "n", texts), tmp_path / "c")
    found = vault.graph.related_notes("Roof.md")
    assert {r.chunk.relative_path: r.why for r in found} == {
        "House.md": ("linked from here", "shares the word house"),
        "Cellar.md": ("both linked with House.md", "shares the word house"),
        "Chimney.md": (
            "both linked with House.md",
            "shares the words roof, flashing, chimney, house",
        ),
        "Slate.md": ("shares the words roof, slate",),
    }
    assert vault.graph.related_notes("Roof.md", 1) == found[:1]
    assert "it links here" in vault.graph.related_notes("House.md")[0].why
    vault.close()


def test_notes_about_a_question_are_listed_once(notes: Vault) -> None:
    write_notes(
        notes.root,
        {
            "Long.md": "\n\n".join(
                f"## Part {i}\n\n" + f"Chimneys of part {i}. " * 60 for i in range(5)
            )
        },
    )
    notes.refresh()
    [found] = notes.graph.notes_about("what about chimneys?")
    assert (found.chunk.relative_path, found.why) == ("Long.md", ("shares the word chimneys",))
    assert notes.graph.notes_about("chimneys", 0) == []


def test_a_deleted_related_note_is_left_out(notes: Vault) -> None:
    assert "Side.md" in {r.chunk.relative_path for r in notes.graph.related_notes("folder/D.md")}
    (notes.root / "Side.md").unlink()
    assert "Side.md" not in {
        r.chunk.relative_path for r in notes.graph.related_notes("folder/D.md")
    }


def test_a_list_of_all_notes_relates_nothing(tmp_path: Path) -> None:
    texts = {f"{i}.md": f"{'abcdefghijklmnopqrstuvwxyz'[i % 26] * 3}{i}" for i in range(120)}
    vault = open_vault(
        write_notes(tmp_path / "n", {**texts, "All.md": " ".join(f"[[{i}]]" for i in range(120))}),
        tmp_path / "c",
    )
    assert [(r.chunk.relative_path, r.why) for r in vault.graph.related_notes("7.md")] == [
        ("All.md", ("it links here",))
    ]
    vault.close()
