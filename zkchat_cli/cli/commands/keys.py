"""Store the API keys of providers in a file that only you can read."""

import os
import sys
from typing import Annotated

import typer

from zkchat_cli import credentials
from zkchat_cli.cli.command import CommandContext, command, command_group, examples
from zkchat_cli.errors import UsageError

COMMAND = command_group("API keys of providers. A key in the environment overrides a stored one.")
ProviderArgument = Annotated[str, typer.Argument(metavar="PROVIDER", help="anthropic or openai.")]


@command(COMMAND, name="set", epilog=examples("zkchat keys set anthropic", "pass show openai | zkchat keys set openai"))
def set_(ctx: CommandContext, provider: ProviderArgument, given: Annotated[list[str] | None, typer.Argument(hidden=True)] = None) -> None:
    """Store a key. Prompts for it without showing it, or reads it from standard input."""
    from getpass import getpass

    from zkchat_cli.llm.http_errors import mask_address

    variable = _variable(provider)
    if given:
        hint = f"zkchat keys set {provider} prompts for it, or reads it from standard input."
        raise UsageError("a key cannot be an argument: it would stay in your shell's history", hint)
    key = getpass(f"Key for {provider} (not shown): ") if sys.stdin.isatty() else sys.stdin.readline(2 * credentials.MAX_KEY)
    where, address = ctx.paths, _address(provider)
    credentials.write_keys({**credentials.read_keys(where), credentials.stored_name(provider, address): key.strip()}, where)
    ctx.screen.print(f"Stored the key for {provider}{address and f' at {mask_address(address)}'} in {where.keys_file}.")
    if os.environ.get(variable, "").strip():
        ctx.screen.warn(f"{variable} is set and overrides it", f"unset {variable} to use the stored key")


@command(COMMAND, "as_json", name="list")
def list_(ctx: CommandContext) -> None:
    """Each provider, where its key comes from, and the key's last characters."""
    from zkchat_cli.app import factory

    where, env = ctx.paths, os.environ
    rows, lines = [], []
    credentials.read_keys(where)  # a damaged file is an error here
    for provider, variable in factory.key_variables(env).items():
        key = credentials.find_key(provider, variable, env, where).at(_address(provider))
        rows.append({"provider": provider, "source": key.source, "variable": variable, "ends_with": key.last_four or None})
        origins = {"environment": variable, "file": str(where.keys_file), None: f"set {variable}, or zkchat keys set {provider}"}
        lines.append(f"{provider:<10} {f'…{key.last_four}' if key.value else 'no key':<8} {origins[key.source]}")
    ctx.result(rows, "\n".join(lines))


@command(COMMAND)
def remove(ctx: CommandContext, provider: ProviderArgument) -> None:
    """Delete a provider's stored key."""
    _variable(provider)
    where = ctx.paths
    keys = credentials.read_keys(where)
    if keys.pop(credentials.stored_name(provider, _address(provider)), None) is None:
        ctx.screen.print(f"No key is stored for {provider}.")
    else:
        credentials.write_keys(keys, where)
        ctx.screen.print(f"Deleted the key for {provider}.")


def _address(provider: str) -> str:
    """The server that the key is for, if the user has configured another than the provider's own."""
    from zkchat_cli.app import factory

    return factory.other_address(provider, os.environ)


def _variable(provider: str) -> str:
    """The environment variable of a provider's key. Raises UsageError for an unknown provider."""
    from zkchat_cli.app import factory

    known = factory.key_variables(os.environ)
    if provider not in known:
        raise UsageError("unknown provider", f"These need a key: {', '.join(known)}.")
    return known[provider]
