"""Formatting of command help: it fits the terminal's width, is never truncated, and shows arguments as they are typed."""

import re
import shutil
from collections.abc import Sequence
from typing import Any

from typer.core import TyperGroup

NARROW = 52
"""Below this many columns Typer's two-column layout does not fit, and descriptions go below the names."""


class _Formatter(TyperGroup.context_class.formatter_class):  # type: ignore[misc, name-defined, unused-ignore]  # from click or Typer, depending on the version
    """Typer's formatter, which also fits narrow terminals and shows arguments without their types."""

    def __init__(self, *args: Any, **named: Any) -> None:
        super().__init__(*args, **named)
        columns = shutil.get_terminal_size().columns
        self._narrow = columns < NARROW
        if self._narrow:
            self.width = max(columns - 1, 20)

    def write_usage(self, prog: str, args: str = "", *more: Any) -> None:
        args = re.sub(r" \[[a-z]+\](\.\.\.)?", "", args)  # a hidden argument: visible ones are in capitals
        args = re.sub(r"\[(\[[^\[\]]*\](?:\.\.\.)?)\](?:\.\.\.)?", r"\1", args)  # Typer adds brackets to metavars that have them
        super().write_usage(prog, re.sub(r"\{([^{}]*)\}(?:\.\.\.)?", r"\1", args), *more)

    def write_dl(self, rows: Sequence[tuple[str, str]], *args: Any, **named: Any) -> None:
        plain = [(re.sub(r" <[\w\[\]]+>$", "", left), right.removesuffix("[required]").rstrip()) for left, right in rows]
        super().write_dl(plain, *((4,) if self._narrow else args), **({} if self._narrow else named))


class _Context(TyperGroup.context_class):  # type: ignore[misc, valid-type]  # as above
    formatter_class = _Formatter


def with_fitting_help(command: Any) -> Any:
    """Make a command's help fit the terminal."""
    if command is not None:
        command.context_class = _Context
    return command


class Group(TyperGroup):
    """A group that lists its commands with their complete summaries instead of truncated ones."""

    context_class = _Context

    def get_command(self, ctx: Any, cmd_name: str) -> Any:
        return with_fitting_help(super().get_command(ctx, cmd_name))

    def format_commands(self, ctx: Any, formatter: Any) -> None:
        with formatter.section("Commands"):
            formatter.write_dl([(name, self.label(ctx, name)) for name in self.list_commands(ctx)])

    def label(self, ctx: Any, name: str) -> str:
        """A command's summary in the list."""
        return str(self.get_command(ctx, name).get_short_help_str(10_000))
