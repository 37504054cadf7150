"""What `zkchat verify` says of a note besides its quotations: whether its sources are still what
they were, and its stamp, which it can write and take back.
"""

import os
from collections.abc import Iterator, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from zkchat_cli.citations.outdated_quotations import mark_outdated_quotations
from zkchat_cli.citations.verify_text import TextQuotation, verify_text
from zkchat_cli.cli.command import CommandContext
from zkchat_cli.errors import UsageError
from zkchat_cli.text.numbers import plural
from zkchat_cli.vault.edit.note_stamps import NoteStamps
from zkchat_cli.vault.filesystem import short_path
from zkchat_cli.vault.knowledge_format import Stamp, read_trust_fields, text_digest
from zkchat_cli.vault.text_decoder import decode
from zkchat_cli.views.quotations import quotation_lines
from zkchat_cli.views.text import StyledLine, styled_line

if TYPE_CHECKING:
    from zkchat_cli.vault.vault import Vault


class CheckedNote(NamedTuple):
    """The quotations of a text with their verdicts, and the stamp that it had."""

    quotations: Sequence[TextQuotation]
    stamp: Stamp | None
    # Whether the text is as it was when it was stamped
    is_as_stamped: bool
    now: datetime

    @property
    def holds(self) -> bool:
        """Whether all quotations are verified."""
        return all(each.found.verdict == "verified" for each in self.quotations)

    @property
    def may_be_stamped(self) -> bool:
        """Whether there is something that a stamp could vouch for."""
        return self.holds and bool(self.quotations)


def check_note(vault: "Vault", data: bytes, *, strict: bool) -> CheckedNote:
    """A text with its quotations verified against the notes as they are now."""
    now = datetime.now(UTC).replace(microsecond=0)
    text = decode(data).text
    stamp = read_trust_fields(text).stamp
    is_as_stamped = stamp is not None and text_digest(text) == stamp.text_digest
    found = verify_text(text, vault, strict=strict)
    if stamp is not None and is_as_stamped and len(found) < stamp.quotations:
        # No note has some words any more that were a quotation when the text was stamped
        found = verify_text(text, vault, strict=True)
    quotations = mark_outdated_quotations(found, stamp, vault.reader.read_if_there, lambda: now)
    return CheckedNote(quotations, stamp, is_as_stamped, now)


def note_path(vault: "Vault", file: str) -> str:
    """The path in the vault of a file that shall be stamped. Raises UsageError for others."""
    path = vault.find_file(str(Path(file).absolute())) if file != "-" else None
    if path is None or not os.path.lexists(vault.root / path):
        raise UsageError(
            f"{short_path(file)} is no note of {vault.root}",
            "Only a note of the vault can be stamped: its sources are named by their paths there.",
        )
    return path


def write_stamp(vault: "Vault", path: str, data: bytes, checked: CheckedNote) -> Stamp:
    """Write into a note that its quotations were verified. Raises VaultError."""
    sources = [each.found.chunk.relative_path for each in checked.quotations if each.found.chunk]
    count = len(checked.quotations)
    return NoteStamps.of(vault).stamp(path, data, count, sources, checked.now.isoformat())


def undo_stamp(ctx: CommandContext, file: str) -> None:
    """Take the last stamp of a note back and say so. Raises VaultError."""
    with ctx.indexed_vault() as (vault, _):
        path = note_path(vault, file)
        NoteStamps.of(vault).undo(path)
    ctx.print_result({"undone": path}, f"{path} is as it was before its last stamp.")


def checked_lines(
    checked: CheckedNote, vault: "Vault", path: str | None, written: Stamp | None
) -> Iterator[StyledLine]:
    """The quotations with their verdicts, and what is to be said of the stamp; `path`: that of the
    note if a stamp was wanted.
    """
    if checked.quotations:
        yield from quotation_lines(checked.quotations, vault.link_name)
    if written is not None and path is not None:
        count = plural(written.quotations, "quotation")
        verb = "was" if written.quotations == 1 else "were"
        yield styled_line(f"Stamped: {path} says that its {count} {verb} verified", "green")
    elif path is not None:
        why = "not every quotation holds" if checked.quotations else "it quotes nothing"
        yield styled_line(f"Not stamped: {why}", "red")
    elif checked.stamp is not None and not checked.is_as_stamped:
        said = f"The text has changed since it was stamped on {checked.stamp.day}"
        yield styled_line(said, "yellow")


def checked_document(checked: CheckedNote, written: Stamp | None) -> dict[str, Any]:
    """The same as JSON; `stamp` is the one that the note has now."""
    stamp = written or checked.stamp
    stamp_document = None
    if stamp is not None:
        is_current = written is not None or checked.is_as_stamped
        stamp_document = {"at": stamp.at, "text_changed": not is_current}
    return {
        "quotations": [each.document() for each in checked.quotations],
        "ok": checked.holds,
        "stamp": stamp_document,
        "stamped": written is not None,
    }
