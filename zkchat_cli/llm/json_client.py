"""JSON over HTTP for what needs no library of a provider: listings, embeddings.

httpx is imported by the first call: it takes 0.1 s that no other command should pay.
"""

import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from zkchat_cli.llm.http_errors import Endpoint, root_cause

if TYPE_CHECKING:
    import httpx

CONNECT_SECONDS = 5.0


@dataclass(frozen=True, slots=True)
class HttpTimeouts:
    """Seconds that an answer may take, and seconds to wait before the one retry, where a server asks for more."""

    answer: float
    retry: float


@dataclass(slots=True)
class JsonClient(Endpoint):
    """An endpoint that can be called, by one thread at a time. `headers` go with each call, instead of the key as a bearer's."""

    sleep: Callable[[float], None] = time.sleep
    headers: Mapping[str, str] | None = None
    _client: "httpx.Client | None" = None

    def close(self) -> None:
        if self._client:
            self._client.close()
        self._client = None

    def get(self, path: str, patience: HttpTimeouts) -> Any:
        """The answer to a GET, parsed. Raises as `post` does."""
        return self._call("GET", path, None, patience)

    def post(self, path: str, body: Mapping[str, Any], patience: HttpTimeouts) -> Any:
        """The answer to a POST, parsed. Raises ProviderError; for a 404 it is `unknown_model`, with the server's words in it.

        A call that broke off, was one too many (429) or found the server in trouble (5xx) is made once more.
        """
        return self._call("POST", path, body, patience)

    def _call(self, method: str, path: str, body: Mapping[str, Any] | None, patience: HttpTimeouts) -> Any:
        try:
            response = self._send(method, path, body, patience)
            wait = min(_retry_after(response), patience.retry)
        except ConnectionResetError:
            response, wait = None, 0.2
        if response is None or response.status_code == 429 or response.status_code >= 500:
            self.sleep(wait)
            try:
                response = self._send(method, path, body, patience)
            except ConnectionResetError as e:
                raise self.error("connection", f"broke the connection off: {e}", self.check) from e
        return self._parsed(response)

    def _send(self, method: str, path: str, body: Mapping[str, Any] | None, patience: HttpTimeouts) -> "httpx.Response":
        """One attempt. Raises ConnectionResetError for what is worth another one, else ProviderError."""
        import httpx  # see the top of this file

        bearer = {"Authorization": f"Bearer {self.key}"} if self.key else {}
        headers = bearer if self.headers is None else dict(self.headers)
        try:
            client = self._opened()
            timeout = httpx.Timeout(patience.answer, connect=CONNECT_SECONDS)
            return client.request(method, self.address.rstrip("/") + path, json=body, headers=headers, timeout=timeout)
        except httpx.ConnectTimeout as e:
            raise self.error("timeout", f"did not take the call within {CONNECT_SECONDS:g} s", self.check) from e
        except httpx.TimeoutException as e:
            raise self.error("timeout", f"did not answer within {patience.answer:g} s", "Try again: a model may still be loading.") from e
        except (httpx.ConnectError, httpx.ProxyError) as e:
            raise self.unreachable(e) from e
        except (httpx.InvalidURL, httpx.UnsupportedProtocol, ValueError) as e:
            raise self.error("connection", "is no address that can be called", self.check) from e
        except (httpx.NetworkError, httpx.RemoteProtocolError) as e:
            raise ConnectionResetError(root_cause(e)) from e
        except httpx.HTTPError as e:
            raise self.error("server", f"gave an answer that is no HTTP: {type(e).__name__}", self.check) from e

    def _opened(self) -> "httpx.Client":
        import httpx  # as above

        if self._client is None:
            # a proxy on the way to this very machine is never meant
            self._client = httpx.Client(trust_env=not self.is_local)
        return self._client

    def _parsed(self, response: "httpx.Response") -> Any:
        if response.status_code != 200:
            raise self.refusal(response.status_code, response.content)
        try:
            return response.json()
        except (ValueError, RecursionError) as e:
            raise self.error("bad_answer", "answered with something else than JSON", self.check) from e


def _retry_after(response: "httpx.Response") -> float:
    try:
        return max(0.0, float(response.headers.get("retry-after", "1")))
    except ValueError:  # a date: nobody waits that long for a search
        return 60.0
