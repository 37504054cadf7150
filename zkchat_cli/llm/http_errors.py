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
from zkchat_cli.text.truncate import truncate

LOOPBACK = ("localhost", "127.0.0.1", "::1")
LONGEST_QUOTE = 200
MOST_NAMED = 8
TOO_LONG = re.compile(
    r"context[ _-]?(length|window|size)|(prompt|input) (is )?too long|too many (input )?tokens|exceeds? (the )?context"
    r"|maximum model length|exceeds the maximum number of tokens",
    re.IGNORECASE,
)
"""How servers say that a prompt does not fit: OpenAI, vLLM, llama.cpp, LM Studio and Anthropic each in their own words."""
FILTERED = re.compile(r"content[ _-]?(filter|policy|management)|content_filter", re.IGNORECASE)
QUOTA = "insufficient_quota"
LIKE_A_KEY = re.compile(r"\b(?:sk|pk|key|gsk|xai)-[\w*.-]{6,}")
LONGEST_DUMMY = 5
"""Characters of a key that is none ("EMPTY", "x"), which servers without keys are given; striking it out would garble their words."""
_LIMIT = re.compile(
    r"(?:context (?:length|size|window)(?:(?!\bby\b)\D){0,40}|maximum model length of |tokens allowed \(|(?:maximum|limit) of |> ?)"
    r"(\d{3,8})",
    re.IGNORECASE,
)
_STATUS = {
    "invalid_request_error": 400,
    "invalid_api_key": 401,
    "authentication_error": 401,
    "permission_error": 403,
    "model_not_found": 404,
    "rate_limit_exceeded": 429,
    "rate_limit_error": 429,
    "insufficient_quota": 429,
    "server_error": 500,
    "overloaded_error": 503,
}
"""The status that an error would have had before the answer had begun, by the name its server gives it."""


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
        return ProviderError(kind, self._struck(f"{self.name} at {shown(self.address)} {what}"), self._struck(hint))

    def unusable(self) -> ProviderError | None:
        """What is wrong with the address, if nothing can be called at it."""
        try:
            url = urlsplit(self.address)
            usable = url.scheme in ("http", "https") and url.hostname and url.port != 0
        except ValueError:
            usable = False
        if usable and self.address.isprintable() and " " not in self.address:
            return None
        return self.error("connection", "is no address that can be called", self.check)

    def unreachable(self, cause: BaseException) -> ProviderError:
        return self.error("connection", f"cannot be reached: {root_cause(cause)}", self.check)

    def broke_off(self, cause: BaseException | str, *, begun: bool = True) -> ProviderError:
        """The connection went before the answer was whole, or had `begun`."""
        why = cause if isinstance(cause, str) else root_cause(cause)
        if not begun:
            return self.error("cut", f"broke the connection off before its first word: {why}", f"Try again. {self.check}")
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

    def garbled(self) -> ProviderError:
        """An answer that had begun as one goes on as none."""
        return self.error("bad_answer", "sent something in its answer that cannot be read", "Ask again, or another model.")

    def complaint(self, said: str | bytes) -> ProviderError | None:
        """What an error means that a server sends in the place of an answer, or in its midst; None if `said` is none."""
        error = error_in(_answer(said))
        if error is None:
            return None
        named = [error.get("code"), error.get("type")] if isinstance(error, Mapping) else []
        numbers = (int(code) for code in named if isinstance(code, int) or (isinstance(code, str) and re.fullmatch("[45][0-9]{2}", code)))
        status = next((number for number in numbers if 400 <= number < 600), None)
        status = status or next((_STATUS[code] for code in named if isinstance(code, str) and code in _STATUS), None)
        text = json.dumps(error, ensure_ascii=False)
        words = self.words(said)
        if TOO_LONG.search(text):
            return self.too_long(words)
        if FILTERED.search(text):
            return self.filtered(words)
        if status is not None:
            return self.refusal(status, said)
        return self.error("server", f"failed: {words}" if words else "failed", "Try again in a while.")

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

    def will_refuse_again(self, body: bytes) -> bool:
        """Whether what an error says will be true as long as the same call is made."""
        text = body.decode("utf-8", "replace")
        return QUOTA in text or TOO_LONG.search(text) is not None

    def too_long(self, words: str = "") -> ProviderError:
        said = f": {words}" if words else ""
        return self.error(
            "context_length",
            f"finds the prompt too long{said}",
            "Fold older turns (/compact, or zkchat context compact), or set context.max_tokens to the model's window.",
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
        hint = f"It has {', '.join(truncate(name, 60) for name in named[:MOST_NAMED])}{rest}."
        return self.error("unknown_model", f"has no model {truncate(model, 80)} (404)", hint)

    def _too_many(self, text: str, said: str, retry_after: float | None) -> ProviderError:
        if QUOTA in text:
            return self.error("rate_limit", f"says that the account's quota is used up (429){said}", "Check its plan and billing.")
        wait = f"Try again in {_span(retry_after)}." if retry_after else "Wait a moment and try again."
        return self.error("rate_limit", f"refuses more calls for now (429){said}", wait)

    def words(self, body: str | bytes) -> str:
        """The server's own words about what is wrong, without the key; empty if there are none."""
        error = _error(body, "message", "detail")
        text = str((error.get("message") if isinstance(error, Mapping) else error) or "")
        size = error.get("n_ctx") if isinstance(error, Mapping) else None
        if isinstance(size, int) and str(size) not in text:  # llama.cpp says it beside its message
            text = f"context size {size}: {text}"
        return truncate(self.redacted(text), LONGEST_QUOTE)

    def redacted(self, text: str) -> str:
        """The text without this endpoint's key, and without what looks like anybody's."""
        return LIKE_A_KEY.sub("…", self._struck(text))

    def _struck(self, text: str) -> str:
        return text.replace(self.key, "…") if len(self.key) > LONGEST_DUMMY else text


def error_in(answer: object) -> object:
    """What an answer, or an event of one, says is wrong: an object or words; None if it says nothing.

    It stands under `error`, as OpenAI has it, or in the one choice (OpenRouter), or is the whole of it (vLLM).
    """
    if not isinstance(answer, Mapping):
        return None
    if answer.get("error") is not None:
        return answer["error"]
    choices = answer.get("choices")
    if isinstance(choices, list):
        return next((choice["error"] for choice in choices if isinstance(choice, Mapping) and choice.get("error") is not None), None)
    bare = isinstance(answer.get("message"), str) and ("code" in answer or answer.get("object") == "error")
    return answer if bare else None


def _answer(body: str | bytes) -> object:
    """A server's JSON; of a list, as Gemini has it, the first; None for what is no JSON."""
    try:
        answer = json.loads(body)
    except (ValueError, RecursionError):
        return None
    return answer[0] if isinstance(answer, list) and answer else answer


def _error(body: str | bytes, *keys: str) -> object:
    """What a server's JSON says is wrong, under the first of `keys` that it has, if not as usual; None if it says nothing."""
    answer = _answer(body)
    if (error := error_in(answer)) is not None:
        return error
    return next((answer[key] for key in keys if key in answer), None) if isinstance(answer, Mapping) else None


def _span(seconds: float) -> str:
    """So many seconds as one would say it."""
    for least, size, name in ((172_800, 86_400, "days"), (7200, 3600, "hours"), (600, 60, "minutes")):
        if seconds >= least:
            return f"{seconds / size:.0f} {name}"
    return f"{seconds:.0f} s"


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
    """An address as it may be said: without a user's name and password, and without what is asked in it, where some servers want a key."""
    scheme, colon, rest = address.partition("://") if "://" in address else ("", "", address)
    host, slash, path = rest.partition("?")[0].partition("/")
    return f"{scheme}{colon}{host.rpartition('@')[2]}{slash}{path}{'?…' if '?' in rest else ''}"


def root_cause(e: BaseException) -> str:
    """What the system says of a broken connection, as "Connection refused"."""
    while cause := e.__cause__ or e.__context__:
        e = cause
    if isinstance(e, socket.gaierror):
        return f"its name is not known ({e.strerror})"
    if isinstance(e, OSError) and e.errno:
        return os.strerror(e.errno)
    return (str(e) or type(e).__name__).rstrip(".")
