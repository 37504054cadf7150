"""Parts of requests that some models or their templates refuse, and how to leave them out. Pure.

A model is called again without what it has refused, so users need not know what each model takes.
What it has refused is remembered by name, also for later processes.
"""

import re
from collections.abc import Callable
from functools import partial
from typing import Any, NamedTuple

from zkchat_cli.llm.server_errors import ROLES_REFUSED

Content = str | list[dict[str, Any]]
"""What a message says in chat completions: a text, or texts and pictures as parts."""


class Refusal(NamedTuple):
    """A part of a request that some models refuse: its name, the server's wording, and what to
    change in the body of the request then. `notice` and `hint` tell the user if the answer may be
    another one.
    """

    name: str
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


def refused_parameter(
    parameter: str,
    *keys: str,
    setting: str = "",
    change: Callable[[dict[str, Any]], object] | None = None,
) -> Refusal:
    """The refusal of a parameter that a request need not have, in any server's words. The call is
    made without these keys of the body, or with another `change`. `setting` is what sets it.
    """
    named = rf"(?is)(?=.*(?<![\w.]){re.escape(parameter)}(?![\w]))(?=.*{_NOT_TAKEN})"
    notice = f"takes no {parameter}, so it was left out" if setting else ""
    hint = f"{setting} sets it." if setting else ""
    return Refusal(parameter, re.compile(named), change or leave_out(*keys), notice, hint)


_NOT_TAKEN = (
    r"(not support|unsupported|unknown|unrecognized|unexpected|deprecated|not permitted|"
    r"not allowed|not available|invalid|only|should be|must be)"
)
"""What servers say of a parameter, or of a value, that a model does not take."""


def refused_effort(parameter: str) -> Refusal:
    """The refusal of an effort of reasoning, in the parameter of this name."""
    table, _, key = parameter.partition(".")

    def change(body: dict[str, Any]) -> None:
        if not key:
            body.pop(table, None)
        elif isinstance(body.get(table), dict):
            body[table].pop(key, None)

    value = r"(unsupported|invalid) value: .?(none|minimal|low|medium|high|xhigh|max)\b"
    words = rf"(?is){re.escape(parameter)}.*{_NOT_TAKEN}|{_NOT_TAKEN}.*{re.escape(parameter)}"
    return Refusal(
        "effort",
        re.compile(f"{words}|{value}"),
        change,
        "does not reason with this effort, so llm.reasoning_effort was left out",
        "Its own default is used.",
    )


TEMPERATURE_REFUSAL = Refusal(
    "temperature",
    re.compile(
        r"(?is)temperature.*(not support|only|deprecated|unsupported|not permitted)"
        r"|(unsupported|unknown|unrecognized).{1,40}temperature"
    ),
    leave_out("temperature"),
    "takes no temperature, so it was left out",
    "An agent's `temperature` or llm.temperature sets it.",
)


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
    "second system message",
    re.compile("(?i)system message must be at the beginning"),
    merge_messages,
)
"""Qwen's templates take no second system message, such as that with a memory file."""
ROLES_REFUSAL = Refusal(
    "system message",
    ROLES_REFUSED,
    partial(merge_messages, system="user"),
    "takes no system message, so its instructions were sent with the first message",
    "Small models may follow them less closely.",
)
