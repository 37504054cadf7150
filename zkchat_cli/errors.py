"""All errors of zkchat, one flat family:

    ZkchatError
    ├── UsageError       the command line asked for something that makes no sense
    ├── ConfigError      a settings file, an environment variable or a flag is wrong
    │   └── CostLimitReached a turn would cost more than the settings allow
    ├── VaultError       the notes cannot be found or read
    │   ├── IndexDamaged     the search index cannot be used and could not be rebuilt
    │   └── IndexUnwritable  it cannot be stored (a full disk, no permission, no file locks) and is
    │                        made in memory
    ├── StoreError       a conversation cannot be found, read or written
    │   ├── StoreUnwritable  nothing can be written (a full disk, no permission); what is stored is
    │   │                    unchanged
    │   │   └── StoreUnreachable  the server that keeps it does not answer
    │   └── StoreDamaged     the file is damaged, or not a store: `zkchat doctor --repair` saves
    │                        what can be read
    ├── TokenizerError   a file of the tokenizer is missing or damaged: tokens can only be estimated
    ├── PromptTooLarge   the prompt does not fit the model's context window
    └── ProviderError    the model failed; `kind` says how

Each carries what and why (`message`) and what to do next (`hint`). Only `cli/app.py` knows exit
codes.
"""

from collections.abc import Iterable, Mapping
from typing import Any, Literal

_Refusal = Literal[
    "unknown_model",
    "auth",
    "rate_limit",
    "quota",
    "context_length",
    "no_tools",
    "no_images",
    "content_filter",
    "bad_request",
]
_Failure = Literal[
    "connection", "timeout", "server", "cut", "empty", "bad_answer", "not_installed", "bad_script"
]
ProviderErrorKind = Literal[_Refusal, _Failure]


class ZkchatError(Exception):
    """An error that the user can act on: `message` is what and why, `hint` what to do next."""

    code = "unexpected"

    def __init__(self, message: str, hint: str = "") -> None:
        super().__init__(message)
        self.message = message
        self.hint = hint

    def to_json(self) -> dict[str, str | None]:
        """The error as `--json` prints it."""
        return {"code": self.code, "message": self.message, "hint": self.hint or None}


class UsageError(ZkchatError):
    """The user asked for something that makes no sense, such as a command that does not exist."""

    code = "usage"


class ConfigError(ZkchatError):
    """A settings file, an environment variable or a flag is wrong."""

    code = "config"


class CostLimitReached(ConfigError):
    """A turn would cost more than `chat.max_cost`, and the user has not allowed it."""


class VaultError(ZkchatError):
    """The notes cannot be found, read or changed."""

    code = "vault"


class IndexDamaged(VaultError):
    """The search index cannot be used, and it could not be rebuilt."""

    code = "index"


class IndexUnwritable(VaultError):
    """The search index cannot be stored on the disk, so it is made in memory."""

    code = "index"


class StoreError(ZkchatError):
    """A conversation cannot be found, read or written."""

    code = "store"


class StoreUnwritable(StoreError):
    """Nothing can be written to the store; what is stored is unchanged."""


class StoreUnreachable(StoreUnwritable):
    """The server that keeps the store cannot be reached or refuses the connection."""


class ConversationExists(StoreError):
    """A new conversation has the id of one that is stored already."""


class StoreDamaged(StoreError):
    """The store's file is damaged, or it is not a store."""


class TokenizerError(ZkchatError):
    """A file of the tokenizer is missing or damaged, so tokens can only be estimated."""

    code = "tokenizer"

    @property
    def warning(self) -> str:
        """What a user should know who sees estimates."""
        return f"tokens are estimated by characters (~): {self.message}"


class PromptTooLarge(ZkchatError):
    """The prompt does not fit the model's context window."""

    code = "prompt_too_large"


class ProviderError(ZkchatError):
    """A model call failed. `kind` is the machine-readable cause; the caller keeps partial text.
    `retry_after` are the seconds that the server asks to wait before another call.
    """

    code = "provider"

    def __init__(
        self,
        kind: ProviderErrorKind,
        message: str,
        hint: str = "",
        retry_after: float | None = None,
    ) -> None:
        super().__init__(message, hint)
        self.kind = kind
        self.retry_after = retry_after


def on_one_line(message: str, hint: str) -> str:
    """The message and its hint, if there is one, as one text."""
    if not hint:
        return message
    separator = ". " if hint[0].isupper() else "; "
    return f"{message}{separator}{hint}"


def nearest_names(names: Iterable[str], otherwise: str = "", *, label: str = "nearest") -> str:
    """What a wrong name may mean: `nearest: Filters.md, Folders.md`; `otherwise` without names. A
    hint that is a sentence of its own has the label `Nearest`.
    """
    listed = ", ".join(names)
    return f"{label}: {listed}" if listed else otherwise


# What is wrong with a value, by pydantic's type of the error
_VALUE_PROBLEMS = {
    "missing": "it is missing",
    "extra_forbidden": "this key is unknown",
    **dict.fromkeys(("int_parsing", "int_from_float", "int_type"), "it must be a whole number"),
    **dict.fromkeys(("float_parsing", "float_type"), "it must be a number"),
    **dict.fromkeys(("bool_parsing", "bool_type"), "it must be true or false"),
    **dict.fromkeys(("dict_type", "model_type", "model_attributes_type"), "it must be an object"),
    **dict.fromkeys(("list_type", "tuple_type"), "it must be a list"),
    "string_type": "it must be text",
}


def value_problem(error: Mapping[str, Any]) -> str:
    """What is wrong with a value, in plain words, from one of pydantic's errors."""
    problem = _VALUE_PROBLEMS.get(error["type"])
    if problem is None:
        message = str(error["msg"]).removeprefix("Value error, ")
        problem = message.replace("Input should be", "it must be")
    return problem[:1].lower() + problem[1:]


def reason(e: Exception) -> str:
    """The cause of an error for the end of a sentence, such as "no such file or directory", without
    its number and path.
    """
    cause = e.strerror if isinstance(e, OSError) else None
    if not cause:
        return str(e)
    return cause[:1].lower() + cause[1:]
