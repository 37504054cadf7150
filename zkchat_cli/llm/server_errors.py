"""What model servers say when a call fails, and which kind of error that is. Pure.

Servers agree neither on the form of an error nor on its words, so the wordings of many are listed
here.
"""

import json
import re
from collections.abc import Callable, Mapping
from contextlib import suppress
from typing import NamedTuple

from zkchat_cli.errors import ProviderErrorKind
from zkchat_cli.text.numbers import MAX_COUNT

CONTEXT_LENGTH = re.compile(
    r"(?i)context[ _-]?(length|window|size)"
    r"|(prompt|input) (is )?too long"
    r"|exceeds? (the )?context"
    r"|n_ctx"
    r"|request too large"
    r"|maximum (model|prompt) length"
    r"|input token count"
    r"|inputs` tokens"
    r"|exceeds? max length"
    r"|model token limit"
)
"""The wordings of OpenAI, vLLM, llama.cpp, LM Studio, Ollama, Anthropic, Gemini, Groq and others
for a prompt that is too long.
"""
TOOLS_REFUSED = re.compile(
    r"(?i)support (tools?|function) ?(use|call)"
    r"|does not support tools"
    r"|tools param requires"
    r"|tool choice requires"
    r"|unsupported parameter: .?tools"
    r"|(?<!parallel )(tools?|tool (use|calling)|function calling)"
    r"\W{1,3}(is|are) not (supported|enabled)"
)
"""The wordings of Ollama, OpenAI, OpenRouter, llama.cpp, vLLM, Groq and Gemini for a model, or its
template, that takes no tools.
"""
IMAGES_REFUSED = re.compile(
    r"(?i)\b(images?|image[ _]url|vision)\b[^.]{0,40}\b(not|only) (be )?(support|enabled|allow)"
    r"|(does not|doesn't|not) support[^.]{0,30}\b(image|vision|multimodal)"
    r"|not a (multimodal|vision) model"
    r"|no endpoints found that support image"
    r"|missing data required for image"
    r"|at most 0 image"
    r"|unknown (variant|part type)[^.]{0,5}image_url"
    r"|content must be a string"
)
"""The wordings of Ollama, OpenAI, OpenRouter, llama.cpp, LM Studio, vLLM, DeepSeek and Groq for a
model that takes no pictures.
"""
ROLES_REFUSED = re.compile(
    r"(?i)system role not supported"
    r"|system (role|message)s? (is|are) not supported"
    r"|roles must alternate"
    r"|only user(,)? (and )?assistant"
    r"|system message must be at the beginning"
    r"|developer instruction is not enabled"
    r"|does not support 'system'"
)
"""The wordings of templates (Gemma's, Mistral's, Qwen's) that take no system message, only one, or
no two of one role in a row.
"""
CONTENT_FILTER = re.compile(
    r"(?i)content[ _-](filter|policy|management)"
    r"|invalid[ _-]prompt"
    r"|usage policy"
    r"|input was flagged"
    r"|requires moderation"
)
LM_STUDIO_WRONG_PATH = "Unexpected endpoint"
"""LM Studio answers a wrong path with status 200 and these words."""
NO_QUOTA = "insufficient_quota"
LONG_PAUSE = 600
"""Seconds from which a pause is told in minutes."""
_STATUS_BY_CODE = {
    "invalid_request_error": 400,
    "authentication_error": 401,
    "rate_limit_exceeded": 429,
    "rate_limit_error": 429,
    NO_QUOTA: 429,
    "server_error": 500,
    "overloaded_error": 529,
}
"""HTTP status for the error codes that servers send inside a stream, after they answered 200."""
_STATUS = re.compile("[45][0-9]{2}")
_CONTEXT_LIMIT = re.compile(
    r"(?i)(?:(?:context (?:length|size|window)|tokens allowed|maximum prompt length)"
    r"(?:(?!\bby\b|n_keep)\D){0,40}"
    r"|n_ctx\W{1,3}"
    r"|<= ?"
    r"|maximum model length of "
    r"|limit(?: of| is|:)? "
    r"|> ?)(\d{3,8})\b(?! \+|,\d)"
    r"|(\d{3,8}) maximum context"
)
_PROMPT_TOKENS = re.compile(
    r"(?i)\((\d{3,9}) in the messages"
    r"|(\d{3,9}) (?:input )?tokens"
    r"|(?:length|count|n_keep|requested)\W{1,3}(\d{3,9})"
)


class ReportedError(NamedTuple):
    """The error that a server reports: its HTTP status (0 if it named none), its words and its
    codes, and how many seconds to wait before the next call, if it says so.
    """

    status: int
    message: str
    codes: tuple[str, ...] = ()
    retry_after: float | None = None

    @property
    def text(self) -> str:
        """All its words: the message and the codes."""
        return " ".join([self.message, *self.codes])

    @property
    def kind(self) -> ProviderErrorKind:
        """What is wrong, by the status and by the words."""
        return next((kind for kind, applies in _KINDS if applies(self)), "server")

    @property
    def pause(self) -> str:
        """How long to wait, in words."""
        seconds = self.retry_after or 0
        if seconds >= LONG_PAUSE:
            return f"{seconds / 60:.0f} minutes"
        return f"{seconds:.0f} s" if seconds else "a moment"


def _is_content_filtered(error: ReportedError) -> bool:
    may_be = error.status in (0, 400, 403)
    return may_be and CONTENT_FILTER.search(error.text.replace("_", " ")) is not None


def _is_out_of_quota(error: ReportedError) -> bool:
    return error.status == 402 or (error.status == 429 and NO_QUOTA in error.text)


