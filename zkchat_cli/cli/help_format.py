"""The help of commands as a terminal shows it: within its width, whole, arguments named as they are typed."""

import re
import shutil
from collections.abc import Sequence
from typing import Any

from typer.core import TyperGroup

NARROW = 52
"""Columns below which typer's help would run over the edge; there a text begins below what it is about, not beside it."""


class _Formatter(TyperGroup.context_class.formatter_class):  # type: ignore[misc, name-defined, unused-ignore]  # click's or typer's own, by its version
    """Lays help out as typer does, but within a narrow terminal, too, and names arguments as they are written, without their types."""

    def __init__(self, *args: Any, **named: Any) -> None:
        super().__init__(*args, **named)
        columns = shutil.get_terminal_size().columns
        self._narrow = columns < NARROW
        if self._narrow:
            self.width = max(columns - 1, 20)

    def write_usage(self, prog: str, args: str = "", *more: Any) -> None:
        args = re.sub(r" \[[a-z]+\](\.\.\.)?", "", args)  # one that is hidden: ours are in capitals
        args = re.sub(r"\[(\[[^\[\]]*\](?:\.\.\.)?)\](?:\.\.\.)?", r"\1", args)  # typer brackets what we have bracketed
        super().write_usage(prog, re.sub(r"\{([^{}]*)\}(?:\.\.\.)?", r"\1", args), *more)

    def write_dl(self, rows: Sequence[tuple[str, str]], *args: Any, **named: Any) -> None:
        plain = [(re.sub(r" <[\w\[\]]+>$", "", left), right.removesuffix("[required]").rstrip()) for left, right in rows]
        super().write_dl(plain, *((4,) if self._narrow else args), **({} if self._narrow else named))


class _Context(TyperGroup.context_class):  # type: ignore[misc, valid-type]  # as above
    formatter_class = _Formatter


def fitted(command: Any) -> Any:
    """A command of typer's whose help fits the terminal."""
    if command is not None:
        command.context_class = _Context
    return command


class Group(TyperGroup):
    """A group of commands that are listed by their whole first sentences, not by as much of them as fits a line."""

    context_class = _Context

    def get_command(self, ctx: Any, cmd_name: str) -> Any:
        return fitted(super().get_command(ctx, cmd_name))

    def format_commands(self, ctx: Any, formatter: Any) -> None:
        with formatter.section("Commands"):
            formatter.write_dl([(name, self.label(ctx, name)) for name in self.list_commands(ctx)])

    def label(self, ctx: Any, name: str) -> str:
        """What is said of a command in the list."""
        return str(self.get_command(ctx, name).get_short_help_str(10_000))
