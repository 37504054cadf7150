"""The server for several clients, over HTTP on this machine, with a token."""

import hmac
import socket
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

from zkchat_cli.errors import UsageError, reason
from zkchat_cli.mcp.server import NoteServer

HOST = "127.0.0.1"
PATH = "/mcp"
# Seconds that open connections have to end
SHUTDOWN_SECONDS = 2


class _Refusal(NamedTuple):
    """The status and the sentence with which a request is refused."""

    status: int
    problem: str


class _RequestCheck:
    """Lets requests pass that have the token and name this server exactly, by its host and port.

    The SDK compares only how a name begins, so it would accept `127.0.0.1:1@evil`, other ports,
    and pages of other servers on this machine.
    """

    def __init__(self, token: str, port: int) -> None:
        self._expected = f"Bearer {token}".encode()
        names = (HOST, "localhost")
        self._hosts = {f"{name}:{port}".encode() for name in names}
        self._origins = {f"http://{name}:{port}".encode() for name in names}

    def refusal(self, headers: Sequence[tuple[bytes, bytes]]) -> _Refusal | None:
        """Why a request with these headers is refused; None if it is not."""
        given = _values(headers, b"authorization")
        if len(given) != 1 or not hmac.compare_digest(given[0], self._expected):
            return _Refusal(
                401, "The token is missing or wrong: send it as `Authorization: Bearer TOKEN`."
            )
        hosts = _values(headers, b"host")
        if len(hosts) != 1 or hosts[0] not in self._hosts:
            return _Refusal(421, "The header Host must be the address that this server prints.")
        if not self._origins.issuperset(_values(headers, b"origin")):
            return _Refusal(403, "Pages of other servers are refused: the header Origin is wrong.")
        return None


def _values(headers: Sequence[tuple[bytes, bytes]], name: bytes) -> list[bytes]:
    return [value for each, value in headers if each == name]


def serve_http(server: NoteServer, port: int, token: str, announce: Callable[[str], None]) -> None:
    """Serve clients that send the token, until Ctrl-C; `announce` gets the address.

    Port 0 means a free port. Raises UsageError if the port is taken. Pages in a browser cannot
    reach the server: other hosts, ports and origins are refused.
    """
    # This import takes 60 ms and more, and the server on standard input and output does not need it
    import uvicorn
    from starlette.responses import JSONResponse

    app = server.streamable_http_app(streamable_http_path=PATH, host=HOST)

    try:
        listening = socket.create_server((HOST, port))
    except (OSError, OverflowError) as e:
        raise UsageError(
            f"port {port} on {HOST} cannot be used: {reason(e)}",
            "Choose another; --http 0 takes a free one.",
        ) from e
    with listening:
        _, own_port = listening.getsockname()
        check = _RequestCheck(token, own_port)

        async def serve_checked(scope: Any, receive: Any, send: Any) -> None:
            refused = None if scope["type"] == "lifespan" else check.refusal(scope["headers"])
            if refused is None:
                await app(scope, receive, send)
                return
            response = JSONResponse(
                {"error": refused.problem}, refused.status, {"www-authenticate": "Bearer"}
            )
            await response(scope, receive, send)

        announce(f"http://{HOST}:{own_port}{PATH}")
        config = uvicorn.Config(
            serve_checked,
            log_config=None,
            log_level="warning",
            access_log=False,
            timeout_graceful_shutdown=SHUTDOWN_SECONDS,
        )
        uvicorn.Server(config).run(sockets=[listening])
