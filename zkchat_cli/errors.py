"""One flat family of errors, drawn here as a tree, so that a reader sees all that can go wrong at once.

    ZkchatError
    ├── UsageError       the command line asked for something that makes no sense
    ├── ConfigError      a settings file, an environment variable or a flag is wrong
    ├── VaultError       the notes cannot be found or read
    ├── IndexDamaged     the search index cannot be used and could not be rebuilt
    ├── StoreError       a conversation cannot be found, read or written
    ├── PromptTooLarge   what must be sent does not fit the model's context window
    └── ProviderError    the model failed; `kind` says how

Each carries what and why (`message`) and what to do next (`hint`). Exit codes belong to the command line alone: see `main.py`.
"""

from typing import Literal

ProviderErrorKind = Literal[
    "unknown_provider",
    "unknown_model",
    "auth",
    "connection",
    "timeout",
    "rate_limit",
    "context_length",
    "content_filter",
    "bad_request",
    "server",
    "cut",
    "empty",
    "bad_answer",
    "not_installed",
    "bad_script",
]


class ZkchatError(Exception):
    """Something went wrong that a person can act on: `message` is what and why, `hint` what to do next."""

    code = "unexpected"
    partial = ""
    """What a model had answered before it went wrong: never thrown away, printed with the error."""
    reported = False
    """Whether the user has been shown it already, and only its exit code is still owed."""
    in_ascii = False
    """Whether who reads it has asked for plain signs."""

    def __init__(self, message: str, hint: str = "") -> None:
        super().__init__(message)
        self.message = message
        self.hint = hint


class UsageError(ZkchatError):
    code = "usage"


class ConfigError(ZkchatError):
    code = "config"


class VaultError(ZkchatError):
    code = "vault"


class IndexDamaged(VaultError):
    code = "index"


class StoreError(ZkchatError):
    code = "store"


class StoreUnwritable(StoreError):
    """Nothing can be written to the store: a full disk, no permission. What was stored is as it was."""


class PromptTooLarge(ZkchatError):
    code = "prompt_too_large"


class ProviderError(ZkchatError):
    """A model call failed. `kind` is the machine-readable cause; partial text is the caller's to keep."""

    code = "provider"

    def __init__(self, kind: ProviderErrorKind, message: str, hint: str = "") -> None:
        super().__init__(message, hint)
        self.kind = kind


def on_one_line(message: str, hint: str) -> str:
    """A message with its hint: one that is a sentence of its own stands as one."""
    if not hint:
        return message
    return f"{message}. {hint}" if hint[0].isupper() else f"{message}; {hint}"


def reason(e: Exception) -> str:
    """Why the system refused something, for the end of a sentence: "no such file or directory", without its number and the path again."""
    said = e.strerror if isinstance(e, OSError) else None
    return said.lower() if said else str(e)
