"""The server for several clients, over HTTP on this machine, with a token, or a token per person.

Each person has a server of their own, with what they may see and do. So no session, no cache and no
list of one can be reached with the token of another.
"""

import asyncio
import logging
import math
import socket
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from http import HTTPStatus
from typing import Any, NamedTuple

import anyio
from anyio.abc import TaskGroup, TaskStatus

from zkchat_cli.errors import ConfigError, UsageError, on_one_line, reason
from zkchat_cli.mcp.people import Person, find_person
from zkchat_cli.mcp.rate_limit import RateLimit
from zkchat_cli.mcp.server import NoteServer

HOST = "127.0.0.1"
PATH = "/mcp"
# Seconds that open connections have to end
SHUTDOWN_SECONDS = 2
# Seconds until the connections of somebody who was taken out of the token file are ended
CHECK_SECONDS = 1.0
_SCHEME = b"bearer"
_REALM = 'Bearer realm="zkchat"'
_log = logging.getLogger(__name__)

People = Callable[[], Sequence[Person]]
"""Who may use the server now. Raises ConfigError if that cannot be known."""


class _Refusal(NamedTuple):
    """The status, the sentence and the header with which a request is refused."""

    status: HTTPStatus
    problem: str
    headers: dict[str, str] = {}  # noqa: RUF012 – never changed


_NO_TOKEN = _Refusal(
    HTTPStatus.UNAUTHORIZED,
    "The token is missing: send it as `Authorization: Bearer TOKEN`.",
    {"www-authenticate": _REALM},
)
_WRONG_TOKEN = _Refusal(
    HTTPStatus.UNAUTHORIZED,
    "The token is wrong: send it as `Authorization: Bearer TOKEN`.",
    {"www-authenticate": f'{_REALM}, error="invalid_token"'},
)
_WRONG_HOST = _Refusal(
    HTTPStatus.MISDIRECTED_REQUEST, "The header Host must be the address that this server prints."
)
_WRONG_ORIGIN = _Refusal(
    HTTPStatus.FORBIDDEN, "Pages of other servers are refused: the header Origin is wrong."
)
_NOBODY = _Refusal(
    HTTPStatus.SERVICE_UNAVAILABLE,
    "The server's token file cannot be used. Its log on standard error says why.",
)


class RequestCheck:
    """Lets requests pass that have a token and name this server exactly, by its host and port.

    The SDK compares only how a name begins, so it would accept `127.0.0.1:1@evil`, other ports,
    and pages of other servers on this machine.
    """

    def __init__(self, people: People, port: int) -> None:
        self._people = people
        names = (HOST, "localhost")
        self._hosts = {f"{name}:{port}".encode() for name in names}
        self._origins = {f"http://{name}:{port}".encode() for name in names}
        self._reported: ConfigError | None = None

    def people(self) -> Sequence[Person] | None:
        """Who may use the server now; None, and a line in the log, if that cannot be known."""
        try:
            return self._people()
        except ConfigError as e:
            if e is not self._reported:
                self._reported = e
                _log.error("%s", on_one_line(e.message, e.hint))
            return None

    def person(self, headers: Sequence[tuple[bytes, bytes]]) -> Person | _Refusal:
        """Who sends a request with these headers, or why it is refused."""
        people = self.people()
        if people is None:
            return _NOBODY
        given = _values(headers, b"authorization")
        if not given:
            return _NO_TOKEN
        scheme, _, token = given[0].partition(b" ")
        person = find_person(people, token)
        if len(given) > 1 or scheme.lower() != _SCHEME or person is None:
            return _WRONG_TOKEN
        hosts = _values(headers, b"host")
        if len(hosts) != 1 or hosts[0] not in self._hosts:
            return _WRONG_HOST
        if not self._origins.issuperset(_values(headers, b"origin")):
            return _WRONG_ORIGIN
        return person


def _values(headers: Sequence[tuple[bytes, bytes]], name: bytes) -> list[bytes]:
    return [value for each, value in headers if each == name]


@dataclass(frozen=True, slots=True)
class _RunningServer:
    """The server of one person while it runs."""

    app: Any
    limit: RateLimit | None
    stop: anyio.CancelScope


