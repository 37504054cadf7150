"""Notes related to the last answer that it did not cite: all of them for `/related`, or a few good ones to offer below the answer.

An offer is made after every answer, before the next prompt is drawn, so it asks only for links (under 2 ms a note; the search by words and
meaning takes 40), and takes a linked note only if its subject is that of the answer, too.
"""

from collections import defaultdict
from contextlib import suppress
from itertools import islice

from zkchat_cli.errors import VaultError
from zkchat_cli.references.provenance import Exchange
from zkchat_cli.text.words import content_stems
from zkchat_cli.vault.links.graph import RANK_CONSTANT, RelatedNote
from zkchat_cli.vault.vault import Vault

MAX_NOTES = 5  # notes of an answer that related ones are looked up for
MAX_RELATED, MAX_OFFERED = 8, 3
MIN_RELATION = 1.0  # a direct link to one of the notes cited, or common neighbours that say as much


def find_related(vault: Vault, exchange: Exchange) -> list[RelatedNote]:
    """The notes most related to those of the answer by links, words and meaning, or to the question if there are none; best first."""
    used = _used_notes(exchange)
    if not used and exchange.question is not None:
        return vault.notes_about(exchange.question.content, MAX_RELATED)
    scores: dict[str, float] = defaultdict(float)
    found: dict[str, RelatedNote] = {}
    for path in used[:MAX_NOTES]:
        with suppress(VaultError):  # deleted since
            for rank, note in enumerate(vault.related_notes(path, MAX_RELATED + len(used)), 1):
                scores[note.chunk.relative_path] += 1 / (RANK_CONSTANT + rank)
                found.setdefault(note.chunk.relative_path, note)
    return [found[path] for path in sorted(scores, key=lambda path: -scores[path]) if path not in used][:MAX_RELATED]


def offer_related(vault: Vault, exchange: Exchange) -> list[str]:
    """The paths of a few notes that are linked with those of the answer and about the same: found in its turn, or named in its words."""
    used, languages = _used_notes(exchange), vault.languages()
    scores: dict[str, float] = defaultdict(float)
    for path in used[:MAX_NOTES]:
        for relation in vault.notes_related_by_links(path):
            scores[relation.path] += relation.score
    found = {reference.relative_path for reference in exchange.answer.references}
    stems = set(content_stems(f"{exchange.question.content if exchange.question else ''}\n{exchange.answer.content}", languages))

    def is_about_the_same(path: str) -> bool:
        name = set(content_stems(vault.link_name(path), languages))
        return path in found or (bool(name) and name <= stems)

    near = (path for path in sorted(scores, key=lambda path: -scores[path]) if scores[path] >= MIN_RELATION and path not in used)
    return list(islice(filter(is_about_the_same, near), MAX_OFFERED))


def _used_notes(exchange: Exchange) -> list[str]:
    """The notes that the answer cites, then those that the question names."""
    question = exchange.question.references if exchange.question else ()
    paths = [citation.relative_path for citation in exchange.answer.citations] + [reference.relative_path for reference in question]
    return list(dict.fromkeys(filter(None, paths)))
