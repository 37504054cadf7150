"""Notes that come, change and go while the chat waits for input: what is noticed, what it does to the screen, and that it ends."""

import os
import queue
import shutil
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from conftest import Program, write
from terminal_screen import CTRL_D, PATIENCE, Chat

from zkchat_cli.terminal import vault_watcher
from zkchat_cli.terminal.vault_watcher import changed_paths
from zkchat_cli.vault import filesystem

CTRL_U = "\x15"
FIRST_LOOK = 0.3
"""Seconds for which a menu of completions is awaited before the line is typed once more, a little longer each time: what is new may have
come after the menu was made, and on a busy machine a menu takes its time."""


def await_menu(chat: Chat, typed: str, *, shows: str, lacks: str = "\0") -> None:
    """Type it again and again, until completion offers the one and not the other."""
    look, typed_at = FIRST_LOOK, 0.0

    def menu() -> str:
        return chat.screen_text().rpartition("you ›")[2]

    def seen() -> bool:
        nonlocal look, typed_at
        if shows in menu() and lacks not in menu():
            return True
        if time.monotonic() - typed_at > look:
            chat.type(CTRL_U + typed)
            look, typed_at = look * 1.2, time.monotonic()
        return False

    chat.wait_until(seen, f"{shows!r} without {lacks!r} for {typed!r}")
    chat.type(CTRL_U)
    chat.wait_until(lambda: shows not in menu(), "the menu to close")


def await_watching(chat: Chat, program: Program) -> None:
    """Until a note is offered that no refresh of the beginning can have found, for there are two of them."""
    chat.wait_for_prompt()
    for number in ("one", "two", "three"):
        write(program.vault, {f"Zebra {number}.md": "# A zebra\n\nIt has stripes.\n"})
        await_menu(chat, "[[Zebr", shows=f"Zebra {number}")


# in the chat


def test_notes_are_completed_as_they_come_and_go_without_a_turn_in_between(zkchat: Program) -> None:
    with Chat(zkchat) as chat:
        await_watching(chat, zkchat)
        (zkchat.vault / "Zebra one.md").unlink()
        await_menu(chat, "[[Zebr", shows="Zebra two", lacks="Zebra one")
        (zkchat.vault / "Zebra two.md").rename(zkchat.vault / "Garden" / "Zebra crossing.md")
        await_menu(chat, "[[Zebr", shows="Zebra crossing", lacks="Zebra two")


def test_a_folder_that_is_made_renamed_and_deleted_takes_its_notes_along(zkchat: Program) -> None:
    with Chat(zkchat) as chat:
        await_watching(chat, zkchat)
        write(zkchat.vault, {"New/Deep v1.2/Zebra deep.md": "Deep."})
        await_menu(chat, "[[Zebr", shows="Zebra deep")
        write(zkchat.vault, {"New/Deep v1.2/Zebra deeper.md": "Deeper."})
        await_menu(chat, "[[Zebr", shows="Zebra deeper")
        (zkchat.vault / "New" / "Deep v1.2").rename(zkchat.vault / "New" / "Shallow")
        await_menu(chat, "[[Zebra deep", shows="New/Shallow", lacks="Deep v1.2")
        shutil.rmtree(zkchat.vault / "New")
        await_menu(chat, "[[Zebr", shows="Zebra one", lacks="Zebra deep")


def test_a_message_is_answered_from_what_was_saved_a_moment_ago(zkchat: Program) -> None:
    with Chat(zkchat) as chat:
        await_watching(chat, zkchat)
        write(zkchat.vault, {"Xylophone.md": "A xylophone is made of wooden bars."})
        chat.ask("what is a xylophone made of?", "“A xylophone is made of wooden bars.” [")
        write(zkchat.vault, {"Zebra four.md": "The fourth."})
        await_menu(chat, "[[Zebr", shows="Zebra four")


def test_a_chat_that_watches_leaves_when_asked(zkchat: Program) -> None:
    with Chat(zkchat) as chat:
        await_watching(chat, zkchat)
        asked = time.monotonic()
        chat.type(CTRL_D)
        assert chat.wait_for_end() == 0
        assert time.monotonic() - asked < PATIENCE / 3, "a few tenths of a second; the rest is for a busy machine"
        assert "Traceback" not in chat.everything()


