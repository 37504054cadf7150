"""What zkchat uses of Typer without it being documented: the adapter fails here first if a version
of Typer has other names.
"""

import pytest
import typer
from conftest import Program
from typer.core import TyperCommand, TyperGroup

from zkchat_cli.cli import app, typer_adapter


@pytest.mark.parametrize(
    "name", ["collect_usage_pieces", "get_params", "format_help", "context_class"]
)
def test_commands_have_the_methods_that_the_adapter_overrides(name: str) -> None:
    assert hasattr(TyperCommand, name)
    assert hasattr(TyperGroup, name)


def test_a_group_lists_and_finds_commands_and_its_context_has_a_formatter() -> None:
    for name in ("list_commands", "get_command", "resolve_command", "format_commands"):
        assert hasattr(TyperGroup, name)
    context = TyperGroup.context_class
    assert hasattr(context.formatter_class, "write_dl")
    assert hasattr(context.formatter_class, "section")


def declared() -> typer.Typer:
    """An app with one command, made as those of zkchat are."""
    made = typer.Typer(cls=typer_adapter.Group, **typer_adapter.CONVENTIONS)

    @made.command("count", cls=typer_adapter.Command)
    def count(
        name: str, number: int = typer.Option(1, min=1, max=3), words: list[str] | None = None
    ) -> None:
        """Say a name."""
        typer.echo(f"{name!r} {number!r} {words!r}")

    @made.callback()
    def root() -> None:
        pass

    return made


def run(*arguments: str) -> None:
    command = typer_adapter.build_command(declared())
    command.main([*arguments], prog_name="say", standalone_mode=False)


def test_values_are_converted_by_the_adapter_and_checked(
    capsys: pytest.CaptureFixture[str],
) -> None:
    run("count", "Ann", "--number", "2", "--words", "a", "--words", "b")
    assert capsys.readouterr().out == "'Ann' 2 ['a', 'b']\n"
    for wrong in ("0", "4", "many"):
        with pytest.raises(typer.BadParameter, match="it must be"):
            run("count", "Ann", "--number", wrong)


def test_every_parameter_of_the_program_has_the_adapters_converter() -> None:
    command = typer_adapter.build_command(app.app)
    context = command.make_context("zkchat", [], resilient_parsing=True)
    for parameter in command.get_params(context):
        assert type(parameter._runtime_param).__module__ == typer_adapter.__name__
        assert hasattr(parameter, "min") == hasattr(parameter, "max")


def test_the_help_shows_arguments_without_types(zkchat: Program) -> None:
    shown = zkchat("tokens", "--help").out
    assert "<str>" not in shown
    assert "Usage: zkchat tokens [OPTIONS] [FILE|-]" in shown
