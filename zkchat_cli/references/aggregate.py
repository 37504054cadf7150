"""Chunks aggregated to documents, each once with the numbers of all its chunks, whichever tools found them."""

from collections.abc import Callable, Iterable, Sequence

from zkchat_cli.models import ContentChunk, DocumentReference
from zkchat_cli.text.truncate import truncate

SNIPPET_LENGTH = 160


def aggregate_documents(chunks: Iterable[ContentChunk], summary: Callable[[str], str | None]) -> tuple[DocumentReference, ...]:
    """The documents of `chunks`, each with the title and text of its first chunk; `summary` describes a path."""
    firsts: dict[str, ContentChunk] = {}
    numbers_of: dict[str, dict[int, None]] = {}
    for chunk in chunks:
        firsts.setdefault(chunk.relative_path, chunk)
        numbers = numbers_of.setdefault(chunk.relative_path, {})
        if chunk.number is not None:
            numbers[chunk.number] = None
    return tuple(_reference(first, tuple(numbers_of[path]), summary(path)) for path, first in firsts.items())


def _reference(first: ContentChunk, numbers: tuple[int, ...], summary: str | None) -> DocumentReference:
    return DocumentReference(
        wikilink=f"[[{first.title}]]",
        relative_path=first.relative_path,
        reference_type="search",
        summary=summary,
        context_snippet=truncate(first.text, SNIPPET_LENGTH),
        number=numbers[0] if numbers else None,
        numbers=numbers,
        heading=first.heading,
    )


def merge_references(named: Sequence[DocumentReference], found: Sequence[DocumentReference]) -> tuple[DocumentReference, ...]:
    """The documents that the user named, then those that only tools found, each once with all its numbers."""
    by_path = {r.relative_path: r for r in found}
    paths = {r.relative_path for r in named}
    return (*(_with_numbers(r, by_path.get(r.relative_path)) for r in named), *(r for r in found if r.relative_path not in paths))


def _with_numbers(named: DocumentReference, found: DocumentReference | None) -> DocumentReference:
    if found is None:
        return named
    numbers = tuple(dict.fromkeys((*named.numbers, *found.numbers)))
    return named.model_copy(update={"numbers": numbers, "number": numbers[0] if numbers else None})
