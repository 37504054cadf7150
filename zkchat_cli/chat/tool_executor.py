"""Runs the tool calls of a reply: finds the tools, fits what they found into the room there is, and numbers that.

What goes wrong is an answer too: a mistake of the model comes back to it as a short error that it can correct.
"""

import logging
from bisect import bisect_right
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field, replace
from itertools import groupby
from typing import Any

from zkchat_cli.errors import VaultError
from zkchat_cli.memory.memory import Memory
from zkchat_cli.models import ContentChunk, ToolCall, ToolRun
from zkchat_cli.references.chunk_format import MAX_NUMBER, Count, format_tool_result
from zkchat_cli.references.fit_to_budget import reduce_to_fit, share_evenly
from zkchat_cli.references.manager import ReferenceManager
from zkchat_cli.text.truncate import truncate
from zkchat_cli.tokens.counter import TokenCounter
from zkchat_cli.tools import load_tools as every
from zkchat_cli.tools.base import Tool, ToolArgumentError, ToolOutput, join_notes
from zkchat_cli.vault import approval
from zkchat_cli.vault.approval import AppliedChange, Decision
from zkchat_cli.vault.vault import Vault

MOST_AT_ONCE = 4
LONGEST_OUTCOME = 80
MOST_REPLACED = 600
"""Characters of a replaced text that the model is told: if it had not read it, it can see now what it took away."""
MOST_POINTED_AT = 6
"""Sources that are named because they stand in another result; the rest is counted."""
_log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class ToolResult:
    """`content` is what the model reads; `chunks` are numbered and can be cited."""

    content: str
    chunks: tuple[ContentChunk, ...]
    run: ToolRun


@dataclass(frozen=True, slots=True)
class ToolOutcome:
    """What a call found, or the mistake in it (`ok` is False then)."""

    call: ToolCall
    finding: ToolOutput
    ok: bool
    duration_ms: float

    def for_call(self, call: ToolCall) -> "ToolOutcome":
        """The same for another call that asks for the same; it took no time."""
        return self if call.id == self.call.id else replace(self, call=call, duration_ms=0.0)


@dataclass(frozen=True, slots=True)
class TruncatedFinding:
    """What of a finding there is room for, how much of which list was cut off, and the chunks that were left out."""

    chunks: tuple[ContentChunk, ...]
    data: Mapping[str, object]
    cut: Mapping[str, int] = field(default_factory=dict)
    dropped: tuple[ContentChunk, ...] = ()


