"""Runs a tool call: finds the tool, numbers what it found, and fits that into the room there is.

What goes wrong is an answer too: a mistake of the model comes back to it as a short error that it can correct.
"""

from bisect import bisect_right
from collections.abc import Callable, Mapping, Sequence
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
        """The result of one call in about `room` tokens; what does not fit is left out, last ones first, and counted.

        Lists come before excerpts, which are no use without them, but take no more than half the room from them.
        """
        start = self.clock()
        ok = True
        try:
            finding = self._tool(call.name).call(call.arguments, self.vault)
        except ToolMistake as e:
            ok, finding = False, Finding(data={"error": str(e)})
        data, cut = _cut_lists(finding, room, self.counter.count)
        bare = self.counter.count(present((), data, f"{finding.note} {_left_out(cut, finding.chunks)}"))
        kept = reduce_to_fit(finding.chunks, room - bare, self.counter.count)
        note = f"{finding.note} {_left_out(cut, finding.chunks[len(kept) :])}".strip()
        chunks = self.manager.extract_referenceable_chunks(call.id, kept)
        content = present(chunks, data, note)
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


def _cut_lists(finding: Finding, room: int, count: Callable[[str], int]) -> tuple[Mapping[str, object], dict[str, int]]:
    """The finding's data without the ends of its lists, as far as `room` tokens demand it, and how much of which list was cut off."""
    data, cut = finding.data, {}
    lists = {name: value for name, value in data.items() if isinstance(value, list)}
    note = f"{finding.note} {_left_out({name: len(value) for name, value in lists.items()}, finding.chunks)}"
    room = (room - count(present((), {}, note))) // (2 if finding.chunks else 1)
    for name, value in lists.items():
        if count(present((), data)) > room:
            kept = bisect_right(range(len(value)), room, key=lambda n: count(present((), {**data, name: value[: n + 1]})))
            data, cut[name] = {**data, name: value[:kept]}, len(value) - kept
    return data, cut


def _left_out(cut: Mapping[str, int], chunks: Sequence[ContentChunk]) -> str:
    """What there was no room for, and where to go on."""
    left = [f"{count} {name}" for name, count in cut.items()]
    if chunks:
        left.append(f"{len(chunks)} excerpts, the next in {shorten(chunks[0].relative_path, 200)} from line {chunks[0].start_line}")
    return f"Left out, because there is no room for them: {'; '.join(left)}. Ask for less at a time." if left else ""
