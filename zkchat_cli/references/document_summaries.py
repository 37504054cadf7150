"""One line about a document, for lists of references: what its author wrote about it, how it begins, or what says most in it.

A model's words about a note that says nothing of itself are added when there are any (see `summariser`); nothing here waits for them.
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
    """At most 100 characters on one line, and where they come from; `model` is the name of the one whose words they are."""

    text: str
    kind: SummaryKind
    model: str = ""

    def __str__(self) -> str:
        """As lists show it: a model's words are marked as such."""
        return f"{self.text} (by {self.model})" if self.kind == "model" else self.text


class DocumentSummaryService:
    """Summaries, each made once. For a vault as it is now: make another service when notes have changed.

    They are kept in the vault's cache by the hash of the note's text. `by_model`: whether a model's words are shown where there are some.
    """

    def __init__(self, vault: Vault, *, by_model: bool = False) -> None:
        self._kept = vault.summaries
        self._by_model = by_model
        self._known: dict[str, DocumentSummary | None] = {}

    def summary(self, relative_path: str) -> str | None:
        """What lists show of a document; None when there is nothing to be said or it cannot be read."""
        found = self.of(relative_path)
        return str(found) if found else None

    def of(self, relative_path: str) -> DocumentSummary | None:
        """The note's own description, else its first real paragraph, else a model's sentence if there is one, else what says most in it."""
        if relative_path not in self._known:
            kept = {bool(each.model): each for each in self._kept.get(relative_path)}
            own = _read(kept[False]) if False in kept else self._make(relative_path)
            self._known[relative_path] = own
            if self._by_model and True in kept and needs_model_summary(own):
                self._known[relative_path] = _read(kept[True])
        return self._known[relative_path]

    def learn(self, relative_path: str, text: str, model: str) -> None:
        """Take in a model's words about a note, as they came; nothing is learnt from none."""
        if said := truncate(to_plain_text(text), SUMMARY_LENGTH):
            self._known[relative_path] = DocumentSummary(said, "model", model)
            self._kept.put(relative_path, CachedSummary(said, "model", model))

    def _make(self, relative_path: str) -> DocumentSummary | None:
        note = self._kept.read_opening(relative_path)
        if note is None:
            return None
        made = summarize(note.text, note.title, note.description)
        self._kept.put(relative_path, CachedSummary(made.text, made.kind) if made else CachedSummary("", "extractive"))
        return made


def needs_model_summary(summary: DocumentSummary | None) -> bool:
    """Whether the note says nothing of itself: it has neither a description nor a real paragraph."""
    return summary is None or summary.kind == "extractive"


def summarize(text: str, title: str = "", description: str | None = None) -> DocumentSummary | None:
    """What a note is about: its `description`, else the first real paragraph of its body `text`, else what says most in it."""
    if said := truncate(to_plain_text(description or ""), SUMMARY_LENGTH):
        return DocumentSummary(said, "description")
    if paragraph := first_paragraph(text):
        return DocumentSummary(truncate(paragraph, SUMMARY_LENGTH), "paragraph")
    if words := key_text(text, title):
        return DocumentSummary(truncate(words, SUMMARY_LENGTH), "extractive")
    return None


def _read(kept: CachedSummary) -> DocumentSummary | None:
    return DocumentSummary(kept.text, cast(SummaryKind, kept.kind), kept.model) if kept.text else None
