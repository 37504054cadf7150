"""Editing notes: exact, all or nothing, and never over somebody else's edit."""

import os
import time
from collections.abc import Callable
from pathlib import Path

import pytest
from conftest import write

from zkchat_cli.errors import VaultError
from zkchat_cli.fileio import atomic_write
from zkchat_cli.models import IndexReport
from zkchat_cli.vault.edit import transaction
from zkchat_cli.vault.edit.note_editor import LinkFix
from zkchat_cli.vault.edit.transaction import Change, FileChange, FileTransaction
from zkchat_cli.vault.vault import Vault

ARTICLE = "---\ntags: [x]\n---\n# Top\n\nIntro.\n\n## One\n\nOld text.\n\n### Within\n\nDeep.\n\n## Two\nMore.\n"


@pytest.fixture
def notes(tmp_path: Path) -> Callable[..., Vault]:
    def a_vault(**texts: str | bytes) -> Vault:
        return in_files({f"{name}.md": text for name, text in texts.items()})

    def in_files(files: dict[str, str | bytes]) -> Vault:
        root = tmp_path / "notes"
        for path, text in files.items():
            (root / path).parent.mkdir(parents=True, exist_ok=True)
            (root / path).write_bytes(text if isinstance(text, bytes) else text.encode())
        vault = Vault.open(root, tmp_path / "cache")
        vault.refresh()
        return vault

    a_vault.files = in_files  # type: ignore[attr-defined]
    return a_vault


def everything(vault: Vault) -> dict[str, bytes]:
    """All files below the vault, hidden ones and leftovers too."""
    return {str(file.relative_to(vault.root)): file.read_bytes() for file in sorted(vault.root.rglob("*")) if file.is_file()}


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
def test_editing_a_section_changes_nothing_else(notes: Callable[..., Vault], heading: str, text: str, before: str, after: str) -> None:
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
def test_text_is_appended(notes: Callable[..., Vault], note: str, heading: str | None, text: str, after: str) -> None:
    vault = notes(A=note, B="b")
    vault.editor.apply(vault.editor.append("A.md", text, heading))
    assert everything(vault)["A.md"].decode() == after


@pytest.mark.parametrize(
    ("heading", "text", "after"),
    [("E", "x", "# E\n\nx\n\n# F\n\n\n"), ("F", "x", "# E\n# F\n\nx\n\n"), ("F", "", "# E\n# F\n\n\n")],
)
def test_an_empty_section_can_be_edited(notes: Callable[..., Vault], heading: str, text: str, after: str) -> None:
    vault = notes(A="# E\n# F\n\n\n")
    if not text:
        assert "has exactly this text already" in refused(lambda: vault.editor.edit_section("A.md", heading, text))
        return
    vault.editor.apply(vault.editor.edit_section("A.md", heading, text))
    assert everything(vault)["A.md"].decode() == after


@pytest.mark.parametrize(
    ("raw", "after"),
    [
        (b"\xef\xbb\xbf# A\r\n\r\nold\r\n", b"\xef\xbb\xbf# A\r\n\r\nnew\r\nlines\r\n"),
        (b"x\xff\r\n# A\rold\nrest\r\n", b"x\xff\r\n# A\rnew\r\nlines\r\n"),
        ("# Ä\n\nold\n".encode("utf-16"), "# Ä\n\nnew\nlines\n".encode("utf-16")),
        (b"# A\rold", b"# A\rnew\rlines"),
        (b"nul\0\n# A\nold\n", b"nul\0\n# A\nnew\nlines\n"),
    ],
)
def test_encoding_byte_order_mark_line_ends_and_invalid_bytes_stay(notes: Callable[..., Vault], raw: bytes, after: bytes) -> None:
    vault = notes(N=raw)
    heading = "Ä" if raw[:2] == b"\xff\xfe" else "A"
    vault.editor.apply(vault.editor.edit_section("N.md", heading, "new\nlines"))
    assert everything(vault)["N.md"] == after


def test_an_ambiguous_heading_is_refused(notes: Callable[..., Vault]) -> None:
    vault = notes(A="# X\n## Y\na\n# Z\n## Y\nb\n# X\n")
    assert "several headings X: lines 1, 7" in refused(lambda: vault.editor.edit_section("A.md", "X", "c"))
    vault.editor.apply(vault.editor.edit_section("A.md", "Z#Y", "c"))
    assert everything(vault)["A.md"] == b"# X\n## Y\na\n# Z\n## Y\nc\n# X\n"
    assert "several headings Y: lines 2, 5" in refused(lambda: vault.editor.edit_section("A.md", "Y", "d"))
    vault.editor.apply(vault.editor.edit_section("A.md", "X (line 7)", "d"))
    assert everything(vault)["A.md"] == b"# X\n## Y\na\n# Z\n## Y\nc\n# X\n\nd\n"
    assert "has no heading X (line 8)" in refused(lambda: vault.editor.edit_section("A.md", "X (line 8)", "d"))
    assert "has no heading ^id" in refused(lambda: vault.editor.edit_section("A.md", "^id", "c"))