def test_a_vault_that_goes_while_it_is_watched_does_not_disturb_the_line_being_typed(zkchat: Program) -> None:
    with Chat(zkchat) as chat:
        await_watching(chat, zkchat)
        chat.type("half a quest")
        chat.wait_for("half a quest")
        for entry in zkchat.vault.iterdir():
            shutil.rmtree(entry) if entry.is_dir() else entry.unlink()
        zkchat.vault.rmdir()
        chat.type("ion")
        chat.wait_for("half a question")
        chat.enter()
        chat.wait_for("there is no folder")
        chat.wait_for_prompt()
        assert "Traceback" not in chat.everything()


def test_without_watchfiles_the_next_turn_finds_what_is_new(zkchat: Program, tmp_path: Path) -> None:
    write(tmp_path / "shadow", {"watchfiles/__init__.py": "raise ImportError('it is not installed')\n"})
    path = os.pathsep.join(filter(None, [str(tmp_path / "shadow"), zkchat.environment.get("PYTHONPATH", "")]))
    with Chat(zkchat, PYTHONPATH=path) as chat:
        chat.wait_for_prompt()
        await_menu(chat, "[[Comp", shows="Garden")
        write(zkchat.vault, {"Zebra one.md": "A zebra has stripes."})
        chat.ask("what does a zebra have?", "“A zebra has stripes.” [")
        await_menu(chat, "[[Zebr", shows="Zebra one")
        chat.type(CTRL_D)
        assert chat.wait_for_end() == 0
        assert "Traceback" not in chat.everything()


# what is noticed


class Watched:
    """What `changes` says of a folder, as it says it."""

    def __init__(self, folder: Path, ignore: tuple[str, ...] = ()) -> None:
        self.left = threading.Event()
        self._said: queue.Queue[frozenset[str] | None] = queue.Queue()
        self.thread = threading.Thread(target=self._watch, args=(folder, ignore), daemon=True)
        self.thread.start()

    def _watch(self, folder: Path, ignore: tuple[str, ...]) -> None:
        for said in vault_watcher.watch_vault(folder, ignore, self.left):
            self._said.put(said)

    def next(self) -> frozenset[str] | None:
        return self._said.get(timeout=PATIENCE)

    def until(self, *paths: str) -> set[str]:
        """All that is named until all these have been: what happens at one moment may be told in two."""
        seen: set[str] = set()
        while not seen.issuperset(paths):
            said = self.next()
            assert said is not None
            seen |= said
        return seen


@contextmanager
def watched(folder: Path, *ignore: str) -> Iterator[Watched]:
    watch = Watched(folder, ignore)
    try:
        assert watch.next() is None, "at first it may be anything"
        yield watch
    finally:
        watch.left.set()
        watch.thread.join(PATIENCE)
    assert not watch.thread.is_alive()


def test_only_the_notes_that_changed_are_named(vault: Path) -> None:
    with watched(vault) as watch:
        write(vault, {"Filters.md": "Changed.", ".obsidian/workspace.md": "Hidden.", "Garden/Weeds.md": "New."})
        (vault / "Queries" / "Limiting.md").unlink()
        assert watch.until("Filters.md", "Garden/Weeds.md", "Queries/Limiting.md") == {
            "Filters.md",
            "Garden/Weeds.md",
            "Queries/Limiting.md",
        }


def test_a_note_that_an_editor_saves_beside_and_moves_into_place_is_named(vault: Path) -> None:
    with watched(vault) as watch:
        for temporary in (".Filters.md.swp", "4913", "Filters.md~"):
            (vault / temporary).write_text("saved", encoding="utf-8")
            (vault / temporary).replace(vault / "Filters.md")
            said = watch.next()
            while said is None:  # the temporary file was told alone on a busy machine, and might have been a folder
                said = watch.next()
            assert said == {"Filters.md"}


