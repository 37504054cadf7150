"""The files of a vault: which are listed, which can be read, and none outside of the vault."""

import os
import tempfile
from pathlib import Path

import pytest
from conftest import write_notes
from hypothesis import given
from hypothesis import strategies as st

from zkchat_cli.errors import VaultError
from zkchat_cli.vault import filesystem
from zkchat_cli.vault.text_decoder import decode
from zkchat_cli.vault.vault import Vault


@pytest.fixture
def root(tmp_path: Path) -> Path:
    folder = tmp_path / "notes"
    folder.mkdir()
    return folder.resolve()


def put(root: Path, path: str, content: str | bytes = "text") -> Path:
    return write_notes(root, {path: content}) / path


def scanned(root: Path, *ignore: str) -> list[str]:
    return sorted(filesystem.scan(root, ignore).stamps)


def test_notes_are_md_and_markdown_files_and_the_rest_are_attachments(root):
    for path in ("a.md", "b.MD", "c.markdown", "d.txt", "sub/e.md", "sub/f.png"):
        put(root, path)
    listing = filesystem.scan(root)
    assert sorted(listing.stamps) == ["a.md", "b.MD", "c.markdown", "sub/e.md"]
    assert listing.attachments == {"d.txt", "sub/f.png"}


def test_a_name_may_begin_with_a_tilde(root):
    assert filesystem.read_text(root, put(root, "~a.md").name) == "text"


def test_hidden_files_and_folders_are_skipped(root):
    for path in ("a.md", ".hidden.md", ".obsidian/x.md", ".trash/y.md", "sub/.git/z.md"):
        put(root, path)
    assert scanned(root) == ["a.md"]


@pytest.mark.parametrize(
    ("glob", "left"),
    [
        ("Templates", ["a.md", "draft.md", "x/draft.md"]),
        ("Templates/", ["a.md", "draft.md", "x/draft.md"]),
        ("Templates/*", ["a.md", "draft.md", "x/draft.md"]),
        ("draft.md", ["Templates/deep/u.md", "Templates/t.md", "a.md"]),
        ("x/draft.md", ["Templates/deep/u.md", "Templates/t.md", "a.md", "draft.md"]),
        ("*/t.md", ["Templates/deep/u.md", "a.md", "draft.md", "x/draft.md"]),
        ("/", ["Templates/deep/u.md", "Templates/t.md", "a.md", "draft.md", "x/draft.md"]),
    ],
)
def test_ignore_globs_name_notes_and_folders(root, glob, left):
    for path in ("a.md", "draft.md", "x/draft.md", "Templates/t.md", "Templates/deep/u.md"):
        put(root, path)
    assert scanned(root, glob) == left


def test_a_link_out_of_the_vault_is_reported_and_not_followed(root):
    secret = put(root.parent, "secret.md")
    put(root, "a.md")
    (root / "out.md").symlink_to(secret)
    (root / "away").symlink_to(root.parent)
    listing = filesystem.scan(root)
    assert list(listing.stamps) == ["a.md"]
    assert set(listing.problems) == {"out.md", "away"}
    assert "leaves the vault" in listing.problems["out.md"]


def test_links_within_the_vault_do_not_list_a_folder_twice(root):
    put(root, "sub/a.md")
    (root / "sub" / "again").symlink_to(root)
    (root / "b.md").symlink_to(root / "sub" / "a.md")
    (root / "nothing.md").symlink_to(root / "missing.md")
    (root / "circle.md").symlink_to(root / "circle.md")
    assert scanned(root) == ["b.md", "sub/a.md"]


def test_only_regular_files_are_notes(root):
    put(root, "a.md")
    os.mkfifo(root / "pipe.md")
    (root / "folder.md").mkdir()
    assert scanned(root) == ["a.md"]


OUTSIDE = [
    "",
    " ",
    "/etc/passwd",
    "../x.md",
    "a/../../x.md",
    "a/..",
    "~/x.md",
    "\\x.md",
    "a\0b.md",
    "x" * 4097,
    "x" * 256,
    "é" * 128,
    "out.md",
    "away/x.md",
]