class _PersonalServers:
    """The servers of people, each started by their first request."""

    def __init__(
        self,
        open_server: Callable[[Person], NoteServer],
        group: TaskGroup,
        clock: Callable[[], float],
    ) -> None:
        self._open_server = open_server
        self._group = group
        self._clock = clock
        self._running: dict[Person, _RunningServer] = {}
        self._starting = anyio.Lock()

    async def of(self, person: Person) -> _RunningServer:
        """The server of a person, started if it is not running."""
        async with self._starting:
            if person not in self._running:
                self._running[person] = await self._group.start(self._run, person)
            return self._running[person]

    def keep(self, people: Sequence[Person]) -> None:
        """Stop the servers of everybody else: their calls and connections end."""
        for person in [each for each in self._running if each not in people]:
            self._running.pop(person).stop.cancel()

    async def _run(self, person: Person, *, task_status: TaskStatus[_RunningServer]) -> None:
        server = self._open_server(person)
        app = server.streamable_http_app(streamable_http_path=PATH, host=HOST)
        limit = None
        if person.requests_per_second is not None:
            limit = RateLimit(person.requests_per_second, self._clock)
        with anyio.CancelScope() as scope:
            async with server.session_manager.run():
                task_status.started(_RunningServer(app, limit, scope))
                await anyio.sleep_forever()


class HttpApp:
    """The application that uvicorn runs, for as long as `run` does."""

    def __init__(
        self,
        check: RequestCheck,
        open_server: Callable[[Person], NoteServer],
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._check = check
        self._open_server = open_server
        self._clock = clock
        self._servers: _PersonalServers | None = None

    async def run(self, work: Callable[[], Any]) -> None:
        """Answer requests until `work` has ended."""
        async with anyio.create_task_group() as group:
            self._servers = _PersonalServers(self._open_server, group, self._clock)
            group.start_soon(self._stop_removed)
            await work()
            group.cancel_scope.cancel()

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        """Answer one request."""
        # Starlette takes 60 ms and more, and the server on standard input does not need it
        from starlette.responses import JSONResponse

        found = self._check.person(scope["headers"])
        if isinstance(found, Person):
            assert self._servers is not None
            server = await self._servers.of(found)
            wait = server.limit.take() if server.limit else 0.0
            if not wait:
                await server.app(scope, receive, send)
                return
            found = _too_many(found, wait)
        response = JSONResponse({"error": found.problem}, found.status, found.headers)
        await response(scope, receive, send)

    async def _stop_removed(self) -> None:
        while True:
            await anyio.sleep(CHECK_SECONDS)
            assert self._servers is not None
            self._servers.keep(self._check.people() or ())


def _too_many(person: Person, wait: float) -> _Refusal:
    seconds = math.ceil(wait)
    return _Refusal(
        HTTPStatus.TOO_MANY_REQUESTS,
        f"At most {person.requests_per_second:g} requests a second are answered. "
        f"Try again in {seconds} s.",
        {"retry-after": str(seconds)},
    )


def serve_http(
    people: People,
    open_server: Callable[[Person], NoteServer],
    port: int,
    announce: Callable[[str], None],
) -> None:
    """Serve clients that send the token of one of the `people`, until Ctrl-C; `announce` gets the
    address, and `open_server` makes the server of a person.

    Port 0 means a free port. Raises UsageError if the port is taken. Pages in a browser cannot
    reach the server: other hosts, ports and origins are refused.
    """
    # See HttpApp
    import uvicorn

    try:
        listening = socket.create_server((HOST, port))
    except (OSError, OverflowError) as e:
        raise UsageError(
            f"port {port} on {HOST} cannot be used: {reason(e)}",
            "Choose another; --http 0 takes a free one.",
        ) from e
    with listening:
        _, own_port = listening.getsockname()
        app = HttpApp(RequestCheck(people, own_port), open_server)
        announce(f"http://{HOST}:{own_port}{PATH}")
        config = uvicorn.Config(
            app,
            log_config=None,
            log_level="warning",
            access_log=False,
            lifespan="off",
            ws="none",
            timeout_graceful_shutdown=SHUTDOWN_SECONDS,
        )
        server = uvicorn.Server(config)
        asyncio.run(app.run(lambda: server.serve(sockets=[listening])))
