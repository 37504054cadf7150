"""Generate the tables of the reference pages, the man page and the example of a settings file, from
the commands, the slash commands and the settings.

python docs/generate.py
"""

import json
import re
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

import typer

from zkchat_cli import __version__, slash
from zkchat_cli.cli import app
from zkchat_cli.cli.options import SHARED
from zkchat_cli.config import loader, provider_tables

DOCS = Path(__file__).parent
MAN_PAGE = DOCS / "zkchat.1"
EXAMPLE_SETTINGS = DOCS.parent / "config.example.toml"
BLOCK = re.compile(r"(<!-- generated: (\w+) -->\n\n).*?(\n\n<!-- end -->)", re.DOTALL)
"""The part of a page that is generated; the rest is written by hand."""
Option = tuple[str, str]
"""How it is typed, and its help."""


def documents() -> dict[Path, str]:
    """Each generated file with its text of today."""
    tables = {
        "commands": command_sections,
        "options": shared_table,
        "settings": settings_table,
        "slash": slash_tables,
    }
    found = {}
    for page in sorted((DOCS / "reference").glob("*.md")):
        text = page.read_text(encoding="utf-8")
        found[page] = BLOCK.sub(lambda match: match[1] + tables[match[2]]() + match[3], text)
    commands_page = found[DOCS / "reference" / "commands.md"]
    settings_page = found[DOCS / "reference" / "settings.md"]
    found[MAN_PAGE] = man_page(commands_page, settings_page)
    found[EXAMPLE_SETTINGS] = example_settings(EXAMPLE_SETTINGS.read_text(encoding="utf-8"))
    return found


# the commands, as values


def commands(command: Any = None, path: str = "zkchat") -> Iterator[tuple[str, Any]]:
    """Each command with its path (`zkchat context show`), a group before its commands."""
    command = command or typer.main.get_command(app.app)
    yield path, command
    if hasattr(command, "list_commands"):
        context = typer.Context(command)
        for name in command.list_commands(context):
            yield from commands(command.get_command(context, name), f"{path} {name}")


def usage(path: str, command: Any) -> str:
    arguments = [
        p.metavar for p in command.params if p.param_type_name == "argument" and not p.hidden
    ]
    return " ".join(
        [
            path,
            *arguments,
            *(
                ["[COMMAND]" if command.invoke_without_command else "COMMAND"]
                if is_group(command)
                else []
            ),
        ]
    )


def is_group(command: Any) -> bool:
    return hasattr(command, "list_commands")


def paragraphs(command: Any) -> list[str]:
    return [" ".join(each.split()) for each in re.split(r"\n\s*\n", command.help.strip())]


def example_calls(command: Any) -> list[str]:
    return (command.epilog or "").removeprefix("\b\n").splitlines()


def options(command: Any, *, shared: bool = False) -> Iterator[Option]:
    """The options and arguments that belong to this command alone, or those it shares with
    others.
    """
    for parameter in command.params:
        if not parameter.hidden and (parameter.name in SHARED) == shared:
            named = parameter.param_type_name == "option"
            names = ", ".join(sorted(parameter.opts, key=len)) if named else ""
            default = (
                f" Default: {parameter.default}."
                if named and not parameter.is_flag and parameter.default
                else ""
            )
            yield " ".join(filter(None, (names, parameter.metavar))), parameter.help + default


def shared_options() -> list[Option]:
    """The options that many commands take, in the order of their declaration."""
    found = {option for _, command in commands() for option in options(command, shared=True)}
    root = dict(commands())["zkchat"]
    return [
        *sorted(found, key=lambda option: option[0].lstrip("-")),
        *options(root),
        ("-h, --help", "Show the command's help and exit."),
    ]


# Markdown


def table(heads: str, rows: Iterable[Iterable[str]]) -> str:
    lines = [f"| {' | '.join(cell.replace('|', ESCAPED_BAR) for cell in row)} |" for row in rows]
    return "\n".join([heads, re.sub(r"[^|]+", "---", heads), *lines])


ESCAPED_BAR = "\\|"


def option_table(found: Iterable[Option]) -> str:
    return table("| option | |", ((f"`{left}`", right) for left, right in found))


def shared_table() -> str:
    return option_table(shared_options())


