"""Parts of requests that some models or their templates refuse, and how to leave them out. Pure.

A model is called again without what it has refused, so users need not know what each model takes.
"""

import re
from collections.abc import Callable
from functools import partial
from typing import Any, NamedTuple

from zkchat_cli.llm.server_errors import ROLES_REFUSED

Content = str | list[dict[str, Any]]
"""What a message says in chat completions: a text, or texts and pictures as parts."""


class Refusal(NamedTuple):
    """A part of a request that some models refuse: the server's wording, and what to change in the
    body of the request then. `notice` and `hint` tell the user if the answer may be another one.
    """

    wording: re.Pattern[str]
    change: Callable[[dict[str, Any]], object]
    notice: str = ""
    hint: str = ""


def leave_out(*names: str) -> Callable[[dict[str, Any]], object]:
    """A change that removes these keys from the body."""

    def change(body: dict[str, Any]) -> None:
        for name in names:
            body.pop(name, None)

    return change


def merge_messages(body: dict[str, Any], *, system: str = "system") -> None:
    """Join messages of the system, or of the user, that follow each other.

    Some templates know only user and assistant in turn. For them, pass "user" as the role of the
    `system` messages: then the instructions begin the first message.
    """
    merged: list[dict[str, Any]] = []
    for message in body["messages"]:
        if message["role"] == "system":
            message["role"] = system
        follows_same_role = bool(merged) and merged[-1]["role"] == message["role"]
        if follows_same_role and message["role"] in ("system", "user"):
            merged[-1]["content"] = _join(merged[-1]["content"], message["content"])
        else:
            merged.append(message)
    body["messages"] = merged


def _join(first: Content, second: Content) -> Content:
    """Two contents as one; those with pictures are lists of parts."""
    if isinstance(first, str) and isinstance(second, str):
        return f"{first}\n\n{second}"
    return [*_parts(first), *_parts(second)]


def _parts(content: Content) -> list[dict[str, Any]]:
    return [{"type": "text", "text": content}] if isinstance(content, str) else content


ONE_SYSTEM_MESSAGE = Refusal(
    re.compile("(?i)system message must be at the beginning"), merge_messages
)
"""Qwen's templates take no second system message, such as that with a memory file."""
ROLES_REFUSAL = Refusal(
    ROLES_REFUSED,
    partial(merge_messages, system="user"),
    "takes no system message, so its instructions were sent with the first message",
    "Small models may follow them less closely.",
)
