"""JSON over HTTP for calls that are not streamed: model lists and embeddings.

Each call is made on a thread of its own, so that its time is limited whatever the server does: the time-outs of a library start again with
each byte. httpx is imported by the first call: it takes 0.1 s that no other command should pay.
"""

import json
import threading
import time
from collections.abc import Callable, Mapping
from concurrent.futures import Future
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, NamedTuple

from zkchat_cli.llm.http_errors import Endpoint
from zkchat_cli.llm.response_limits import MAX_BODY, UNCOMPRESSED, check_document, check_response
from zkchat_cli.llm.stop_signal import wait_for

if TYPE_CHECKING:
    import httpx


class LookupLimits(NamedTuple):
    """Seconds for the call and its one retry, the delay before a retry after status 429 or 5xx (0: no retry), and bytes of an answer."""

    seconds: float
    retry: float = 0
    max_bytes: int = MAX_BODY


CONNECT_SECONDS = 5.0
LIST_LIMITS = LookupLimits(seconds=10, retry=0.5)


@dataclass(slots=True)
class JsonClient(Endpoint):
    """An endpoint that one thread at a time can call."""

    key_status: str = "needs none"
    """For the user: which key it has."""
    configured_by: str = ""
    """What the user has set for it, see ServerInfo."""
    sleep: Callable[[float], None] = time.sleep
    _client: "httpx.Client | None" = field(default=None, init=False)

    def close(self) -> None:
        if self._client:
            self._client.close()
        self._client = None

    def fetch(self, path: str, body: Mapping[str, Any] | None = None, limits: LookupLimits = LIST_LIMITS) -> Any:
        """The parsed answer to a GET or, with a body, a POST.

        Raises ProviderError; for a 404 it is `unknown_model`, with the server's message in it.
        """
        if error := self.config_error():
            raise error
        deadline = time.monotonic() + limits.seconds
        status, answer = self._send(path, limits, body, deadline)
        if limits.retry and (status == 429 or status >= 500):
            self.sleep(limits.retry)
            status, answer = self._send(path, limits, body, deadline)
        if status != 200:
            raise self.error_from_response(status, answer)
        try:
            return json.loads(answer)
        except (ValueError, RecursionError) as e:
            raise self.error("bad_answer", "answered with something other than JSON", self.check) from e

    def _send(self, path: str, limits: LookupLimits, body: Mapping[str, Any] | None, deadline: float) -> tuple[int, bytes]:
        """Status and body of a response."""
        answer: Future[tuple[int, bytes]] = Future()

        def run() -> None:
            try:
                answer.set_result(self._exchange(path, limits, body))
            except BaseException as e:  # noqa: BLE001  the caller gets it
                answer.set_exception(e)

        threading.Thread(target=run, name="look-up", daemon=True).start()
        try:
            return wait_for(answer, deadline - time.monotonic())
        except TimeoutError:
            raise self.answer_timeout(limits.seconds, started=False) from None
        finally:
            if not answer.done():
                self.close()  # which ends the other thread, too

    def _exchange(self, path: str, limits: LookupLimits, body: Mapping[str, Any] | None) -> tuple[int, bytes]:
        import httpx  # see the top of this file

        if self._client is None:
            with self.map_environment_errors():
                self._client = httpx.Client(trust_env=not self.is_local)  # no proxy between this machine and itself
        method, timeout = "POST" if body else "GET", httpx.Timeout(limits.seconds, connect=CONNECT_SECONDS)
        url = self.address.rstrip("/") + path
        try:
            with self._client.stream(method, url, json=body, headers={**UNCOMPRESSED, **self.headers}, timeout=timeout) as response:
                check_response(response, self)
                most = limits.max_bytes if response.is_success else MAX_BODY
                answer = bytearray()
                for piece in response.iter_raw():
                    answer += piece
                    if len(answer) > most:
                        break
                if response.is_success:
                    check_document(answer, self, most)
                return response.status_code, bytes(answer[:most])
        except httpx.ConnectTimeout as e:
            raise self.connect_timeout() from e
        except httpx.TimeoutException as e:
            raise self.answer_timeout(limits.seconds, started=False) from e
        except (httpx.InvalidURL, httpx.UnsupportedProtocol, ValueError) as e:
            raise self.invalid_address() from e
        except httpx.HTTPError as e:
            raise self.unreachable(e) from e
