"""A model server: its address and key, JSON calls that are not streamed, and the errors that users
see of it.

A look-up is made on a thread of its own, so that its time is limited whatever the server does: the
time-outs of a library start again with each byte. httpx is imported by the first call: it takes 0.1
s that no other command should pay. A key is sent but never shown: it is removed from all messages,
also from words that are quoted from the server.
"""

import json
import os
import re
import socket
import threading
import time
from collections.abc import Callable, Collection, Mapping
from concurrent.futures import Future
from dataclasses import dataclass, field
from difflib import get_close_matches
from functools import cache, partial
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar
from urllib.parse import SplitResult, urlsplit

from zkchat_cli.errors import ProviderError, ProviderErrorKind
from zkchat_cli.llm import server_errors
from zkchat_cli.llm.proxies import environment_proxy, is_this_machine
from zkchat_cli.llm.server_errors import ReportedError
from zkchat_cli.llm.stop_signal import wait_for
from zkchat_cli.text.sanitize import MASK, SecretMask
from zkchat_cli.text.truncate import truncate

if TYPE_CHECKING:
    import ssl

    import httpx

    C = TypeVar("C", bound=httpx.Client | httpx.AsyncClient)

# Most bytes of a list of models, and of an error
MAX_BODY = 1_000_000
# Most bytes of a line of a stream
MAX_LINE = 8_000_000
# Most objects and lists in a JSON document: empty ones take 3 bytes on the wire and 70 in memory
MAX_NESTED = 200_000
# Headers of each request: a small compressed answer can become a very large one
UNCOMPRESSED = {"Accept-Encoding": "identity"}
CONNECT_SECONDS = 5.0
# Characters quoted from a server's error message
MAX_QUOTE = 200
MAX_LISTED_MODELS = 8
# Characters of the name of a model in a list
MAX_MODEL_NAME = 60
UNREADABLE = (ValueError, TypeError, LookupError, AttributeError, ArithmeticError, RuntimeError)
"""What reading an answer or an event of another form raises; Anthropic's SDK raises RuntimeError
for events in another order.
"""
API_KEY = re.compile(r"\b(?:sk|pk|key|gsk|xai)-[\w*.-]{6,}")


