"""What notes embed: `![[Note#Section]]` shows the text of another note in its place, so a note of
embeds is the texts of these. They are one level deep, at most a few parts each, and marked.
"""

import re
from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from typing import TYPE_CHECKING

from zkchat_cli.errors import VaultError
from zkchat_cli.markdown import inline
from zkchat_cli.models.notes import ContentChunk, LinkResolution
from zkchat_cli.text.patterns import lazy_pattern
from zkchat_cli.vault.block_references import referred_blocks
from zkchat_cli.vault.links.wikilinks import NOTE_SUFFIXES

if TYPE_CHECKING:
    from zkchat_cli.vault.vault import Vault

# Parts of one embedded text, and of all that a text embeds
MOST_OF_ONE = 4
MOST_PARTS = 12
_EMBED = lazy_pattern(rf"!(?:{inline.WIKILINK}|{inline.LOOSE_LINK})")
_HEADING = lazy_pattern(r"^[ \t]*#{1,6}[ \t].*$", re.MULTILINE)


def has_only_embeds(text: str) -> bool:
    """Whether a text says nothing by itself but its headings."""
    if "![" not in text:
        return False
    own = _HEADING.sub("", _EMBED.sub("", text))
    return own != text and not any(map(str.isalnum, own))


def embedded_chunks(vault: "Vault", chunks: Iterable[ContentChunk]) -> tuple[ContentChunk, ...]:
    """The parts of other notes that these chunks embed, in order, each once; their titles say where
    they are embedded. Those that are not there are left out.
    """
    found: dict[str, ContentChunk] = {}
    for chunk in chunks:
        if "![" in chunk.text:
            for part in _parts_of(vault, chunk):
                found.setdefault(part.id, part)
    return tuple(found.values())[:MOST_PARTS]


def with_embedded(vault: "Vault", chunks: Sequence[ContentChunk]) -> list[ContentChunk]:
    """The chunks, each that has only embeds followed by what it embeds, as far as no other chunk
    has that; then the blocks that the others show by their ids.
    """
    found: dict[str, ContentChunk] = {}
    for chunk in chunks:
        found[chunk.id] = chunk
        if has_only_embeds(chunk.text):
            for part in embedded_chunks(vault, [chunk]):
                if not any(_contains(other, part) for other in chunks):
                    found.setdefault(part.id, part)
    others = [chunk for chunk in chunks if not has_only_embeds(chunk.text)]
    for block in referred_blocks(vault, others)[:MOST_PARTS]:
        found.setdefault(block.id, block)
    return list(found.values())


def _contains(chunk: ContentChunk, part: ContentChunk) -> bool:
    is_around = chunk.start_line <= part.start_line and part.end_line <= chunk.end_line
    return is_around and chunk.relative_path == part.relative_path


def _parts_of(vault: "Vault", chunk: ContentChunk) -> Iterator[ContentChunk]:
    for link in vault.resolve_links(chunk.markdown, chunk.relative_path):
        is_note = link.target is not None and link.target.lower().endswith(NOTE_SUFFIXES)
        if not link.embed or not is_note or link.target == chunk.relative_path:
            continue
        parts = _read(vault, link)
        mark = f", embedded in {chunk.title}"
        if len(parts) > MOST_OF_ONE:
            mark += f", the first {MOST_OF_ONE} of {len(parts)} parts"
        for part in parts[:MOST_OF_ONE]:
            yield part.model_copy(update={"title": part.title + mark})


def _read(vault: "Vault", link: LinkResolution) -> list[ContentChunk]:
    """The parts of the embedded note, or of its section; none if that is not there."""
    assert link.target is not None
    first = 1
    last: int | None = None
    with suppress(VaultError):
        if link.heading:
            first, last = vault.reader.section(link.target, link.heading)
        return [part for part in vault.reader.chunks(link.target, first, last) if part.text.strip()]
    return []
