"""Notes related to a note by links and words, and the reasons.

Links say more where there are any, words always say something. Their scores cannot be compared, so the ranks are fused.
"""

import math
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, NamedTuple

from zkchat_cli.models import ContentChunk
from zkchat_cli.text import words
from zkchat_cli.vault.links.graph import LinkRelation

if TYPE_CHECKING:
    from zkchat_cli.vault.note_parser import ParsedNote

MOST_KEYWORDS = 16  # words of a note to search for; more would add frequent words, and a slower search
MOST_REASONS = 4
RANK_CONSTANT = 10  # of reciprocal rank fusion (Cormack, Clarke and Büttcher 2009): these rankings have a few notes, not hundreds
_NAME_WEIGHT = 4


class RelatedNote(NamedTuple):
    """A related note by its best chunk, and the reasons as short phrases."""

    chunk: ContentChunk
    why: tuple[str, ...]


def extract_keywords(note: "ParsedNote") -> list[str]:
    """The most characteristic words of a note, best first. Its names (title, aliases, tags, headings) count several times. Search ranks by
    rarity in the vault; here a long word counts a little more, because short ones are seldom rare."""
    counted = Counter(words.content_terms(note.body))
    for name in (note.title, *note.aliases, *note.tags, *(heading.text for heading in note.markup.headings)):
        counted.update(dict.fromkeys(words.content_terms(name), _NAME_WEIGHT))
    weights = {term: (1 + math.log(count)) * math.log(1 + len(term)) for term, count in counted.items() if not term.isdigit()}
    return sorted(weights, key=lambda term: (-weights[term], term))[:MOST_KEYWORDS]


def best_chunks(chunks: Iterable[ContentChunk]) -> dict[str, ContentChunk]:
    best: dict[str, ContentChunk] = {}
    for chunk in chunks:
        best.setdefault(chunk.relative_path, chunk)
    return best


def reasons(relation: LinkRelation | None, shared: Sequence[str]) -> tuple[str, ...]:
    """Why a note is related: links first, then shared words."""
    found: list[str] = []
    if relation:
        found += ["it links here"] if relation.links_here else []
        found += ["linked from here"] if relation.linked_from else []
        found += [f"both linked with {', '.join(relation.common[:MOST_REASONS])}"] if relation.common else []
    found += [f"shares the word{'' if len(shared) == 1 else 's'} {', '.join(shared[:MOST_REASONS])}"] if shared else []
    return tuple(found or ["means something similar"])


def shared_words(keywords: Sequence[str], chunk: ContentChunk) -> list[str]:
    present = set(words.terms(f"{chunk.title}\n{chunk.heading or ''}\n{chunk.text}"))
    return [word for word in keywords if word in present]


def fuse_rankings(
    keywords: Sequence[str],
    by_links: Sequence[LinkRelation],
    by_words: Mapping[str, ContentChunk],
    first_chunk: Callable[[str], ContentChunk | None],
) -> Iterator[RelatedNote]:
    """The notes found by links and by words (with their best chunks), best first. A note found only by links gets its first chunk; a
    deleted one is left out."""
    by_path = {k.path: k for k in by_links}
    scores: Counter[str] = Counter()
    for ranking in (by_path, by_words):
        scores.update({path: 1 / (RANK_CONSTANT + rank) for rank, path in enumerate(ranking, 1)})
    for path, _ in scores.most_common():
        if chunk := by_words.get(path) or first_chunk(path):
            yield RelatedNote(chunk, reasons(by_path.get(path), shared_words(keywords, chunk) if path in by_words else ()))