@dataclass(slots=True)
class Endpoint:
    """A server at an address (`http://host:port/path`), called `name` in messages; one thread at a
    time can call it.
    """

    name: str
    address: str
    # The hint if it cannot be reached
    check: str
    key: str = field(default="", repr=False)
    # The hint if it rejects the key
    check_key: str = "Does it need a key?"
    # Sent with each call; they contain the key
    headers: Mapping[str, str] = field(default_factory=dict, repr=False)
    # The table of the provider's settings
    table: str = ""
    # Whether a key may go over plain http to another machine
    allow_insecure: bool = False
    # Why the key cannot be the right one, if that is known before any call
    key_error: ProviderError | None = None
    # Which key it has, as users read it
    key_status: str = "needs none"
    # Whether the user has set something for it: an address, a key
    is_configured: bool = False
    sleep: Callable[[float], None] = time.sleep
    _client: "httpx.Client | None" = field(default=None, init=False)

    @property
    def is_local(self) -> bool:
        """Whether the server runs on this machine, so that others cannot read what is sent."""
        return is_this_machine(self.address)

    def error(
        self,
        kind: ProviderErrorKind,
        problem: str,
        hint: str,
        retry_after: float | None = None,
    ) -> ProviderError:
        """An error of this server, without its key and without a password in its address."""
        mask = SecretMask([self.key])
        message = mask(f"{self.name} at {mask_address(self.address)} {problem}")
        return ProviderError(kind, message, mask(hint), retry_after)

    def config_error(self) -> ProviderError | None:
        """Why no call can be made: a wrong key, an invalid address, or one to which the key would
        go in a form that others can read. None if nothing is wrong.
        """
        if self.key_error:
            return self.key_error
        url = self._parsed_address()
        if url is None:
            return self.error(
                "connection",
                "has no valid address; one begins with http:// or https://",
                self.check,
            )
        has_secret = self.key or url.password
        if url.scheme == "http" and has_secret and not self.is_local and not self.allow_insecure:
            hint = (
                "Use an https:// address; or, if you trust the network: zkchat config set "
                f"{self.table}.allow_insecure true"
            )
            return self.error(
                "auth",
                "would get the key over plain http, where others can read it; nothing was sent",
                hint,
            )
        return None

    def _parsed_address(self) -> SplitResult | None:
        """The parts of the address; None if it cannot be called."""
        if not self.address.isprintable() or " " in self.address:
            return None
        try:
            url = urlsplit(self.address)
            has_host = url.hostname and url.port != 0
        except ValueError:
            return None
        return url if has_host and url.scheme in ("http", "https") else None

    def unreachable(self, cause: BaseException) -> ProviderError:
        """The error if no connection could be made."""
        return self.error("connection", f"cannot be reached: {root_cause(cause)}", self.check)

    def silent(self, seconds: float) -> ProviderError:
        """The error if no data arrived for so long, before the answer or within it."""
        return self.error(
            "timeout",
            f"sent nothing for {seconds:g} s",
            "Try again: a model may still be loading. Or raise its timeout.",
        )

    def cut_off(self, cause: BaseException | str) -> ProviderError:
        """The error if the connection ended before the answer was complete."""
        why = cause if isinstance(cause, str) else root_cause(cause)
        return self.error("cut", f"broke the answer off: {why}", f"Ask again. {self.check}")

    def content_filtered(self) -> ProviderError:
        """The error if the server's content filter ended the answer."""
        wording = server_errors.WORDINGS["content_filter"]
        return self.error("content_filter", wording.problem.format(quoted=""), wording.hint)

    def unknown_model(self, model: str, models: Collection[str]) -> ProviderError:
        """The error for a model that is not among those of the server, which it names, nearest
        first.
        """
        similar = get_close_matches(model, models, n=3, cutoff=0.5)
        names = [truncate(name, MAX_MODEL_NAME) for name in dict.fromkeys((*similar, *models))]
        listed = ", ".join(names[:MAX_LISTED_MODELS])
        if len(names) > MAX_LISTED_MODELS:
            listed += f" and {len(names) - MAX_LISTED_MODELS} more"
        hint = f"It has {listed}. Switch with /model, or --model."
        return self.error("unknown_model", f"has no model {truncate(model, 80)}", hint)

    def error_from_stream(self, event: object) -> ProviderError | None:
        """The error that a server reports in JSON after it answered 200; None if `event` reports
        none.
        """
        reported = server_errors.read_stream_error(event)
        return None if reported is None else self._as_provider_error(reported)

    def error_from_response(
        self, status: int, body: bytes, retry_after: float | None = None
    ) -> ProviderError:
        """The error that a response with another status than 200 reports."""
        reported = server_errors.read_response_error(status, body, retry_after)
        return self._as_provider_error(reported)

    def _as_provider_error(self, reported: ReportedError) -> ProviderError:
        kind = reported.kind
        quoted = self._quote(reported.message)
        # The server's words about a wrong key say no more than the status
        shows_words = kind != "auth" or reported.status == 403
        words = {
            "code": f" ({reported.status})" if reported.status else "",
            "quoted": quoted if shows_words else "",
            "rejects_or_needs": "rejects the" if self.key else "needs a",
            "pause": reported.pause,
            "check": self.check,
            "check_key": self.check_key,
        }
        wording = server_errors.WORDINGS[kind]
        problem = wording.problem.format(**words)
        return self.error(kind, problem, wording.hint.format(**words), reported.retry_after)

    def _quote(self, message: str) -> str:
        """A server's words after a colon, short and without keys; empty if it said nothing."""
        if not message:
            return ""
        masked = SecretMask([self.key])(f": {message[: 50 * MAX_QUOTE]}")
        return truncate(API_KEY.sub(MASK, masked), MAX_QUOTE)

    def fetch(
        self,
        path: str,
        body: Mapping[str, Any] | None = None,
        *,
        seconds: float = 10,
        max_bytes: int = MAX_BODY,
        retry: float = 0,
    ) -> Any:
        """The parsed answer to a GET or, with a body, a POST, after at most so many `seconds`.

        `retry` is the time in seconds before a second call after status 429 or 5xx (0: none).
        Raises ProviderError; for a 404 it is `unknown_model`, with the server's message in it.
        """
        if error := self.config_error():
            raise error
        exchange = partial(
            self._exchange, self.address.rstrip("/") + path, body, seconds, max_bytes
        )
        answered: Future[bytes] = Future()

        def run() -> None:
            try:
                answer = exchange()
                if retry and answer.may_be_repeated:
                    self.sleep(retry)
                    answer = exchange()
                if answer.status != 200:
                    raise self.error_from_response(answer.status, answer.body[:MAX_BODY])
                check_document(answer.body, self, max_bytes)
                answered.set_result(answer.body)
            except BaseException as e:  # noqa: BLE001
                # It is raised again in the thread that waits
                answered.set_exception(e)

        threading.Thread(target=run, name="look-up", daemon=True).start()
        try:
            return json.loads(wait_for(answered, seconds))
        except TimeoutError:
            raise self.silent(seconds) from None
        except (ValueError, RecursionError) as e:
            raise self.error(
                "bad_answer", "answered with something other than JSON", self.check
            ) from e
        finally:
            if not answered.done():
                # This ends the other thread, too
                self.close()

    def close(self) -> None:
        """Close the connection; the next call opens another."""
        if self._client:
            self._client.close()
        self._client = None

    def _exchange(
        self, url: str, body: Mapping[str, Any] | None, seconds: float, max_bytes: int
    ) -> "_Answer":
        # Deferred: see the top of this file
        import httpx

        if self._client is None:
            self._client = open_client(self, httpx.Client)
        method = "POST" if body else "GET"
        headers = {**UNCOMPRESSED, **self.headers}
        answer = bytearray()
        timeout = httpx.Timeout(seconds, connect=CONNECT_SECONDS)
        try:
            with self._client.stream(
                method, url, json=body, headers=headers, timeout=timeout
            ) as response:
                check_response(response, self)
                for piece in response.iter_raw():
                    answer += piece
                    if len(answer) > max_bytes:
                        break
        except (httpx.HTTPError, httpx.InvalidURL, ValueError) as e:
            raise self.unreachable(e) from e
        return _Answer(response.status_code, bytes(answer))


