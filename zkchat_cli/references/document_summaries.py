"""One line about a document, for lists of references: its author's description, its first paragraph, or its key text."""

import threading
from collections.abc import Iterable
from contextlib import suppress

from zkchat_cli.errors import VaultError
from zkchat_cli.markdown.plain_text import to_plain_text
from zkchat_cli.references.lead_paragraph import first_paragraph, key_text
from zkchat_cli.text.truncate import truncate
from zkchat_cli.vault.vault import Vault

SUMMARY_LENGTH = 100


class DocumentSummaryService:
    """Each note is read once. Make a new service after notes changed."""

    def __init__(self, vault: Vault) -> None:
        self._vault = vault
        self._summaries: dict[str, str | None] = {}

    def prefetch(self, relative_paths: Iterable[str]) -> None:
        """Read these notes in another thread, while a model answers."""
        if new := [path for path in dict.fromkeys(relative_paths) if path not in self._summaries]:
            threading.Thread(target=lambda: [self.summary(path) for path in new], name="document summaries", daemon=True).start()

    def summary(self, relative_path: str) -> str | None:
        """A summary of at most 100 characters on one line; None if the note has no words or cannot be read."""
        if relative_path not in self._summaries:
            summary = None
            with suppress(VaultError):  # it cannot be read
                note = self._vault.note(relative_path)
                summary = summarize_document(note.body, note.title, note.description)
            self._summaries[relative_path] = summary
        return self._summaries[relative_path]


def summarize_document(text: str, title: str = "", description: str | None = None) -> str | None:
    """A summary of a note: its `description`, else the first real paragraph of its body `text`, else its key text."""
    summary = to_plain_text(description or "") or first_paragraph(text) or key_text(text, title)
    return truncate(summary, SUMMARY_LENGTH) if summary else None
