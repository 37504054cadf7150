"""`zkchat mcp` on the vault: a search by the SDK's client beside the search alone, and the memory
of the server before the first call.
"""

import sys
from collections.abc import Iterator
from pathlib import Path

from anyio.from_thread import start_blocking_portal
from ground import ZKCHAT, Ground
from mcp import Client, StdioServerParameters
from measuring import Goal, Row, in_turns, timed

from zkchat_cli.vault.vault import Vault

LIMIT = 10


def figures(ground: Ground) -> Iterator[Row]:
    before = _children()
    env = {name: str(value) for name, value in ground.env.items()} | {
        "ZKCHAT_SEMANTIC__PROVIDER": "none"
    }
    parameters = StdioServerParameters(
        command=ZKCHAT[0], args=[*ZKCHAT[1:], "mcp", "--vault", str(ground.vault)], env=env
    )
    vault = Vault.open(ground.vault, ground.fresh())
    vault.refresh()
    with (
        start_blocking_portal() as portal,
        portal.wrap_async_context_manager(Client(parameters)) as client,
    ):
        [server] = _children() - before
        yield Row(
            "memory of an idle MCP server",
            [_megabytes(server)],
            goal=Goal(120, "median"),
            unit="MB",
        )

        def call(query: str) -> None:
            async def search() -> None:
                assert not (
                    await client.call_tool("search_notes", {"query": query, "limit": LIMIT})
                ).is_error

            portal.call(search)

        queries = [ground.words.question() for _ in ground.times(50)]
        call(queries[0])
        calls, searches = in_turns(
            timed(call), timed(lambda query: vault.search(query, LIMIT + 1)), queries
        )
        beyond = [max(0.0, whole - alone) for whole, alone in zip(calls, searches, strict=True)]
        yield Row("warm search_notes", calls, searches, "the search alone")
        yield Row("search_notes beyond the search", beyond, goal=Goal(20, "median"))
    vault.close()


def _children() -> set[int]:
    """The processes that this one has started."""
    tasks = Path("/proc/self/task") if sys.platform == "linux" else Path("/nowhere")
    return {int(pid) for task in tasks.iterdir() for pid in (task / "children").read_text().split()}


def _megabytes(pid: int) -> float:
    [resident] = [
        line
        for line in Path(f"/proc/{pid}/status").read_text().splitlines()
        if line.startswith("VmRSS")
    ]
    return int(resident.split()[1]) / 1024