def _is_bad_request(error: ReportedError) -> bool:
    is_client_error = 0 < error.status < 500 and error.status != 408
    return is_client_error or ROLES_REFUSED.search(error.text) is not None


_KINDS: tuple[tuple[ProviderErrorKind, Callable[[ReportedError], bool]], ...] = (
    ("context_length", lambda e: e.status == 413 or CONTEXT_LENGTH.search(e.text) is not None),
    ("no_images", lambda e: IMAGES_REFUSED.search(e.text) is not None),
    ("no_tools", lambda e: TOOLS_REFUSED.search(e.text) is not None),
    ("content_filter", _is_content_filtered),
    ("auth", lambda e: e.status in (401, 403)),
    ("unknown_model", lambda e: e.status == 404),
    ("quota", _is_out_of_quota),
    ("rate_limit", lambda e: e.status == 429),
    ("bad_request", _is_bad_request),
)
"""The first that applies counts; if none does, the server failed."""


class ErrorWording(NamedTuple):
    """How an error is told: what the server does, and what the user can do. `{code}` is the status,
    `{quoted}` what the server says, `{pause}` how long to wait; `{check}` and `{check_key}` are
    hints of the server.
    """

    problem: str
    hint: str


WORDINGS: Mapping[ProviderErrorKind, ErrorWording] = {
    "context_length": ErrorWording(
        "finds the prompt too long{quoted}",
        "Summarize older turns (/compact), or set context.max_tokens to the model's window.",
    ),
    "no_tools": ErrorWording(
        "takes no tools{quoted}",
        "It gets passages of your notes instead. To begin with them: zkchat config set "
        "retrieval.mode before",
    ),
    "no_images": ErrorWording("takes no pictures{quoted}", "The question is sent without them."),
    "content_filter": ErrorWording(
        "stopped the answer by its content filter{quoted}",
        "Ask it differently, or try another model.",
    ),
    "auth": ErrorWording("{rejects_or_needs} key{code}{quoted}", "{check_key}"),
    "unknown_model": ErrorWording("knows no such model or address (404){quoted}", "{check}"),
    "quota": ErrorWording(
        "says that the account's quota is used up{code}{quoted}", "Check its plan and billing."
    ),
    "rate_limit": ErrorWording(
        "accepts no more calls for now{code}{quoted}", "Try again in {pause}."
    ),
    "bad_request": ErrorWording(
        "rejects the request{code}{quoted}", "Change what it complains about, or the model."
    ),
    "server": ErrorWording("failed{code}{quoted}", "Try again in a while."),
}


def read_response_error(status: int, body: bytes, retry_after: float | None) -> ReportedError:
    """The error in a response with an HTTP status; its body may be JSON, plain text or a web
    page.
    """
    said = body.decode("utf-8", "replace").strip()
    error: object = "" if said.startswith(("<", "{", "[")) else said
    with suppress(ValueError, RecursionError):
        error = find_error(json.loads(said))
    return _read_error(status, error, retry_after)


def read_stream_error(event: object) -> ReportedError | None:
    """The error that a server reports in JSON after it answered 200; None if `event` reports
    none.
    """
    error = find_error(event)
    if error is None:
        return None
    statuses = map(_status_of_code, _codes(error))
    return _read_error(next(filter(None, statuses), 0), error, None)


def _read_error(status: int, error: object, retry_after: float | None) -> ReportedError:
    message = _message(error)
    if LM_STUDIO_WRONG_PATH in message:
        status = 404
    return ReportedError(status, message, _codes(error), retry_after)


def _status_of_code(code: str) -> int:
    return int(code) if _STATUS.fullmatch(code) else _STATUS_BY_CODE.get(code, 0)


def find_error(answer: object) -> object:
    """The error in a response or an event; None if there is none. vLLM, Mistral and FastAPI send
    nothing around it, Gemini sends a list.
    """
    match answer:
        case [first, *_]:
            return find_error(first) if isinstance(first, Mapping) else None
        case {"error": error} if error is not None:
            return error
        case {"message": str()} | {"object": "error"} | {"detail": _}:
            return answer
    return None


def _codes(error: object) -> tuple[str, ...]:
    if not isinstance(error, Mapping):
        return ()
    return str(error.get("code")), str(error.get("type"))


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
            return "; ".join(_field_problem(each) for each in fields if isinstance(each, Mapping))
        case Mapping():
            return str(error.get("message") or error.get("detail") or "")
    return str(error or "")


def _field_problem(field: Mapping[str, object]) -> str:
    """What FastAPI says about a field of the request."""
    location = field.get("loc") or []
    names = location if isinstance(location, list) else [location]
    return f"{'.'.join(map(str, names))}: {field.get('msg')}"


class LengthRefusal(NamedTuple):
    """What a server says when it rejects a prompt for its length, as far as it says so: its context
    window, and the prompt's tokens by its own count.
    """

    window: int | None
    prompt_tokens: int | None


def parse_length_refusal(message: str) -> LengthRefusal:
    """The figures in the words with which a server rejects a prompt for its length."""
    found = _CONTEXT_LIMIT.search(message)
    window = int(found[1] or found[2]) if found else None
    exact: list[int] = []
    likely: list[int] = []
    for in_messages, *others in _PROMPT_TOKENS.findall(message):
        count = int("".join((in_messages, *others)))
        if in_messages:
            exact.append(count)
        elif window is not None and window < count <= MAX_COUNT:
            likely.append(count)
    return LengthRefusal(window, max(exact or likely, default=None))
