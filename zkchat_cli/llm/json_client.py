"""JSON over HTTP for calls that are not streamed: model lists and embeddings.

httpx is imported by the first call: it takes 0.1 s that no other command should pay.
"""

import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from zkchat_cli.llm.http_errors import Endpoint

if TYPE_CHECKING:
    import httpx

CONNECT_SECONDS = 5.0


@dataclass(frozen=True, slots=True)
class HttpTimeouts:
    """Seconds for an answer, and the delay before the one retry after status 429 or 5xx; 0: there is none."""

    answer: float
    retry: float = 0


@dataclass(slots=True)
class JsonClient(Endpoint):
    """An endpoint that one thread at a time can call."""

    sleep: Callable[[float], None] = time.sleep
    _client: "httpx.Client | None" = None

    def close(self) -> None:
        if self._client:
            self._client.close()
        self._client = None

    def get(self, path: str, timeouts: HttpTimeouts) -> Any:
        """The parsed answer to a GET. Raises ProviderError; for a 404 it is `unknown_model`, with the server's message in it."""
        return self._call("GET", path, None, timeouts)

    def post(self, path: str, body: Mapping[str, Any], timeouts: HttpTimeouts) -> Any:
        """The parsed answer to a POST. Raises as `get` does."""
        return self._call("POST", path, body, timeouts)

    def _call(self, method: str, path: str, body: Mapping[str, Any] | None, timeouts: HttpTimeouts) -> Any:
        response = self._send(method, path, body, timeouts)
        if timeouts.retry and (response.status_code == 429 or response.status_code >= 500):
            self.sleep(timeouts.retry)
            response = self._send(method, path, body, timeouts)
        if response.status_code != 200:
            raise self.error_from_response(response.status_code, response.content)
        try:
            return response.json()
        except (ValueError, RecursionError) as e:
            raise self.error("bad_answer", "answered with something other than JSON", self.check) from e

    def _send(self, method: str, path: str, body: Mapping[str, Any] | None, timeouts: HttpTimeouts) -> "httpx.Response":
        import httpx  # see the top of this file

        try:
            if self._client is None:
                self._client = httpx.Client(trust_env=not self.is_local)  # no proxy between this machine and itself
            timeout = httpx.Timeout(timeouts.answer, connect=CONNECT_SECONDS)
            return self._client.request(method, self.address.rstrip("/") + path, json=body, headers=self.headers, timeout=timeout)
        except httpx.ConnectTimeout as e:
            raise self.connect_timeout() from e
        except httpx.TimeoutException as e:
            raise self.answer_timeout(timeouts.answer, started=False) from e
        except (httpx.InvalidURL, httpx.UnsupportedProtocol, ValueError) as e:
            raise self.invalid_address() from e
        except httpx.HTTPError as e:
            raise self.unreachable(e) from e
