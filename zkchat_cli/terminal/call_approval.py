"""Approval of calls of other programs' tools: the user sees the tool and what it would be sent."""

import json
from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext
from typing import TYPE_CHECKING

from zkchat_cli.models import ToolCall
from zkchat_cli.terminal.interrupts import STOPPED
from zkchat_cli.text.sanitize import reveal_invisible
from zkchat_cli.text.truncate import truncate
from zkchat_cli.text.words import replace_surrogates
from zkchat_cli.vault.approval import Decision

if TYPE_CHECKING:
    from zkchat_cli.terminal.confirm import Confirmation

LONGEST_SHOWN = 400
"""Characters of a call's arguments that are shown."""


def ask_about_call(call: ToolCall, question: "Confirmation", pausing: Callable[[], AbstractContextManager[None]] = nullcontext) -> Decision:
    """The user's decision about one call. `pausing` is entered while the question is shown, so that Ctrl-C answers it."""
    arguments = truncate(reveal_invisible(json.dumps(call.arguments, ensure_ascii=False)), LONGEST_SHOWN)
    with pausing():
        text = question.read_answer(f"Call {call.name} with {arguments}?", "y/N, always, or the reason why not")
    answer = text.lower()
    if answer in ("y", "yes", "a", "always"):
        return Decision(True, always=answer in ("a", "always"))
    declined = "declined by the user: it was not called"
    is_reason = answer not in ("", "n", "no") and text != STOPPED
    return Decision(False, f"{declined}. The user says: {replace_surrogates(text)}" if is_reason else declined)