@pytest.mark.parametrize(
    "path", [*OUTSIDE, ".obsidian/app.json", "sub/.git/config", "\udcff\ud800.md"]
)
def test_nothing_outside_the_vault_is_read(root, path):
    put(root.parent, "x.md", "secret")
    put(root, "a.md")
    put(root, ".obsidian/app.json")
    put(root, "sub/.git/config")
    (root / "out.md").symlink_to(root.parent / "x.md")
    (root / "away").symlink_to(root.parent)
    vault = Vault.open(root, root.parent / "cache")
    reader, graph = vault.reader, vault.graph
    for ask in (reader.read, reader.parse, reader.chunks, graph.links, graph.backlinks):
        with pytest.raises(VaultError) as e:
            ask(path)
        assert e.value.hint
        assert len(e.value.message) < 400
    vault.close()


@given(
    st.lists(
        st.sampled_from(["..", ".", "", "a", "b.md", "out", "\0", "~", "/", "\\", "é", "…", "CON"]),
        max_size=6,
    ).map("/".join)
    | st.text(max_size=30)
)
def test_a_resolved_path_is_always_inside_the_vault(path):
    root = Path(tempfile.gettempdir()).resolve()
    try:
        assert filesystem.resolve_inside(root, path).is_relative_to(root)
    except VaultError as e:
        assert e.message and e.hint


def test_a_symbolic_link_within_the_vault_can_be_read(root):
    put(root, "a.md", "inside")
    (root / "b.md").symlink_to(root / "a.md")
    assert filesystem.read_text(root, "b.md") == "inside"


def test_an_unreadable_file_says_why(root):
    put(root, "sub/a.md")
    put(root, "picture.png", b"\x89PNG\0\0")
    put(root, "huge.md", b"x" * (filesystem.LARGEST_NOTE + 1))
    for path, why in {
        "sub": "is a directory",
        "b.md": "no such file",
        "picture.png": "not a text file",
        "huge.md": "larger than 10 MB",
    }.items():
        with pytest.raises(VaultError, match=why):
            filesystem.read_text(root, path)


@pytest.mark.parametrize(
    ("raw", "text", "problem"),
    [
        (b"plain", "plain", None),
        (b"\xef\xbb\xbfmarked", "marked", None),
        (b"a\r\nb\rc", "a\nb\nc", None),
        (b"caf\xe9", "café", "Windows-1252 instead of UTF-8, decoded"),
        ("“Grüße”\r\n".encode("cp1252"), "“Grüße”\n", "Windows-1252 instead of UTF-8, decoded"),
        # One wrong byte in UTF-8
        (
            "Grüße".encode() + b"\xe9",
            "Grüße\ufffd",
            "not UTF-8, read with replacement characters",
        ),
        # Cyrillic in Windows-1251, and Chinese in GBK
        *(
            (raw, raw.decode("utf-8", "replace"), "not UTF-8, read with replacement characters")
            for raw in ("Привет, мир".encode("cp1251"), "今天天气很好".encode("gbk"))
        ),
        (
            b"\xff\xfe" + "🍅\r\nö".encode("utf-16-le"),
            "🍅\nö",
            "UTF-16 instead of UTF-8, decoded",
        ),
        (
            b"\xfe\xff" + "Łódź".encode("utf-16-be"),
            "Łódź",
            "UTF-16 instead of UTF-8, decoded",
        ),
        ("ö".encode("utf-32"), "ö", "UTF-32 instead of UTF-8, decoded"),
        (b"\xff\xfex", "\ufffd", "UTF-16 with errors, read with replacement characters"),
        (b"a\0b", "a\ufffdb", "contains NUL characters, replaced"),
        (
            b"\xe9\0",
            "\ufffd\ufffd",
            "not UTF-8, read with replacement characters; contains NUL characters, replaced",
        ),
    ],
)
def test_any_bytes_are_decoded(raw, text, problem):
    assert decode(raw) == (text, problem)
