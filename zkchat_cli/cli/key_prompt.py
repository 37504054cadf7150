"""Asks for a provider's API key and stores it: for `keys set`, and for the login of editors."""

import os
import sys
from getpass import getpass
from typing import TYPE_CHECKING

from zkchat_cli.cli.command import CommandContext
from zkchat_cli.config import credentials
from zkchat_cli.errors import UsageError

if TYPE_CHECKING:
    from zkchat_cli.app.model_servers import KeyedServer


def store_key(ctx: CommandContext, provider: str) -> None:
    """Prompt for the key without showing it, or read it from standard input, and store it."""
    from zkchat_cli.llm.http_client import mask_address

    variable, address = find_server(ctx, provider)
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


def find_server(ctx: CommandContext, provider: str) -> "KeyedServer":
    """The server of a provider that needs a key. Raises UsageError for an unknown provider."""
    from zkchat_cli.app.model_servers import keyed_servers

    known = keyed_servers(ctx.config)
    if provider not in known:
        raise UsageError("unknown provider", f"These need a key: {', '.join(known)}.")
    return known[provider]