class _Answer(NamedTuple):
    """The HTTP status of a response, and its body."""

    status: int
    body: bytes

    @property
    def may_be_repeated(self) -> bool:
        """Whether the same call may succeed a little later."""
        return self.status == 429 or self.status >= 500


def open_client(server: Endpoint, make: "type[C]", **options: Any) -> "C":
    """A client for a server. Raises ProviderError for proxies and certificates of the environment
    that cannot be used.
    """
    try:
        proxy = environment_proxy(server.address)
        # httpx must not read the environment again: it rejects networks in NO_PROXY
        return make(verify=_tls(), trust_env=False, proxy=proxy, **options)
    except Exception as e:
        problem = (
            "cannot be reached: the environment names a proxy or certificates that cannot be used"
        )
        hint = (
            "Correct HTTP_PROXY, HTTPS_PROXY, ALL_PROXY (not SOCKS) or SSL_CERT_FILE, or set "
            "NO_PROXY."
        )
        raise server.error("connection", problem, hint) from e


@cache
def _tls() -> "ssl.SSLContext":
    """The certificates, read once: that takes 20 ms, which no message should pay."""
    # Deferred: see the top of this file
    import httpx

    return httpx.create_ssl_context()


def check_response(response: "httpx.Response", server: Endpoint) -> None:
    """Raises ProviderError for a redirect, and for an answer that is compressed although zkchat
    asked for a plain one.
    """
    if response.has_redirect_location:
        target = mask_address(response.headers["location"]) or "nowhere"
        raise server.error(
            "connection", f"redirects the call to {target}; nothing was sent there", server.check
        )
    if response.headers.get("content-encoding", "identity").strip().lower() not in ("", "identity"):
        raise server.error(
            "bad_answer", "compressed its answer, and zkchat did not ask for that", server.check
        )


def check_document(document: bytes | bytearray, server: Endpoint, most: int) -> None:
    """Raises ProviderError for JSON that would take much memory."""
    if len(document) > most:
        raise server.error(
            "bad_answer", f"sent more than {most // 1_000_000} MB at once", server.check
        )
    if document.count(b"{") + document.count(b"[") > MAX_NESTED:
        raise server.error(
            "bad_answer", f"sent more than {MAX_NESTED:,} objects and lists at once", server.check
        )


def mask_address(address: str) -> str:
    """An address for display: without user name and password, and without its query, in which some
    servers take a key.
    """
    scheme, separator, rest = address.partition("://")
    if not separator:
        scheme = ""
        rest = address
    plain, question_mark, _ = rest.partition("?")
    host, slash, path = plain.partition("/")
    query = "?…" if question_mark else ""
    return f"{scheme}{separator}{host.rpartition('@')[2]}{slash}{path}{query}"


def root_cause(error: BaseException) -> str:
    """What the system reports for a broken connection, such as "Connection refused"."""
    while cause := error.__cause__ or error.__context__:
        error = cause
    if isinstance(error, socket.gaierror):
        return f"its name is not known ({error.strerror})"
    if isinstance(error, TimeoutError):
        return "it did not answer in time"
    if isinstance(error, OSError):
        # Only an SSLError has these; its numbers are not those of the system
        problem = getattr(error, "verify_message", "") or getattr(error, "reason", "")
        if problem:
            return f"https failed ({problem.replace('_', ' ').lower()})"
        if error.errno:
            return os.strerror(error.errno)
    return (str(error) or type(error).__name__).rstrip(".")
