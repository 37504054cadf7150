"""How long a client may keep what it was answered, and for whom (`ttlMs` and `cacheScope`).

A note may be edited at any moment, so its text is stale at once: a quotation from an old copy would
be wrong. Lists of notes are as old as a scan may be. What comes with the program stays for minutes;
only that is the same for everybody, because the tools and the name of the vault depend on who asks.
"""

from collections.abc import Mapping

from mcp.server.caching import CacheableMethod, CacheHint

from zkchat_cli.vault.vault import SCAN_SECONDS

# Milliseconds for what does not change while the server runs. A new start may bring other tools
FIXED_MILLISECONDS = 300_000
CACHE_HINTS: Mapping[CacheableMethod, CacheHint] = {
    "server/discover": CacheHint(FIXED_MILLISECONDS, "private"),
    "tools/list": CacheHint(FIXED_MILLISECONDS, "private"),
    "prompts/list": CacheHint(FIXED_MILLISECONDS, "public"),
    "resources/templates/list": CacheHint(FIXED_MILLISECONDS, "public"),
    "resources/list": CacheHint(int(SCAN_SECONDS * 1000), "private"),
    "resources/read": CacheHint(0, "private"),
}