def test_folders_that_are_ignored_hidden_or_outside_are_not_watched(vault: Path, tmp_path: Path) -> None:
    outside = write(tmp_path / "outside", {"a/Secret.md": "Secret."})
    write(vault, {"Templates/Daily.md": "Template.", ".trash/Old.md": "Old."})
    (vault / "link").symlink_to(outside)
    (vault / "again").symlink_to(vault / "Garden")
    assert {Path(f).relative_to(vault).as_posix() for f in filesystem.list_folders(vault, ["Templates"])} == {".", "Queries", "Garden"}


@pytest.mark.skipif(sys.platform != "linux", reason="elsewhere the vault is watched as a whole, and nothing follows links")
def test_changes_outside_the_vault_or_in_ignored_folders_are_not_told(vault: Path, tmp_path: Path) -> None:
    outside = write(tmp_path / "outside", {"Secret.md": "Secret."})
    write(vault, {"Templates/Daily.md": "Template."})
    (vault / "link").symlink_to(outside)
    with watched(vault, "Templates") as watch:
        write(tmp_path, {"outside/Secret.md": "Changed.", "notes/Templates/Daily.md": "Changed."})
        write(vault, {"Filters.md": "Changed."})
        assert watch.until("Filters.md") == {"Filters.md"}


def test_a_folder_that_comes_makes_it_anything_and_is_watched_from_then_on(vault: Path) -> None:
    with watched(vault) as watch:
        write(vault, {"New/Deep/One.md": "One."})
        assert watch.next() is None
        time_out = time.monotonic() + PATIENCE
        said: frozenset[str] | None = None
        while said != {"New/Deep/Two.md"}:  # until then it may still be taken for anything, while the folders are listed
            assert time.monotonic() < time_out
            write(vault, {"New/Deep/Two.md": f"Two, {time.monotonic()}"})
            said = watch.next()


def test_it_ends_by_itself_when_the_vault_has_gone(vault: Path) -> None:
    watch = Watched(vault)
    assert watch.next() is None
    shutil.rmtree(vault)
    watch.thread.join(PATIENCE)
    assert not watch.thread.is_alive()


def test_what_cannot_be_watched_is_nobodys_trouble(tmp_path: Path) -> None:
    assert list(vault_watcher.watch_vault(tmp_path / "missing", (), threading.Event())) == []


def test_nothing_is_watched_any_more_once_the_chat_was_left(vault: Path) -> None:
    left = threading.Event()
    left.set()
    assert list(vault_watcher.watch_vault(vault, (), left)) == []


# what events mean


def test_events_name_notes_and_attachments_by_their_paths_in_the_vault(vault: Path) -> None:
    write(vault, {"Garden/plan.png": "", "Garden/old.pdf": ""})
    events = [("modified", "Filters.md"), ("deleted", "Gone.md"), ("added", "Garden/plan.png"), ("modified", "Garden/old.pdf")]
    assert changed_paths(vault, [(kind, str(vault / path)) for kind, path in events]) == {"Filters.md", "Gone.md", "Garden/plan.png"}


def test_events_that_mean_nothing_to_the_index_name_nothing(vault: Path) -> None:
    paths = [("modified", "Garden"), ("added", ".git/index"), ("deleted", "Garden/.x/y.md"), ("added", "4913"), ("deleted", "4913")]
    assert changed_paths(vault, [(kind, str(vault / path)) for kind, path in paths]) == frozenset()
    assert changed_paths(vault, [("modified", str(vault))]) == frozenset()


@pytest.mark.parametrize(
    ("kind", "path"),
    [("added", "Garden"), ("deleted", "Old folder"), ("deleted", "Folder v1.2"), ("deleted", "picture.png"), ("deleted", "")],
)
def test_where_a_folder_may_have_come_or_gone_it_may_be_anything(vault: Path, kind: str, path: str) -> None:
    assert changed_paths(vault, [("modified", str(vault / "Filters.md")), (kind, str(vault / path))]) is None


def test_very_many_changes_may_be_anything(vault: Path) -> None:
    events = [("deleted", str(vault / f"Note {i}.md")) for i in range(vault_watcher.MAX_PATHS + 1)]
    assert changed_paths(vault, events) is None
    assert len(changed_paths(vault, events[1:]) or ()) == vault_watcher.MAX_PATHS
