"""A server as it is spoken of: what went wrong with a call, in words that say what to do next, whoever made the call.

The one place that turns HTTP's ways of failing into a ProviderError. A key is sent, and never said: not in a message, nor in what a server
is quoted with.
"""

import json
import os
import re
import socket
from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from difflib import get_close_matches
from urllib.parse import urlsplit

from zkchat_cli.errors import ProviderError, ProviderErrorKind
from zkchat_cli.words import shorten

LOOPBACK = ("localhost", "127.0.0.1", "::1")
LONGEST_QUOTE = 200
MOST_NAMED = 8
TOO_LONG = re.compile(
    r"context[ _-]?(length|window|size)|(prompt|input) is too long|too many (input )?tokens|exceeds? (the )?context",
    re.IGNORECASE,
)
"""How servers say that a prompt does not fit: OpenAI, vLLM, llama.cpp, LM Studio and Anthropic each in their own words."""
FILTERED = re.compile(r"content[ _-]?(filter|policy|management)|content_filter", re.IGNORECASE)
LIKE_A_KEY = re.compile(r"\b(?:sk|pk|key|gsk|xai)-[\w*.-]{6,}")
_LIMIT = re.compile(r"(?:context (?:length|size|window)\D{0,40}|maximum of |> ?)(\d{3,8})", re.IGNORECASE)


@dataclass(slots=True)
class Endpoint:
    """A server at an address (`http://host:port/path`), called `name` in messages.

    `check` says what to do when it cannot be reached, `check_key` when it refuses the key.
    """

    name: str
    address: str
    check: str
    key: str = field(default="", repr=False)
    check_key: str = "Does it want a key?"

    @property
    def is_local(self) -> bool:
        """On this very machine: no proxy is ever meant to stand before it."""
        return is_local(self.address)

    def error(self, kind: ProviderErrorKind, what: str, hint: str) -> ProviderError:
        return ProviderError(kind, f"{self.name} at {shown(self.address)} {what}", hint)

    def unreachable(self, cause: BaseException) -> ProviderError:
        return self.error("connection", f"cannot be reached: {root_cause(cause)}", self.check)

    def broke_off(self, cause: BaseException | str) -> ProviderError:
        """The connection went before the answer was whole."""
        why = cause if isinstance(cause, str) else root_cause(cause)
        return self.error("cut", f"broke the answer off: {why}", "Ask again for the rest.")

    def silent(self, seconds: float, *, speaking: bool) -> ProviderError:
        """Nothing came for so long: before the first word, or while it was `speaking`."""
        if speaking:
            return self.error("timeout", f"stopped in the middle of its answer, for {seconds:g} s", "Ask again for the rest.")
        return self.error(
            "timeout", f"did not answer within {seconds:g} s", "Try again: a model may still be loading. Or raise its timeout."
        )

    def unintelligible(self, answer: str | bytes, said: str = "something that is no answer of a model") -> ProviderError:
        """It answered, in no language that is spoken here."""
        text = answer.decode("utf-8", "replace") if isinstance(answer, bytes) else answer
        if text.lstrip()[:1] == "<":
            said = "a web page instead of JSON"
        return self.error("bad_answer", f"answered with {said}", self.check)

    def refusal(
        self, status: int, body: str | bytes, *, model: str = "", models: Collection[str] = (), retry_after: float | None = None
    ) -> ProviderError:
        """What an answer with an error's status means. `models` are the names that the server does know, if they could be asked for."""
        words = self.words(body)
        said = f": {words}" if words else ""
        text = body.decode("utf-8", "replace") if isinstance(body, bytes) else body
        if status == 413 or (status in (400, 422, 500) and TOO_LONG.search(text)):
            return self.too_long(words)
        if status == 400 and FILTERED.search(text):
            return self.filtered(words)
        match status:
            case 401:
                return self.error("auth", "refuses the key (401)" if self.key else "wants a key (401)", self.check_key)
            case 403:
                what = "refuses the key, or what it is used for (403)" if self.key else "wants a key (403)"
                return self.error("auth", what + said, self.check_key)
            case 404:
                return self.unknown_model(model, models, said)
            case 429:
                return self._too_many(text, said, retry_after)
            case _ if status >= 500:
                return self.error("server", f"failed ({status}){said}", "Try again in a while.")
            case _:
                hint = "Change what it complains of, or choose another model." if words else self.check
                return self.error("bad_request", f"refuses the call ({status}){said}", hint)

    def too_long(self, words: str = "") -> ProviderError:
        said = f": {words}" if words else ""
        return self.error(
            "context_length", f"finds the prompt too long{said}", "Run /compact, or set context.max_tokens to the model's window."
        )

    def filtered(self, words: str = "") -> ProviderError:
        said = f": {words}" if words else ""
        return self.error("content_filter", f"stopped the answer by its content filter{said}", "Ask in other words, or another model.")

    def unknown_model(self, model: str, models: Collection[str], said: str = "") -> ProviderError:
        if not models or model in models:
            return self.error("unknown_model", f"knows no such model or address (404){said}", self.check)
        near = get_close_matches(model, models, n=3, cutoff=0.5)
        named = [*near, *(name for name in models if name not in near)]
        rest = f" and {len(named) - MOST_NAMED} more" if len(named) > MOST_NAMED else ""
        hint = f"It has {', '.join(shorten(name, 60) for name in named[:MOST_NAMED])}{rest}."
        return self.error("unknown_model", f"has no model {shorten(model, 80)} (404)", hint)

    def _too_many(self, text: str, said: str, retry_after: float | None) -> ProviderError:
        if "insufficient_quota" in text:
            return self.error("rate_limit", f"says that the account's quota is used up (429){said}", "Check its plan and billing.")
        wait = f"Try again in {retry_after:.0f} s." if retry_after else "Wait a moment and try again."
        return self.error("rate_limit", f"refuses more calls for now (429){said}", wait)

    def words(self, body: str | bytes) -> str:
        """The server's own words about what is wrong, without the key; empty if there are none."""
        try:
            error = json.loads(body)
            error = error.get("error", error.get("message", error.get("detail"))) if isinstance(error, Mapping) else None
            text = error.get("message") if isinstance(error, Mapping) else error
        except (ValueError, RecursionError):
            text = ""
        return shorten(self.redacted(str(text or "")), LONGEST_QUOTE)

    def redacted(self, text: str) -> str:
        """The text without this endpoint's key, and without what looks like anybody's."""
        return LIKE_A_KEY.sub("…", text.replace(self.key, "…") if self.key else text)


def limit_said(message: str) -> int | None:
    """The context window that a server names when it refuses a prompt for its length; None if it names none."""
    found = _LIMIT.search(message)
    return int(found[1]) if found else None


def is_local(address: str) -> bool:
    """Whether an address is one of this very machine."""
    try:
        return urlsplit(address).hostname in LOOPBACK
    except ValueError:
        return False


def shown(address: str) -> str:
    """An address as it may be said: without a user's name and password."""
    return address.partition("://")[0] + "://" + address.partition("://")[2].rpartition("@")[2] if "@" in address else address


def root_cause(e: BaseException) -> str:
    """What the system says of a broken connection, as "Connection refused"."""
    while cause := e.__cause__ or e.__context__:
        e = cause
    if isinstance(e, socket.gaierror):
        return f"its name is not known ({e.strerror})"
    if isinstance(e, OSError) and e.errno:
        return os.strerror(e.errno)
    return (str(e) or type(e).__name__).rstrip(".")
