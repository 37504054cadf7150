"""JSON over HTTP, and what can go wrong with it, said in words that help: for servers that no library of theirs is needed for.

httpx is imported by the first call: it takes 0.1 s that no other command should pay. A key is sent, and never said: not in a message, nor
in what a server is quoted with.
"""

import json
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

from zkchat_cli.errors import ProviderError
from zkchat_cli.words import shorten

if TYPE_CHECKING:
    import httpx

CONNECT_SECONDS = 5.0
LOOPBACK = ("localhost", "127.0.0.1", "::1")


@dataclass(frozen=True, slots=True)
class Patience:
    """Seconds that an answer may take, and seconds to wait before the one retry, where a server asks for more."""

    answer: float
    retry: float


@dataclass(slots=True)
class Server:
    """A server at an address (`http://host:port/path`), called `name` in messages. One thread at a time may call it.

    `check` says what to do when it cannot be reached, `check_key` when it refuses the key.
    """

    name: str
    address: str
    check: str
    key: str = field(default="", repr=False)
    check_key: str = "Does it want a key?"
    sleep: Callable[[float], None] = time.sleep
    _client: "httpx.Client | None" = None

    def close(self) -> None:
        if self._client:
            self._client.close()
        self._client = None

    def post(self, path: str, body: Mapping[str, Any], patience: Patience) -> Any:
        """The answer to a POST, parsed. Raises ProviderError; for a 404 it is `unknown_model`, with the server's words in it.

        A call that broke off, was one too many (429) or found the server in trouble (5xx) is made once more.
        """
        try:
            response = self._post(path, body, patience)
            wait = min(_retry_after(response), patience.retry)
        except ConnectionResetError:
            response, wait = None, 0.2
        if response is None or response.status_code == 429 or response.status_code >= 500:
            self.sleep(wait)
            try:
                response = self._post(path, body, patience)
            except ConnectionResetError as e:
                raise self._error("connection", f"broke the connection off: {e}", self.check) from e
        return self._parsed(response)

    def _post(self, path: str, body: Mapping[str, Any], patience: Patience) -> "httpx.Response":
        """One attempt. Raises ConnectionResetError for what is worth another one, else ProviderError."""
        import httpx  # see the top of this file

        headers = {"Authorization": f"Bearer {self.key}"} if self.key else {}
        try:
            client = self._opened()
            timeout = httpx.Timeout(patience.answer, connect=CONNECT_SECONDS)
            return client.post(self.address.rstrip("/") + path, json=body, headers=headers, timeout=timeout)
        except httpx.ConnectTimeout as e:
            raise self._error("timeout", f"did not take the call within {CONNECT_SECONDS:g} s", self.check) from e
        except httpx.TimeoutException as e:
            raise self._error("timeout", f"did not answer within {patience.answer:g} s", "Try again: a model may still be loading.") from e
        except (httpx.ConnectError, httpx.ProxyError) as e:
            raise self._error("connection", f"cannot be reached: {_cause(e)}", self.check) from e
        except (httpx.InvalidURL, httpx.UnsupportedProtocol, ValueError) as e:
            raise self._error("connection", "is no address that can be called", self.check) from e
        except (httpx.NetworkError, httpx.RemoteProtocolError) as e:
            raise ConnectionResetError(_cause(e)) from e
        except httpx.HTTPError as e:
            raise self._error("server", f"gave an answer that is no HTTP: {type(e).__name__}", self.check) from e

    def _opened(self) -> "httpx.Client":
        import httpx  # as above

        if self._client is None:
            # a proxy on the way to this very machine is never meant
            self._client = httpx.Client(trust_env=urlsplit(self.address).hostname not in LOOPBACK)
        return self._client

    def _parsed(self, response: "httpx.Response") -> Any:
        status, said = response.status_code, self._said(response)
        match status:
            case 200:
                try:
                    return response.json()
                except (ValueError, RecursionError) as e:
                    raise self._error("bad_answer", "answered with something else than JSON", self.check) from e
            case 401 | 403:
                raise self._error("auth", f"refuses the key ({status})" if self.key else f"wants a key ({status})", self.check_key)
            case 404:
                raise self._error("unknown_model", f"knows no such model or address (404){said}", self.check)
            case 429:
                raise self._error("rate_limit", f"refuses more calls for now (429){said}", "Wait a moment and try again.")
            case _ if status >= 500:
                raise self._error("server", f"failed ({status}){said}", "Try again in a while.")
            case _:
                raise self._error("server", f"refuses the call ({status}){said}", self.check)

    def _said(self, response: "httpx.Response") -> str:
        """The server's own words about what is wrong."""
        try:
            error = json.loads(response.text)["error"]
            text = error["message"] if isinstance(error, dict) else error
        except (ValueError, KeyError, TypeError, RecursionError):
            text = ""
        text = str(text or "")
        return f": {shorten(text.replace(self.key, '…') if self.key else text, 200)}" if text else ""

    def _error(self, kind: Any, what: str, hint: str) -> ProviderError:
        return ProviderError(kind, f"{self.name} at {shown(self.address)} {what}", hint)


def shown(address: str) -> str:
    """An address as it may be said: without a user's name and password."""
    return address.partition("://")[0] + "://" + address.partition("://")[2].rpartition("@")[2] if "@" in address else address


def _cause(e: BaseException) -> str:
    """What the system says of a broken connection, as "Connection refused"."""
    while cause := e.__cause__ or e.__context__:
        e = cause
    return (getattr(e, "strerror", None) or str(e) or type(e).__name__).rstrip(".")


def _retry_after(response: "httpx.Response") -> float:
    try:
        return max(0.0, float(response.headers.get("retry-after", "1")))
    except ValueError:  # a date: nobody waits that long for a search
        return 60.0
