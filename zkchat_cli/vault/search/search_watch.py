"""Tells whether searches had all vectors: the same question may find more when asked later."""

from zkchat_cli.errors import ZkchatError
from zkchat_cli.vault.search.ensemble import SemanticEnsemble
from zkchat_cli.vault.search.semantic import SemanticSearch

ADVICE = "zkchat vault index --semantic completes it"


class SearchWatch:
    """Watches the searches of a vault, which has a `semantic` search or none, from now on."""

    def __init__(self, semantic: SemanticSearch | SemanticEnsemble | None) -> None:
        self._semantic = semantic
        self._searches_before = semantic.searches if semantic else 0

    def warning(self) -> ZkchatError | None:
        """What to tell the user if a search went by meaning and vectors are missing."""
        if self._semantic is None or self._semantic.searches == self._searches_before:
            return None
        percent = self._semantic.unready_percent()
        if percent is None:
            return None
        return ZkchatError(f"{self._semantic.scope} was {percent}% ready", ADVICE)
