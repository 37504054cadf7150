"""Citations of notes that say of themselves that they should be trusted less, or that have changed
since they were verified.
"""

from collections.abc import Iterable

from zkchat_cli.models.citations import Citation
from zkchat_cli.vault.knowledge_format import Now, ReadNote, find_outdated


def mark_outdated(
    citations: Iterable[Citation], read_note: ReadNote, now: Now
) -> tuple[Citation, ...]:
    """The citations, each with what its note says now."""
    listed = list(citations)
    outdated = find_outdated((each.relative_path for each in listed), read_note, now)
    return tuple(_with_reason(each, outdated.get(each.relative_path)) for each in listed)


def _with_reason(citation: Citation, reason: str | None) -> Citation:
    if citation.outdated == reason:
        return citation
    return citation.model_copy(update={"outdated": reason})
