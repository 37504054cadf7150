"""See and change settings."""

import json
import os
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from zkchat_cli.cli import options
from zkchat_cli.cli.command import CommandContext, command, command_group, examples
from zkchat_cli.cli.completion import complete_settings
from zkchat_cli.errors import ConfigError, reason
from zkchat_cli.fileio import atomic_write, read_file

if TYPE_CHECKING:
    from zkchat_cli.paths import AppPaths

COMMAND = command_group("Settings: defaults < your file < .zkchat.toml in the vault < environment < flags.")

KeyArgument = Annotated[
    str,
    typer.Argument(metavar="KEY", help="For example context.strategy; zkchat config show lists all.", autocompletion=complete_settings),
]


def _paths(ctx: CommandContext) -> "AppPaths":
    from zkchat_cli.paths import app_paths

    return app_paths(os.environ, ctx.shared["config_file"])


@command(COMMAND, *options.SETTINGS)
def path(ctx: CommandContext) -> None:
    """The path of the settings file, whether or not it exists."""
    file, screen = _paths(ctx).config_file, ctx.screen
    if ctx.as_json:
        screen.json({"path": str(file), "exists": file.is_file()})
    else:
        screen.write(f"{file}\n")


@command(COMMAND, *options.NOTES)
def show(ctx: CommandContext) -> None:
    """All settings, and the file or variable that sets each; passwords and queries in URLs are hidden."""
    from zkchat_cli.config import loader
    from zkchat_cli.llm.http_errors import mask_address

    loaded, screen = ctx.config, ctx.screen
    values = {
        key: mask_address(value) if isinstance(value, str) and "://" in value else value
        for key, value in loader.flatten(loaded.values).items()
    }
    if ctx.as_json:
        screen.json(values)
        return
    for key, value in values.items():
        source = loaded.origins.get(key)
        screen.print(f"{key} = {_as_toml(value)}" + (f"   # {source}" if source else ""))


@command(COMMAND, *options.NOTES, epilog=examples("zkchat config get context.max_tokens"))
def get(ctx: CommandContext, key: KeyArgument) -> None:
    """The value of one setting."""
    from zkchat_cli.app import factory
    from zkchat_cli.config import loader

    loader.require_known_key(key, "command line", factory.settings_schema())
    value = loader.flatten(ctx.config.values)[key]
    if ctx.as_json:
        ctx.screen.json({"key": key, "value": value})
    else:
        ctx.screen.print(value if isinstance(value, str) else _as_toml(value))


@command(
    COMMAND,
    *options.SETTINGS,
    name="set",
    epilog=examples("zkchat config set model ollama/qwen3", 'zkchat config set vault.ignore "Templates/*,Archive/*"'),
)
def set_(
    ctx: CommandContext,
    key: KeyArgument,
    value: Annotated[str, typer.Argument(metavar="VALUE", help="As in a settings file, but text needs no quotation marks.")],
) -> None:
    """Change a setting in your file; its comments are kept."""
    from zkchat_cli.app import factory
    from zkchat_cli.config import loader

    checked = loader.flatten(loader.with_value(factory.settings_schema()(), key, value, "command line"))[key]
    where = _paths(ctx)
    factory.check(loader.load_config({key: value}, {}, where, schema=factory.settings_schema()))
    _edit(where.config_file, key, checked)
    _print_setting(ctx, key, checked, where.config_file)


@command(COMMAND, *options.SETTINGS)
def unset(ctx: CommandContext, key: KeyArgument) -> None:
    """Remove a setting from your file, so that its default applies again."""
    from zkchat_cli.app import factory
    from zkchat_cli.config import loader

    loader.require_known_key(key, "command line", factory.settings_schema())
    file = _paths(ctx).config_file
    if file.is_file():
        _edit(file, key, None)
    _print_setting(ctx, key, loader.default_values(factory.settings_schema())[key], None)


def _print_setting(ctx: CommandContext, key: str, value: object, file: Path | None) -> None:
    """Print the new value and the file that holds it; `file` is None for a default."""
    if ctx.as_json:
        ctx.screen.json({"key": key, "value": value, "file": str(file) if file else None})
    else:
        ctx.screen.print(f"{key} = {_as_toml(value)}   # {file or 'default'}")


def _edit(file: Path, key: str, value: object | None) -> None:
    """Set one key of a TOML file, or remove it (None), and keep everything else as it was written."""
    import tomllib

    import tomlkit.exceptions

    from zkchat_cli.config.loader import MAX_FILE_BYTES

    try:
        document = tomlkit.parse(read_file(file, MAX_FILE_BYTES).decode() if file.is_file() else "")
        table: Any = document
        *path_, name = key.split(".")
        for part in path_:
            table = table.setdefault(part, tomlkit.table())
        if value is None:
            table.pop(name, None)
        else:
            table[name] = value
        text = tomlkit.dumps(document)
        tomllib.loads(text)
    except (OSError, UnicodeDecodeError) as e:
        raise ConfigError(f"cannot read {file}: {reason(e)}", "Nothing was changed.") from e
    except tomlkit.exceptions.TOMLKitError as e:
        raise ConfigError(f"{file} is not valid TOML: {e}", "Correct it in an editor first. Nothing was changed.") from e
    try:
        atomic_write(file, text, private=True)
    except (OSError, UnicodeError) as e:
        raise ConfigError(f"cannot change {file}: {reason(e)}", "Use --config to name another file.") from e


def _as_toml(value: object) -> str:
    return json.dumps(value, ensure_ascii=False)
