"""Approval of calls of other programs' tools: the user sees the tool and what it would be sent."""

from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext
from typing import TYPE_CHECKING

from zkchat_cli.models import ToolCall
from zkchat_cli.terminal.interrupts import STOPPED
from zkchat_cli.vault.approval import DECLINED_CALL, Decision, decline
from zkchat_cli.views.approval import call_question

if TYPE_CHECKING:
    from zkchat_cli.terminal.confirm import Confirmation


def ask_about_call(call: ToolCall, question: "Confirmation", pausing: Callable[[], AbstractContextManager[None]] = nullcontext) -> Decision:
    """The user's decision about one call. `pausing` is entered while the question is shown, so that Ctrl-C answers it."""
    with pausing():
        text = question.read_answer(call_question(call), "y/N, always, or the reason why not")
    answer = text.lower()
    if answer in ("y", "yes", "a", "always"):
        return Decision(True, always=answer in ("a", "always"))
    return DECLINED_CALL if answer in ("", "n", "no") or text == STOPPED else decline(DECLINED_CALL, text)
