"""Editing notes: exact, all or nothing, and never over somebody else's edit."""

from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path

import pytest
from conftest import write_notes
from factories import open_vault, takes_less_than

from zkchat_cli.errors import VaultError
from zkchat_cli.models.notes import IndexReport
from zkchat_cli.vault.edit import transaction
from zkchat_cli.vault.edit.transaction import Change, FileChange
from zkchat_cli.vault.vault import Vault

ARTICLE = (
    "---\ntags: [x]\n---\n# Top\n\nIntro.\n\n## One\n\nOld text.\n\n### Within\n\nDeep.\n\n## "
    "Two\nMore.\n"
)


@pytest.fixture
def notes(tmp_path: Path) -> Callable[..., Vault]:
    """`notes(A="text")` and `notes({"Folder/A.md": "text"})` are vaults."""

    def opened(files: dict[str, str | bytes] | None = None, **texts: str | bytes) -> Vault:
        named = files or {f"{name}.md": text for name, text in texts.items()}
        return open_vault(write_notes(tmp_path / "notes", named), tmp_path / "cache")

    return opened


def everything(vault: Vault) -> dict[str, bytes]:
    """All files below the vault, hidden ones and leftovers too."""
    return {
        str(file.relative_to(vault.root)): file.read_bytes()
        for file in sorted(vault.root.rglob("*"))
        if file.is_file()
    }


def refused(propose: Callable[[], object]) -> str:
    with pytest.raises(VaultError) as e:
        propose()
    assert e.value.hint
    return e.value.message


@pytest.mark.parametrize(
    ("heading", "text", "before", "after"),
    [
        ("Two", "Less.", "## Two\nMore.\n", "## Two\nLess.\n"),
        ("One", "New.\n\n- a\n", "Old text.\n\n### Within\n\nDeep.\n", "New.\n\n- a\n"),
        ("One#Within", "## Within", "Deep.", "## Within"),
        ("One#Within", "### Within\n\nFlat.", "Deep.", "Flat."),
        ("## Two", "", "## Two\nMore.\n", "## Two\n"),
        ("top#two", "Less.", "More.", "Less."),
    ],
)
def test_editing_a_section_changes_nothing_else(
    notes: Callable[..., Vault], heading: str, text: str, before: str, after: str
) -> None:
    vault = notes(A=ARTICLE)
    vault.editor.apply(vault.editor.edit_section("A.md", heading, text))
    assert everything(vault) == {"A.md": ARTICLE.replace(before, after).encode()}


@pytest.mark.parametrize(
    ("note", "heading", "text", "after"),
    [
        (ARTICLE, None, "End.", ARTICLE + "\nEnd.\n"),
        (ARTICLE, "One", "Second.", ARTICLE.replace("Old text.\n", "Old text.\n\nSecond.\n")),
        ("# L\n- a\n\n# M\n", "L", "- b", "# L\n- a\n- b\n\n# M\n"),
        ("# L\n# M\n", "L", "x", "# L\n\nx\n\n# M\n"),
        ("", None, "x\n", "x\n"),
        ("no end", None, "x", "no end\n\nx\n"),
        ("---\na: b\n---\n", None, "x", "---\na: b\n---\n\nx\n"),
        ("Under\n===\nold\n", "Under", "new", "Under\n===\nold\n\nnew\n"),
    ],
)
def test_text_is_appended(
    notes: Callable[..., Vault], note: str, heading: str | None, text: str, after: str
) -> None:
    vault = notes(A=note, B="b")
    vault.editor.apply(vault.editor.append("A.md", text, heading))
    assert everything(vault)["A.md"].decode() == after


@pytest.mark.parametrize(
    ("heading", "text", "after"),
    [
        ("E", "x", "# E\n\nx\n\n# F\n\n\n"),
        ("F", "x", "# E\n# F\n\nx\n\n"),
        ("F", "", "# E\n# F\n\n\n"),
    ],
)
def test_an_empty_section_can_be_edited(
    notes: Callable[..., Vault], heading: str, text: str, after: str
) -> None:
    vault = notes(A="# E\n# F\n\n\n")
    if not text:
        assert "has exactly this text already" in refused(
            lambda: vault.editor.edit_section("A.md", heading, text)
        )
        return
    vault.editor.apply(vault.editor.edit_section("A.md", heading, text))
    assert everything(vault)["A.md"].decode() == after


@pytest.mark.parametrize(
    ("raw", "after"),
    [
        (b"\xef\xbb\xbf# A\r\n\r\nold\r\n", b"\xef\xbb\xbf# A\r\n\r\nnew\r\nlines\r\n"),
        (b"nul\0\n# A\nold\n", b"nul\0\n# A\nnew\nlines\n"),
    ],
)
def test_byte_order_mark_and_line_ends_stay(
    notes: Callable[..., Vault], raw: bytes, after: bytes
) -> None:
    vault = notes(N=raw)
    vault.editor.apply(vault.editor.edit_section("N.md", "A", "new\nlines"))
    assert everything(vault)["N.md"] == after


