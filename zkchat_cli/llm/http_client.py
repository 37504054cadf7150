"""How zkchat talks with model servers: clients, how much is taken from a server, and JSON for calls that are not streamed.

A look-up is made on a thread of its own, so that its time is limited whatever the server does: the time-outs of a library start again with
each byte. httpx is imported by the first call: it takes 0.1 s that no other command should pay.
"""

import json
import threading
import time
from collections.abc import Callable, Mapping
from concurrent.futures import Future
from dataclasses import dataclass, field
from functools import cache
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar

from zkchat_cli.llm.http_errors import Endpoint, mask_address
from zkchat_cli.llm.stop_signal import wait_for

if TYPE_CHECKING:
    import ssl

    import httpx

    C = TypeVar("C", bound=httpx.Client | httpx.AsyncClient)

MAX_BODY = 1_000_000
"""Bytes of a list of models, and of an error."""
MAX_LINE = 8_000_000
"""Bytes of a line of a stream."""
MAX_NESTED = 200_000
"""Objects and lists in a JSON document: empty ones take 3 bytes on the wire and 70 in memory."""
UNCOMPRESSED = {"Accept-Encoding": "identity"}
"""For each request: a small compressed answer can become a very large one."""
CONNECT_SECONDS = 5.0


def open_client(server: Endpoint, make: "type[C]", **options: Any) -> "C":
    """A client for a server. Raises ProviderError for proxies and certificates of the environment that cannot be used."""
    try:
        return make(verify=_tls(), trust_env=not server.is_local, **options)  # no proxy between this machine and itself
    except Exception as e:
        problem = "cannot be reached: the environment names a proxy or certificates that cannot be used"
        hint = "Correct HTTP_PROXY, HTTPS_PROXY, ALL_PROXY (not SOCKS) or SSL_CERT_FILE, or set NO_PROXY."
        raise server.error("connection", problem, hint) from e


@cache
def _tls() -> "ssl.SSLContext":
    """Made once: reading all certificates takes 20 ms, which no message should pay."""
    import httpx  # see the top of this file

    return httpx.create_ssl_context()


def check_response(response: "httpx.Response", server: Endpoint) -> None:
    """Raises ProviderError for a redirect, and for an answer that is compressed although zkchat asked for a plain one."""
    if response.has_redirect_location:
        place = mask_address(response.headers["location"]) or "nowhere"
        raise server.error("connection", f"redirects the call to {place}; nothing was sent there", server.check)
    if response.headers.get("content-encoding", "identity").strip().lower() not in ("", "identity"):
        raise server.error("bad_answer", "compressed its answer, and zkchat did not ask for that", server.check)


def check_document(document: bytes | bytearray, server: Endpoint, most: int) -> None:
    """Raises ProviderError for JSON that would take much memory."""
    if len(document) > most:
        raise server.error("bad_answer", f"sent more than {most // 1_000_000} MB at once", server.check)
    if document.count(b"{") + document.count(b"[") > MAX_NESTED:
        raise server.error("bad_answer", f"sent more than {MAX_NESTED:,} objects and lists at once", server.check)


class LookupLimits(NamedTuple):
    """Seconds for the call and its one retry, the delay before a retry after status 429 or 5xx (0: no retry), and bytes of an answer."""

    seconds: float
    retry: float = 0
    max_bytes: int = MAX_BODY


LIST_LIMITS = LookupLimits(seconds=10, retry=0.5)


@dataclass(slots=True)
class JsonClient(Endpoint):
    """An endpoint that one thread at a time can call."""

    key_status: str = "needs none"
    """For the user: which key it has."""
    is_configured: bool = False
    """Whether the user has set something for it: an address, a key."""
    sleep: Callable[[float], None] = time.sleep
    _client: "httpx.Client | None" = field(default=None, init=False)

    def close(self) -> None:
        if self._client:
            self._client.close()
        self._client = None

    def fetch(
        self, path: str, body: Mapping[str, Any] | None = None, limits: LookupLimits = LIST_LIMITS, *, outside_v1: bool = False
    ) -> Any:
        """The parsed answer to a GET or, with a body, a POST; `outside_v1` is where llama.cpp and LM Studio have what OpenAI's API lacks.

        Raises ProviderError; for a 404 it is `unknown_model`, with the server's message in it.
        """
        if error := self.config_error():
            raise error
        address = self.address.rstrip("/")
        url = (address.removesuffix("/v1") if outside_v1 else address) + path
        answered: Future[tuple[int, bytes]] = Future()

        def run() -> None:
            try:
                status, answer = self._exchange(url, limits, body)
                if limits.retry and (status == 429 or status >= 500):
                    self.sleep(limits.retry)
                    status, answer = self._exchange(url, limits, body)
                answered.set_result((status, answer))
            except BaseException as e:  # noqa: BLE001  the caller gets it
                answered.set_exception(e)

        threading.Thread(target=run, name="look-up", daemon=True).start()
        try:
            status, answer = wait_for(answered, limits.seconds)
        except TimeoutError:
            raise self.answer_timeout(limits.seconds, started=False) from None
        finally:
            if not answered.done():
                self.close()  # which ends the other thread, too
        if status != 200:
            raise self.error_from_response(status, answer)
        try:
            return json.loads(answer)
        except (ValueError, RecursionError) as e:
            raise self.error("bad_answer", "answered with something other than JSON", self.check) from e

    def _exchange(self, url: str, limits: LookupLimits, body: Mapping[str, Any] | None) -> tuple[int, bytes]:
        """Status and body of a response."""
        import httpx  # as above

        if self._client is None:
            self._client = open_client(self, httpx.Client)
        method, headers, answer = "POST" if body else "GET", {**UNCOMPRESSED, **self.headers}, bytearray()
        timeout = httpx.Timeout(limits.seconds, connect=CONNECT_SECONDS)
        try:
            with self._client.stream(method, url, json=body, headers=headers, timeout=timeout) as response:
                check_response(response, self)
                for piece in response.iter_raw():
                    answer += piece
                    if len(answer) > limits.max_bytes:
                        break
        except httpx.TimeoutException as e:
            raise self.answer_timeout(limits.seconds, started=False) from e
        except (httpx.InvalidURL, ValueError) as e:
            raise self.invalid_address() from e
        except httpx.HTTPError as e:
            raise self.unreachable(e) from e
        if response.is_success:
            check_document(answer, self, limits.max_bytes)
        return response.status_code, bytes(answer[:MAX_BODY] if response.is_error else answer)
