"""See and change settings."""

import json
import os
from collections.abc import Callable
from dataclasses import replace
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

EMPTY = "# Settings of zkchat; the README lists them all, `zkchat config show` says which count.\n"
OriginOption = Annotated[bool, typer.Option("--origin", help="Say where each value comes from.")]
DescribeOption = Annotated[bool, typer.Option("--describe", help="Say what each is for.")]
KeyArgument = Annotated[
    str,
    typer.Argument(metavar="KEY", help="For example context.strategy; zkchat config show lists all.", autocompletion=complete_settings),
]


def _places(ctx: CommandContext) -> "AppPaths":
    from zkchat_cli.paths import app_paths

    return app_paths(os.environ, ctx.shared["config_file"])


@command(COMMAND, *options.SETTINGS)
def path(ctx: CommandContext) -> None:
    """Where the settings file is, or would be."""
    file, screen = _places(ctx).config_file, Screen.of()  # a path has no looks: settings, which take half a second, are not read
    if ctx.as_json:
        screen.json({"path": str(file), "exists": file.is_file()})
    else:
        screen.write(f"{file}\n")


@command(COMMAND, *options.NOTES)
def show(ctx: CommandContext, describe: DescribeOption = False, origin: OriginOption = False) -> None:
    """All settings with their values. Passwords and queries in addresses are left out."""
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
        said = loaded.origins.get(key, "")
        if origin:
            screen.print(f"{line}   # {_told(loaded, key)}", *(() if said else ("dim",)))
        else:
            screen.print(line + (f"   # {said}" if said else ""))


@command(COMMAND, *options.NOTES, epilog=examples("zkchat config get context.max_tokens --origin"))
def get(ctx: CommandContext, key: KeyArgument, describe: DescribeOption = False, origin: OriginOption = False) -> None:
    """One setting's value."""
    from zkchat_cli.app import factory
    from zkchat_cli.config import loader

    loader.require(key, "command line", factory.settings_schema())
    loaded, screen = ctx.config, ctx.screen
    value = _values(loaded)[key]
    if ctx.as_json:
        screen.json({"key": key, "value": value, **(_origin(loaded, key) if origin else {}), **(_description(key) if describe else {})})
    else:
        if describe:
            screen.print(f"# {_description(key)['description']}", "dim")
        shown = value if isinstance(value, str) else _as_toml(value)
        screen.print(f"{shown}   # {_told(loaded, key)}" if origin else shown)


@command(
    COMMAND,
    *options.SETTINGS,
    name="set",
    epilog=examples("zkchat config set model ollama/qwen3", 'zkchat config set vault.ignore "Templates/*,Archive/*"'),
)
def set_(
    ctx: CommandContext,
    key: KeyArgument,
    value: Annotated[str, typer.Argument(metavar="VALUE", help="As in a settings file; text needs no quotation marks.")],
) -> None:
    """Change a setting in your file; comments there are kept."""
    from zkchat_cli.app import factory
    from zkchat_cli.config import loader

    checked = loader.checked(key, value, "command line", factory.settings_schema())
    where = _places(ctx)
    factory.check(loader.load({key: value}, {}, where, schema=factory.settings_schema()))

    def change(table: Any, name: str) -> None:
        table[name] = checked

    _edit(where.config_file, key, change)
    _say(ctx, key, checked, where.config_file)


@command(COMMAND, *options.SETTINGS)
def unset(ctx: CommandContext, key: KeyArgument) -> None:
    """Take a setting out of your file; its default counts again."""
    from zkchat_cli.app import factory
    from zkchat_cli.config import loader

    loader.require(key, "command line", factory.settings_schema())

    def change(table: Any, name: str) -> None:
        table.pop(name, None)

    file = _places(ctx).config_file
    if file.is_file():
        _edit(file, key, change)
    _say(ctx, key, loader.keys(factory.settings_schema())[key], None)


def _description(key: str) -> dict[str, str]:
    from zkchat_cli.app import factory
    from zkchat_cli.config import loader

    return {"description": loader.describe(key, factory.settings_schema())}


def _say(ctx: CommandContext, key: str, value: object, file: Path | None) -> None:
    """What a setting is now, in the user's file or by default."""
    if ctx.as_json:
        ctx.screen.json({"key": key, "value": value, "file": str(file) if file else None})
    else:
        ctx.screen.print(f"{key} = {_as_toml(value)}   # {file or 'default'}")


@command(COMMAND, "config_file")
def edit(ctx: CommandContext) -> None:
    """Open your file in $VISUAL or $EDITOR; it is checked before it counts."""
    from zkchat_cli.app import factory
    from zkchat_cli.config import loader
    from zkchat_cli.terminal import config_editor

    where = _places(ctx)

    def check(file: Path) -> None:
        factory.check(loader.load({}, {}, replace(where, config_file=file), schema=factory.settings_schema()))

    if config_editor.edit(config_editor.SettingsDraft(where.config_file, EMPTY, check, _replace), ctx.screen):
        ctx.screen.print(f"{where.config_file} is changed.")
    else:
        ctx.screen.print("Nothing was changed.", "dim")


def _edit(file: Path, key: str, change: Callable[[Any, str], None]) -> None:
    """Change one key of a TOML file, everything else kept as it was written; the new file replaces the old in one step."""
    import tomllib

    import tomlkit.exceptions

    from zkchat_cli.terminal import config_editor

    try:
        document = tomlkit.parse(config_editor.read(file) or "")
        table: Any = document
        *path_, name = key.split(".")
        for part in path_:
            if isinstance(table.get(part), str):  # `vault = "DIR"` is short for vault.path
                table[part] = {"path": table[part]}
            table = table.setdefault(part, tomlkit.table())
        change(table, name)
        text = tomlkit.dumps(document)
        tomllib.loads(text)
    except tomlkit.exceptions.TOMLKitError as e:
        raise ConfigError(f"{file} is not valid TOML: {e}", "Correct it by hand first; nothing was changed.") from e
    _replace(file, text)


def _replace(file: Path, text: str) -> None:
    try:
        atomic_write(file, text, private=True)
    except (OSError, UnicodeError) as e:
        raise ConfigError(f"{file} cannot be changed: {reason(e)}", "Nothing was changed; --config names another file.") from e


def _origin(loaded: "LoadedConfig", key: str) -> dict[str, str | None]:
    """Which layer a value comes from, and the file or variable in it."""
    said = loaded.origins.get(key)
    layers = {None: "default", "command line": "flag", str(loaded.places.config_file): "user file", str(loaded.vault_file): "vault file"}
    layer = layers.get(said, "environment")
    return {"origin": layer, "where": said if layer not in ("default", "flag") else None}


def _told(loaded: "LoadedConfig", key: str) -> str:
    origin = _origin(loaded, key)
    return f"{origin['origin']}: {origin['where']}" if origin["where"] else str(origin["origin"])


def _values(loaded: "LoadedConfig") -> dict[str, Any]:

    from zkchat_cli.config import loader

    return loader.flat(loaded.values)


def _as_toml(value: object) -> str:
    return json.dumps(value, ensure_ascii=False)
