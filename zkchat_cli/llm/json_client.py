"""JSON over HTTP for calls that need no provider's library: model lists and embeddings.

httpx is imported by the first call: it takes 0.1 s that no other command should pay.
"""

import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from zkchat_cli.llm.http_errors import Endpoint, parse_retry_after, root_cause

if TYPE_CHECKING:
    import httpx

CONNECT_SECONDS = 5.0


@dataclass(frozen=True, slots=True)
class HttpTimeouts:
    """Seconds for an answer, and the longest delay before the one retry, if the server asks for one."""

    answer: float
    retry: float


@dataclass(slots=True)
class JsonClient(Endpoint):
    """An endpoint that one thread at a time can call. `headers` replace the bearer key."""

    sleep: Callable[[float], None] = time.sleep
    headers: Mapping[str, str] | None = field(default=None, repr=False)
    _client: "httpx.Client | None" = None

    def close(self) -> None:
        if self._client:
            self._client.close()
        self._client = None

    def get(self, path: str, timeouts: HttpTimeouts) -> Any:
        """The parsed answer to a GET. Raises as `post` does."""
        return self._call("GET", path, None, timeouts)

    def post(self, path: str, body: Mapping[str, Any], timeouts: HttpTimeouts) -> Any:
        """The parsed answer to a POST. Raises ProviderError; for a 404 it is `unknown_model`, with the server's message in it.

        A call whose connection broke, or that got status 429 or 5xx, is made once more.
        """
        return self._call("POST", path, body, timeouts)

    def _call(self, method: str, path: str, body: Mapping[str, Any] | None, timeouts: HttpTimeouts) -> Any:
        try:
            response = self._send(method, path, body, timeouts)
            delay = parse_retry_after(response.headers.get("retry-after", "1"))
            delay = timeouts.retry if delay is None else min(delay, timeouts.retry)
        except ConnectionResetError:
            response, delay = None, 0.2
        if response is None or response.status_code == 429 or response.status_code >= 500:
            self.sleep(delay)
            try:
                response = self._send(method, path, body, timeouts)
            except ConnectionResetError as e:
                raise self.error("connection", f"closed the connection: {e}", self.check) from e
        if response.status_code != 200:
            raise self.error_from_response(response.status_code, response.content)
        try:
            return response.json()
        except (ValueError, RecursionError) as e:
            raise self.error("bad_answer", "answered with something other than JSON", self.check) from e

    def _send(self, method: str, path: str, body: Mapping[str, Any] | None, timeouts: HttpTimeouts) -> "httpx.Response":
        """One attempt. Raises ConnectionResetError if another one may succeed, else ProviderError."""
        import httpx  # see the top of this file

        bearer = {"Authorization": f"Bearer {self.key}"} if self.key else {}
        headers = bearer if self.headers is None else dict(self.headers)
        try:
            if self._client is None:
                self._client = httpx.Client(trust_env=not self.is_local)  # no proxy between this machine and itself
            timeout = httpx.Timeout(timeouts.answer, connect=CONNECT_SECONDS)
            return self._client.request(method, self.address.rstrip("/") + path, json=body, headers=headers, timeout=timeout)
        except httpx.ConnectTimeout as e:
            raise self.connect_timeout() from e
        except httpx.TimeoutException as e:
            raise self.error("timeout", f"did not answer within {timeouts.answer:g} s", "Try again: a model may still be loading.") from e
        except (httpx.ConnectError, httpx.ProxyError) as e:
            raise self.unreachable(e) from e
        except (httpx.InvalidURL, httpx.UnsupportedProtocol, ValueError) as e:
            raise self.invalid_address() from e
        except (httpx.NetworkError, httpx.RemoteProtocolError) as e:
            raise ConnectionResetError(root_cause(e)) from e
        except httpx.HTTPError as e:
            raise self.error("server", f"sent something that is not HTTP: {type(e).__name__}", self.check) from e