@pytest.mark.parametrize("text", ["```\nopen", "x\n~~~~\n```\nopen\n```", "<!-- open"])
def test_a_text_that_would_swallow_the_headings_below_is_refused(notes: Callable[..., Vault], text: str) -> None:
    vault = notes(A="# X\na\n\n## Y\nb\n\n# Z\nc\n")
    for change in (
        lambda: vault.editor.edit_section("A.md", "X", text),
        lambda: vault.editor.edit_section("A.md", "Y", text),
        lambda: vault.editor.append("A.md", text, "X"),
    ):
        assert "the text below would become part of the new text" in refused(change)
    vault.editor.apply(vault.editor.edit_section("A.md", "X", "```\n# closed\n```"))
    vault.editor.apply(vault.editor.edit_section("A.md", "Z", text))
    assert everything(vault)["A.md"].decode() == f"# X\n```\n# closed\n```\n\n# Z\n{text}\n"


def test_damaged_large_and_other_files_are_not_edited(notes: Callable[..., Vault]) -> None:
    vault = notes.files({"A.md": b"\xff\xfeodd", "B.md": b"x" * 10_000_001, "c.txt": "x", "D.md": "x"})  # type: ignore[attr-defined]
    assert "begins like UTF-16 and is not" in refused(lambda: vault.editor.append("A.md", "x"))
    assert "larger than 10 MB" in refused(lambda: vault.editor.append("B.md", "x"))
    assert "is not a note" in refused(lambda: vault.editor.append("c.txt", "x"))
    assert "is hidden" in refused(lambda: vault.editor.rename("D.md", ".md"))


def test_links_of_every_form_follow_a_rename(notes: Callable[..., Vault]) -> None:
    source = (
        '---\nup: "[[Old note]]"\n---\n[[old note]] [[Old note#H|shown]] ![[F/Old note.md]] [[F/Old note|x]] `[[Old note]]` [[Nick]]\n'
        '| [[Old note\\|cell]] |\n[m](F/Old%20note.md#H) [n](<F/Old note.md> "t") [r][d] [o](Other.md)\n\n[d]: F/Old%20note.md\n'
    )
    own = "---\naliases: Nick\n---\n[[#H]] [s](./Sib.md) [[Sib]] [[S]]"
    vault = notes.files(  # type: ignore[attr-defined]
        {
            "S.md": source,
            "F/Old note.md": own,
            "F/Sib.md": "",
            "Other.md": "[[Sib]]",
        }
    )
    change = vault.editor.rename("F/Old note.md", "G/New name")
    assert change.summary == "rename F/Old note.md to G/New name.md, 10 links in 2 notes rewritten"
    vault.editor.apply(change)
    files = {path: raw.decode() for path, raw in everything(vault).items()}
    assert files["S.md"] == (
        '---\nup: "[[New name]]"\n---\n[[New name]] [[New name#H|shown]] ![[G/New name.md]] [[G/New name|x]] `[[Old note]]` [[Nick]]\n'
        '| [[New name\\|cell]] |\n[m](G/New%20name.md#H) [n](<G/New name.md> "t") [r][d] [o](Other.md)\n\n[d]: G/New%20name.md\n'
    )
    assert files["G/New name.md"].endswith("[[#H]] [s](../F/Sib.md) [[Sib]] [[S]]")
    assert set(files) == {"S.md", "G/New name.md", "F/Sib.md", "Other.md"}
    assert {row.target for row in vault.links("S.md")} == {"G/New name.md", "Other.md"}


def test_a_bare_name_that_becomes_ambiguous_gets_folders(notes: Callable[..., Vault]) -> None:
    vault = notes.files({"S.md": "[[Old]] [[Taken]]", "F/G/Old.md": "", "H/Taken.md": ""})  # type: ignore[attr-defined]
    vault.editor.apply(vault.editor.rename("F/G/Old.md", "F/G/Taken.md"))
    assert everything(vault)["S.md"] == b"[[G/Taken]] [[Taken]]"
    vault.editor.apply(vault.editor.rename("F/G/Taken.md", "Taken.md"))
    assert everything(vault)["S.md"] == b"[[Taken]] [[H/Taken]]"


