"""Partial refreshes: the index equals one that is built at once."""

import os
import tempfile
from pathlib import Path

import pytest
from conftest import write_notes
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, precondition, rule
from notes_folder import NotesFolder

from zkchat_cli.vault.vault import Vault

PATHS = st.sampled_from(
    [
        "a.md",
        "A.md",
        "b.md",
        "sub/a.md",
        "sub/c.md",
        "sub/deep/b.md",
        "caf\u00e9.md",
        "消息.markdown",
    ]
)
FILES = st.sampled_from(["p.png", "sub/p.png", "c"])
NAMES = st.sampled_from(
    [
        "a",
        "sub/a",
        "./a",
        "b#two",
        "c",
        "caf\u00e9",
        "消息",
        "p.png",
        "First",
        "x/First",
        "gone",
        "#one",
        "B",
        "",
    ]
)
LABELS = st.sampled_from(["", "", "|first", "|the  First one", "|100", "|交换机"])
LINKS = st.one_of(
    st.builds("{}[[{}{}]]".format, st.sampled_from(["", "", "!"]), NAMES, LABELS),
    st.builds(
        "[{}]({}.md)".format,
        st.sampled_from(["100", "first", "see"]),
        st.sampled_from(["a", "sub/a", "../a", "gone"]),
    ),
)
TEXTS = st.sampled_from(
    [
        "word",
        "the word's",
        "# one",
        "## two — deux",
        "café",
        "消息队列",
        "#tag",
        "#Tag/below",
        "\x00",
        "É" * 2000,
        "",
    ]
)
HEADS = st.sampled_from(
    [
        "",
        "",
        "---\naliases: [First, é]\n---\n",
        "---\naliases: First\ntags: [tag, tag/x, TAG]\n---\n",
        "---\ntitle: B\naliases: [b]\n---\n",
        "---\na: [\n---\n",
    ]
)
NOTES = st.builds(
    lambda head, lines: head + "\n".join(lines),
    HEADS,
    st.lists(st.one_of(LINKS, TEXTS), max_size=6),
)


class Edits(RuleBasedStateMachine):
    """A person at work on notes; `changed` are the paths that the index has not been told of."""

    def __init__(self) -> None:
        super().__init__()
        self.folder = tempfile.TemporaryDirectory()
        self.notes = NotesFolder(Path(self.folder.name), Always="This one stays. [[a|first]]")
        self.changed: set[str] = set()
        self.clock = 10**18
        self.notes.vault.refresh()

    def teardown(self) -> None:
        self.notes.vault.close()
        self.folder.cleanup()

    def put(self, path: str, text: str) -> None:
        file = write_notes(self.notes.root, {path: text}) / path
        self.clock += 1_000_000
        os.utime(file, ns=(self.clock, self.clock))
        self.changed.add(path)

    @rule(path=PATHS, text=NOTES)
    def write(self, path: str, text: str) -> None:
        self.put(path, text)

    @rule(path=FILES)
    def attach(self, path: str) -> None:
        self.put(path, "data")

    @rule(path=st.one_of(PATHS, FILES))
    def touch(self, path: str) -> None:
        if (self.notes.root / path).exists():
            self.put(path, (self.notes.root / path).read_text(encoding="utf-8"))

    @rule(path=st.one_of(PATHS, FILES))
    def delete(self, path: str) -> None:
        (self.notes.root / path).unlink(missing_ok=True)
        self.changed.add(path)

    @rule(old=PATHS, new=PATHS)
    def rename(self, old: str, new: str) -> None:
        if (self.notes.root / old).exists():
            (self.notes.root / new).parent.mkdir(parents=True, exist_ok=True)
            (self.notes.root / old).replace(self.notes.root / new)
            self.changed |= {old, new}

    @precondition(lambda self: self.changed)
    @rule()
    def refresh(self) -> None:
        self.notes.vault.refresh()
        self.changed.clear()

    @precondition(lambda self: self.changed)
    @rule()
    def refresh_only_what_changed(self) -> None:
        self.notes.vault.refresh(only=self.changed)
        self.changed.clear()

    @invariant()
    def is_the_index_made_at_once(self) -> None:
        if not self.changed:
            self.notes.check()


Edits.TestCase.settings = settings(max_examples=6, stateful_step_count=12)
TestEdits = Edits.TestCase


def test_the_alias_of_a_link_becomes_a_name_of_its_new_target(tmp_path):
    notes = NotesFolder(
        tmp_path, Target="What I call [[Target|quux]] myself is no name of mine.", Source="Nothing."
    )
    notes.vault.refresh()
    notes.write("Target.md", "Nothing.")
    notes.write("Source.md", "See [[Target|quux]].")
    notes.vault.refresh()
    assert "Target.md" in notes.found("quux")
    notes.check()
    notes.vault.close()


@pytest.mark.parametrize(
    "path",
    [
        "../outside.md",
        "/etc/passwd.md",
        "\udcff.md",
        "",
        "./Stays.md",
        "linked/Inner.md",
        "folder//Inner.md",
    ],
)
def test_a_path_outside_of_the_vault_is_not_added(tmp_path, path):
    notes = NotesFolder(tmp_path, Stays="This one stays.", outside="No, this one is inside.")
    (tmp_path / "outside.md").write_text("not in the vault")
    notes.write("folder/Inner.md", "listed once")
    (notes.root / "linked").symlink_to(notes.root / "folder")
    notes.vault.refresh()
    assert notes.vault.refresh(only=[path, str(tmp_path / "outside.md")]).notes == 3
    notes.check()
    notes.vault.close()


def test_a_hidden_or_ignored_path_is_not_added(tmp_path):
    notes = NotesFolder(tmp_path, Stays="This one stays.")
    notes.write(".trash/Gone.md", "thrown away")
    notes.write("Drafts/Draft.md", "not yet")
    vault = Vault.open(notes.root, notes.cache, ignore=["Drafts"])
    vault.refresh()
    assert vault.refresh(only=[".trash/Gone.md", "Drafts/Draft.md"]).notes == 1
    vault.close()
