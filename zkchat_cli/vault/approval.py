"""Changes to notes that somebody proposed, a model or a command: approved or not, made, and committed where the user wants that.

Who approves is a function that is passed in: a screen that asks, or an answer given beforehand. Nothing here asks anybody.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

from zkchat_cli.errors import VaultError
from zkchat_cli.vault import git as vault_git
from zkchat_cli.vault.edit.transaction import Change
from zkchat_cli.vault.vault import Vault


@dataclass(frozen=True, slots=True)
class Decision:
    """Whether a change may be made; `told` says why not, to the user and to the model."""

    allowed: bool
    told: str = ""


Approve = Callable[[Change], Decision]

ALLOWED = Decision(True)
DECLINED = Decision(False, "declined by the user: nothing was changed")
UNASKED = Decision(False, "refused: nobody can be asked here, and --yes was not given; nothing was changed")


def beforehand(change: Change) -> Decision:
    """A yes that was said before anything was proposed: to notes, but not to what later conversations are told to do."""
    if change.lasting is None:
        return ALLOWED
    return Decision(False, f"refused: {change.lasting} is sent with every message, and --yes is for notes alone; nothing was changed")


def warned(change: Change, lasting: str | None) -> Change:
    """The change as it is to be approved: `lasting` is the file of it that is memory."""
    if lasting is None:
        return change
    told = f"{lasting} is sent with messages: what it says, every later conversation is told."
    return replace(change, note=f"{change.note} {told}".strip(), lasting=lasting)


@dataclass(frozen=True, slots=True)
class ApprovalPolicy:
    """Who approves changes, and whether each is committed (`vault.git`)."""

    approve: Approve = lambda _: UNASKED
    git: bool = False


@dataclass(frozen=True, slots=True)
class AppliedChange:
    """`told` is what there is to say of a change that was made; `problem` why it was not committed, though it was wanted.

    `stopped`: Ctrl-C was pressed meanwhile. Whoever had the change made tells of it first, and then raises KeyboardInterrupt.
    """

    told: str
    problem: VaultError | None = None
    stopped: bool = False


def apply_change(vault: Vault, change: Change, *, git: bool = False) -> AppliedChange:
    """Make a change, all or nothing, and commit it. Raises VaultError when it is not made; one that cannot be committed is made.

    Ctrl-C never leaves it open which of the two it is: raised as KeyboardInterrupt, nothing has changed.
    """
    try:
        vault.changes.make(change)
        return committed(vault, change.paths, change.summary) if git else AppliedChange("done")
    except KeyboardInterrupt:
        if not vault.changes.is_made(change):
            raise
        problem = VaultError("the commit was stopped", vault_git.COMMIT_IT) if git else None
        return AppliedChange("done, not committed" if git else "done", problem, stopped=True)


def committed(vault: Vault, paths: Sequence[str], summary: str) -> AppliedChange:
    """What came of committing these files, which were changed already."""
    try:
        return AppliedChange(f"done, committed as {vault_git.commit(vault.root, paths, f'zkchat: {summary}')}")
    except VaultError as e:
        return AppliedChange("done, not committed", e)
