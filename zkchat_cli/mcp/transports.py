"""How clients reach the server: one over standard input and output, or several over HTTP on this machine with a token."""

import hmac
import json
import socket
from collections.abc import Callable
from typing import Any

from zkchat_cli.errors import UsageError, reason
from zkchat_cli.mcp.server import NoteServer

HOST = "127.0.0.1"
PATH = "/mcp"


def serve_stdio(server: NoteServer) -> None:
    """Serve one client over standard input and output until it closes them."""
    server.run()


def serve_http(server: NoteServer, port: int, token: str, announce: Callable[[str], None]) -> None:
    """Serve clients that send the token, until Ctrl-C; `announce` gets the address. Port 0 takes a free one.

    Raises UsageError if the port is taken. Pages in a browser cannot reach the server: the SDK refuses other hosts and origins.
    """
    import uvicorn  # 60 ms and more that standard input and output do not need

    try:
        listening = socket.create_server((HOST, port))
    except (OSError, OverflowError) as e:
        raise UsageError(f"port {port} on {HOST} cannot be used: {reason(e)}", "Choose another; --http 0 takes a free one.") from e
    with listening:
        announce(f"http://{HOST}:{listening.getsockname()[1]}{PATH}")
        app = _with_token(server.streamable_http_app(streamable_http_path=PATH, host=HOST), token)
        config = uvicorn.Config(app, log_config=None, log_level="warning", access_log=False, timeout_graceful_shutdown=2)
        uvicorn.Server(config).run(sockets=[listening])


def _with_token(app: Any, token: str) -> Any:
    """The ASGI app behind a check: requests without the token are answered with 401."""
    expected = f"Bearer {token}".encode()

    async def check(scope: Any, receive: Any, send: Any) -> None:
        given = next((value for name, value in scope.get("headers", ()) if name == b"authorization"), b"")
        if scope["type"] == "lifespan" or hmac.compare_digest(given, expected):
            await app(scope, receive, send)
            return
        body = json.dumps({"error": "The token is missing or wrong: send it as `Authorization: Bearer TOKEN`."}).encode()
        headers = [(b"content-type", b"application/json"), (b"www-authenticate", b"Bearer")]
        await send({"type": "http.response.start", "status": 401, "headers": headers})
        await send({"type": "http.response.body", "body": body})

    return check
