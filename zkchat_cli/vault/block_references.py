"""The blocks of notes that a text shows by their ids: `![[Note#^id]]` in Obsidian, `((uuid))` in
Logseq. A block is a part of its own beside the text, with the places that show it in its title.
"""

from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING, NamedTuple

from zkchat_cli.errors import VaultError
from zkchat_cli.models.notes import SHOWN_IN, ContentChunk
from zkchat_cli.text.embedded_data import HIDDEN
from zkchat_cli.text.program_marks import BLOCK_REFERENCE
from zkchat_cli.vault.block_places import MOST_NOTES, BlockPlace
from zkchat_cli.vault.catalog import NoteSelection
from zkchat_cli.vault.links.wikilinks import NOTE_SUFFIXES

if TYPE_CHECKING:
    from zkchat_cli.vault.vault import Vault

# References of one text that are followed
MOST_REFERENCES = 6


class _Reference(NamedTuple):
    """A line of a note that shows a block, by its id or its place."""

    shown_in: str
    id: str = ""
    place: BlockPlace | None = None


def referred_blocks(vault: "Vault", chunks: Iterable[ContentChunk]) -> list[ContentChunk]:
    """The blocks that the chunks show by their ids, each once. Those that are not there are left
    out.
    """
    references = [each for chunk in chunks for each in _references(vault, chunk)]
    wanted = {each.id for each in references if each.id}
    found: dict[str, BlockPlace] = {}
    if wanted:
        notes = vault.catalog.list_notes(NoteSelection(newest=True))[:MOST_NOTES]
        found = vault.graph.block_places.find(notes, wanted)
    places: dict[BlockPlace, list[str]] = {}
    for each in references:
        place = each.place or found.get(each.id)
        if place is not None:
            places.setdefault(place, []).append(each.shown_in)
    blocks: list[ContentChunk] = []
    for place, shown_in in places.items():
        mark = f"{SHOWN_IN}{', '.join(dict.fromkeys(shown_in))}"
        parts = vault.reader.chunks(place.path, *place.lines)[:1]
        blocks += [each.model_copy(update={"title": f"{each.title}{mark}"}) for each in parts]
    return blocks


def _references(vault: "Vault", chunk: ContentChunk) -> Iterator[_Reference]:
    """The first references in a chunk, as far as its note still has them."""
    found: list[_Reference] = []
    if HIDDEN in chunk.text:
        text = vault.reader.read_if_there(chunk.relative_path) or ""
        lines = text.split("\n")[chunk.start_line - 1 : chunk.end_line]
        for number, line in enumerate(lines, chunk.start_line):
            shown_in = f"{chunk.title}:{number}"
            written = BLOCK_REFERENCE.finditer(line)
            found += [_Reference(shown_in, each["id"].lower()) for each in written]
    if "![[" in chunk.text and "#^" in chunk.text:
        found += _embedded(vault, chunk)
    yield from found[:MOST_REFERENCES]


def _embedded(vault: "Vault", chunk: ContentChunk) -> Iterator[_Reference]:
    first = chunk.start_line - (1 if chunk.fence is not None else 0)
    for link in vault.resolve_links(chunk.markdown, chunk.relative_path):
        is_block = link.embed and "^" in (link.heading or "")
        if not is_block or link.target is None or not link.target.lower().endswith(NOTE_SUFFIXES):
            continue
        try:
            lines = vault.reader.section(link.target, link.heading or "")
        except VaultError:
            continue
        place = BlockPlace(link.target, lines)
        yield _Reference(f"{chunk.title}:{first + link.line - 1}", place=place)
