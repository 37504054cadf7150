"""Which notes belong to a note or a question, and why.

A note is known by the company it keeps, and by its words. Links say more where there are some, words say something always; neither's
scores can be compared with the other's, so their ranks are fused (reciprocal ranks: Cormack and others 2009).
"""

import math
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from zkchat_cli.models import ContentChunk
from zkchat_cli.text import words
from zkchat_cli.vault.links.graph import LinkKinship
from zkchat_cli.vault.note_parser import ParsedNote
from zkchat_cli.vault.search.rank_fusion import fuse

MOST_TELLING = 16
"""Words of a note that are asked for: with more, frequent ones come in, and search takes longer for less."""
MOST_REASONS = 4
HEAD_START = 10
"""For `fusion.fuse`: two rankings of a few notes are fused here, not of hundreds."""
_NAMES_COUNT = 4


@dataclass(frozen=True, slots=True)
class RelatedNote:
    """A note, why it is related, as short phrases, and its chunk that shows it best."""

    chunk: ContentChunk
    why: tuple[str, ...]


def telling_words(note: ParsedNote) -> list[str]:
    """The words that say most about what a note is about, the most telling first.

    Its names (title, aliases, tags, headings) count several times. How rare a word is in the vault is left to search, which ranks by it;
    here a long word counts a little more, because short ones are seldom rare.
    """
    counted = Counter(words.content_terms(note.text.split("\n", note.front_matter.lines)[-1]))
    for name in (note.title, *note.aliases, *note.tags, *(heading.text for heading in note.markup.headings)):
        counted.update(dict.fromkeys(words.content_terms(name), _NAMES_COUNT))
    weights = {term: (1 + math.log(count)) * math.log(1 + len(term)) for term, count in counted.items() if not term.isdigit()}
    return sorted(weights, key=lambda term: (-weights[term], term))[:MOST_TELLING]


def best_of_each(chunks: Iterable[ContentChunk]) -> dict[str, ContentChunk]:
    """The first chunk of each note, in order."""
    best: dict[str, ContentChunk] = {}
    for chunk in chunks:
        best.setdefault(chunk.relative_path, chunk)
    return best


def reasons(kin: LinkKinship | None, shared: Sequence[str]) -> tuple[str, ...]:
    """Why a note is related, in words: its links first, then the words it shares."""
    found: list[str] = []
    if kin:
        found += ["it links here"] if kin.links_here else []
        found += ["linked from here"] if kin.linked_from else []
        found += [f"both linked with {', '.join(kin.common[:MOST_REASONS])}"] if kin.common else []
    return (*found, f"shares the words {', '.join(shared[:MOST_REASONS])}") if shared else tuple(found)


def shared_words(telling: Sequence[str], chunk: ContentChunk) -> list[str]:
    """Those of the words that the chunk has, in their order."""
    there = set(words.terms(f"{chunk.title}\n{chunk.heading or ''}\n{chunk.text}"))
    return [word for word in telling if word in there]


def combine(
    telling: Sequence[str],
    kin: Sequence[LinkKinship],
    lexical: Mapping[str, ContentChunk],
    first_chunk: Callable[[str], ContentChunk | None],
) -> Iterator[RelatedNote]:
    """What links and words (`lexical`: the best chunk of each note for the `telling` ones) find, the best first.

    A note that only links find is shown by its first chunk; one that has none any more is left out.
    """
    bonds = {k.path: k for k in kin}
    for path, _ in fuse([list(bonds), list(lexical)], HEAD_START):
        shown = lexical.get(path) or first_chunk(path)
        if shown:
            yield RelatedNote(shown, reasons(bonds.get(path), shared_words(telling, shown) if path in lexical else ()))
