"""See and change settings."""

import json
import os
import tomllib
from collections.abc import Callable
from pathlib import Path
from typing import Annotated, Any

import tomlkit
import tomlkit.exceptions
import typer

from zkchat_cli import cli, wiring
from zkchat_cli import config as settings
from zkchat_cli.errors import ConfigError
from zkchat_cli.terminal.screen import Screen
from zkchat_cli.wiring import Choices

COMMAND = cli.app("Settings: defaults < your file < .zkchat.toml in the vault < environment < flags.")

KeyArgument = Annotated[str, typer.Argument(metavar="KEY", help="A dotted key, as context.strategy.")]


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
    as_json: cli.JsonOption = False,
    vault: cli.VaultOption = None,
    config: cli.ConfigOption = None,
) -> None:
    """All settings with their values, and who set them."""
    loaded = _load(vault, config)
    values = _values(loaded)
    screen = Screen.of()
    if as_json:
        screen.json(values)
        return
    for key, value in values.items():
        origin = loaded.origins.get(key)
        screen.print(f"{key} = {_as_toml(value)}" + (f"   # {origin}" if origin else ""))


@COMMAND.command()
def get(
    key: KeyArgument,
    as_json: cli.JsonOption = False,
    vault: cli.VaultOption = None,
    config: cli.ConfigOption = None,
) -> None:
    """One setting's value."""
    settings.require(key, "command line", wiring.schema())
    value = _values(_load(vault, config))[key]
    screen = Screen.of()
    if as_json:
        screen.json({"key": key, "value": value})
    else:
        screen.print(value if isinstance(value, str) else _as_toml(value))


@COMMAND.command(name="set")
def set_(
    key: KeyArgument,
    value: Annotated[str, typer.Argument(metavar="VALUE")],
    config: cli.ConfigOption = None,
) -> None:
    """Change a setting in your file; comments there are kept."""
    checked = settings.checked(key, value, "command line", wiring.schema())
    where = settings.places(os.environ, config)
    wiring.check(settings.load({key: value}, {}, where, schema=wiring.schema()))

    def change(table: Any, name: str) -> None:
        table[name] = checked

    _edit(where.config_file, key, change)
    Screen.of().print(f"{key} = {_as_toml(checked)}   # {where.config_file}")


@COMMAND.command()
def unset(key: KeyArgument, config: cli.ConfigOption = None) -> None:
    """Take a setting out of your file; its default counts again."""
    settings.require(key, "command line", wiring.schema())

    def change(table: Any, name: str) -> None:
        table.pop(name, None)

    _edit(settings.places(os.environ, config).config_file, key, change)
    Screen.of().print(f"{key} = {_as_toml(settings.keys(wiring.schema())[key])}   # default")


def _edit(file: Path, key: str, change: Callable[[Any, str], None]) -> None:
    """Change one key of a TOML file, everything else kept as it was written; the new file replaces the old in one step."""
    try:
        document = tomlkit.parse(file.read_text(encoding="utf-8")) if file.is_file() else tomlkit.document()
        table: Any = document
        *path_, name = key.split(".")
        for part in path_:
            if isinstance(table.get(part), str):  # `vault = "DIR"` is short for vault.path
                table[part] = {"path": table[part]}
            table = table.setdefault(part, tomlkit.table())
        change(table, name)
        text = tomlkit.dumps(document)
        tomllib.loads(text)
        file.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        aside = file.with_name(f".{file.name}.new")
        aside.write_text(text, encoding="utf-8")
        aside.replace(file)
    except tomlkit.exceptions.TOMLKitError as e:
        raise ConfigError(f"{file} is not valid TOML: {e}", "Correct it by hand first; nothing was changed.") from e
    except (OSError, UnicodeDecodeError) as e:
        raise ConfigError(f"{file} cannot be changed: {e}", "Nothing was changed; --config names another file.") from e


def _values(loaded: settings.Loaded) -> dict[str, Any]:
    return settings.flat(loaded.values)


def _as_toml(value: object) -> str:
    return json.dumps(value, ensure_ascii=False)
