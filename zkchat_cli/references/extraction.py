"""From the user's words to the documents they name: `[[wikilinks]]` become DocumentReferences, each once, in order."""

from pathlib import PurePosixPath

from zkchat_cli.models import DocumentReference, LinkResolution
from zkchat_cli.references.summaries import DocumentSummaryService
from zkchat_cli.vault import Vault


def extract(text: str, vault: Vault, summaries: DocumentSummaryService) -> tuple[DocumentReference, ...]:
    """The documents, or sections of them, that `text` links to.

    A broken link is a reference with status `broken` and the nearest names, never an error.
    """
    references: dict[tuple[str, str | None], DocumentReference] = {}
    for link in vault.links_in(text):
        if link.kind == "wikilink":
            reference = _reference(link, summaries)
            references.setdefault((reference.relative_path or reference.wikilink, reference.heading), reference)
    return tuple(references.values())


def _reference(link: LinkResolution, summaries: DocumentSummaryService) -> DocumentReference:
    return DocumentReference(
        wikilink=link.raw,
        relative_path=link.target,
        reference_type="direct",
        summary=summaries.summary(link.target) if link.target else None,
        status=link.status,
        heading=link.heading,
        candidates=tuple(PurePosixPath(path).stem for path in link.candidates) if link.status == "broken" else link.candidates,
    )


def warning(reference: DocumentReference) -> tuple[str, str] | None:
    """What to tell the user about a link that did not resolve to one note: the problem, and the way out. None when it did."""
    names = ", ".join(f"[[{name}]]" for name in reference.candidates)
    if reference.status == "broken":
        return f"{reference.wikilink} not found", f"nearest: {names}" if names else "no note has a similar name"
    if reference.status == "ambiguous":
        others = ", ".join(reference.candidates)
        return f"{reference.wikilink} could be several notes; taken: {reference.relative_path}", f"others: {others}"
    return None


def introduce(references: tuple[DocumentReference, ...]) -> str:
    """How the model is told of the documents a message names: path, summary, and a request to read them. Empty without any."""
    lines = []
    for reference in references:
        if reference.relative_path is None:
            lines.append(f"- {reference.wikilink}: no such note")
        else:
            part = f", section {reference.heading!r}" if reference.heading else ""
            about = f": {reference.summary}" if reference.summary else ""
            lines.append(f"- {reference.wikilink} ({reference.relative_path}{part}){about}")
    if not lines:
        return ""
    request = "Read them with the read_zk_document tool before you answer, as far as the question needs them."
    return "\n".join(["The message below refers to these documents:", *lines, request])
