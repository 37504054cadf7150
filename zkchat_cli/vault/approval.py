"""Approval of proposed changes to notes.

Who approves is a function passed in: a screen that asks, or an answer given in advance. Nothing here asks anybody.
"""

from collections.abc import Callable
from typing import TYPE_CHECKING, NamedTuple

from zkchat_cli.text.words import replace_surrogates

if TYPE_CHECKING:
    from zkchat_cli.vault.edit.transaction import Change


class Decision(NamedTuple):
    """Whether a change may be made; `reason` tells the user and the model why not."""

    allowed: bool
    reason: str = ""
    always: bool = False  # whether the user wants no more questions about the same tool


Approve = Callable[["Change"], Decision]

ALLOWED = Decision(True)
DECLINED = Decision(False, "declined by the user: nothing was changed")
DECLINED_CALL = Decision(False, "declined by the user: it was not called")
UNASKED_CALL = Decision(False, "refused: nobody can be asked here; in a chat, the user could allow it")
UNASKED = Decision(False, "refused: nobody can be asked here, and --yes was not given; nothing was changed")


def decline(declined: Decision, text: str) -> Decision:
    """`DECLINED` or `DECLINED_CALL` with what the user says about it, so that the model gets it."""
    return declined._replace(reason=f"{declined.reason}. The user says: {replace_surrogates(text)}") if text else declined


def approve_notes(change: "Change") -> Decision:
    """`--yes` where nobody can be asked: approves every change except those of memory, which instructs later conversations."""
    if change.memory_file is None:
        return ALLOWED
    return Decision(
        False, f"refused: {change.memory_file} is memory, and --yes does not cover memory: approve it in a chat. Nothing was changed"
    )


def mark_memory_file(change: "Change", memory_file: str | None) -> "Change":
    """The change with a warning that it edits memory, if it does."""
    if memory_file is None:
        return change
    warning = f"{memory_file} is memory: later conversations follow what it says."
    return change._replace(note=f"{change.note} {warning}".strip(), memory_file=memory_file)
