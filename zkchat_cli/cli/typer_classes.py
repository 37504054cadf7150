"""Typer's commands and groups, adapted: their help shows arguments as they are typed and whole summaries, and values are converted here."""

import re
from collections.abc import Sequence
from typing import Any

import typer
from typer.core import TyperCommand, TyperGroup

CONVENTIONS: dict[str, Any] = {
    "rich_markup_mode": None,
    "pretty_exceptions_enable": False,
    "context_settings": {"help_option_names": ["-h", "--help"]},
}
"""Of every Typer app here."""


class _Formatter(TyperGroup.context_class.formatter_class):  # type: ignore[misc, name-defined]  # of the click in Typer
    def write_dl(self, rows: Sequence[tuple[str, str]], *args: Any, **named: Any) -> None:
        super().write_dl([(re.sub(r" <\S+>$", "", left), right) for left, right in rows], *args, **named)  # without types


class _Context(TyperGroup.context_class):  # type: ignore[misc, valid-type]  # as above
    formatter_class = _Formatter


class _ValueConverter:
    """Converts what was typed to a text, texts, a path or a whole number. Typer imports pydantic for that, which would delay the chat's
    prompt by 60 ms."""

    def coerce(self, value: Any, param: Any, ctx: Any) -> Any:
        if value is None or isinstance(value, tuple):
            return value and list(value)
        kind, low, high = param.type_descriptor.annotation, param.min, param.max
        try:
            converted = kind(value)
        except ValueError:
            raise typer.BadParameter(f"it must be {'a whole number' if kind is int else 'one of those in --help'}", ctx, param) from None
        if (low is not None and converted < low) or (high is not None and converted > high):
            raise typer.BadParameter(f"it must be at least {low}" + (f" and at most {high}" if high is not None else ""), ctx, param)
        return converted


class _CommandMixin:
    context_class: Any = _Context

    def get_params(self, ctx: Any) -> Any:
        parameters = super().get_params(ctx)  # type: ignore[misc]  # of the class beside this one
        for parameter in parameters:
            parameter._runtime_param = _ValueConverter()
        return parameters


class Command(_CommandMixin, TyperCommand):
    def collect_usage_pieces(self, ctx: Any) -> list[str]:  # noqa: ARG002  Typer's signature
        return ["[OPTIONS]", *(str(parameter.metavar) for parameter in self.params if parameter.param_type_name == "argument")]


class Group(_CommandMixin, TyperGroup):
    """A group that lists its commands with their complete summaries instead of truncated ones."""

    def format_commands(self, ctx: Any, formatter: Any) -> None:
        with formatter.section("Commands"):
            formatter.write_dl([(name, self.command_summary(ctx, name)) for name in self.list_commands(ctx)])

    def command_summary(self, ctx: Any, name: str) -> str:
        command: Any = self.get_command(ctx, name)
        return str(command.get_short_help_str(10_000))