def test_an_ambiguous_heading_is_refused(notes: Callable[..., Vault]) -> None:
    vault = notes(A="# X\n## Y\na\n# Z\n## Y\nb\n# X\n")
    assert "several headings X: lines 1, 7" in refused(
        lambda: vault.editor.edit_section("A.md", "X", "c")
    )
    vault.editor.apply(vault.editor.edit_section("A.md", "Z#Y", "c"))
    assert everything(vault)["A.md"] == b"# X\n## Y\na\n# Z\n## Y\nc\n# X\n"
    assert "several headings Y: lines 2, 5" in refused(
        lambda: vault.editor.edit_section("A.md", "Y", "d")
    )
    assert "has no heading ^id" in refused(lambda: vault.editor.edit_section("A.md", "^id", "c"))


def test_damaged_large_and_other_files_are_not_edited(notes: Callable[..., Vault]) -> None:
    files = {"B.md": b"x" * 10_000_001, "c.txt": "x", "D.md": "x", "West.md": b"caf\xe9"}
    vault = notes({"A.md": "ö".encode("utf-16"), "Odd.md": b"\xff\x81", **files})
    assert "it is UTF-16, not UTF-8" in refused(lambda: vault.editor.append("A.md", "x"))
    assert "it is Windows-1252, not" in refused(lambda: vault.editor.append("West.md", "x"))
    assert "it is not UTF-8" in refused(lambda: vault.editor.append("Odd.md", "x"))
    assert "larger than 10 MB" in refused(lambda: vault.editor.append("B.md", "x"))
    assert "is not a note" in refused(lambda: vault.editor.append("c.txt", "x"))
    assert "is hidden" in refused(lambda: vault.editor.rename("D.md", ".md"))


def test_links_of_every_form_follow_a_rename(notes: Callable[..., Vault]) -> None:
    source = (
        '---\nup: "[[Old note]]"\n---\n[[old note]] [[Old note#H|shown]] ![[F/Old '
        "note.md]] [[F/Old note|x]] `[[Old note]]` [[Nick]]\n"
        '| [[Old note\\|cell]] |\n[m](F/Old%20note.md#H) [n](<F/Old note.md> "t") [o](Other.md)\n'
    )
    own = "---\naliases: Nick\n---\n[[#H]] [s](./Sib.md) [[Sib]] [[S]]"
    vault = notes({"S.md": source, "F/Old note.md": own, "F/Sib.md": "", "Other.md": "[[Sib]]"})
    change = vault.editor.rename("F/Old note.md", "G/New name")
    assert change.summary == "rename F/Old note.md to G/New name.md, 9 links in 2 notes rewritten"
    vault.editor.apply(change)
    files = {path: raw.decode() for path, raw in everything(vault).items()}
    assert files["S.md"] == (
        '---\nup: "[[New name]]"\n---\n[[New name]] [[New name#H|shown]] ![[G/New '
        "name.md]] [[G/New name|x]] `[[Old note]]` [[Nick]]\n"
        '| [[New name\\|cell]] |\n[m](G/New%20name.md#H) [n](<G/New name.md> "t") [o](Other.md)\n'
    )
    assert files["G/New name.md"].endswith("[[#H]] [s](../F/Sib.md) [[Sib]] [[S]]")
    assert set(files) == {"S.md", "G/New name.md", "F/Sib.md", "Other.md"}
    assert {row.target for row in vault.graph.links("S.md")} == {"G/New name.md", "Other.md"}


def test_a_bare_name_that_becomes_ambiguous_gets_folders(notes: Callable[..., Vault]) -> None:
    vault = notes({"S.md": "[[Old]] [[Taken]]", "F/G/Old.md": "", "H/Taken.md": ""})
    vault.editor.apply(vault.editor.rename("F/G/Old.md", "F/G/Taken.md"))
    assert everything(vault)["S.md"] == b"[[G/Taken]] [[Taken]]"
    vault.editor.apply(vault.editor.rename("F/G/Taken.md", "Taken.md"))
    assert everything(vault)["S.md"] == b"[[Taken]] [[H/Taken]]"


def test_a_rename_sees_links_written_since_the_last_refresh(notes: Callable[..., Vault]) -> None:
    vault = notes(A="x", B="x")
    write_notes(vault.root, {"A.md": "[[B]]", "C.md": "[[b]]"})
    vault.editor.apply(vault.editor.rename("B.md", "Bee.md"))
    assert everything(vault) == {"A.md": b"[[Bee]]", "Bee.md": b"x", "C.md": b"[[Bee]]"}


def test_trash_never_overwrites(notes: Callable[..., Vault]) -> None:
    vault = notes(A="[[B]] [[B]]", B="new")
    write_notes(vault.root, {".trash/B.md": "old", "F/B.md": "third"})
    change = vault.editor.trash("B.md")
    assert (change.summary, change.note) == (
        "move B.md to .trash/B 1.md",
        "2 links in 1 note will be broken.",
    )
    vault.editor.apply(change)
    vault.refresh()
    vault.editor.apply(vault.editor.trash("F/B.md"))
    assert everything(vault) == {
        "A.md": b"[[B]] [[B]]",
        ".trash/B.md": b"old",
        ".trash/B 1.md": b"new",
        ".trash/B 2.md": b"third",
    }
    assert vault.note_paths() == ["A.md"]


