"""See and change settings."""

import json
import os
import tomllib
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Annotated, Any

import tomlkit
import tomlkit.exceptions
import typer

from zkchat_cli import cli, places, wiring
from zkchat_cli import config as settings
from zkchat_cli.errors import ConfigError, reason
from zkchat_cli.llm.endpoint import shown
from zkchat_cli.terminal import drafting
from zkchat_cli.terminal.screen import Screen
from zkchat_cli.wiring import Choices

COMMAND = cli.app("Settings: defaults < your file < .zkchat.toml in the vault < environment < flags.")

EMPTY = "# Settings of zkchat; the README lists them all, `zkchat config show` says which count.\n"
OriginOption = Annotated[bool, typer.Option("--origin", help="Say where each value comes from.")]
DescribeOption = Annotated[bool, typer.Option("--describe", help="Say what each is for.")]
KeyArgument = Annotated[str, typer.Argument(metavar="KEY", help="As context.strategy; zkchat config show lists all.")]


def _load(vault: Path | None, config: Path | None) -> settings.Loaded:
    return wiring.settings(Choices(vault, config_file=config), os.environ, Path.cwd())


@COMMAND.command()
def path(config: cli.ConfigOption = None, as_json: cli.JsonOption = False) -> None:
    """Where the settings file is, or would be."""
    file = settings.places(os.environ, config).config_file
    screen = Screen.of()
    if as_json:
        screen.json({"path": str(file), "exists": file.is_file()})
    else:
        screen.print(str(file))


@COMMAND.command()
def show(
    describe: DescribeOption = False,
    origin: OriginOption = False,
    as_json: cli.JsonOption = False,
    vault: cli.VaultOption = None,
    config: cli.ConfigOption = None,
) -> None:
    """All settings with their values, and who set them; of addresses neither passwords nor what is asked in them."""
    loaded = _load(vault, config)
    values = {key: shown(value) if isinstance(value, str) and "://" in value else value for key, value in _values(loaded).items()}
    screen = Screen.of()
    if as_json:
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


@COMMAND.command()
def get(
    key: KeyArgument,
    describe: DescribeOption = False,
    origin: OriginOption = False,
    as_json: cli.JsonOption = False,
    vault: cli.VaultOption = None,
    config: cli.ConfigOption = None,
) -> None:
    """One setting's value."""
    settings.require(key, "command line", wiring.schema())
    loaded = _load(vault, config)
    value = _values(loaded)[key]
    screen = Screen.of()
    if as_json:
        screen.json({"key": key, "value": value, **(_origin(loaded, key) if origin else {}), **(_description(key) if describe else {})})
    else:
        if describe:
            screen.print(f"# {_description(key)['description']}", "dim")
        shown = value if isinstance(value, str) else _as_toml(value)
        screen.print(f"{shown}   # {_told(loaded, key)}" if origin else shown)


@COMMAND.command(
    name="set", epilog=cli.examples("zkchat config set model ollama/qwen3", 'zkchat config set vault.ignore "Templates/*,Archive/*"')
)
def set_(
    key: KeyArgument,
    value: Annotated[str, typer.Argument(metavar="VALUE", help="As in a settings file; text needs no quotation marks.")],
    as_json: cli.JsonOption = False,
    config: cli.ConfigOption = None,
) -> None:
    """Change a setting in your file; comments there are kept."""
    checked = settings.checked(key, value, "command line", wiring.schema())
    where = settings.places(os.environ, config)
    wiring.check(settings.load({key: value}, {}, where, schema=wiring.schema()))

    def change(table: Any, name: str) -> None:
        table[name] = checked

    _edit(where.config_file, key, change)
    _say(key, checked, where.config_file, as_json=as_json)


@COMMAND.command()
def unset(key: KeyArgument, as_json: cli.JsonOption = False, config: cli.ConfigOption = None) -> None:
    """Take a setting out of your file; its default counts again."""
    settings.require(key, "command line", wiring.schema())

    def change(table: Any, name: str) -> None:
        table.pop(name, None)

    file = settings.places(os.environ, config).config_file
    if file.is_file():
        _edit(file, key, change)
    _say(key, settings.keys(wiring.schema())[key], None, as_json=as_json)


def _description(key: str) -> dict[str, str]:
    return {"description": settings.describe(key, wiring.schema())}


def _say(key: str, value: object, file: Path | None, *, as_json: bool) -> None:
    """What a setting is now, in the user's file or by default."""
    if as_json:
        Screen.of().json({"key": key, "value": value, "file": str(file) if file else None})
    else:
        Screen.of().print(f"{key} = {_as_toml(value)}   # {file or 'default'}")


@COMMAND.command()
def edit(config: cli.ConfigOption = None) -> None:
    """Open your file in $VISUAL or $EDITOR; it is checked before it counts."""
    where = settings.places(os.environ, config)

    def check(file: Path) -> None:
        wiring.check(settings.load({}, {}, replace(where, config_file=file), schema=wiring.schema()))

    screen = Screen.of()
    if drafting.edit(drafting.Draft(where.config_file, EMPTY, check, _replace), screen):
        screen.print(f"{where.config_file} is changed.")
    else:
        screen.print("Nothing was changed.", "dim")


def _edit(file: Path, key: str, change: Callable[[Any, str], None]) -> None:
    """Change one key of a TOML file, everything else kept as it was written; the new file replaces the old in one step."""
    try:
        document = tomlkit.parse(drafting.read(file) or "")
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
    """The whole file anew, in one step, for its owner alone."""
    try:
        places.replace(file, text)
    except (OSError, UnicodeError) as e:
        raise ConfigError(f"{file} cannot be changed: {reason(e)}", "Nothing was changed; --config names another file.") from e


def _origin(loaded: settings.Loaded, key: str) -> dict[str, str | None]:
    """Which layer a value comes from, and the file or variable in it."""
    said = loaded.origins.get(key)
    layers = {None: "default", "command line": "flag", str(loaded.places.config_file): "user file", str(loaded.vault_file): "vault file"}
    layer = layers.get(said, "environment")
    return {"origin": layer, "where": said if layer not in ("default", "flag") else None}


def _told(loaded: settings.Loaded, key: str) -> str:
    origin = _origin(loaded, key)
    return f"{origin['origin']}: {origin['where']}" if origin["where"] else str(origin["origin"])


def _values(loaded: settings.Loaded) -> dict[str, Any]:
    return settings.flat(loaded.values)


def _as_toml(value: object) -> str:
    return json.dumps(value, ensure_ascii=False)
