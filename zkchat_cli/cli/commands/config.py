"""See and change settings."""

import json
from pathlib import Path
from typing import Annotated

from typer import Argument

from zkchat_cli.cli import options
from zkchat_cli.cli.command import CommandContext, command, command_group
from zkchat_cli.config.store_url import hide_password

ORDER = 100
COMMAND = command_group(
    "Settings: defaults < your file < .zkchat.toml in the vault < environment < flags."
)
PATH_KEYS = ("vault.path", "semantic.path")
KeyArgument = Annotated[
    str,
    Argument(
        metavar="KEY",
        help="For example context.strategy; `config show` lists all.",
        autocompletion=options.complete_settings,
    ),
]


@command(COMMAND, *options.SETTINGS)
def path(ctx: CommandContext) -> None:
    """The path of the settings file, whether or not it exists."""
    file = ctx.paths.config_file
    ctx.print_result({"path": str(file), "exists": file.is_file()}, str(file))


@command(COMMAND, *options.NOTES)
def show(ctx: CommandContext) -> None:
    """All settings, and the file or variable that sets each; passwords and queries in URLs are
    hidden.
    """
    from zkchat_cli.config import loader
    from zkchat_cli.llm.http_client import mask_address

    values = loader.flatten(ctx.config.values)
    lines = []
    for key, value in values.items():
        if key == "store.url":
            values[key] = hide_password(value)
        elif isinstance(value, str) and "://" in value:
            values[key] = mask_address(value)
        origin = f"   # {ctx.config.origins[key]}" if key in ctx.config.origins else ""
        lines.append(f"{key} = {loader.as_toml(values[key])}{origin}")
    ctx.print_result(values, "\n".join(lines))


@command(COMMAND, *options.NOTES, examples=["zkchat config get context.max_tokens"])
def get(ctx: CommandContext, key: KeyArgument) -> None:
    """The value of one setting."""
    from zkchat_cli.config import loader

    loader.require_known_key(key, loader.COMMAND_LINE)
    value = loader.flatten(ctx.config.values)[key]
    if key == "store.url":
        value = hide_password(value)
    shown = value if isinstance(value, str) else loader.as_toml(value)
    ctx.print_result({"key": key, "value": value}, shown)


@command(
    COMMAND,
    *options.SETTINGS,
    examples=[
        "zkchat config set model qwen3",
        'zkchat config set vault.ignore "Templates/*,Archive/*"',
    ],
)
def set_(
    ctx: CommandContext,
    key: KeyArgument,
    value: Annotated[
        str,
        Argument(metavar="VALUE", help="As in a settings file, but text needs no quotation marks."),
    ],
) -> None:
    """Change a setting in your file; its comments are kept."""
    from zkchat_cli.app.settings import save_setting

    if key in PATH_KEYS and value and not value.startswith("~") and not Path(value).is_absolute():
        # A relative path would name another folder wherever zkchat is started
        value = str(Path.cwd() / value)
    _print_setting(ctx, key, save_setting(key, value, ctx.paths), ctx.paths.config_file)


@command(COMMAND, *options.SETTINGS)
def unset(ctx: CommandContext, key: KeyArgument) -> None:
    """Remove a setting from your file, so that its default applies again."""
    from zkchat_cli.config import loader

    loader.require_known_key(key, loader.COMMAND_LINE)
    file = ctx.paths.config_file
    if file.is_file():
        loader.edit_toml(file, {key: None})
    _print_setting(ctx, key, loader.default_values()[key], None)


def _print_setting(ctx: CommandContext, key: str, value: object, file: Path | None) -> None:
    """Print the new value and the file that holds it; `file` is None for a default."""
    shown = f"{key} = {json.dumps(value, ensure_ascii=False)}   # {file or 'default'}"
    ctx.print_result({"key": key, "value": value, "file": str(file) if file else None}, shown)
