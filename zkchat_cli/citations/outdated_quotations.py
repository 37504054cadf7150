"""Quotations of a text from notes that should be trusted less, by what these say of themselves, or
that have changed since the text was stamped.
"""

from collections.abc import Iterable

from zkchat_cli.citations.verify_text import TextQuotation
from zkchat_cli.vault.knowledge_format import Now, ReadNote, Stamp, find_outdated, source_change


def mark_outdated_quotations(
    quotations: Iterable[TextQuotation],
    stamp: Stamp | None,
    read_note: ReadNote,
    now: Now,
) -> list[TextQuotation]:
    """The quotations of a text, each with what the note that has its words says now; after it,
    whether that note has changed since the text got its `stamp`.
    """
    listed = list(quotations)
    paths = [each.found.chunk.relative_path if each.found.chunk else None for each in listed]
    outdated = find_outdated(paths, read_note, now)
    changed = _changed_sources(stamp, read_note) if stamp is not None else {}
    marked = []
    for quotation, path in zip(listed, paths, strict=True):
        reasons = filter(None, (outdated.get(path), changed.get(path)))
        marked.append(quotation._replace(outdated=", ".join(reasons) or None))
    return marked


def _changed_sources(stamp: Stamp, read_note: ReadNote) -> dict[str | None, str]:
    changed = (source.path for source in stamp.sources if source_change(source, read_note))
    return dict.fromkeys(changed, f"changed since the stamp of {stamp.day}")
