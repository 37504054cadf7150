"""The built-in demo vault: its links work, its notes are found, and what they say is true."""

import re
import shutil
from collections.abc import Iterator
from contextlib import closing
from importlib.resources import files
from pathlib import Path

import pytest
from factories import open_vault

from zkchat_cli import paths
from zkchat_cli.config import loader
from zkchat_cli.models.notes import LinkResolution
from zkchat_cli.vault.vault import Vault

START = "Start here.md"
BROKEN_ON_PURPOSE = "[[Reading lsit]]"

QUESTIONS = {
    "what is zkchat?": "Using zkchat/What zkchat is.md",
    "how do I cite a note?": "Using zkchat/Citations and sources.md",
    "what does compaction do?": "Using zkchat/Compaction.md",
    "how do I undo a compaction?": "Using zkchat/Compaction.md",
    "which models can I use?": "Using zkchat/Choosing a model.md",
    "what is a wikilink?": "Linking/Wikilinks.md",
    "how do I link to a heading?": "Linking/Links to headings and blocks.md",
    "what happens when the context window is full?": "Using zkchat/The context window.md",
    "where are my conversations stored?": "Using zkchat/Where things are kept.md",
    "does anything leave my machine?": "Using zkchat/What leaves your machine.md",
    "what is an evergreen note?": "Keeping notes/Evergreen notes.md",
    "how do I write a literature note?": "Keeping notes/Literature notes.md",
    "what is a map of content?": "Linking/Map of content.md",
    "how often should I review my notes?": "Keeping notes/Reviewing notes.md",
    "what are tags for?": "Linking/Tags.md",
    "how do I export a conversation?": "Using zkchat/Exporting a conversation.md",
    "what does Ctrl-C do?": "Using zkchat/Keys and commands.md",
}


@pytest.fixture(scope="module")
def demo(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A copy of the demo vault, as `zkchat chat --demo` makes one."""
    return Path(
        shutil.copytree(
            str(files("zkchat_cli") / "demo"), tmp_path_factory.mktemp("demo") / "notes"
        )
    )


@pytest.fixture(scope="module")
def notes(demo: Path) -> dict[str, str]:
    """Each note's text by its path."""
    return {
        file.relative_to(demo).as_posix(): file.read_text(encoding="utf-8")
        for file in sorted(demo.rglob("*.md"))
    }


@pytest.fixture(scope="module")
def vault(demo: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Vault]:
    with closing(open_vault(demo, tmp_path_factory.mktemp("cache"))) as vault:
        yield vault


@pytest.fixture(scope="module")
def links(vault: Vault, notes: dict[str, str]) -> dict[str, list[LinkResolution]]:
    """What each note links to."""
    return {path: list(vault.resolve_links(text, path)) for path, text in notes.items()}


def test_every_note_is_read_without_a_problem(vault: Vault, notes: dict[str, str]) -> None:
    report = vault.refresh()
    assert report.notes == len(notes)
    assert report.problems == ()


def test_exactly_one_link_is_broken_and_its_note_says_so(
    links: dict[str, list[LinkResolution]], notes: dict[str, str]
) -> None:
    broken = [
        (path, link.raw)
        for path, found in links.items()
        for link in found
        if link.status != "found"
    ]
    assert broken == [("Linking/Broken links.md", BROKEN_ON_PURPOSE)]
    assert (
        f"broken on purpose to show what happens: {BROKEN_ON_PURPOSE}"
        in notes["Linking/Broken links.md"]
    )


def test_every_heading_and_block_that_is_linked_exists(
    links: dict[str, list[LinkResolution]], notes: dict[str, str]
) -> None:
    for path, found in links.items():
        for link in found:
            if link.target and link.heading:
                text = notes[link.target]
                place = (
                    rf"^{re.escape(link.heading)}$"
                    if link.heading.startswith("^")
                    else rf"^#+ {re.escape(link.heading)}$"
                )
                assert re.search(place, text, re.MULTILINE), f"{path}: {link.raw}"


def test_every_note_is_reachable_from_the_start(links: dict[str, list[LinkResolution]]) -> None:
    reached = {START}
    ahead = [START]
    while ahead:
        for link in links[ahead.pop()]:
            if link.target and link.target not in reached:
                reached.add(link.target)
                ahead.append(link.target)
    assert set(links) - reached == set()


@pytest.mark.parametrize(("question", "expected"), QUESTIONS.items())
def test_an_obvious_question_finds_its_note(vault: Vault, question: str, expected: str) -> None:
    found = list(dict.fromkeys(chunk.relative_path for chunk in vault.search(question, 10)))
    assert expected in found[:3]


def test_the_settings_shown_as_an_example_are_valid(notes: dict[str, str], tmp_path: Path) -> None:
    [example] = re.findall(r"```toml\n(.*?)```", notes["Using zkchat/Settings.md"], re.DOTALL)
    (tmp_path / loader.PROJECT_FILE).write_text(example, encoding="utf-8")
    values = loader.load_config(
        {}, {}, paths.app_paths({"ZKCHAT_HOME": str(tmp_path / "home")}), vault=tmp_path
    ).values
    assert (values.vault.ignore, values.references.max_displayed) == (
        ("Templates/*", "Archive/*"),
        5,
    )


def test_the_defaults_in_the_table_of_settings_are_the_real_ones(notes: dict[str, str]) -> None:
    rows = dict(
        re.findall(
            r"^\| `([a-z_.]+)` \| `?([^`|]*?)`? \|", notes["Using zkchat/Settings.md"], re.MULTILINE
        )
    )
    assert len(rows) >= 4
    assert rows == {key: str(loader.default_values()[key]) or "empty" for key in rows}
