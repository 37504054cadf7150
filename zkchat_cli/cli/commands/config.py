"""See and change settings."""

import json
import os
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from zkchat_cli.cli import options
from zkchat_cli.cli.command import CommandContext, command, command_group, examples
from zkchat_cli.cli.completion import complete_settings
from zkchat_cli.errors import ConfigError, reason
from zkchat_cli.fileio import atomic_write
from zkchat_cli.terminal.screen import Screen

if TYPE_CHECKING:
    from zkchat_cli.config.loader import LoadedConfig
    from zkchat_cli.paths import AppPaths

COMMAND = command_group("Settings: defaults < your file < .zkchat.toml in the vault < environment < flags.")

OriginOption = Annotated[bool, typer.Option("--origin", help="Print where each value comes from.")]
DescribeOption = Annotated[bool, typer.Option("--describe", help="Print what each setting is for.")]
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
    file, screen = _paths(ctx).config_file, Screen.of()  # not ctx.screen, which would read the settings first
    if ctx.as_json:
        screen.json({"path": str(file), "exists": file.is_file()})
    else:
        screen.write(f"{file}\n")


@command(COMMAND, *options.NOTES)
def show(ctx: CommandContext, describe: DescribeOption = False, origin: OriginOption = False) -> None:
    """All settings with their values. Passwords and queries in URLs are hidden."""
    from zkchat_cli.llm.http_errors import mask_address

    loaded, screen = ctx.config, ctx.screen
    values = {key: mask_address(value) if isinstance(value, str) and "://" in value else value for key, value in _values(loaded).items()}
    if ctx.as_json:
        more = {key: {**(_origin(loaded, key) if origin else {}), **(_description(key) if describe else {})} for key in values}
        screen.json({key: {"value": value, **more[key]} if more[key] else value for key, value in values.items()})
        return
    for key, value in values.items():
        if describe:
            screen.print(f"# {_description(key)['description']}", "dim")
        line = f"{key} = {_as_toml(value)}"
        source = loaded.origins.get(key, "")
        if origin:
            screen.print(f"{line}   # {_origin_text(loaded, key)}", *(() if source else ("dim",)))
        else:
            screen.print(line + (f"   # {source}" if source else ""))


@command(COMMAND, *options.NOTES, epilog=examples("zkchat config get context.max_tokens --origin"))
def get(ctx: CommandContext, key: KeyArgument, describe: DescribeOption = False, origin: OriginOption = False) -> None:
    """The value of one setting."""
    from zkchat_cli.app import factory
    from zkchat_cli.config import loader

    loader.require_known_key(key, "command line", factory.settings_schema())
    loaded, screen = ctx.config, ctx.screen
    value = _values(loaded)[key]
    if ctx.as_json:
        screen.json({"key": key, "value": value, **(_origin(loaded, key) if origin else {}), **(_description(key) if describe else {})})
    else:
        if describe:
            screen.print(f"# {_description(key)['description']}", "dim")
        text = value if isinstance(value, str) else _as_toml(value)
        screen.print(f"{text}   # {_origin_text(loaded, key)}" if origin else text)


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

    checked = loader.parse_value(key, value, "command line", factory.settings_schema())
    where = _paths(ctx)
    factory.check(loader.load_config({key: value}, {}, where, schema=factory.settings_schema()))

    def change(table: Any, name: str) -> None:
        table[name] = checked

    _edit(where.config_file, key, change)
    _print_setting(ctx, key, checked, where.config_file)


@command(COMMAND, *options.SETTINGS)
def unset(ctx: CommandContext, key: KeyArgument) -> None:
    """Remove a setting from your file, so that its default applies again."""
    from zkchat_cli.app import factory
    from zkchat_cli.config import loader

    loader.require_known_key(key, "command line", factory.settings_schema())

    def change(table: Any, name: str) -> None:
        table.pop(name, None)

    file = _paths(ctx).config_file
    if file.is_file():
        _edit(file, key, change)
    _print_setting(ctx, key, loader.default_values(factory.settings_schema())[key], None)


def _description(key: str) -> dict[str, str]:
    from zkchat_cli.app import factory
    from zkchat_cli.config import loader

    return {"description": loader.describe_setting(key, factory.settings_schema())}


def _print_setting(ctx: CommandContext, key: str, value: object, file: Path | None) -> None:
    """Print the new value and the file that holds it; `file` is None for a default."""
    if ctx.as_json:
        ctx.screen.json({"key": key, "value": value, "file": str(file) if file else None})
    else:
        ctx.screen.print(f"{key} = {_as_toml(value)}   # {file or 'default'}")


def _edit(file: Path, key: str, change: Callable[[Any, str], None]) -> None:
    """Change one key of a TOML file, and keep everything else as it was written."""
    import tomllib

    import tomlkit.exceptions

    try:
        document = tomlkit.parse(file.read_text(encoding="utf-8") if file.is_file() else "")
        table: Any = document
        *path_, name = key.split(".")
        for part in path_:
            if isinstance(table.get(part), str):  # `vault = "DIR"` is short for vault.path
                table[part] = {"path": table[part]}
            table = table.setdefault(part, tomlkit.table())
        change(table, name)
        text = tomlkit.dumps(document)
        tomllib.loads(text)
    except (OSError, UnicodeDecodeError) as e:
        raise ConfigError(f"cannot read {file}: {reason(e)}", "Nothing was changed.") from e
    except tomlkit.exceptions.TOMLKitError as e:
        raise ConfigError(f"{file} is not valid TOML: {e}", "Correct it in an editor first. Nothing was changed.") from e
    _replace(file, text)


def _replace(file: Path, text: str) -> None:
    try:
        atomic_write(file, text, private=True)
    except (OSError, UnicodeError) as e:
        raise ConfigError(f"cannot change {file}: {reason(e)}", "Use --config to name another file.") from e


def _origin(loaded: "LoadedConfig", key: str) -> dict[str, str | None]:
    """The layer a value comes from, and the file or variable that sets it."""
    source = loaded.origins.get(key)
    layers = {None: "default", "command line": "flag", str(loaded.places.config_file): "user file", str(loaded.vault_file): "vault file"}
    layer = layers.get(source, "environment")
    return {"origin": layer, "where": source if layer not in ("default", "flag") else None}


def _origin_text(loaded: "LoadedConfig", key: str) -> str:
    origin = _origin(loaded, key)
    return f"{origin['origin']}: {origin['where']}" if origin["where"] else str(origin["origin"])


def _values(loaded: "LoadedConfig") -> dict[str, Any]:
    from zkchat_cli.config import loader

    return loader.flatten(loaded.values)


def _as_toml(value: object) -> str:
    return json.dumps(value, ensure_ascii=False)
