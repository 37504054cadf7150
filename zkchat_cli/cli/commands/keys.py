"""Keep keys of providers: in a file that only you may read, or in the system's keyring."""

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

COMMAND = command_group("Keys of providers. A key in the environment wins over one that is kept here.")


ProviderArgument = Annotated[str, typer.Argument(metavar="PROVIDER", help="anthropic or openai.", autocompletion=complete_providers)]


@command(COMMAND, "as_json", name="set", epilog=examples("zkchat keys set anthropic", "pass show openai | zkchat keys set openai"))
def set_(
    ctx: CommandContext,
    provider: ProviderArgument,
    given: Annotated[list[str] | None, typer.Argument(hidden=True)] = None,
    in_file: Annotated[bool, typer.Option("--file", help="In the file, though there is a keyring.")] = False,
) -> None:
    """Keep a key. It is asked for, unseen, or read from standard input."""
    from zkchat_cli import credentials

    variable = _variable(provider)
    if given:
        hint = f"zkchat keys set {provider} asks for it, or reads it from standard input."
        raise UsageError("a key is not given as an argument: it would stay in your shell's history", hint)
    place = credentials.store_key(provider, credentials.parse_pasted_key(_asked(provider), variable), _places(), in_file=in_file)
    screen = ctx.screen
    overridden = bool(os.environ.get(variable, "").strip())
    if ctx.as_json:
        screen.json({"provider": provider, "source": place, "overridden": overridden})
    else:
        screen.print(f"The key for {provider} is kept in {_place(place)}.")
    if overridden:
        screen.warn(f"{variable} is set, and wins over it", f"unset {variable} to use the one that is kept")


@command(COMMAND, "as_json", name="list")
def list_(ctx: CommandContext) -> None:
    """Each provider, where its key comes from, and the key's last signs."""
    from zkchat_cli import credentials
    from zkchat_cli.app import factory

    where, env, screen = _places(), os.environ, ctx.screen
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
            wins = f", which wins over the one in {_place(overridden)}" if overridden else ""
            place = variable + wins if key.source == "environment" else _place(key.source) if key.source else ""
            shown = f"…{key.last_four}" if key.value else "no key" if not key.source else "no key there"
            screen.print(f"{provider:<10} {shown:<8} {place or f'set {variable}, or zkchat keys set {provider}'}")
    if ctx.as_json:
        screen.json(rows)


@command(COMMAND, "as_json")
def remove(ctx: CommandContext, provider: ProviderArgument) -> None:
    """Keep a provider's key no longer."""
    from zkchat_cli import credentials

    variable = _variable(provider)
    removed = credentials.remove_key(provider, _places())
    screen = ctx.screen
    if ctx.as_json:
        screen.json({"provider": provider, "removed": removed})
    else:
        screen.print(f"The key for {provider} is removed." if removed else f"No key is kept for {provider}.")
    if os.environ.get(variable, "").strip():
        screen.warn(f"{variable} is set, and still used", f"unset {variable}")


def _places() -> "AppPaths":
    from zkchat_cli import paths

    return paths.app_paths(os.environ)


def _variable(provider: str) -> str:
    from zkchat_cli.app import factory

    known = factory.key_variables(os.environ)
    if provider not in known:
        raise UsageError("there is no such provider that takes a key", f"There are {' and '.join(known)}.")
    return known[provider]


def _asked(provider: str) -> str:
    """A key from a prompt that shows nothing of it, or the first line of standard input."""
    from zkchat_cli import credentials

    if sys.stdin is None:
        raise UsageError("there is no standard input to read the key from", "Start it in a terminal.")
    if not sys.stdin.isatty():
        return sys.stdin.readline(2 * credentials.LONGEST)
    from getpass import getpass

    try:
        return getpass(f"Key for {provider} (it is not shown): ")
    except EOFError:
        return ""


def _place(source: "credentials.Source | None") -> str:
    return "the system's keyring" if source == "keyring" else str(_places().keys_file)
