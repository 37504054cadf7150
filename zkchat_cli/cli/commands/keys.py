"""Store the API keys of providers: in the system's keyring, or in a file that only you can read."""

import os
import sys
from typing import TYPE_CHECKING, Annotated

import typer

from zkchat_cli.cli.command import CommandContext, command, command_group, examples
from zkchat_cli.cli.completion import complete_providers
from zkchat_cli.errors import ConfigError, UsageError

if TYPE_CHECKING:
    from zkchat_cli import credentials
    from zkchat_cli.paths import AppPaths

COMMAND = command_group("API keys of providers. A key in the environment overrides a stored one.")


ProviderArgument = Annotated[str, typer.Argument(metavar="PROVIDER", help="anthropic or openai.", autocompletion=complete_providers)]


@command(COMMAND, "as_json", name="set", epilog=examples("zkchat keys set anthropic", "pass show openai | zkchat keys set openai"))
def set_(
    ctx: CommandContext,
    provider: ProviderArgument,
    given: Annotated[list[str] | None, typer.Argument(hidden=True)] = None,
    in_file: Annotated[bool, typer.Option("--file", help="Use the file even if there is a keyring.")] = False,
) -> None:
    """Store a key. Prompts for it without showing it, or reads it from standard input."""
    from zkchat_cli import credentials

    variable = _variable(provider)
    if given:
        hint = f"zkchat keys set {provider} prompts for it, or reads it from standard input."
        raise UsageError("a key cannot be an argument: it would stay in your shell's history", hint)
    place = credentials.store_key(provider, credentials.parse_pasted_key(_read_key(provider), variable), _paths(), in_file=in_file)
    screen = ctx.screen
    overridden = bool(os.environ.get(variable, "").strip())
    if ctx.as_json:
        screen.json({"provider": provider, "source": place, "overridden": overridden})
    else:
        screen.print(f"Stored the key for {provider} in {_location(place)}.")
    if overridden:
        screen.warn(f"{variable} is set and overrides it", f"unset {variable} to use the stored key")


@command(COMMAND, "as_json", name="list")
def list_(ctx: CommandContext) -> None:
    """Each provider, where its key comes from, and the key's last characters."""
    from zkchat_cli import credentials
    from zkchat_cli.app import factory

    where, env, screen = _paths(), os.environ, ctx.screen
    try:
        credentials.check_readable(where)
    except ConfigError as e:
        screen.warn(e.message, e.hint)
    rows = []
    for provider, variable in factory.key_variables(os.environ).items():
        key = credentials.find_key(provider, variable, env, where)
        other = credentials.read_stored_key(provider, variable, where)
        overridden = other.source if key.source == "environment" else None
        rows.append(
            {"provider": provider, "source": key.source, "variable": variable, "ends_with": key.last_four or None, "overrides": overridden}
        )
        if not ctx.as_json:
            overrides = f", which overrides the one in {_location(overridden)}" if overridden else ""
            location = variable + overrides if key.source == "environment" else _location(key.source) if key.source else ""
            ending = f"…{key.last_four}" if key.value else "no key"
            screen.print(f"{provider:<10} {ending:<8} {location or f'set {variable}, or zkchat keys set {provider}'}")
    if ctx.as_json:
        screen.json(rows)


@command(COMMAND, "as_json")
def remove(ctx: CommandContext, provider: ProviderArgument) -> None:
    """Delete a provider's stored key."""
    from zkchat_cli import credentials

    variable = _variable(provider)
    removed = credentials.remove_key(provider, _paths())
    screen = ctx.screen
    if ctx.as_json:
        screen.json({"provider": provider, "removed": removed})
    else:
        screen.print(f"Deleted the key for {provider}." if removed else f"No key is stored for {provider}.")
    if os.environ.get(variable, "").strip():
        screen.warn(f"{variable} is set and still used", f"unset {variable}")


def _paths() -> "AppPaths":
    from zkchat_cli import paths

    return paths.app_paths(os.environ)


def _variable(provider: str) -> str:
    from zkchat_cli.app import factory

    known = factory.key_variables(os.environ)
    if provider not in known:
        raise UsageError("unknown provider", f"These need a key: {', '.join(known)}.")
    return known[provider]


def _read_key(provider: str) -> str:
    """A key from a hidden prompt, or the first line of standard input."""
    from zkchat_cli import credentials

    if sys.stdin is None:
        raise UsageError("there is no standard input to read the key from", "Start it in a terminal.")
    if not sys.stdin.isatty():
        return sys.stdin.readline(2 * credentials.MAX_KEY)
    from getpass import getpass

    try:
        return getpass(f"Key for {provider} (not shown): ")
    except EOFError:
        return ""


def _location(source: "credentials.Source | None") -> str:
    return "the system's keyring" if source == "keyring" else str(_paths().keys_file)
