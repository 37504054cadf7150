"""Runs a tool call: finds the tool, numbers what it found, and fits that into the room there is.

What goes wrong is an answer too: a mistake of the model comes back to it as a short error that it can correct.
"""

from collections.abc import Callable
from dataclasses import dataclass

from zkchat_cli.models import ContentChunk, ToolCall, ToolRun
from zkchat_cli.references.manager import ReferenceManager, present, reduce_to_fit
from zkchat_cli.tokens import TokenCounter
from zkchat_cli.tools import Finding, Tool, ToolMistake
from zkchat_cli.vault import Vault
from zkchat_cli.words import shorten


@dataclass(frozen=True, slots=True)
class ToolResult:
    """`content` is what the model reads; `chunks` are numbered and can be cited."""

    content: str
    chunks: tuple[ContentChunk, ...]
    run: ToolRun


@dataclass(frozen=True, slots=True)
class Toolbox:
    tools: tuple[Tool, ...]
    vault: Vault
    manager: ReferenceManager
    counter: TokenCounter
    clock: Callable[[], float]

    def run(self, call: ToolCall, room: int) -> ToolResult:
        """The result of one call in about `room` tokens; excerpts that do not fit are left out, last ones first, and counted."""
        start = self.clock()
        ok = True
        try:
            finding = self._tool(call.name).call(call.arguments, self.vault)
        except ToolMistake as e:
            ok, finding = False, Finding(data={"error": str(e)})
        bare = self.counter.count(present((), finding.data, f"{finding.note} {_left_out(len(finding.chunks))}"))
        kept = reduce_to_fit(finding.chunks, room - bare, self.counter.count)
        note = f"{finding.note} {_left_out(len(finding.chunks) - len(kept))}".strip()
        chunks = self.manager.extract_referenceable_chunks(call.id, kept)
        content = present(chunks, finding.data, note)
        run = ToolRun(
            name=call.name,
            arguments=call.arguments,
            ok=ok,
            tokens=self.counter.count(content),
            duration_ms=round(1000 * (self.clock() - start), 2),
        )
        return ToolResult(content, chunks, run)

    def _tool(self, name: str) -> Tool:
        for tool in self.tools:
            if tool.name == name:
                return tool
        raise ToolMistake(f"there is no tool {shorten(name, 60)}; there are {', '.join(tool.name for tool in self.tools)}")


def _left_out(excerpts: int) -> str:
    return f"Left out, because there is no room for them: {excerpts} excerpts." if excerpts else ""
