"""Calls tools for a program that is not zkchat. There is no conversation: each result has a fixed
room of tokens, and a mistake of the model comes back to it as an error that it can correct.
"""

import threading
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Any

from zkchat_cli.errors import VaultError
from zkchat_cli.llm.gateways.function_tool import FunctionTool
from zkchat_cli.references.chunk_budget import NO_ROOM, reduce_to_fit
from zkchat_cli.references.excerpts import tool_result_document
from zkchat_cli.references.manager import ReferenceManager, ToolCallResponse
from zkchat_cli.text.numbers import plural
from zkchat_cli.tokens.counter import TokenCounter
from zkchat_cli.tools.base import Tool, ToolArgumentError, ToolOutput
from zkchat_cli.vault.edit.approval import Approve
from zkchat_cli.vault.edit.transaction import Change
from zkchat_cli.vault.vault import SCAN_SECONDS, Vault

# Tokens of the excerpts in one result
RESULT_TOKENS = 4000


@dataclass
class NoteToolCaller:
    """Calls tools in a vault, one at a time: mojentic may run several in threads."""

    vault: Vault
    references: ReferenceManager
    approve: Approve | None
    _counter: TokenCounter = field(default_factory=TokenCounter)
    _calls: int = 0
    _scanned_at: float = float("-inf")
    _lock: threading.Lock = field(default_factory=threading.Lock)

    def call(self, tool: Tool, arguments: Mapping[str, Any]) -> dict[str, object]:
        """The result of a call as mojentic gives it to the model: numbered excerpts, data, or an
        error.
        """
        with self._lock:
            try:
                self._refresh()
                finding = tool.call(arguments, self.vault)
                if finding.change is not None:
                    return self._make_change(finding.change)
            except ToolArgumentError as e:
                return {"error": str(e)}
            except VaultError as e:
                return {"error": f"{e.message}. {e.hint}".strip()}
            return self._result(tool, finding)

    def _refresh(self) -> None:
        """Update the index, unless that was done just now. Raises VaultError."""
        if time.monotonic() - self._scanned_at >= SCAN_SECONDS:
            self.vault.refresh()
            self._scanned_at = time.monotonic()

    def _make_change(self, change: Change) -> dict[str, object]:
        """Make a change if it is approved. Raises VaultError."""
        assert self.approve is not None
        decision = self.approve(change)
        if not decision.allowed:
            return {"error": decision.reason, "change": change.summary}
        self.vault.editor.apply(decision.change_to_make(change))
        return {"done": change.summary, **decision.report}

    def _result(self, tool: Tool, finding: ToolOutput) -> dict[str, object]:
        [fitted] = reduce_to_fit((finding.chunks,), RESULT_TOKENS, self._counter.count)
        self._calls += 1
        response = ToolCallResponse(f"{tool.name}-{self._calls}", tool.name, fitted)
        [numbered] = self.references.extract_referenceable_chunks([response])
        left = len(finding.chunks) - len(fitted)
        omission = f"{NO_ROOM}: {plural(left, 'excerpt')}." if left else ""
        note = f"{finding.note} {omission}".strip()
        return tool_result_document(numbered.chunks, finding.data, note)


def make_mojentic_tools(
    tools: Sequence[Tool],
    vault: Vault,
    approve: Approve | None,
    references: ReferenceManager | None,
) -> list[FunctionTool]:
    """Those of the tools that need a vault and nothing else, as tools of mojentic's."""
    caller = NoteToolCaller(vault, references or ReferenceManager(), approve)
    return [
        FunctionTool(tool.descriptor, partial(caller.call, tool))
        for tool in tools
        if tool.scope == "notes"
    ]
