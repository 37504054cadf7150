"""What is offered for completion, as (text put in, text shown beside it)."""

import time

import pytest
from prompt_toolkit.completion import CompleteEvent
from prompt_toolkit.document import Document

from zkchat_cli import slash
from zkchat_cli.terminal.completion import MOST, ChatCompleter

NOTES = ("Filters.md", "Queries/Combining Filters.md", "Queries/Comb.md", "Garden/Compost.md", "Équipe.md", "A/Index.md", "B/index.md")


def offered(typed: str, after: str = "", notes: tuple[str, ...] = NOTES) -> list[str]:
    """The line as each completion would make it; the cursor stands between `typed` and `after`."""
    completer = ChatCompleter()
    completer.commands = slash.commands()
    completer.set_notes(notes)
    found = completer.get_completions(Document(typed + after, len(typed)), CompleteEvent())
    return [typed[: len(typed) + c.start_position] + c.text + after for c in found]


def test_commands_are_offered_most_used_first() -> None:
    assert offered("/")[:3] == ["/help", "/context", "/refs"]
    assert offered("/co")[:3] == ["/context", "/compact", "/continue"]


def test_what_an_argument_may_be_is_offered_with_what_is_told_of_it() -> None:
    completer = ChatCompleter(lambda _: [slash.Offer("abc123", "Compost\x1b[2J"), "plain", slash.Offer("a\nb", "never")])
    completer.commands = slash.commands()
    found = list(completer.get_completions(Document("/resume "), CompleteEvent()))
    assert [(c.text, c.display_meta_text) for c in found] == [("abc123", "Compost␛[2J"), ("plain", "")]


@pytest.mark.parametrize("typed", ["", "hello", "hello /co", "/compact ke", "/etc/hosts", "[Comb", "see [[Filters]] and"])
def test_nothing_is_offered_elsewhere(typed: str) -> None:
    assert offered(typed) == []


def test_notes_that_begin_so_come_before_notes_that_contain_it() -> None:
    assert offered("see [[fil") == ["see [[Filters]]", "see [[Combining Filters]]"]


def test_case_and_accents_do_not_matter() -> None:
    assert offered("[[equ") == ["[[Équipe]]"]


def test_closing_brackets_are_not_doubled() -> None:
    assert offered("[[Compo", "]] please") == ["[[Compost]] please"]


def test_notes_that_share_a_name_are_told_apart_by_their_folders() -> None:
    assert offered("[[inde") == ["[[A/Index]]", "[[B/index]]"]


def test_names_that_could_do_harm_are_not_offered() -> None:
    assert offered("[[", notes=("a\x1b[31m.md", "b\nc.md", "good.md")) == ["[[good]]"]


def test_links_are_completed_on_each_line_of_a_message() -> None:
    assert offered("one\n[[Compo") == ["one\n[[Compost]]"]


def test_the_menu_has_an_end() -> None:
    assert len(offered("[[", notes=tuple(f"Note {i}.md" for i in range(1000)))) == MOST


def test_a_hundred_thousand_notes_are_completed_while_typing() -> None:
    completer = ChatCompleter()
    completer.set_notes([f"Folder {i % 100}/Note {i}.md" for i in range(100_000)])
    began = time.perf_counter()
    found = list(completer.get_completions(Document("[[99999"), CompleteEvent()))
    assert [c.text for c in found] == ["Note 99999]]"]
    assert time.perf_counter() - began < 0.5, "about 10 ms; the rest is for a busy machine"
