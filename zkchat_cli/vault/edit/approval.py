"""The decision whether a change of notes may be made, or a tool be called.

Who decides is a function that is passed in: a screen that asks, or an answer given in advance.
"""

from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import NamedTuple

from zkchat_cli.vault.edit.transaction import Change


class Decision(NamedTuple):
    """Whether a change may be made; `reason` tells the user and the model why not."""

    allowed: bool
    reason: str = ""
    # Whether the user wants no more questions about the same tool
    always: bool = False
    # The part of the change that may be made; None for all of it
    part: Change | None = None
    # How much of the change that is, for the user, and which hunks, for the model
    told: str = ""
    report: Mapping[str, object] = MappingProxyType({})

    def change_to_make(self, proposed: Change) -> Change:
        """The proposed change, or the part of it that may be made."""
        return proposed if self.part is None else self.part


Approve = Callable[[Change], Decision]

# Most characters of a call's arguments that a user can read before answering
LONGEST_CALL = 4_000

ALLOWED = Decision(allowed=True)
DECLINED = Decision(False, "declined by the user: nothing was changed")
DECLINED_CALL = Decision(False, "declined by the user: it was not called")
UNASKED_CALL = Decision(
    False, "refused: nobody can be asked here; in a chat, the user could allow it"
)
UNSHOWN_CALL = Decision(
    False,
    f"refused: its arguments have more than {LONGEST_CALL:,} characters, too many to be shown to "
    "the user",
)
UNASKED = Decision(
    False, "refused: nobody can be asked here, and --yes was not given; nothing was changed"
)


def approve_notes(change: Change) -> Decision:
    """`--yes` where nobody can be asked: approves every change except those of memory, which
    instructs later conversations.
    """
    if change.memory_file is None:
        return ALLOWED
    why = (
        f"refused: {change.memory_file} is memory, and --yes does not cover memory: approve it "
        "in a chat. Nothing was changed"
    )
    return Decision(False, why)


def mark_memory_file(change: Change, memory_file: str | None) -> Change:
    """The change with a warning that it edits memory, if it does."""
    if memory_file is None:
        return change
    warning = f"{memory_file} is memory: later conversations follow what it says."
    return change._replace(note=f"{change.note} {warning}".strip(), memory_file=memory_file)
