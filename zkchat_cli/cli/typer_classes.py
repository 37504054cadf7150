"""Typer's commands and groups, adapted: their help fits the terminal's width, is never truncated and shows arguments as they are typed, and
texts and paths are taken as they are."""

import re
import shutil
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from typer.core import TyperCommand, TyperGroup

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
        plain = [
            (re.sub(r" <[\w\[\]]+>$", "", left), _with_readable_range(right.removesuffix("[required]").rstrip())) for left, right in rows
        ]
        super().write_dl(plain, *((4,) if self._narrow else args), **({} if self._narrow else named))


def _with_readable_range(text: str) -> str:
    """A description with the range that Typer writes as `[x>=1]` or `[1<=x<=9]`."""
    return re.sub(r"\bx>=(\d+)\]$", r"\1 or more]", re.sub(r"(\d+)<=x<=(\d+)\]$", r"\1 to \2]", text))


class _Context(TyperGroup.context_class):  # type: ignore[misc, valid-type]  # as above
    formatter_class = _Formatter


class _VerbatimParam:
    """Converts the value of a parameter that is a text, texts, a path or missing; leaves all others to Typer.

    Typer (since 0.29) imports pydantic to convert any value, which would delay the chat's prompt by 60 ms, and makes a model for each type.
    """

    def coerce(self, value: Any, param: Any, ctx: Any) -> Any:
        kind, declared = param.type_descriptor.annotation, param.type_descriptor.parameter_info
        if param.nargs == -1 and kind == list[str] and isinstance(value, tuple) and declared.parser is None:
            return list(value)
        if param.nargs == 1 and not param.multiple and declared.parser is None:
            if value is None or (kind is str and isinstance(value, str)):
                return value
            if kind is Path and isinstance(value, str) and not (declared.exists or declared.resolve_path or declared.writable):
                return Path(value)
        param._runtime_param = None
        return param.get_runtime_param().coerce(value, param=param, ctx=ctx)


class _CommandMixin:
    """The help and the parameters that commands and groups share."""

    context_class: Any = _Context

    def get_params(self, ctx: Any) -> Any:
        parameters = super().get_params(ctx)  # type: ignore[misc]  # of the class beside this one
        for parameter in parameters:
            if hasattr(parameter, "_runtime_param"):
                parameter._runtime_param = _VerbatimParam()
        return parameters


class Command(_CommandMixin, TyperCommand):
    pass


class Group(_CommandMixin, TyperGroup):
    """A group that lists its commands with their complete summaries instead of truncated ones."""

    def format_commands(self, ctx: Any, formatter: Any) -> None:
        with formatter.section("Commands"):
            formatter.write_dl([(name, self.command_summary(ctx, name)) for name in self.list_commands(ctx)])

    def command_summary(self, ctx: Any, name: str) -> str:
        """A command's summary in the list."""
        command: Any = self.get_command(ctx, name)
        return str(command.get_short_help_str(10_000))
