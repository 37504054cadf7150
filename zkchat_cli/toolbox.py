"""Runs tool calls: finds the tool, numbers what it found, and fits that into the room there is.

What goes wrong is an answer too: a mistake of the model comes back to it as a short error that it can correct.
"""

import logging
from bisect import bisect_right
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from itertools import groupby
from typing import Any

from zkchat_cli.models import ContentChunk, ToolCall, ToolRun
from zkchat_cli.references.manager import ReferenceManager, present, reduce_to_fit
from zkchat_cli.tokens import TokenCounter
from zkchat_cli.tools import Finding, Tool, ToolMistake
from zkchat_cli.vault import Vault
from zkchat_cli.words import shorten

MOST_AT_ONCE = 4
_log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class ToolResult:
    """`content` is what the model reads; `chunks` are numbered and can be cited."""

    content: str
    chunks: tuple[ContentChunk, ...]
    run: ToolRun


@dataclass(frozen=True, slots=True)
class Looked:
    """What a call found, or the mistake in it (`ok` is False then)."""

    call: ToolCall
    finding: Finding
    ok: bool
    duration_ms: float

    def for_call(self, call: ToolCall) -> "Looked":
        """The same for another call that asks for the same; it took no time."""
        return self if call.id == self.call.id else replace(self, call=call, duration_ms=0.0)


@dataclass(frozen=True, slots=True)
class Toolbox:
    tools: tuple[Tool, ...]
    vault: Vault
    manager: ReferenceManager
    counter: TokenCounter
    clock: Callable[[], float]

    def run(self, call: ToolCall, room: int) -> ToolResult:
        """The result of one call in about `room` tokens."""
        return next(self.result(looked, room) for looked in self.look([call]))

    def look(self, calls: Sequence[ToolCall]) -> Iterator["Looked"]:
        """What each call finds, in their order; those that only read, and stand side by side, run at once."""
        for alone, group in groupby(calls, key=lambda call: not self._parallel(call)):
            together = tuple(group)
            if alone or len(together) == 1:
                yield from map(self._look, together)
                continue
            pool = ThreadPoolExecutor(MOST_AT_ONCE, thread_name_prefix="tool")
            try:
                running = [pool.submit(self._look, call) for call in together]
                yield from (future.result() for future in running)
            finally:
                pool.shutdown(wait=False, cancel_futures=True)  # who stops the turn does not wait for a tool

    def _look(self, call: ToolCall) -> "Looked":
        start = self.clock()
        try:
            finding, ok = self._tool(call.name).call(_arguments(call), self.vault), True
        except ToolMistake as e:
            finding, ok = Finding(data={"error": str(e)}), False
        except Exception as e:  # a defect of a tool: the model hears of it, and may do without  # noqa: BLE001
            _log.exception("%s failed", call.name)
            finding, ok = Finding(data={"error": f"{call.name} failed: {shorten(f'{type(e).__name__}: {e}', 120)}"}), False
        return Looked(call, finding, ok, 1000 * (self.clock() - start))

    def result(self, looked: "Looked", room: int) -> ToolResult:
        """What was found, in about `room` tokens; what does not fit is left out, last ones first, and counted.

        Lists come before excerpts, which are no use without them, but take no more than half the room from them.
        """
        call, finding = looked.call, looked.finding
        data, cut = _cut_lists(finding, room, self.counter.count)
        bare = self.counter.count(present((), data, f"{finding.note} {_left_out(cut, finding.chunks)}"))
        kept = reduce_to_fit(finding.chunks, room - bare, self.counter.count)
        note = f"{finding.note} {_left_out(cut, finding.chunks[len(kept) :])}".strip()
        chunks = self.manager.extract_referenceable_chunks(call.id, kept)
        content = present(chunks, data, note)
        run = ToolRun(
            name=call.name,
            arguments=call.arguments,
            ok=looked.ok,
            tokens=self.counter.count(content),
            duration_ms=round(looked.duration_ms, 2),
        )
        return ToolResult(content, chunks, run)

    def _parallel(self, call: ToolCall) -> bool:
        return all(tool.parallel for tool in self.tools if tool.name == call.name)

    def _tool(self, name: str) -> Tool:
        for tool in self.tools:
            if tool.name == name:
                return tool
        raise ToolMistake(f"there is no tool {shorten(name, 60)}; there are {', '.join(tool.name for tool in self.tools)}")


def _arguments(call: ToolCall) -> Mapping[str, Any]:
    """Raises ToolMistake for arguments that could not be read."""
    if call.malformed is not None:
        shown = shorten(call.malformed, 120)
        raise ToolMistake(f"the arguments of {shorten(call.name, 60)} are no JSON object: {shown!r}. Call it again with correct JSON")
    return call.arguments


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