def test_a_rename_sees_links_written_since_the_last_refresh(notes: Callable[..., Vault]) -> None:
    vault = notes(A="x", B="x")
    write(vault.root, {"A.md": "[[B]]", "C.md": "[[b]]"})
    vault.editor.apply(vault.editor.rename("B.md", "Bee.md"))
    assert everything(vault) == {"A.md": b"[[Bee]]", "Bee.md": b"x", "C.md": b"[[Bee]]"}


def test_trash_never_overwrites(notes: Callable[..., Vault]) -> None:
    vault = notes(A="[[B]] [[B]]", B="new")
    write(vault.root, {".trash/B.md": "old", "F/B.md": "third"})
    change = vault.editor.trash("B.md")
    assert (change.summary, change.note) == ("move B.md to .trash/B 1.md", "2 links in 1 note will be broken.")
    vault.editor.apply(change)
    vault.refresh()
    vault.editor.apply(vault.editor.trash("F/B.md"))
    assert everything(vault) == {"A.md": b"[[B]] [[B]]", ".trash/B.md": b"old", ".trash/B 1.md": b"new", ".trash/B 2.md": b"third"}
    assert vault.note_paths() == ["A.md"]


def test_symbolic_links_do_not_lead_out_of_the_vault(notes: Callable[..., Vault], tmp_path: Path) -> None:
    vault = notes(A="x")
    (tmp_path / "out").mkdir()
    (vault.root / ".trash").symlink_to(tmp_path / "out")
    (vault.root / "door").symlink_to(tmp_path / "out")
    (vault.root / "B.md").symlink_to(vault.root / "A.md")
    assert "is a link" in refused(lambda: vault.editor.trash("A.md"))
    assert "leads out" in refused(lambda: vault.editor.create("door/x", "x"))
    assert "leads out" in refused(lambda: vault.editor.rename("A.md", "door/A.md"))
    assert "is a link to another file" in refused(lambda: vault.editor.rename("B.md", "C.md"))
    raw = (vault.root / "A.md").read_bytes()
    assert "is a link to another file" in refused(lambda: vault.editor.apply(Change("x", (FileChange("B.md", "C.md", raw, raw),))))
    assert list((tmp_path / "out").iterdir()) == []


def broken_at(vault: Vault, monkeypatch: pytest.MonkeyPatch, step: int, error: BaseException) -> None:
    """The `step`-th exchange of names fails."""
    real, done = transaction._exchange, iter(range(100))

    def carry_out(each: transaction._Step) -> None:
        if next(done) == step:
            raise error
        real(each)

    monkeypatch.setattr(transaction, "_exchange", carry_out)


@pytest.mark.parametrize("step", range(4))
def test_a_change_killed_in_the_middle_is_undone_by_the_next_refresh(notes: Callable[..., Vault], step: int) -> None:
    vault = notes(A="[[Old]]", B="[[Old]]", Old="x")
    before = everything(vault)
    change = vault.editor.rename("Old.md", "F/New.md")
    if (child := os.fork()) == 0:
        real, done = transaction._exchange, iter(range(100))
        transaction._exchange = lambda each: os._exit(9) if next(done) == step else real(each)
        try:
            FileTransaction(vault.root, vault.editor.journal).apply(change)
        finally:
            os._exit(0)
    os.waitpid(child, 0)
    report = vault.refresh()
    if step == 3:  # it was done
        assert set(everything(vault)) == {"A.md", "B.md", "F/New.md"}
        return
    assert everything(vault) == before
    assert "interrupted" in vault.take_warnings()[0].message
    assert report.notes == 3
    assert vault.take_warnings() == []


@pytest.mark.parametrize("step", range(3))
def test_a_change_killed_before_its_renames_leaves_no_scratch_files(notes: Callable[..., Vault], step: int) -> None:
    vault = notes(A="[[Old]]", B="[[Old]]", Old="x")
    before = everything(vault)
    change = vault.editor.rename("Old.md", "F/New.md")
    if (child := os.fork()) == 0:
        real, done = transaction._prepare, iter(range(100))
        transaction._prepare = lambda each: (real(each), next(done) == step and os._exit(9))  # type: ignore[func-returns-value,assignment]
        try:
            FileTransaction(vault.root, vault.editor.journal).apply(change)
        finally:
            os._exit(0)
    os.waitpid(child, 0)
    assert everything(vault) != before or (vault.root / "F").exists()
    vault.refresh()
    assert everything(vault) == before
    assert not (vault.root / "F").exists()


def test_a_change_is_made_when_the_index_is_busy(notes: Callable[..., Vault]) -> None:
    vault = notes(A="a")
    change = vault.editor.append("A.md", "b")

    def busy(**_: object) -> IndexReport:
        raise VaultError("the index is busy", "Wait.")

    vault.editor.refresh = busy
    vault.editor.apply(change)
    assert everything(vault)["A.md"] == b"a\n\nb\n"
    assert "the change is made" in vault.take_warnings()[0].message


