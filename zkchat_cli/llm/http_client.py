"""How zkchat talks with model servers: what it takes from one, JSON for calls that are not
streamed, and what is told of failures.

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
from contextlib import suppress
from dataclasses import dataclass, field
from difflib import get_close_matches
from functools import cache
from ipaddress import ip_address
from typing import TYPE_CHECKING, Any, TypeVar
from urllib.parse import urlsplit

from zkchat_cli.errors import ProviderError, ProviderErrorKind
from zkchat_cli.llm.stop_signal import wait_for
from zkchat_cli.text.numbers import MAX_COUNT
from zkchat_cli.text.sanitize import MASK, SecretMask
from zkchat_cli.text.truncate import truncate

if TYPE_CHECKING:
    import ssl

    import httpx

    C = TypeVar("C", bound=httpx.Client | httpx.AsyncClient)

# Bytes of a list of models, and of an error
MAX_BODY = 1_000_000
# Bytes of a line of a stream
MAX_LINE = 8_000_000
# Objects and lists in a JSON document: empty ones take 3 bytes on the wire and 70 in memory
MAX_NESTED = 200_000
# For each request: a small compressed answer can become a very large one
UNCOMPRESSED = {"Accept-Encoding": "identity"}
CONNECT_SECONDS = 5.0
# Characters quoted from a server's error message
MAX_QUOTE = 200
MAX_LISTED_MODELS = 8
CONTEXT_LENGTH = re.compile(
    r"(?i)context[ _-]?(length|window|size)|(prompt|input) (is )?too long|exceeds? (the "
    r")?context|n_ctx|request too large"
    r"|maximum (model|prompt) length|input token count|inputs` tokens|exceeds? max "
    r"length|model token limit"
)
"""The wordings of OpenAI, vLLM, llama.cpp, LM Studio, Ollama, Anthropic, Gemini, Groq and others
for a prompt that is too long.
"""
TOOLS_REFUSED = re.compile(
    r"(?i)support (tools?|function) ?(use|call)|does not support tools|tools param "
    r"requires|tool choice requires"
    r"|unsupported parameter: .?tools|(?<!parallel )(tools?|tool (use|calling)|function "
    r"calling)\W{1,3}(is|are) not (supported|enabled)"
)
"""The wordings of Ollama, OpenAI, OpenRouter, llama.cpp, vLLM, Groq and Gemini for a model, or its
template, that takes no tools.
"""
ROLES_REFUSED = re.compile(
    r"(?i)system role not supported|system (role|message)s? (is|are) not supported|roles "
    r"must alternate|only user(,)? (and )?assistant"
    r"|system message must be at the beginning|developer instruction is not enabled|does "
    r"not support 'system'"
)
"""The wordings of templates (Gemma's, Mistral's, Qwen's) that take no system message, only one, or
no two of one role in a row.
"""
CONTENT_FILTER = re.compile(
    r"(?i)content[ _-](filter|policy|management)|invalid[ _-]prompt|usage policy|input was "
    r"flagged|requires moderation"
)
UNREADABLE = (ValueError, TypeError, LookupError, AttributeError, ArithmeticError, RuntimeError)
"""What reading an answer or an event of another form raises; Anthropic's SDK raises RuntimeError
for events in another order.
"""
API_KEY = re.compile(r"\b(?:sk|pk|key|gsk|xai)-[\w*.-]{6,}")
_CONTEXT_LIMIT = re.compile(
    r"(?i)(?:(?:context (?:length|size|window)|tokens allowed|maximum prompt "
    r"length)(?:(?!\bby\b|n_keep)\D){0,40}|n_ctx\W{1,3}|<= ?"
    r"|maximum model length of |limit(?: of| is|:)? |> ?)(\d{3,8})\b(?! \+|,\d)|(\d{3,8}) "
    r"maximum context"
)
_PROMPT_TOKENS = re.compile(
    r"(?i)\((\d{3,9}) in the messages|(\d{3,9}) (?:input "
    r")?tokens|(?:length|count|n_keep|requested)\W{1,3}(\d{3,9})"
)
_STATUS_BY_CODE = {
    "invalid_request_error": 400,
    "authentication_error": 401,
    "rate_limit_exceeded": 429,
    "rate_limit_error": 429,
    "insufficient_quota": 429,
    "server_error": 500,
    "overloaded_error": 529,
}
"""HTTP status for the error codes that servers send inside a stream, after they answered 200."""


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
    table: str = ""  # the table of the provider's settings
    # Whether a key may go over plain http to another machine
    allow_insecure: bool = False
    # Why the key cannot be the right one, if that is known before any call
    key_error: ProviderError | None = None
    # For the user: which key it has
    key_status: str = "needs none"
    # Whether the user has set something for it: an address, a key
    is_configured: bool = False
    sleep: Callable[[float], None] = time.sleep
    _client: "httpx.Client | None" = field(default=None, init=False)

    @property
    def is_local(self) -> bool:
        """Whether the server is this machine; 0.0.0.0 is, too, which servers print as where they
        listen. No proxy is used then.
        """
        with suppress(ValueError):
            host = urlsplit(self.address).hostname or ""
            return (
                host == "localhost"
                or ip_address(host).is_loopback
                or ip_address(host).is_unspecified
            )
        return False

    def error(self, kind: ProviderErrorKind, problem: str, hint: str) -> ProviderError:
        mask = SecretMask([self.key])
        return ProviderError(
            kind, mask(f"{self.name} at {mask_address(self.address)} {problem}"), mask(hint)
        )

    def config_error(self) -> ProviderError | None:
        """The error, before any call, if the key is wrong or the address cannot be called, or not
        without showing a key to others.
        """
        if self.key_error:
            return self.key_error
        try:
            url = urlsplit(self.address)
            valid = url.scheme in ("http", "https") and url.hostname and url.port != 0
        except ValueError:
            valid = False
        if not valid or not self.address.isprintable() or " " in self.address:
            return self.error(
                "connection",
                "has no valid address; one begins with http:// or https://",
                self.check,
            )
        if (
            url.scheme == "http"
            and not self.is_local
            and (self.key or url.password)
            and not self.allow_insecure
        ):
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

    def unreachable(self, cause: BaseException) -> ProviderError:
        return self.error("connection", f"cannot be reached: {root_cause(cause)}", self.check)

    def silent(self, seconds: float) -> ProviderError:
        """No data arrived for so long, before the answer or within it."""
        return self.error(
            "timeout",
            f"sent nothing for {seconds:g} s",
            "Try again: a model may still be loading. Or raise its timeout.",
        )

    def cut_off(self, cause: BaseException | str) -> ProviderError:
        """The connection ended before the answer was complete."""
        why = cause if isinstance(cause, str) else root_cause(cause)
        return self.error("cut", f"broke the answer off: {why}", f"Ask again. {self.check}")

    def content_filtered(self, quoted: str = "") -> ProviderError:
        problem = f"stopped the answer by its content filter{quoted}"
        return self.error("content_filter", problem, "Ask it differently, or try another model.")

    def unknown_model(self, model: str, models: Collection[str]) -> ProviderError:
        """The error for a model that is not among those of the server, which it names, nearest
        first.
        """
        similar = get_close_matches(model, models, n=3, cutoff=0.5)
        names = [truncate(name, 60) for name in dict.fromkeys((*similar, *models))]
        rest = (
            f" and {len(names) - MAX_LISTED_MODELS} more" if len(names) > MAX_LISTED_MODELS else ""
        )
        hint = (
            f"It has {', '.join(names[:MAX_LISTED_MODELS])}{rest}. Switch with /model, or --model."
        )
        return self.error("unknown_model", f"has no model {truncate(model, 80)}", hint)

    def error_from_stream(self, event: object) -> ProviderError | None:
        """The error that a server reports in JSON after it answered 200; None if `event` reports
        none.
        """
        if (error := find_error(event)) is None:
            return None
        statuses = (
            int(code) if re.fullmatch("[45][0-9]{2}", code) else _STATUS_BY_CODE.get(code, 0)
            for code in _codes(error)
        )
        return self._reported_error(next(filter(None, statuses), 0), error)

    def error_from_response(
        self, status: int, body: bytes, retry_after: float | None = None
    ) -> ProviderError:
        said = body.decode("utf-8", "replace").strip()
        error: object = "" if said.startswith(("<", "{", "[")) else said
        with suppress(ValueError, RecursionError):
            error = find_error(json.loads(said))
        reported = self._reported_error(status, error, retry_after)
        reported.retry_after = retry_after
        return reported

    def _reported_error(
        self, status: int, error: object, retry_after: float | None = None
    ) -> ProviderError:
        """The error for what a server reports with an HTTP status, or 0 if it named none."""
        message = _message(error)
        text = " ".join([message, *_codes(error)])
        # LM Studio's answer to a wrong path, with status 200
        status = 404 if "Unexpected endpoint" in message else status
        code = f" ({status})" if status else ""
        quoted = (
            truncate(
                API_KEY.sub(MASK, SecretMask([self.key])(f": {message[: 50 * MAX_QUOTE]}")),
                MAX_QUOTE,
            )
            if message
            else ""
        )
        if status == 413 or CONTEXT_LENGTH.search(text):
            hint = (
                "Summarize older turns (/compact), or set context.max_tokens to the model's window."
            )
            return self.error("context_length", f"finds the prompt too long{quoted}", hint)
        if TOOLS_REFUSED.search(text):
            hint = (
                "It gets passages of your notes instead. To begin with them: zkchat config set "
                "retrieval.mode before"
            )
            return self.error("no_tools", f"takes no tools{quoted}", hint)
        if status in (0, 400, 403) and CONTENT_FILTER.search(text.replace("_", " ")):
            return self.content_filtered(quoted)
        match status:
            case 401 | 403:
                problem = (
                    f"{'rejects the' if self.key else 'needs a'} "
                    f"key{code}{quoted if status == 403 else ''}"
                )
                return self.error("auth", problem, self.check_key)
            case 404:
                return self.error(
                    "unknown_model", f"knows no such model or address (404){quoted}", self.check
                )
            case 402 | 429 if status == 402 or "insufficient_quota" in text:
                return self.error(
                    "quota",
                    f"says that the account's quota is used up{code}{quoted}",
                    "Check its plan and billing.",
                )
            case 429:
                seconds = retry_after or 0
                pause = (
                    f"{seconds / 60:.0f} minutes"
                    if seconds >= 600
                    else f"{seconds:.0f} s"
                    if seconds
                    else "a moment"
                )
                return self.error(
                    "rate_limit",
                    f"accepts no more calls for now{code}{quoted}",
                    f"Try again in {pause}.",
                )
            case _ if ROLES_REFUSED.search(text) or (0 < status < 500 and status != 408):
                return self.error(
                    "bad_request",
                    f"rejects the request{code}{quoted}",
                    "Change what it complains about, or the model.",
                )
        return self.error("server", f"failed{code}{quoted}", "Try again in a while.")

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
        `retry` is the time before a second call after status 429 or 5xx (0: none). Raises
        ProviderError; for a 404 it is `unknown_model`, with the server's message in it.
        """
        if error := self.config_error():
            raise error
        url = self.address.rstrip("/") + path
        answered: Future[bytes] = Future()

        def run() -> None:
            try:
                status, answer = self._exchange(url, body, seconds, max_bytes)
                if retry and (status == 429 or status >= 500):
                    self.sleep(retry)
                    status, answer = self._exchange(url, body, seconds, max_bytes)
                if status != 200:
                    raise self.error_from_response(status, answer[:MAX_BODY])
                check_document(answer, self, max_bytes)
                answered.set_result(answer)
            except BaseException as e:  # noqa: BLE001, RUF100
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
                self.close()  # which ends the other thread, too

    def close(self) -> None:
        if self._client:
            self._client.close()
        self._client = None

    def _exchange(
        self, url: str, body: Mapping[str, Any] | None, seconds: float, max_bytes: int
    ) -> tuple[int, bytes]:
        import httpx  # as above

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
        return response.status_code, bytes(answer)


def open_client(server: Endpoint, make: "type[C]", **options: Any) -> "C":
    """A client for a server. Raises ProviderError for proxies and certificates of the environment
    that cannot be used.
    """
    try:
        # No proxy between this machine and itself
        return make(verify=_tls(), trust_env=not server.is_local, **options)
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
    """Made once: reading all certificates takes 20 ms, which no message should pay."""
    import httpx  # see the top of this file

    return httpx.create_ssl_context()


def check_response(response: "httpx.Response", server: Endpoint) -> None:
    """Raises ProviderError for a redirect, and for an answer that is compressed although zkchat
    asked for a plain one.
    """
    if response.has_redirect_location:
        place = mask_address(response.headers["location"]) or "nowhere"
        raise server.error(
            "connection", f"redirects the call to {place}; nothing was sent there", server.check
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


def find_error(answer: object) -> object:
    """The error in a response or an event; None if there is none. For vLLM, Mistral and FastAPI it
    is the whole, in Gemini's a list.
    """
    match answer:
        case [first, *_]:
            return find_error(first) if isinstance(first, Mapping) else None
        case {"error": error} if error is not None:
            return error
        case {"message": str()} | {"object": "error"} | {"detail": _}:
            return answer
    return None


def _codes(error: object) -> list[str]:
    return [str(error.get(key)) for key in ("code", "type")] if isinstance(error, Mapping) else []


def _message(error: object) -> str:
    """The words of an error: its message, what is wrong with each field of the request, or the
    error of another server.
    """
    match error:
        # OpenRouter quotes the server that it has asked
        case {"message": str(said), "metadata": {"raw": str(quoted)}}:
            with suppress(ValueError, RecursionError):
                quoted = _message(find_error(json.loads(quoted)))
            return f"{said}: {quoted}"
        case {"detail": [*fields]} | {"message": {"detail": [*fields]}}:
            found = (each for each in fields if isinstance(each, Mapping))
            return "; ".join(
                f"{'.'.join(map(str, each.get('loc') or ()))}: {each.get('msg')}" for each in found
            )
        case Mapping():
            return str(error.get("message") or error.get("detail") or "")
    return str(error or "")


def parse_length_refusal(message: str) -> tuple[int | None, int | None]:
    """What a server says when it rejects a prompt for its length: its context window, and the
    prompt's tokens by its own count.
    """
    found = _CONTEXT_LIMIT.search(message)
    limit = int(found[1] or found[2]) if found else None
    counts = [(bool(row[0]), int("".join(row))) for row in _PROMPT_TOKENS.findall(message)]
    above = [
        (is_exact, count)
        for is_exact, count in counts
        if is_exact or (limit is not None and limit < count <= MAX_COUNT)
    ]
    return limit, max(above)[1] if above else None


def mask_address(address: str) -> str:
    """An address for display: without user name and password, and without its query, in which some
    servers take a key.
    """
    scheme, colon, rest = address.partition("://") if "://" in address else ("", "", address)
    host, slash, path = rest.partition("?")[0].partition("/")
    return f"{scheme}{colon}{host.rpartition('@')[2]}{slash}{path}{'?…' if '?' in rest else ''}"


def root_cause(e: BaseException) -> str:
    """What the system reports for a broken connection, such as "Connection refused"."""
    while cause := e.__cause__ or e.__context__:
        e = cause
    if isinstance(e, socket.gaierror):
        return f"its name is not known ({e.strerror})"
    if isinstance(e, TimeoutError):
        return "it did not answer in time"
    if isinstance(e, OSError) and (
        problem := getattr(e, "verify_message", "") or getattr(e, "reason", "")
    ):
        # An SSLError, whose numbers are not those of the system
        return f"https failed ({problem.replace('_', ' ').lower()})"
    return (
        os.strerror(e.errno)
        if isinstance(e, OSError) and e.errno
        else (str(e) or type(e).__name__).rstrip(".")
    )
