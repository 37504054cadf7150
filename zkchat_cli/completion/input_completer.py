"""Completion while typing.

It runs in its own thread. Enter waits for that thread, so nothing here waits for the session or for
the first index.
"""

import time
from collections.abc import Callable, Iterator
from contextlib import suppress
from typing import TYPE_CHECKING

from zkchat_cli.completion.typed_text import Suggestion, match_typed
from zkchat_cli.errors import ZkchatError
from zkchat_cli.text.sanitize import is_safe_name

# Imported only for types: a session loads these modules after the prompt is drawn
if TYPE_CHECKING:
    from zkchat_cli.chat.session import ZkChatSession

# Seconds for which a scan of the vault and the lists of its files and tags are reused
CACHE_SECONDS = 5.0
_CLOSING = "]]"


class InputCompleter:
    """Completes typed text.

    It offers nothing until the session is open, and offers notes, tags and files only when the
    vault `is_indexed`.
    """

    def __init__(
        self,
        session: "Callable[[], ZkChatSession | None]",
        is_indexed: Callable[[], bool] = lambda: True,
    ) -> None:
        self._session = session
        self._is_indexed = is_indexed
        self._scanned_at = float("-inf")
        self._files: list[str] = []
        self._tags: list[str] = []

    def suggest(self, before: str, after: str = "") -> Iterator[Suggestion]:
        """What could be typed between the text before and the text after the cursor, best first."""
        typed = match_typed(before)
        session = self._session()
        if typed is None or session is None:
            return
        # This imports what an open session has loaded
        from zkchat_cli.completion.completers import COMPLETERS, VAULT_KINDS, CompletionRequest

        # A message will report the problem
        with suppress(ZkchatError):
            if typed.kind in VAULT_KINDS:
                if not self._is_indexed():
                    return
                self._scan(session)
            closing = "" if after.startswith(_CLOSING) else _CLOSING
            request = CompletionRequest(typed, before, closing, session, self._tags, self._files)
            yield from COMPLETERS[typed.kind](request)

    def _scan(self, session: "ZkChatSession") -> None:
        """Look for new notes, and for files to import in the current folder and in the vault."""
        from zkchat_cli.references.file_imports import list_files

        if time.monotonic() - self._scanned_at < CACHE_SECONDS:
            return
        self._scanned_at = time.monotonic()
        session.apply_scan(session.vault.refresh())
        folder = session.services.working_folder
        root = session.vault.root
        files: list[str] = []
        if folder is not None and folder != root:
            files += list_files(folder)
        files += list_files(root)
        self._files = [path for path in dict.fromkeys(files) if is_safe_name(path)]
        self._tags = [tag for tag in session.vault.catalog.tags() if is_safe_name(tag)]
