"""Runs the tool calls of a reply: finds the tools, fits their findings into a number of tokens, and numbers the chunks.

A failure is a result too: a mistake of the model comes back to it as a short error that it can correct.
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
from zkchat_cli.tools.base import Tool, ToolArgumentError, ToolOutput, join_notes, plural
from zkchat_cli.vault.approval import Decision
from zkchat_cli.vault.edit.note_editor import AppliedChange
from zkchat_cli.vault.vault import Vault

MOST_AT_ONCE = 4
LONGEST_OUTCOME = 80
"""Characters of a replaced text that the model gets back: if it had not read it, it sees now what it removed."""
MOST_NAMED = 6
"""Sources named because another result shows them; the rest is left out."""
_log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class ToolResult:
    """`content` is what the model reads; `chunks` are numbered and can be cited."""

    content: str
    chunks: tuple[ContentChunk, ...]
    run: ToolRun


@dataclass(frozen=True, slots=True)
class ToolOutcome:
    """The finding of a call, or its error when `ok` is False."""

    call: ToolCall
    finding: ToolOutput
    ok: bool
    duration_ms: float

    def for_call(self, call: ToolCall) -> "ToolOutcome":
        """The same outcome for a repeated call; it took no time."""
        return self if call.id == self.call.id else replace(self, call=call, duration_ms=0.0)


@dataclass(frozen=True, slots=True)
class TruncatedFinding:
    """The part of a finding that fits, how many items of each list were cut off, and the chunks that were left out."""

    chunks: tuple[ContentChunk, ...]
    data: Mapping[str, object]
    cut: Mapping[str, int] = field(default_factory=dict)
    dropped: tuple[ContentChunk, ...] = ()


@dataclass(frozen=True, slots=True)
class ToolExecutor:
    tools: tuple[Tool, ...]
    vault: Vault
    references: ReferenceManager
    counter: TokenCounter
    clock: Callable[[], float]
    memory: Memory | None = None

    def run(self, call: ToolCall, room: int) -> ToolResult:
        """The result of one call in about `room` tokens."""
        return self.results(tuple(self.run_calls([call])), room)[0]

    def run_calls(self, calls: Sequence[ToolCall]) -> Iterator[ToolOutcome]:
        """The outcome of each call, in order; neighbouring calls that only read run in parallel."""
        for alone, group in groupby(calls, key=lambda call: not self._is_parallel(call)):
            together = tuple(group)
            if alone or len(together) == 1:
                yield from map(self._run, together)
                continue
            pool = ThreadPoolExecutor(MOST_AT_ONCE, thread_name_prefix="tool")
            try:
                running = [pool.submit(self._run, call) for call in together]
                yield from (future.result() for future in running)
            finally:
                pool.shutdown(wait=False, cancel_futures=True)  # stopping the turn does not wait for a tool

    def _run(self, call: ToolCall) -> ToolOutcome:
        start = self.clock()
        try:
            finding, ok = self._find_tool(call.name).call(_arguments(call), self.vault, self.memory), True
        except ToolArgumentError as e:
            finding, ok = ToolOutput(data={"error": str(e)}), False
        except Exception as e:  # a defect of a tool: the model is told, and may do without it  # noqa: BLE001
            _log.exception("%s failed", call.name)
            finding, ok = ToolOutput(data={"error": f"{call.name} failed: {truncate(f'{type(e).__name__}: {e}', 120)}"}), False
        return ToolOutcome(call, finding, ok, 1000 * (self.clock() - start))

    def writes(self, call: ToolCall) -> bool:
        """Whether a call would change notes."""
        return any(tool.writes for tool in self.tools if tool.name == call.name)

    def apply_decision(self, outcome: ToolOutcome, decision: Decision) -> tuple[ToolOutcome, AppliedChange | None]:
        """Make the change that a call proposes, or tell the model that it was refused; None for one that was not made."""
        change = outcome.finding.change
        assert change is not None
        start = self.clock()
        if not decision.allowed:
            return replace(outcome, finding=ToolOutput(data={"error": decision.reason, "change": change.summary}), ok=False), None
        try:
            applied = self.vault.editor.apply(change)
        except VaultError as e:
            return replace(outcome, finding=ToolOutput(data={"error": f"{e.message}. {e.hint}".strip()}), ok=False), None
        duration = outcome.duration_ms + 1000 * (self.clock() - start)
        finding = ToolOutput(data={"done": change.summary}, note=change.note, outcome="done")
        return replace(outcome, finding=finding, duration_ms=duration), applied

    def results(self, outcomes: Sequence[ToolOutcome], room: int) -> tuple[ToolResult, ...]:
        """The results of one reply's calls, in about `room` tokens together.

        Chunks that do not fit are left out, the least relevant first, and a note says so. Lists come before chunks, which are of no use
        without them, but take at most half of the room.
        """
        fitted = fit_findings([each.finding for each in outcomes], room, self.counter.count)
        extract = self.references.extract_referenceable_chunks
        chunks = [extract(each.call.id, its.chunks, each.call.name) for each, its in zip(outcomes, fitted, strict=True)]
        numbers = {chunk.id: chunk.number for numbered in chunks for chunk in numbered}
        return tuple(
            self._result(
                each, format_tool_result(numbered, its.data, join_notes(each.finding.note, _omission_note(its, numbers))), numbered
            )
            for each, its, numbered in zip(outcomes, fitted, chunks, strict=True)
        )

    def _result(self, outcome: ToolOutcome, content: str, chunks: tuple[ContentChunk, ...]) -> ToolResult:
        run = ToolRun(
            name=outcome.call.name,
            arguments=outcome.call.arguments,
            ok=outcome.ok,
            tokens=self.counter.count(content),
            duration_ms=round(outcome.duration_ms, 2),
            outcome=truncate(outcome.finding.outcome if outcome.ok else str(outcome.finding.data["error"]), LONGEST_OUTCOME),
        )
        return ToolResult(content, chunks, run)

    def _is_parallel(self, call: ToolCall) -> bool:
        return all(tool.parallel and not tool.writes for tool in self.tools if tool.name == call.name)

    def _find_tool(self, name: str) -> Tool:
        for tool in self.tools:
            if tool.name == name:
                return tool
        if not any(tool.writes for tool in self.tools) and any(tool.writes and tool.name == name for tool in every(unsafe=True)):
            raise ToolArgumentError(
                f"{name} changes notes, which needs --unsafe: it cannot be called here. Tell the user what you would change"
            )
        raise ToolArgumentError(f"unknown tool {truncate(name, 60)}; the tools are {', '.join(tool.name for tool in self.tools)}")


def _arguments(call: ToolCall) -> Mapping[str, Any]:
    """Raises ToolArgumentError for arguments that could not be read."""
    if call.malformed is not None:
        shown = truncate(call.malformed, 120)
        raise ToolArgumentError(
            f"the arguments of {truncate(call.name, 60)} are not a JSON object: {shown!r}. Call it again with correct JSON"
        )
    return call.arguments


def fit_findings(findings: Sequence[ToolOutput], room: int, count: Count) -> tuple[TruncatedFinding, ...]:
    """The part of one reply's findings that fits into `room` tokens. More room never loses anything.

    Room for lists, and for notes about omissions, is reserved before it is known how much they need: otherwise more room could mean one
    more item of a list and one chunk less.
    """
    calls = tuple(finding.chunks for finding in findings)
    whole = sum(count(format_tool_result((), finding.data, finding.note)) for finding in findings)
    if whole <= room and reduce_to_fit(calls, room - whole, count) == calls:
        return tuple(TruncatedFinding(finding.chunks, finding.data) for finding in findings)
    often = Counter(id_ for chunks in calls for id_ in {chunk.id for chunk in chunks})
    room -= sum(
        count(format_tool_result((), {}, join_notes(finding.note, _longest_omission_note(finding, often, count)))) for finding in findings
    )
    bare = [
        count(format_tool_result((), {name: [] if isinstance(value, list) else value for name, value in f.data.items()})) for f in findings
    ]
    lists = [count(format_tool_result((), finding.data)) - tokens for finding, tokens in zip(findings, bare, strict=True)]
    room -= sum(bare)
    for_lists = max(0, room) // (2 if any(calls) else 1)
    shares = share_evenly(lists, for_lists, [0] * len(lists))
    kept = reduce_to_fit(calls, room - min(sum(lists), for_lists), count)
    return tuple(_truncate_finding(*each, count) for each in zip(findings, kept, map(sum, zip(bare, shares, strict=True)), strict=True))


def _truncate_finding(finding: ToolOutput, kept: tuple[ContentChunk, ...], room: int, count: Count) -> TruncatedFinding:
    """The finding with these chunks, the first perhaps cut, and with its lists cut to fit into `room` tokens."""
    data, cut = finding.data, {}
    for name, value in finding.data.items():
        if isinstance(value, list) and count(format_tool_result((), data)) > room:
            items = bisect_right(range(len(value)), room, key=lambda n: count(format_tool_result((), {**data, name: value[: n + 1]})))
            data, cut[name] = {**data, name: value[:items]}, len(value) - items
    kept_ids = {chunk.id for chunk in kept}
    dropped = tuple(chunk for chunk in finding.chunks[1 if kept else 0 :] if chunk.id not in kept_ids)
    return TruncatedFinding(kept, data, cut, dropped)


def _omission_note(fitted: TruncatedFinding, numbers: Mapping[str, int | None]) -> str:
    """What was left out, and how to get it. `numbers` are those of the chunks in all results of the reply."""
    lost = [chunk for chunk in fitted.dropped if chunk.id not in numbers]
    following = (lost[0].relative_path, lost[0].start_line) if lost else None
    return _format_omissions(fitted.cut, len(lost), following, [numbers[chunk.id] for chunk in fitted.dropped if chunk.id in numbers])


def _longest_omission_note(finding: ToolOutput, often: Mapping[str, int], count: Count) -> str:
    """The note if all of a finding were left out. `often`: in how many results each chunk is."""
    cut = {name: len(value) for name, value in finding.data.items() if isinstance(value, list)}
    path = max({chunk.relative_path for chunk in finding.chunks}, key=count, default="")
    following = (path, max(chunk.start_line for chunk in finding.chunks)) if path else None
    return _format_omissions(cut, len(finding.chunks), following, [MAX_NUMBER for chunk in finding.chunks if often[chunk.id] > 1])


def _format_omissions(cut: Mapping[str, int], lost: int, following: tuple[str, int] | None, elsewhere: Sequence[int | None]) -> str:
    left = [f"{count} {name}" for name, count in cut.items()]
    if following is not None:
        left.append(f"{plural(lost, 'excerpt')}, the next in {truncate(following[0], 200)} from line {following[1]}")
    again = " Ask for less at a time." if left else ""
    if elsewhere:
        sources = ", ".join(map(str, elsewhere[:MOST_NAMED])) + (", …" if len(elsewhere) > MOST_NAMED else "")
        left.append(f"{plural(len(elsewhere), 'excerpt')} that another result shows as source {sources}")
    return f"Left out, because there is no room for them: {'; '.join(left)}.{again}" if left else ""