def test_symbolic_links_do_not_lead_out_of_the_vault(
    notes: Callable[..., Vault], tmp_path: Path
) -> None:
    vault = notes(A="x")
    (tmp_path / "out").mkdir()
    (vault.root / ".trash").symlink_to(tmp_path / "out")
    (vault.root / "door").symlink_to(tmp_path / "out")
    (vault.root / "B.md").symlink_to(vault.root / "A.md")
    assert "is a symbolic link" in refused(lambda: vault.editor.trash("A.md"))
    assert "leads out" in refused(lambda: vault.editor.create("door/x", "x"))
    assert "leads out" in refused(lambda: vault.editor.rename("A.md", "door/A.md"))
    assert "is a link to another file" in refused(lambda: vault.editor.rename("B.md", "C.md"))
    assert list((tmp_path / "out").iterdir()) == []


@pytest.mark.parametrize("error", [OSError(28, "No space left on device"), KeyboardInterrupt()])
@pytest.mark.parametrize("step", range(3))
@pytest.mark.parametrize("old", ["[[./A]]", "[[A]]"])  # rewritten or only moved
def test_a_change_that_fails_in_the_middle_is_undone(
    notes: Callable[..., Vault],
    monkeypatch: pytest.MonkeyPatch,
    old: str,
    step: int,
    error: BaseException,
) -> None:
    vault = notes(A="[[Old]]", B="[[Old]]", Old=old)
    before = everything(vault)
    change = vault.editor.rename("Old.md", "F/New.md")
    # The record of the change, which is for taking it back, is put in its place first
    for owner, stage, records in ((transaction, "_change_file", 0), (Path, "replace", 1)):
        real = getattr(owner, stage)
        done = iter(range(-records, 100))

        def carry_out(
            *arguments: object, real: Callable[..., object] = real, done: Iterator[int] = done
        ) -> object:
            outcome = real(*arguments)
            if next(done) == step:
                raise error
            return outcome

        with monkeypatch.context() as failing, pytest.raises((VaultError, KeyboardInterrupt)):
            failing.setattr(owner, stage, carry_out)
            vault.editor.apply(change)
        assert everything(vault) == before
        assert not (vault.root / "F").exists()
    vault.editor.apply(change)
    assert set(everything(vault)) == {"A.md", "B.md", "F/New.md"}


@pytest.mark.parametrize("problem", [VaultError("the index is busy", "Wait."), KeyboardInterrupt()])
def test_a_change_is_made_when_the_index_cannot_take_it_in(
    notes: Callable[..., Vault], problem: BaseException
) -> None:
    vault = notes(A="a")
    change = vault.editor.append("A.md", "b")

    def stopped(**_: object) -> IndexReport:
        raise problem

    assert replace(vault.editor, refresh=stopped).apply(change) is None
    assert everything(vault)["A.md"] == b"a\n\nb\n"


def test_a_path_taken_meanwhile_is_not_overwritten(notes: Callable[..., Vault]) -> None:
    vault = notes(A="a", B="b")
    change = vault.editor.rename("A.md", "C.md")
    write_notes(vault.root, {"C.md": "mine"})
    assert "exists already" in refused(lambda: vault.editor.apply(change))
    vanished = Change("x", (FileChange("Gone.md", "Gone.md", b"", b"x"),))
    assert "no such file" in refused(lambda: vault.editor.apply(vanished))
    assert everything(vault) == {"A.md": b"a", "B.md": b"b", "C.md": b"mine"}


def test_the_diff_is_as_git_shows_it() -> None:
    old = "".join(f"{i}\n" for i in range(1, 21))
    new = old.replace("2\n", "two\n", 1).replace("19\n", "19\nmore\n").replace("20\n", "20")
    assert FileChange("a.md", "b.md", old.encode(), new.encode()).diff == (
        "--- a/a.md\n+++ b/b.md\n@@ -1,5 +1,5 @@\n 1\n-2\n+two\n 3\n 4\n 5\n"
        "@@ -17,4 +17,5 @@\n 17\n 18\n 19\n-20\n+more\n+20\n\\ No newline at end of file\n"
    )
    assert FileChange("a.md", "b.md", b"x\n", b"x\n").diff == "--- a/a.md\n+++ b/b.md\n"


@pytest.mark.untraced
def test_hostile_notes_are_renamed_and_edited_fast(
    notes: Callable[..., Vault], untraced: None
) -> None:
    links = "[[Old]] " * 5_000 + "[[" * 20_000 + "[x](" * 10_000 + "\n" + "# H\n" * 2_000
    vault = notes(A=links, Old="[[./A]]" * 2_000)
    with takes_less_than(8):
        change = vault.editor.rename("Old.md", "F/New.md")
        assert change.diff
        vault.editor.apply(change)
        assert everything(vault)["A.md"].count(b"[[New]]") == 5_000
        vault.editor.append("A.md", "x" * 1_000_000)
