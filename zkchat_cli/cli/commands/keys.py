"""Store the API keys of providers in a file that only you can read."""

import os
import sys
from getpass import getpass
from typing import TYPE_CHECKING, Annotated

from typer import Argument

from zkchat_cli.cli.command import CommandContext, command, command_group
from zkchat_cli.config import credentials
from zkchat_cli.errors import UsageError

if TYPE_CHECKING:
    from zkchat_cli.app.model_servers import KeyedServer

ORDER = 110
COMMAND = command_group("API keys of providers. A key in the environment overrides a stored one.")
ProviderArgument = Annotated[
    str, Argument(metavar="PROVIDER", help="A provider that `zkchat keys list` names.")
]


@command(
    COMMAND, examples=["zkchat keys set anthropic", "pass show openai | zkchat keys set openai"]
)
def set_(ctx: CommandContext, provider: ProviderArgument) -> None:
    """Store a key. Prompts for it without showing it, or reads it from standard input."""
    from zkchat_cli.llm.http_client import mask_address

    variable, address = _server(ctx, provider)
    if sys.stdin.isatty():
        key = getpass(f"Key for {provider} (not shown): ")
    else:
        key = sys.stdin.readline(2 * credentials.MAX_KEY)
    where = ctx.paths
    keys = credentials.read_keys(where)
    keys[credentials.stored_name(provider, address)] = key.strip()
    credentials.write_keys(keys, where)
    server = f" at {mask_address(address)}" if address else ""
    ctx.screen.print(f"Stored the key for {provider}{server} in {where.keys_file}.")
    if os.environ.get(variable, "").strip():
        ctx.screen.warn(
            f"{variable} is set and overrides it", f"unset {variable} to use the stored key"
        )


@command(COMMAND, "as_json")
def list_(ctx: CommandContext) -> None:
    """Each provider, where its key comes from, and the key's last characters."""
    from zkchat_cli.app.model_servers import keyed_servers

    where = ctx.paths
    rows = []
    lines = []
    # Raises the error of a damaged file, which `find_key` takes for an empty one
    credentials.read_keys(where)
    for provider, (variable, address) in keyed_servers(ctx.config).items():
        key = credentials.find_key(provider, variable, os.environ, where).for_address(address)
        rows.append(
            {
                "provider": provider,
                "source": key.source,
                "variable": variable,
                "ends_with": key.last_four or None,
            }
        )
        origins = {
            "environment": variable,
            "file": str(where.keys_file),
            None: f"set {variable}, or zkchat keys set {provider}",
        }
        shown = f"…{key.last_four}" if key.value else "no key"
        lines.append(f"{provider:<10} {shown:<8} {origins[key.source]}")
    ctx.print_result(rows, "\n".join(lines))


@command(COMMAND)
def remove(ctx: CommandContext, provider: ProviderArgument) -> None:
    """Delete a provider's stored key."""
    server = _server(ctx, provider)
    name = credentials.stored_name(provider, server.address)
    keys = credentials.read_keys(ctx.paths)
    stored = keys.pop(name, None)
    credentials.write_keys(keys, ctx.paths)
    ctx.screen.print(
        f"Deleted the key for {provider}." if stored else f"No key is stored for {provider}."
    )


def _server(ctx: CommandContext, provider: str) -> "KeyedServer":
    """The server of a provider that needs a key. Raises UsageError for an unknown provider."""
    from zkchat_cli.app.model_servers import keyed_servers

    known = keyed_servers(ctx.config)
    if provider not in known:
        raise UsageError("unknown provider", f"These need a key: {', '.join(known)}.")
    return known[provider]