@dataclass(frozen=True, slots=True)
class ToolExecutor:
    tools: tuple[Tool, ...]
    vault: Vault
    manager: ReferenceManager
    counter: TokenCounter
    clock: Callable[[], float]
    memory: Memory | None = None

    def run(self, call: ToolCall, room: int) -> ToolResult:
        """The result of one call in about `room` tokens."""
        return self.results(tuple(self.look([call])), room)[0]

    def look(self, calls: Sequence[ToolCall]) -> Iterator["ToolOutcome"]:
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

    def _look(self, call: ToolCall) -> "ToolOutcome":
        start = self.clock()
        try:
            finding, ok = self._tool(call.name).call(_arguments(call), self.vault, self.memory), True
        except ToolArgumentError as e:
            finding, ok = ToolOutput(data={"error": str(e)}), False
        except Exception as e:  # a defect of a tool: the model hears of it, and may do without  # noqa: BLE001
            _log.exception("%s failed", call.name)
            finding, ok = ToolOutput(data={"error": f"{call.name} failed: {truncate(f'{type(e).__name__}: {e}', 120)}"}), False
        return ToolOutcome(call, finding, ok, 1000 * (self.clock() - start))

    def changes(self, call: ToolCall) -> bool:
        """Whether a call asks for a change of the notes."""
        return any(tool.writes for tool in self.tools if tool.name == call.name)

    def decide(self, looked: "ToolOutcome", verdict: Decision, *, git: bool) -> tuple["ToolOutcome", AppliedChange | None]:
        """Make the change that a call proposes, if it may be made, or tell the model that it may not; what there is to tell the user."""
        change = looked.finding.change
        assert change is not None
        start = self.clock()
        if not verdict.allowed:
            return replace(looked, finding=ToolOutput(data={"error": verdict.reason, "change": change.summary}), ok=False), None
        try:
            made = approval.apply_change(self.vault, change, git=git)
        except VaultError as e:
            return replace(looked, finding=ToolOutput(data={"error": f"{e.message}. {e.hint}".strip()}), ok=False), None
        took = looked.duration_ms + 1000 * (self.clock() - start)
        gone = change.replaced_text if len(change.replaced_text) <= MOST_REPLACED else f"{change.replaced_text[:MOST_REPLACED]}…"
        data = {"done": change.summary, **({"replaced": gone} if gone else {})}
        return replace(looked, finding=ToolOutput(data=data, note=change.note, outcome=made.message), duration_ms=took), made

    def results(self, looked: Sequence["ToolOutcome"], room: int) -> tuple[ToolResult, ...]:
        """What the calls of one reply found, in about `room` tokens together.

        What does not fit is left out, the least relevant first, and told. Lists come before excerpts, which are no use without them, but
        take no more than half the room from them.
        """
        fitted = fit([each.finding for each in looked], room, self.counter.count)
        extract = self.manager.extract_referenceable_chunks
        chunks = [extract(each.call.id, its.chunks, each.call.name) for each, its in zip(looked, fitted, strict=True)]
        shown = {chunk.id: chunk.number for numbered in chunks for chunk in numbered}
        return tuple(
            self._result(each, format_tool_result(numbered, its.data, join_notes(each.finding.note, _left_out(its, shown))), numbered)
            for each, its, numbered in zip(looked, fitted, chunks, strict=True)
        )

    def _result(self, looked: "ToolOutcome", content: str, chunks: tuple[ContentChunk, ...]) -> ToolResult:
        run = ToolRun(
            name=looked.call.name,
            arguments=looked.call.arguments,
            ok=looked.ok,
            tokens=self.counter.count(content),
            duration_ms=round(looked.duration_ms, 2),
            outcome=truncate(looked.finding.outcome if looked.ok else str(looked.finding.data["error"]), LONGEST_OUTCOME),
        )
        return ToolResult(content, chunks, run)

    def _parallel(self, call: ToolCall) -> bool:
        return all(tool.parallel and not tool.writes for tool in self.tools if tool.name == call.name)

    def _tool(self, name: str) -> Tool:
        for tool in self.tools:
            if tool.name == name:
                return tool
        if not any(tool.writes for tool in self.tools) and any(tool.writes and tool.name == name for tool in every(unsafe=True)):
            raise ToolArgumentError(
                f"{name} changes notes, which takes --unsafe: it may not be called here. Tell the user what you would change"
            )
        raise ToolArgumentError(f"there is no tool {truncate(name, 60)}; there are {', '.join(tool.name for tool in self.tools)}")


def _arguments(call: ToolCall) -> Mapping[str, Any]:
    """Raises ToolMistake for arguments that could not be read."""
    if call.malformed is not None:
        shown = truncate(call.malformed, 120)
        raise ToolArgumentError(
            f"the arguments of {truncate(call.name, 60)} are no JSON object: {shown!r}. Call it again with correct JSON"
        )
    return call.arguments


