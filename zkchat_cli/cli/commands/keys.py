"""Store the API keys of providers in a file that only you can read."""

import os
from typing import Annotated

from typer import Argument

from zkchat_cli.cli.command import CommandContext, command, command_group
from zkchat_cli.cli.key_prompt import find_server, store_key
from zkchat_cli.config import credentials

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
    store_key(ctx, provider)


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
    server = find_server(ctx, provider)
    name = credentials.stored_name(provider, server.address)
    keys = credentials.read_keys(ctx.paths)
    stored = keys.pop(name, None)
    credentials.write_keys(keys, ctx.paths)
    ctx.screen.print(
        f"Deleted the key for {provider}." if stored else f"No key is stored for {provider}."
    )
