"""Notes related to those of an answer: a full list for `/related`, and a short one below every
answer.
"""

from collections import defaultdict
from collections.abc import Iterable
from contextlib import suppress

from zkchat_cli.errors import VaultError
from zkchat_cli.references.provenance import Exchange
from zkchat_cli.text.words import content_stems
from zkchat_cli.vault.links.graph import RANK_CONSTANT, RelatedNote
from zkchat_cli.vault.vault import Vault

# Notes of an answer for which related ones are looked up
MAX_NOTES = 5
# Notes of the full list, and of the one below an answer
MAX_RELATED = 8
MAX_OFFERED = 3
# Score of a relation: that of a direct link to a cited note, or of equally many common neighbours
MIN_RELATION = 1.0


def find_related(vault: Vault, exchange: Exchange) -> list[RelatedNote]:
    """The notes most related to those of the answer by links, words and meaning, or to the question
    if there are none; best first.
    """
    used = used_notes(exchange)
    if not used and exchange.question is not None:
        return vault.graph.notes_about(exchange.question.content, MAX_RELATED)
    scores: dict[str, float] = defaultdict(float)
    found: dict[str, RelatedNote] = {}
    for path in used[:MAX_NOTES]:
        related: list[RelatedNote] = []
        # The note may be deleted since
        with suppress(VaultError):
            related = vault.graph.related_notes(path, MAX_RELATED + len(used))
        for rank, note in enumerate(related, 1):
            related_path = note.chunk.relative_path
            scores[related_path] += 1 / (RANK_CONSTANT + rank)
            found.setdefault(related_path, note)
    best = [path for path in _best_first(scores) if path not in used]
    return [found[path] for path in best[:MAX_RELATED]]


def offer_related(vault: Vault, exchange: Exchange) -> list[str]:
    """The paths of a few notes that are linked with those of the answer and about the same: found
    in its turn, or named in its words.

    It runs after every answer, before the next prompt is drawn, so it looks at links only: under
    2 ms a note, while a search by words and meaning takes 40.
    """
    used = used_notes(exchange)
    scores = _score_by_links(vault, used[:MAX_NOTES])
    languages = vault.languages()
    found = {reference.relative_path for reference in exchange.answer.references}
    question = exchange.question.content if exchange.question else ""
    said = set(content_stems(f"{question}\n{exchange.answer.content}", languages))
    offered: list[str] = []
    for path in _best_first(scores):
        if scores[path] < MIN_RELATION or len(offered) == MAX_OFFERED:
            break
        if path in used:
            continue
        name = set(content_stems(vault.link_name(path), languages))
        is_named = bool(name) and name <= said
        if path in found or is_named:
            offered.append(path)
    return offered


def _score_by_links(vault: Vault, paths: Iterable[str]) -> dict[str, float]:
    """How closely notes are linked with these notes, by path."""
    scores: dict[str, float] = defaultdict(float)
    for path in paths:
        for related, relation in vault.graph.related_by_links(path).items():
            scores[related] += relation.score
    return scores


def _best_first(scores: dict[str, float]) -> list[str]:
    return sorted(scores, key=lambda path: -scores[path])


def used_notes(exchange: Exchange) -> list[str]:
    """The notes that the answer cites, then those that the question names."""
    cited = [citation.relative_path for citation in exchange.answer.citations]
    named = exchange.question.references if exchange.question else ()
    paths = [*cited, *(reference.relative_path for reference in named)]
    return [path for path in dict.fromkeys(paths) if path]