def fit(findings: Sequence[ToolOutput], room: int, count: Count) -> tuple[TruncatedFinding, ...]:
    """As much of the findings of one reply as `room` tokens take. Nothing is lost by more room.

    Room for notes on what is left out, and for lists, is set aside before it is known how much of it is needed: otherwise an item more in
    a list could cost an excerpt where there is more room.
    """
    calls = tuple(finding.chunks for finding in findings)
    whole = sum(count(format_tool_result((), finding.data, finding.note)) for finding in findings)
    if whole <= room and reduce_to_fit(calls, room - whole, count) == calls:
        return tuple(TruncatedFinding(finding.chunks, finding.data) for finding in findings)
    often = Counter(id_ for chunks in calls for id_ in {chunk.id for chunk in chunks})
    room -= sum(count(format_tool_result((), {}, join_notes(finding.note, _longest_note(finding, often, count)))) for finding in findings)
    bare = [
        count(format_tool_result((), {name: [] if isinstance(value, list) else value for name, value in f.data.items()})) for f in findings
    ]
    lists = [count(format_tool_result((), finding.data)) - tokens for finding, tokens in zip(findings, bare, strict=True)]
    room -= sum(bare)
    for_lists = max(0, room) // (2 if any(calls) else 1)
    shares = share_evenly(lists, for_lists, [0] * len(lists))
    kept = reduce_to_fit(calls, room - min(sum(lists), for_lists), count)
    return tuple(_fitted(*each, count) for each in zip(findings, kept, map(sum, zip(bare, shares, strict=True)), strict=True))


def _fitted(finding: ToolOutput, kept: tuple[ContentChunk, ...], room: int, count: Count) -> TruncatedFinding:
    """The finding with these chunks, the first of them cut perhaps, and its data without the ends of lists as far as `room` demands."""
    data, cut = finding.data, {}
    for name, value in finding.data.items():
        if isinstance(value, list) and count(format_tool_result((), data)) > room:
            items = bisect_right(range(len(value)), room, key=lambda n: count(format_tool_result((), {**data, name: value[: n + 1]})))
            data, cut[name] = {**data, name: value[:items]}, len(value) - items
    there = {chunk.id for chunk in kept}
    dropped = tuple(chunk for chunk in finding.chunks[1 if kept else 0 :] if chunk.id not in there)
    return TruncatedFinding(kept, data, cut, dropped)


def _left_out(fitted: TruncatedFinding, shown: Mapping[str, int | None]) -> str:
    """What there was no room for, and how to get it. `shown` are the chunks of all results of the reply."""
    lost = [chunk for chunk in fitted.dropped if chunk.id not in shown]
    following = (lost[0].relative_path, lost[0].start_line) if lost else None
    return _note(fitted.cut, len(lost), following, [shown[chunk.id] for chunk in fitted.dropped if chunk.id in shown])


def _longest_note(finding: ToolOutput, often: Mapping[str, int], count: Count) -> str:
    """What would be said if all of a finding were left out. `often`: in how many results each chunk is."""
    cut = {name: len(value) for name, value in finding.data.items() if isinstance(value, list)}
    path = max({chunk.relative_path for chunk in finding.chunks}, key=count, default="")
    following = (path, max(chunk.start_line for chunk in finding.chunks)) if path else None
    return _note(cut, len(finding.chunks), following, [MAX_NUMBER for chunk in finding.chunks if often[chunk.id] > 1])


def _note(cut: Mapping[str, int], lost: int, following: tuple[str, int] | None, elsewhere: Sequence[int | None]) -> str:
    left = [f"{count} {name}" for name, count in cut.items()]
    if following is not None:
        left.append(f"{_excerpts(lost)}, the next in {truncate(following[0], 200)} from line {following[1]}")
    again = " Ask for less at a time." if left else ""
    if elsewhere:
        sources = ", ".join(map(str, elsewhere[:MOST_POINTED_AT])) + (", …" if len(elsewhere) > MOST_POINTED_AT else "")
        left.append(f"{_excerpts(len(elsewhere))} that another result shows as source {sources}")
    return f"Left out, because there is no room for them: {'; '.join(left)}.{again}" if left else ""


def _excerpts(number: int) -> str:
    return "1 excerpt" if number == 1 else f"{number} excerpts"