def test_files_edited_after_a_kill_are_left_alone(notes: Callable[..., Vault]) -> None:
    vault = notes(A="old", B="x")
    step = transaction._plan_step(vault.root, FileChange("A.md", "A.md", b"old", b"new"))
    FileTransaction(vault.root, vault.editor.journal)._write_journal([step])
    (vault.root / "A.md").write_text("mine")
    vault.refresh()
    [told] = vault.take_warnings()
    assert "A.md was edited since and left alone" in told.message
    assert everything(vault) == {"A.md": b"mine", "B.md": b"x"}
    assert Path(told.hint.removeprefix("The old text is in ")).is_file()


def test_a_path_taken_meanwhile_is_not_overwritten(notes: Callable[..., Vault]) -> None:
    vault = notes(A="a", B="b")
    change = vault.editor.rename("A.md", "C.md")
    write(vault.root, {"C.md": "mine"})
    assert "exists already" in refused(lambda: vault.editor.apply(change))
    vanished = Change("x", (FileChange("Gone.md", "Gone.md", b"", b"x"),))
    assert "is not there any more" in refused(lambda: vault.editor.apply(vanished))
    assert everything(vault) == {"A.md": b"a", "B.md": b"b", "C.md": b"mine"}


def test_broken_links_are_fixed(notes: Callable[..., Vault]) -> None:
    vault = notes.files({"A.md": "[[B1]] [[B1]] [[Gone]]\r\n[[B1|x]]", "F/B.md": "", "C.md": "x"})  # type: ignore[attr-defined]
    change = vault.editor.fix_links(
        [LinkFix("A.md", 1, "[[B1]]", "F/B.md"), LinkFix("A.md", 2, "[[Other]]", "F/B.md"), LinkFix("C.md", 1, "[[C1]]", "A.md")]
    )
    assert (change.summary, len(change.files)) == ("fix 2 links in 1 note", 1)
    vault.editor.apply(change)
    assert everything(vault)["A.md"] == b"[[B]] [[B]] [[Gone]]\r\n[[B1|x]]"


def test_a_rename_that_would_change_a_links_target_is_refused(notes: Callable[..., Vault]) -> None:
    vault = notes.files({"S.md": "[[Sharp]]", "C#.md": "---\naliases: Sharp\n---\n", "A.md": "x"})  # type: ignore[attr-defined]
    before = everything(vault)
    assert "the links in S.md could not keep their targets" in refused(lambda: vault.editor.rename("A.md", "Sharp.md"))
    assert everything(vault) == before


def test_a_journal_that_cannot_be_undone_is_reported_and_stays(notes: Callable[..., Vault]) -> None:
    vault = notes(A="old")
    vault.editor.journal.mkdir()
    vault.refresh()
    [told] = vault.take_warnings()
    assert "cannot be undone" in told.message
    assert str(vault.editor.journal) in told.hint


def test_a_change_that_cannot_be_undone_now_is_undone_later(notes: Callable[..., Vault], monkeypatch: pytest.MonkeyPatch) -> None:
    vault = notes(A="[[Old]]", Old="x")
    before = everything(vault)
    change = vault.editor.rename("Old.md", "New.md")
    with monkeypatch.context() as full:

        def refuse(file: Path, data: str | bytes, *, private: bool = False) -> None:
            if not private:
                raise OSError(28, "No space left on device")
            atomic_write(file, data, private=private)

        broken_at(vault, full, 1, OSError(28, "No space left on device"))
        full.setattr(transaction, "atomic_write", refuse)
        assert "no space left on device" in refused(lambda: vault.editor.apply(change))
        assert everything(vault) != before
    vault.refresh()
    assert everything(vault) == before
    assert "Everything was restored" in vault.take_warnings()[0].hint


@pytest.mark.untraced
def test_hostile_notes_are_renamed_and_edited_fast(notes: Callable[..., Vault], untraced: None) -> None:
    links = "[[Old]] " * 5_000 + "[[" * 20_000 + "[x](" * 10_000 + "\n" + "# H\n" * 2_000
    vault = notes(A=links, Old="[[./A]]" * 2_000)
    began = time.process_time()
    change = vault.editor.rename("Old.md", "F/New.md")
    assert change.diff
    vault.editor.apply(change)
    assert everything(vault)["A.md"].count(b"[[New]]") == 5_000
    vault.editor.append("A.md", "x" * 1_000_000)
    assert time.process_time() - began < 8
