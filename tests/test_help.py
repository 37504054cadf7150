"""The help of the shell's commands, as a terminal shows it: within its width, whole, and of one
make.
"""

import re
from collections.abc import Iterator
from typing import Any

import pytest
import typer

from zkchat_cli import exporters, slash
from zkchat_cli.cli import app
from zkchat_cli.config import provider_tables
from zkchat_cli.context import strategies
from zkchat_cli.llm import embedders
from zkchat_cli.tokens.encodings import ENCODINGS


def commands(
    command: Any, path: str = "zkchat", above: Any = None
) -> Iterator[tuple[str, Any, Any]]:
    """Every command: what calls it, itself, and the context to ask it in."""
    context = command.context_class(command, info_name=path.rpartition(" ")[2], parent=above)
    yield path, command, context
    if hasattr(command, "list_commands"):
        for name in command.list_commands(context):
            yield from commands(command.get_command(context, name), f"{path} {name}", context)


def everything() -> list[tuple[str, Any, Any]]:
    return list(commands(typer.main.get_command(app.app)))


@pytest.mark.parametrize("columns", [50, 80, 200])
def test_no_line_of_a_help_is_wider_than_the_terminal(
    columns: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", str(columns))
    too_wide = [
        (path, line)
        for path, command, context in everything()
        for line in command.get_help(context).splitlines()
        if len(line) > columns
        # An example is one line, to be copied
        and not line.startswith("  zkchat ")
        and " | zkchat " not in line
    ]
    assert too_wide == []


def test_nothing_is_cut_in_the_list_of_commands(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "80")
    assert [
        path
        for path, command, context in everything()
        if "..." in command.get_help(context).partition("Commands:")[2]
    ] == []


def test_every_command_option_and_argument_says_what_it_is_in_a_sentence() -> None:
    said = [(path, command.help or "") for path, command, _ in everything()]
    for path, command, _ in everything():
        said += [
            (f"{path} {p.name}", p.help or "")
            for p in command.params
            if not p.hidden and "completion" not in p.name
        ]
    assert [
        each
        for each in said
        if not re.fullmatch(r"\S.*[.]", each[1].split("\n\n")[0].replace("\n", " "))
    ] == []


def test_option_help_lists_the_valid_values() -> None:
    helps = {
        p.help
        for _, command, _ in everything()
        for p in command.params
        if p.name in ("strategy", "encoding")
    }
    helps |= {
        p.help
        for path, command, _ in everything()
        for p in command.params
        if p.name == "format_" and "export" in path
    }
    for names in (strategies.names(), exporters.names(), ENCODINGS):
        assert any(all(re.search(rf"\b{name}\b", each) for name in names) for each in helps), names
    assert set(exporters.names()) < set(re.findall(r"\w+", slash.find("export").argument))
    for key, names in (
        ("context.strategy", strategies.names()),
        ("semantic.provider", embedders.names()),
    ):
        assert set(names) < set(re.findall(r"\w+", provider_tables.describe_setting(key))), key
