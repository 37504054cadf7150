"""How Typer is used: its commands and groups with a help that shows arguments as they are typed and
summaries in full, and without pydantic, which would delay the chat's prompt by 60 ms.

This is the only file that uses what Typer does not document. tests/test_typer_adapter.py says which
names these are, and fails first if a version of Typer has others:

- `context_class` of a command and `formatter_class` of that, as in Click
- `collect_usage_pieces`, `format_commands`, `get_params` and `list_commands`, as in Click
- `_runtime_param`, `type_descriptor.annotation`, `min` and `max` of a parameter
- `typer.main.get_command`
"""

import re
from collections.abc import Sequence
from typing import Any, cast

from typer import BadParameter, Typer
from typer.core import TyperCommand, TyperGroup
from typer.main import get_command

CONVENTIONS: dict[str, Any] = {
    "rich_markup_mode": None,
    "pretty_exceptions_enable": False,
    "context_settings": {"help_option_names": ["-h", "--help"]},
}
"""What every Typer app here is made with."""


class _Formatter(TyperGroup.context_class.formatter_class):  # type: ignore[misc, name-defined]  # of the click in Typer
    def write_dl(self, rows: Sequence[tuple[str, str]], *args: Any, **named: Any) -> None:
        # The left column without the types of values, such as <int>
        super().write_dl(
            [(re.sub(r" <\S+>$", "", left), right) for left, right in rows], *args, **named
        )


class _Context(TyperGroup.context_class):  # type: ignore[misc, valid-type]  # as above
    formatter_class = _Formatter


class _ValueConverter:
    """Converts what was typed to a text, texts, a path or a whole number. Typer imports pydantic
    for that, which would delay the chat's prompt by 60 ms.
    """

    def coerce(self, value: Any, param: Any, ctx: Any) -> Any:
        """The value of an option or argument. Raises BadParameter for a wrong one."""
        if value is None:
            return None
        if isinstance(value, tuple):
            return list(value)
        kind = param.type_descriptor.annotation
        try:
            converted = kind(value)
        except ValueError:
            expected = "a whole number" if kind is int else "one of those in --help"
            raise BadParameter(f"it must be {expected}", ctx, param) from None
        if not _is_between(converted, param.min, param.max):
            most = f" and at most {param.max}" if param.max is not None else ""
            raise BadParameter(f"it must be at least {param.min}{most}", ctx, param)
        return converted


def _is_between(value: Any, low: int | None, high: int | None) -> bool:
    if low is not None and value < low:
        return False
    return high is None or value <= high


class _CommandMixin:
    """What commands and groups have in common: how values are read, and how the help looks."""

    context_class: Any = _Context

    def get_params(self, ctx: Any) -> Any:
        parameters = super().get_params(ctx)  # type: ignore[misc]  # of the class beside this one
        for parameter in parameters:
            parameter._runtime_param = _ValueConverter()
        return parameters


class Command(_CommandMixin, TyperCommand):
    """A command, with its arguments in the usage as the help shows them."""

    def collect_usage_pieces(self, ctx: Any) -> list[str]:  # noqa: ARG002
        """The words of the usage after the command's name."""
        arguments = [each for each in self.params if each.param_type_name == "argument"]
        return ["[OPTIONS]", *(str(each.metavar) for each in arguments)]


class Group(_CommandMixin, TyperGroup):
    """A group of commands."""

    def format_commands(self, ctx: Any, formatter: Any) -> None:
        """List the commands with their complete summaries instead of truncated ones."""
        rows = []
        for name in self.list_commands(ctx):
            command = cast(Any, self.get_command(ctx, name))
            rows.append((name, command.get_short_help_str(LONGEST_SUMMARY)))
        with formatter.section("Commands"):
            formatter.write_dl(rows)


# Characters of a command's summary in a list: all of them
LONGEST_SUMMARY = 10_000


def build_command(app: Typer) -> Any:
    """The command, or the group of commands, that an app of Typer declares."""
    return get_command(app)
