"""What `zkchat vault recover` does with a change of notes that was stopped in the middle, and
`zkchat vault undo` with the last one that was made.
"""

import sys
from typing import TYPE_CHECKING

from zkchat_cli.cli.command import CommandContext, confirm
from zkchat_cli.errors import VaultError
from zkchat_cli.text.numbers import plural
from zkchat_cli.text.sanitize import reveal_invisible

if TYPE_CHECKING:
    from zkchat_cli.vault.edit.change_record import ChangeRecord
    from zkchat_cli.vault.edit.transaction import Change
    from zkchat_cli.vault.vault import Vault

NOTHING_TO_RECOVER = "No change of notes was stopped in the middle."
UNANSWERED = "Nothing was changed; --yes does it without asking."


def show_recovery(ctx: CommandContext, notes: "Vault") -> None:
    """Print which change was stopped in the middle, and what each way to settle it would do."""
    record = _read_record(ctx, notes)
    if record is None:
        return
    from zkchat_cli.vault.edit.remainder import propose_rest, propose_reversal

    rest = propose_rest(notes.root, record)
    reversal = propose_reversal(notes.root, record)
    lines = [
        f"Stopped in the middle: {reveal_invisible(record.summary)}",
        f"  --finish makes the rest: {plural(len(rest.files), 'note')} to change",
        f"  --undo takes it back: {plural(len(reversal.files), 'note')} to change",
        rest.note,
    ]
    document = {
        "summary": record.summary,
        "finish": len(rest.files),
        "undo": len(reversal.files),
    }
    ctx.print_result(document, "\n".join(filter(None, lines)))


def settle_change(ctx: CommandContext, notes: "Vault", *, undo: bool, yes: bool) -> None:
    """Make the rest of the change in the vault's record, or `undo` what was made of it, after it
    was shown and with `yes` or the user's.
    """
    record = _read_record(ctx, notes)
    if record is None:
        return
    from zkchat_cli.vault.edit.remainder import propose_rest, propose_reversal

    change = (propose_reversal if undo else propose_rest)(notes.root, record)
    change = _mark_memory(ctx, notes, change)
    if not ctx.as_json:
        _show(ctx, change)
    made = _apply(ctx, notes, record, change, yes=yes)
    document = {"summary": record.summary, "diff": change.diff, "made": made}
    ctx.print_result(document, "Done." if made else UNANSWERED)


def undo_last_change(ctx: CommandContext, notes: "Vault", *, yes: bool) -> None:
    """Take back the last change of notes that this user's zkchat made, after it was shown and with
    `yes` or the user's.
    """
    undo = notes.editor.propose_undo()
    change = _mark_memory(ctx, notes, undo.change)
    if not ctx.as_json:
        _show(ctx, change)
    made = _is_approved(ctx, change, "vault undo", yes=yes)
    if made:
        notes.editor.undo(undo)
    document = {"summary": change.summary, "diff": change.diff, "made": made}
    ctx.print_result(document, "Done." if made else UNANSWERED)


def _read_record(ctx: CommandContext, notes: "Vault") -> "ChangeRecord | None":
    """The record in the vault; without one, prints that there is nothing to recover."""
    if notes.journal.unfinished() is not None:
        return notes.journal.read_copy()
    ctx.print_result({"summary": None}, "", NOTHING_TO_RECOVER)
    return None


def _mark_memory(ctx: CommandContext, notes: "Vault", change: "Change") -> "Change":
    """The change with a warning if it edits memory."""
    from zkchat_cli.memory.memory_paths import MemoryPaths
    from zkchat_cli.memory.project import memory_file_names
    from zkchat_cli.vault.edit.approval import mark_memory_file

    names = memory_file_names(ctx.config.values.memory)
    memory_paths = MemoryPaths(notes.root, names, ctx.paths.agents_folder)
    return mark_memory_file(change, memory_paths.first_among(change.paths))


def _show(ctx: CommandContext, change: "Change") -> None:
    from zkchat_cli.views.turn_steps import diff_lines

    ctx.screen.print(reveal_invisible(change.summary))
    ctx.screen.show(diff_lines(change.diff))
    if change.note:
        ctx.screen.print(reveal_invisible(change.note))


def _apply(
    ctx: CommandContext, notes: "Vault", record: "ChangeRecord", change: "Change", *, yes: bool
) -> bool:
    """Make the change with `yes`, or if the user agrees; returns whether it was made."""
    if not _is_approved(ctx, change, "vault recover", yes=yes):
        return False
    notes.editor.recover(record, change)
    return True


def _is_approved(ctx: CommandContext, change: "Change", command: str, *, yes: bool) -> bool:
    """Whether a change may be made: with `yes`, or if the user agrees."""
    from zkchat_cli.vault.edit.approval import approve_notes

    if yes:
        decision = approve_notes(change)
        if not decision.allowed:
            raise VaultError(decision.reason, "Leave out --yes and answer the question.")
    elif ctx.as_json or not (sys.stdin.isatty() and sys.stdout.isatty()):
        return False
    confirm(f"Change {plural(len(change.files), 'note')}?", command, yes=yes)
    return True
