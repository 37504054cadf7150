"""Proposed changes to notes: approve, apply and commit them.

Who approves is a function passed in: a screen that asks, or an answer given in advance. Nothing here asks anybody.
"""

from collections.abc import Callable
from dataclasses import dataclass, replace

from zkchat_cli.errors import VaultError
from zkchat_cli.models import IndexReport
from zkchat_cli.vault import git as vault_git
from zkchat_cli.vault.edit.transaction import Change
from zkchat_cli.vault.vault import Vault


@dataclass(frozen=True, slots=True)
class Decision:
    """Whether a change may be made; `reason` tells the user and the model why not."""

    allowed: bool
    reason: str = ""


Approve = Callable[[Change], Decision]

ALLOWED = Decision(True)
DECLINED = Decision(False, "declined by the user: nothing was changed")
UNASKED = Decision(False, "refused: nobody can be asked here, and --yes was not given; nothing was changed")


def approve_notes(change: Change) -> Decision:
    """`--yes`: approves every change except those of memory files, which instruct every later conversation."""
    if change.memory_file is None:
        return ALLOWED
    return Decision(False, f"refused: {change.memory_file} is sent with every message, and --yes is for notes alone; nothing was changed")


def mark_memory_file(change: Change, memory_file: str | None) -> Change:
    """The change with a warning that it edits a memory file, if it does."""
    if memory_file is None:
        return change
    warning = f"{memory_file} is sent with every message: what it says, every later conversation is told."
    return replace(change, note=f"{change.note} {warning}".strip(), memory_file=memory_file)


@dataclass(frozen=True, slots=True)
class AppliedChange:
    """The outcome of a change that was made; `problem` is why it could not be committed, `report` what the index took in.

    `interrupted`: Ctrl-C was pressed meanwhile. The caller shows this outcome first and raises KeyboardInterrupt afterwards.
    """

    message: str
    problem: VaultError | None = None
    interrupted: bool = False
    report: IndexReport | None = None


def apply_change(vault: Vault, change: Change, *, git: bool = False) -> AppliedChange:
    """Make a change, all of it or nothing, and commit it if `git`. Raises VaultError when nothing was changed.

    After Ctrl-C it is always clear which: KeyboardInterrupt means that nothing was changed.
    """
    try:
        report = vault.editor.apply(change)
        return _commit(vault, change, report) if git else AppliedChange("done", report=report)
    except KeyboardInterrupt:
        if not vault.editor.is_applied(change):
            raise
        problem = VaultError("the commit was stopped", vault_git.COMMIT_IT) if git else None
        return AppliedChange("done, not committed" if git else "done", problem, interrupted=True)


def _commit(vault: Vault, change: Change, report: IndexReport | None) -> AppliedChange:
    """Commit the files of a change that is made."""
    try:
        commit = vault_git.commit(vault.root, change.paths, f"zkchat: {change.summary}")
        return AppliedChange(f"done, committed as {commit}", report=report)
    except VaultError as e:
        return AppliedChange("done, not committed", e, report=report)
