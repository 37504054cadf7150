"""References to documents: how they are made from chunks, merged, and named in links. Pure."""

from collections import defaultdict
from collections.abc import Callable, Iterable, Sequence

from zkchat_cli.markdown.inline import split_target
from zkchat_cli.models.notes import ContentChunk, DocumentReference
from zkchat_cli.text.truncate import truncate
from zkchat_cli.vault.links.wikilinks import possible_names, strip_suffix, write_link

SNIPPET_LENGTH = 160


def document_key(reference: DocumentReference) -> str:
    """A document's path, or the text of a broken link."""
    return reference.relative_path or reference.wikilink


def aggregate_documents(
    chunks: Iterable[ContentChunk],
    summary: Callable[[str], str | None] = lambda _: None,
    link_name: Callable[[str], str] = strip_suffix,
) -> tuple[DocumentReference, ...]:
    """The documents of `chunks`, each once, with the numbers of all its chunks and the text of the
    first one. `summary` describes the note at a path, and `link_name` is its name in links.
    """
    by_path: defaultdict[str, list[ContentChunk]] = defaultdict(list)
    for chunk in chunks:
        by_path[chunk.relative_path].append(chunk)
    documents = []
    for path, own in by_path.items():
        first_chunk = own[0]
        numbers = _distinct(each.number for each in own if each.number is not None)
        reference = DocumentReference(
            wikilink=write_link(path, link_name(path)),
            relative_path=path,
            reference_type="search",
            summary=summary(path),
            context_snippet=truncate(first_chunk.text, SNIPPET_LENGTH),
            number=next(iter(numbers), None),
            numbers=numbers,
            heading=first_chunk.heading,
        )
        documents.append(reference)
    return tuple(documents)


def _distinct(numbers: Iterable[int]) -> tuple[int, ...]:
    """Each number once, in the order of first occurrences."""
    return tuple(dict.fromkeys(numbers))


def link_names(references: Iterable[DocumentReference]) -> Callable[[str], str]:
    """A function that returns what links call the file at a path: the name that these references
    use for it if they link to it by a name, else its path.
    """
    names: dict[str, str] = {}
    for reference in references:
        path = reference.relative_path
        link = reference.wikilink
        if path is not None and reference.status == "found" and link.startswith("[["):
            target, *_ = split_target(link.strip("[]"))
            if target in possible_names(path):
                names.setdefault(path, target)
    return lambda path: names.get(path) or strip_suffix(path)


def merge_references(
    named: Sequence[DocumentReference], found: Sequence[DocumentReference]
) -> tuple[DocumentReference, ...]:
    """The documents that the user named, then those that only tools found, each once with all its
    numbers.
    """
    found_by_path = {reference.relative_path: reference for reference in found}
    named_paths = {reference.relative_path for reference in named}
    merged: list[DocumentReference] = []
    for reference in named:
        also_found = found_by_path.get(reference.relative_path)
        if also_found is None:
            merged.append(reference)
            continue
        numbers = _distinct((*reference.numbers, *also_found.numbers))
        update = {"numbers": numbers, "number": next(iter(numbers), None)}
        merged.append(reference.model_copy(update=update))
    merged += [each for each in found if each.relative_path not in named_paths]
    return tuple(merged)
