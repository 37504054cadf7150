"""Keeps the index up to date from turn to turn, and the session informed about what changed in the vault."""

from collections.abc import Callable

from zkchat_cli.chat.prompt_builder import PromptBuilder
from zkchat_cli.errors import VaultError
from zkchat_cli.events import Notice
from zkchat_cli.models import IndexReport
from zkchat_cli.vault.vault import Vault

FRESH_FOR = 2.0
"""Seconds for which a scan of the vault counts as fresh, so that one command does not scan twice."""


class VaultScanner:
    def __init__(self, vault: Vault, clock: Callable[[], float], prompts: PromptBuilder) -> None:
        self._vault, self._clock, self._prompts = vault, clock, prompts
        self._scanned_at = float("-inf")
        self._rebuilt: str | None = None

    def scan(self) -> list[Notice]:
        """Look for changed notes, unless that was done a moment ago. A vault that is gone is reported, and the conversation continues."""
        if self._clock() - self._scanned_at < FRESH_FOR:
            return []
        try:
            report = self._vault.refresh()
        except VaultError as e:
            return [Notice(e.message, e.hint)]
        finally:
            self.mark_scanned()
        self.apply(report)
        rebuilt, self._rebuilt = self._rebuilt, None
        return [Notice(f"the index was rebuilt: {rebuilt}")] if rebuilt else []

    def apply(self, report: IndexReport) -> None:
        """Take in the report of a scan, whoever started it. It may have been a scan of a few notes only, so the next turn scans again."""
        if report.added or report.changed or report.removed:
            self._prompts.forget_summaries()
        self._rebuilt = report.rebuilt or self._rebuilt

    def mark_scanned(self) -> None:
        self._scanned_at = self._clock()
