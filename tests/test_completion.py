"""What is offered for completion, as the lines that it would make."""

from collections.abc import Callable, Iterator
from contextlib import closing

import pytest
from conftest import write_notes
from factories import AppFixture, exchanges, make_app, resume

from zkchat_cli import slash
from zkchat_cli.chat.runtime import AvailableModels
from zkchat_cli.completion.completers import COMPLETERS, MAX_COMPLETIONS
from zkchat_cli.completion.input_completer import InputCompleter
from zkchat_cli.completion.typed_text import Suggestion, match_typed

NOTES = {
    "Filters.md": (
        "---\naliases: [Search conditions]\n---\n# Filters\n\n## Dates\n\n### Due today\n\n## "
        "Brackets [x]\n"
    ),
    "Queries/Combining Filters.md": "",
    "Queries/Comb.md": "#todo #project/garden\n",
    "Garden/Compost.md": "#todo\n",
    "Équipe.md": "",
    "A/Index.md": "",
    "B/index.md": "",
    "C#.md": "",
    "data/my table.csv": "a,b\n",
    "data/plan.txt": "plan",
    ".hidden/secret.md": "",
}
Offers = Callable[..., list[str]]


@pytest.fixture(scope="module")
def app(tmp_path_factory: pytest.TempPathFactory) -> Iterator[AppFixture]:
    folder = tmp_path_factory.mktemp("completion")
    notes = NOTES | {f"Many/Sort {i}.md": "" for i in range(2 * MAX_COMPLETIONS)}
    with closing(
        make_app(
            write_notes(folder / "notes", notes), folder / "cache", folder / "conversations.db"
        )
    ) as made:
        yield made


@pytest.fixture
def completer(app: AppFixture) -> InputCompleter:
    session = app.session(
        list_models=lambda: (
            AvailableModels("offline", ("offline",)),
            AvailableModels("ollama", ("ollama/qwen3", "ollama/llama\x1b[31m")),
        )
    )
    return InputCompleter(lambda: session)


def completions(completer: InputCompleter, typed: str, after: str = "") -> list[Suggestion]:
    return list(completer.suggest(typed, after))


@pytest.fixture
def offered(completer: InputCompleter) -> Offers:
    """The line as each completion would make it; the cursor stands between `typed` and `after`."""

    def lines(typed: str, after: str = "") -> list[str]:
        return [
            typed[: len(typed) - c.replaced] + c.text + after
            for c in completions(completer, typed, after)
        ]

    return lines


def test_a_completion_shows_its_description(app: AppFixture) -> None:
    cleared = resume(app, exchanges(("how long does compost\x1b[2J take?", "Nine months.")))
    slash.run("/clear", cleared)
    completer = InputCompleter(app.session)
    [found], [branch] = (
        completions(completer, "/resume "),
        completions(InputCompleter(lambda: cleared), "/branches "),
    )
    assert (found.text, branch.text) == (app.store.conversations()[0].id, "1")
    assert "\x1b" not in found.description + branch.description


@pytest.mark.parametrize(
    "typed",
    [
        "",
        "hello",
        "hello /co",
        "/compact ke",
        "/etc/hosts",
        "[Comb",
        "see [[Filters]] and",
        "a@plan",
        "[[Filters|",
    ],
)
def test_nothing_is_offered_elsewhere(offered: Offers, typed: str) -> None:
    assert offered(typed) == []


def test_tags_are_offered_after_a_number_sign_the_most_frequent_first(offered: Offers) -> None:
    assert offered("notes with #") == ["notes with #todo", "notes with #project/garden"]
    assert offered("#gard") == ["#project/garden"]


def test_an_alias_becomes_its_note_and_says_so(completer: InputCompleter) -> None:
    [found] = completions(completer, "[[search con")
    assert (found.text, found.label, found.description) == (
        "Filters]]",
        "Search conditions",
        "alias of Filters",
    )


@pytest.mark.parametrize(
    ("typed", "lines"),
    [
        ("[[inde", ["[[A/Index]]", "[[B/index]]"]),
        ("one\n[[Compo", ["one\n[[Compost]]"]),
        ("[[Filters#", ["[[Filters#Filters]]", "[[Filters#Dates]]", "[[Filters#Due today]]"]),
        ("see [[search conditions#du", ["see [[search conditions#Due today]]"]),
        ("[[No such note#", []),
        ("[[#", []),
        ("/open [[Compo", ["/open [[Compost]]"]),
        ("/mmry", ["/memory"]),
        ("/model ", ["/model offline", "/model ollama/qwen3"]),
        ("/model qw", ["/model ollama/qwen3"]),
        ("/model offline and", []),
        ("read @plan", ["read @data/plan.txt"]),
        ("@my t", []),
        ("@mytab", ['@"data/my table.csv"']),
        ('@"my tab', ['@"data/my table.csv"']),
        ("(@secret", []),
    ],
)
def test_lines_are_offered(offered: Offers, typed: str, lines: list[str]) -> None:
    assert offered(typed) == lines


def test_commands_are_offered_most_used_first(offered: Offers) -> None:
    assert (offered("/")[:3], offered("/co")[1]) == (["/help", "/context", "/refs"], "/compact")


def test_a_link_is_closed_once_and_never_offered_where_it_cannot_work(offered: Offers) -> None:
    assert offered("[[Compo", "]] please") == ["[[Compost]] please"]
    assert offered("[[Filters#Dates#d", "]]")[0] == "[[Filters#Dates#Dates]]"
    assert not any(line.startswith("[[C#") for line in offered("[[c"))


def test_names_that_could_do_harm_are_not_offered(
    completer: InputCompleter, app: AppFixture, offered: Offers
) -> None:
    assert not any("\x1b" in line for line in offered("/model l"))
    write_notes(app.vault.root, {"a\x1b[31m.md": "", "b\nc.md": "", "good harm.md": ""})
    app.vault.refresh()
    assert not any("\x1b" in line or "\n" in line for line in offered("[[a") + offered("[[b c"))
    assert offered("[[good h") == ["[[good harm]]"]


def test_nothing_is_offered_before_the_session_is_open_and_no_notes_before_they_are_indexed(
    app: AppFixture,
) -> None:
    assert completions(InputCompleter(lambda: None), "/hel") == []
    unindexed = InputCompleter(app.session, lambda: False)
    assert [c.text for c in completions(unindexed, "/hel")] == ["/help"]
    assert completions(unindexed, "[[Comb") == []


def test_where_a_message_begins_agents_are_offered_before_files(app: AppFixture) -> None:
    session = app.session(agent_names=lambda: ("planner", "researcher"))
    completer = InputCompleter(lambda: session)

    def offered(typed: str) -> list[str]:
        return [found.text for found in completions(completer, typed)]

    assert offered("@Pl") == ["planner ", "data/plan.txt"]
    assert offered("@")[:2] == ["planner ", "researcher "]
    assert offered("ask @pl") == offered("@data/pl") == ["data/plan.txt"]


def test_every_kind_of_text_has_a_completer() -> None:
    typed = {
        "/so": "command",
        "/model gpt": "argument",
        "see [[Filt": "link",
        "see [[Filters#Da": "heading",
        "about #gar": "tag",
        "read @data/pl": "path",
    }
    found = {text: match_typed(text) for text in typed}
    assert {text: each and each.kind for text, each in found.items()} == typed
    assert set(typed.values()) == set(COMPLETERS)