def command_sections() -> str:
    parts = []
    for path, command in list(commands())[1:]:
        parts.append(f"{'#' * len(path.split())} `{path}`")
        parts += paragraphs(command)
        if own := list(options(command)):
            parts.append(option_table(own))
        if also := [f"`{left}`" for left, _ in options(command, shared=True)]:
            parts.append(f"Also: {', '.join(also)}.")
        if calls := example_calls(command):
            parts.append("\n".join(["```sh", *calls, "```"]))
    return "\n\n".join(parts)


def settings_table() -> str:
    values = loader.default_values().items()
    return table(
        "| setting | default | for |",
        (
            (f"`{key}`", f"`{json.dumps(value)}`", provider_tables.describe_setting(key))
            for key, value in values
        ),
    )


def example_settings(text: str) -> str:
    """The example of a settings file: its head as it is, then each setting with its default."""
    head, _, _ = text.partition("\n\n")
    lines = [head]
    shown = None
    for key, value in loader.default_values().items():
        table, _, name = key.rpartition(".")
        if table != shown:
            lines.append(f"\n[{table}]" if table else "")
            shown = table
        lines += [f"# {provider_tables.describe_setting(key)}", f"{name} = {loader.as_toml(value)}"]
    return "\n".join([*lines, ""])


def slash_tables() -> str:
    parts = []
    for topic, commands in slash.commands_by_topic().items():
        rows = (
            (f"`{each.usage}`", ". ".join(filter(None, (each.help, each.details))))
            for each in commands
        )
        parts += [f"**{topic.value}**", table("| command | |", rows)]
    return "\n\n".join(parts)


# the man page


def man_page(commands_page: str, settings_page: str) -> str:
    (_, root), *rest = commands()
    lines = [
        f'.TH ZKCHAT 1 "" "zkchat {__version__}" "User Commands"',
        ".SH NAME",
        "zkchat \\- chat with your own notes in the terminal",
    ]
    lines += [".SH SYNOPSIS", r".B zkchat", r"[\fIOPTIONS\fR] [\fICOMMAND\fR] [\fIARGUMENTS\fR]"]
    lines += [
        ".SH DESCRIPTION",
        *man_text(paragraphs(root)),
        ".SH OPTIONS OF MANY COMMANDS",
        *man_list(shared_options()),
        ".SH COMMANDS",
    ]
    for path, command in rest:
        lines += [
            f".SS {roff(usage(path, command))}",
            *man_text(paragraphs(command)),
            *man_list(options(command)),
        ]
        if calls := example_calls(command):
            lines += [".PP", ".nf", *(f"    {roff(call)}" for call in calls), ".fi"]
    lines += [".SH EXIT STATUS", *man_list(markdown_table(commands_page, "exit code"))]
    lines += [".SH ENVIRONMENT", *man_list(markdown_table(settings_page, "environment variable"))]
    return "\n".join([*lines, ""])


def man_text(texts: Iterable[str]) -> list[str]:
    return [line for text in texts for line in (".PP", roff(text))]


def man_list(found: Iterable[Option]) -> list[str]:
    return [line for left, right in found for line in (".TP", f"\\fB{roff(left)}\\fR", roff(right))]


def markdown_table(page: str, head: str) -> Iterator[Option]:
    """The rows of the page's table with this head, without Markdown."""
    for row in page.split(f"| {head} | |\n", 1)[1].split("\n\n", 1)[0].splitlines()[1:]:
        left, right = (
            re.sub(r"\[([^]]+)\]\([^)]+\)", r"\1", cell).replace("`", "").strip()
            for cell in re.split(r"(?<!\\)\|", row)[1:-1]
        )
        yield left.replace(ESCAPED_BAR, "|"), right.replace(ESCAPED_BAR, "|")


def roff(text: str) -> str:
    """Text for troff: ASCII, with hyphens that can be copied, and no line that begins a request."""
    text = text.replace("`", "").replace("\\", "\\e").replace("-", "\\-")
    text = "".join(c if c.isascii() else f"\\[u{ord(c):04X}]" for c in text)
    return f"\\&{text}" if text.startswith((".", "'")) else text


if __name__ == "__main__":
    for file, text in documents().items():
        file.write_text(text, encoding="utf-8")
