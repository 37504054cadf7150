"""One line about a document, for lists of references: its author's description, its first paragraph, or its key text.

For a note without either, a model's summary is used once there is one; nothing here waits for it.
"""

from dataclasses import dataclass
from typing import Literal, cast

from zkchat_cli.markdown.plain_text import to_plain_text
from zkchat_cli.references.lead_paragraph import first_paragraph, key_text
from zkchat_cli.text.truncate import truncate
from zkchat_cli.vault.index.summary_cache import CachedSummary
from zkchat_cli.vault.vault import Vault

SUMMARY_LENGTH = 100
SummaryKind = Literal["description", "paragraph", "model", "extractive"]


@dataclass(frozen=True, slots=True)
class DocumentSummary:
    """At most 100 characters on one line, and their origin. `model`: the name of the model that wrote them."""

    text: str
    kind: SummaryKind
    model: str = ""

    def __str__(self) -> str:
        """For lists: a model's words are marked."""
        return f"{self.text} (by {self.model})" if self.kind == "model" else self.text


class DocumentSummaryService:
    """Summaries, cached in the vault's cache by the hash of the note's text. Make a new service after notes changed.

    `by_model`: whether summaries by a model are used.
    """

    def __init__(self, vault: Vault, *, by_model: bool = False) -> None:
        self._cache = vault.summaries
        self._by_model = by_model
        self._summaries: dict[str, DocumentSummary | None] = {}

    def summary(self, relative_path: str) -> str | None:
        """The summary as text; None if the note has no words or cannot be read."""
        found = self.find_summary(relative_path)
        return str(found) if found else None

    def find_summary(self, relative_path: str) -> DocumentSummary | None:
        """The note's description, else its first real paragraph, else a model's summary, else its key text."""
        if relative_path not in self._summaries:
            cached = {bool(each.model): each for each in self._cache.get(relative_path)}
            own = _from_cache(cached[False]) if False in cached else self._create(relative_path)
            self._summaries[relative_path] = own
            if self._by_model and True in cached and needs_model_summary(own):
                self._summaries[relative_path] = _from_cache(cached[True])
        return self._summaries[relative_path]

    def learn(self, relative_path: str, text: str, model: str) -> None:
        """Store a model's summary of a note, unless it is empty."""
        if summary := truncate(to_plain_text(text), SUMMARY_LENGTH):
            self._summaries[relative_path] = DocumentSummary(summary, "model", model)
            self._cache.put(relative_path, CachedSummary(summary, "model", model))

    def _create(self, relative_path: str) -> DocumentSummary | None:
        note = self._cache.read_opening(relative_path)
        if note is None:
            return None
        summary = summarize(note.text, note.title, note.description)
        self._cache.put(relative_path, CachedSummary(summary.text, summary.kind) if summary else CachedSummary("", "extractive"))
        return summary


def needs_model_summary(summary: DocumentSummary | None) -> bool:
    """Whether a note has neither a description nor a real paragraph."""
    return summary is None or summary.kind == "extractive"


def summarize(text: str, title: str = "", description: str | None = None) -> DocumentSummary | None:
    """A summary of a note: its `description`, else the first real paragraph of its body `text`, else its key text."""
    if summary := truncate(to_plain_text(description or ""), SUMMARY_LENGTH):
        return DocumentSummary(summary, "description")
    if paragraph := first_paragraph(text):
        return DocumentSummary(truncate(paragraph, SUMMARY_LENGTH), "paragraph")
    if words := key_text(text, title):
        return DocumentSummary(truncate(words, SUMMARY_LENGTH), "extractive")
    return None


def _from_cache(cached: CachedSummary) -> DocumentSummary | None:
    return DocumentSummary(cached.text, cast(SummaryKind, cached.kind), cached.model) if cached.text else None
