"""Checks the citations of imported answers again: whoever wrote the file could have written any
verdict into it.
"""

from collections.abc import Callable, Iterable

from zkchat_cli.citations.sources import CitableSources
from zkchat_cli.citations.verify import verify_citations
from zkchat_cli.models.citations import Citation, CitationVerdict
from zkchat_cli.models.messages import ZkChatMessage
from zkchat_cli.models.notes import ContentChunk
from zkchat_cli.vault.index.values import make_chunk
from zkchat_cli.vault.links.wikilinks import note_name

ReadNote = Callable[[str], str | None]
"""The text of a note by its path; None if it is not in the vault."""

# Verdicts that say that the words are not there
_UNFAVORABLE: tuple[CitationVerdict, ...] = ("misattributed", "misquoted", "missing")


def recheck_citations(message: ZkChatMessage, read_note: ReadNote) -> ZkChatMessage:
    """The answer with citations as the notes of today show them. A quotation is verified if its
    note has it now; one of a note that is not here is `not_checked`. A bad verdict stays.
    """
    if not message.citations:
        return message
    sources = CitableSources(_notes_as_chunks(message.citations, read_note))
    found = verify_citations(message.content, sources).citations
    checked = {(each.number, each.quote): each for each in found}
    stored = {(each.number, each.quote) for each in message.citations}
    citations = [
        _recheck(each, checked.get((each.number, each.quote))) for each in message.citations
    ]
    # Quotations that the file is silent about
    citations += [
        each
        for each in found
        if (each.number, each.quote) not in stored and each.number in sources.by_number
    ]
    return message.model_copy(update={"citations": tuple(citations)})


def _notes_as_chunks(citations: Iterable[Citation], read_note: ReadNote) -> list[ContentChunk]:
    """The whole note of each number, as an excerpt."""
    chunks: dict[int, ContentChunk] = {}
    for citation in citations:
        path = citation.relative_path
        text = read_note(path) if path is not None else None
        if path is None or text is None or citation.number in chunks:
            continue
        last = text.count("\n") + 1
        chunk = make_chunk(path, note_name(path), None, 1, last, text)
        chunks[citation.number] = chunk.model_copy(update={"number": citation.number})
    return list(chunks.values())


def _recheck(stored: Citation, checked: Citation | None) -> Citation:
    """The citation of the file, with the verdict that the note of today gives it."""
    claims_nothing = stored.verdict == "cited" and stored.quote is None
    if claims_nothing or stored.verdict in _UNFAVORABLE:
        return stored
    if checked is not None and checked.relative_path == stored.relative_path:
        return checked
    return stored.model_copy(
        update={
            "verdict": "cited",
            "valid": False,
            "sentence": None,
            "support": None,
            "remarks": ("not_checked",),
        }
    )
