"""The server for several clients, over HTTP on this machine, with a token."""

import hmac
import socket
from collections.abc import Callable
from typing import Any

from zkchat_cli.errors import UsageError, reason
from zkchat_cli.mcp.server import NoteServer

HOST = "127.0.0.1"
PATH = "/mcp"
# Seconds that open connections have to end
SHUTDOWN_SECONDS = 2


def serve_http(server: NoteServer, port: int, token: str, announce: Callable[[str], None]) -> None:
    """Serve clients that send the token, until Ctrl-C; `announce` gets the address.

    Port 0 means a free port. Raises UsageError if the port is taken. Pages in a browser cannot
    reach the server: the SDK refuses other hosts and origins.
    """
    # This import takes 60 ms and more, and the server on standard input and output does not need it
    import uvicorn
    from starlette.responses import JSONResponse

    app = server.streamable_http_app(streamable_http_path=PATH, host=HOST)
    expected = f"Bearer {token}".encode()

    async def check_token(scope: Any, receive: Any, send: Any) -> None:
        given = b""
        for name, value in scope.get("headers", ()):
            if name == b"authorization":
                given = value
                break
        if scope["type"] == "lifespan" or hmac.compare_digest(given, expected):
            await app(scope, receive, send)
            return
        refusal = {
            "error": "The token is missing or wrong: send it as `Authorization: Bearer TOKEN`."
        }
        response = JSONResponse(refusal, status_code=401, headers={"www-authenticate": "Bearer"})
        await response(scope, receive, send)

    try:
        listening = socket.create_server((HOST, port))
    except (OSError, OverflowError) as e:
        raise UsageError(
            f"port {port} on {HOST} cannot be used: {reason(e)}",
            "Choose another; --http 0 takes a free one.",
        ) from e
    with listening:
        announce(f"http://{HOST}:{listening.getsockname()[1]}{PATH}")
        config = uvicorn.Config(
            check_token,
            log_config=None,
            log_level="warning",
            access_log=False,
            timeout_graceful_shutdown=SHUTDOWN_SECONDS,
        )
        uvicorn.Server(config).run(sockets=[listening])
