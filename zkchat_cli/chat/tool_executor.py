"""Runs the tool calls of a reply: finds the tools, fits their findings into a number of tokens, and numbers the chunks.

A failure is a result too: a mistake of the model comes back to it as a short error that it can correct.
"""

import logging
from bisect import bisect_right
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

from zkchat_cli.errors import VaultError
from zkchat_cli.memory.memory import Memory
from zkchat_cli.models import ContentChunk, ToolCall, ToolRun
from zkchat_cli.references.chunk_format import NO_ROOM, Count, format_tool_result, reduce_to_fit, share_evenly
from zkchat_cli.references.manager import ReferenceManager
from zkchat_cli.text.numbers import plural
from zkchat_cli.text.truncate import truncate
from zkchat_cli.tokens.counter import TokenCounter
from zkchat_cli.tools import load_tools
from zkchat_cli.tools.base import Tool, ToolArgumentError, ToolOutput
from zkchat_cli.vault.approval import Decision
from zkchat_cli.vault.vault import Vault

MAX_OUTCOME = 80
"""Characters of a replaced text that the model gets back: if it had not read it, it sees now what it removed."""
OMISSION_TOKENS, MAX_PATH = 55, 200
"""For the note about what is left out of a result, without the path in it, and characters of that."""
_log = logging.getLogger(__name__)


class ToolResult(NamedTuple):
    """`content` is what the model reads; `chunks` are numbered and can be cited."""

    content: str
    chunks: tuple[ContentChunk, ...]
    run: ToolRun


class ToolOutcome(NamedTuple):
    """The finding of a call, or its error when `ok` is False."""

    call: ToolCall
    finding: ToolOutput
    ok: bool
    duration_ms: float
    changed: bool = False
    """Whether it has changed notes."""


def refuse_call(call: ToolCall, reason: str) -> ToolOutcome:
    """The outcome of a call that is not run."""
    return ToolOutcome(call, ToolOutput(data={"error": reason}), False, 0.0)


@dataclass(frozen=True, slots=True)
class ToolExecutor:
    tools: tuple[Tool, ...]
    vault: Vault
    references: ReferenceManager
    counter: TokenCounter
    clock: Callable[[], float]
    memory: Memory | None = None

    def run_call(self, call: ToolCall) -> ToolOutcome:
        start = self.clock()
        try:
            finding, ok = self._find_tool(call.name).call(_read_arguments(call), self.vault, self.memory), True
        except ToolArgumentError as e:
            finding, ok = ToolOutput(data={"error": str(e)}), False
        except Exception as e:  # a defect of a tool: the model is told, and may do without it  # noqa: BLE001
            _log.exception("%s failed", call.name)
            finding, ok = ToolOutput(data={"error": f"{call.name} failed: {truncate(f'{type(e).__name__}: {e}', 120)}"}), False
        return ToolOutcome(call, finding, ok, 1000 * (self.clock() - start))

    def apply_decision(self, outcome: ToolOutcome, decision: Decision) -> ToolOutcome:
        """Make the change that a call proposes, or tell the model that it was refused."""
        change = outcome.finding.change
        assert change is not None
        start = self.clock()
        if not decision.allowed:
            return outcome._replace(finding=ToolOutput(data={"error": decision.reason, "change": change.summary}), ok=False)
        try:
            self.vault.editor.apply(change)
        except VaultError as e:
            return outcome._replace(finding=ToolOutput(data={"error": f"{e.message}. {e.hint}".strip()}), ok=False)
        duration = outcome.duration_ms + 1000 * (self.clock() - start)
        finding = ToolOutput(data={"done": change.summary}, note=change.note, outcome="done")
        return outcome._replace(finding=finding, duration_ms=duration, changed=True)

    def count_tokens(self, outcomes: Sequence[ToolOutcome]) -> int:
        """Tokens of the complete results."""
        return sum(self.counter.count(format_tool_result(f.chunks, f.data, f.note)) for f in (each.finding for each in outcomes))

    def results(self, outcomes: Sequence[ToolOutcome], room: int) -> tuple[ToolResult, ...]:
        """The results of one reply's calls, in about `room` tokens together; a note says what was left out."""
        findings = [each.finding for each in outcomes]
        fitted = fit_findings(findings, room, self.counter.count)
        chunks = [self.references.extract_referenceable_chunks(its.chunks) for its in fitted]
        shown = {chunk.id for numbered in chunks for chunk in numbered}
        pairs = zip(findings, fitted, strict=True)
        notes = [" ".join(filter(None, (whole.note, _omission_note(whole, its, shown)))) for whole, its in pairs]
        return tuple(
            self._result(outcome, format_tool_result(numbered, its.data, note), numbered)
            for outcome, its, numbered, note in zip(outcomes, fitted, chunks, notes, strict=True)
        )

    def _result(self, outcome: ToolOutcome, content: str, chunks: tuple[ContentChunk, ...]) -> ToolResult:
        run = ToolRun(
            name=outcome.call.name,
            arguments=outcome.call.arguments,
            ok=outcome.ok,
            tokens=self.counter.count(content),
            duration_ms=round(outcome.duration_ms, 2),
            outcome=truncate(outcome.finding.outcome if outcome.ok else str(outcome.finding.data["error"]), MAX_OUTCOME),
        )
        return ToolResult(content, chunks, run)

    def is_external(self, name: str) -> bool:
        """Whether a tool belongs to another program."""
        return any(tool.name == name and tool.schema is not None for tool in self.tools)

    def _find_tool(self, name: str) -> Tool:
        for tool in self.tools:
            if tool.name == name:
                return tool
        if not any(tool.writes for tool in self.tools) and any(tool.writes and tool.name == name for tool in load_tools(unsafe=True)):
            raise ToolArgumentError(
                f"{name} changes notes and needs --unsafe: it cannot be called here. Tell the user what you would change"
            )
        names = ", ".join(tool.name for tool in self.tools)
        raise ToolArgumentError(f"unknown tool {truncate(name, 60)}; {f'the tools are {names}' if names else 'no tools are offered'}")


def _read_arguments(call: ToolCall) -> Mapping[str, Any]:
    """Raises ToolArgumentError for arguments that could not be read."""
    if call.malformed is not None:
        shown = truncate(call.malformed, 120)
        raise ToolArgumentError(
            f"the arguments of {truncate(call.name, 60)} are not a JSON object: {shown!r}. Call it again with correct JSON"
        )
    return call.arguments


def fit_findings(findings: Sequence[ToolOutput], room: int, count: Count) -> tuple[ToolOutput, ...]:
    """The part of one reply's findings that fits into about `room` tokens: lists, in at most half of it if there are chunks too, and the
    most relevant chunks in the rest."""
    calls = tuple(finding.chunks for finding in findings)
    sizes = [count(format_tool_result((), finding.data, finding.note)) for finding in findings]
    if reduce_to_fit(calls, room - sum(sizes), count) == calls and sum(sizes) <= room:
        return tuple(findings)
    paths = [{truncate(chunk.relative_path, MAX_PATH) for chunk in finding.chunks} for finding in findings]
    room -= sum(OMISSION_TOKENS + max(map(count, its), default=0) for its in paths)
    for_data = max(0, min(sum(sizes), room // 2 if any(calls) else room))
    shares = share_evenly(sizes, for_data, [0] * len(sizes))
    kept = reduce_to_fit(calls, room - for_data, count)
    return tuple(_truncate_finding(*each, count) for each in zip(findings, kept, shares, strict=True))


def _truncate_finding(finding: ToolOutput, kept: tuple[ContentChunk, ...], room: int, count: Count) -> ToolOutput:
    """The finding with these chunks, the first perhaps cut, and with its lists cut so that its data takes at most `room` tokens."""
    data = finding.data
    for name, value in finding.data.items():
        if isinstance(value, list) and count(format_tool_result((), data, finding.note)) > room:
            shorter = [{**data, name: value[: n + 1]} for n in range(len(value))]
            items = bisect_right(shorter, room, key=lambda each: count(format_tool_result((), each, finding.note)))
            data = {**data, name: value[:items]}
    return finding._replace(chunks=kept, data=data)


def _omission_note(whole: ToolOutput, fitted: ToolOutput, shown: Collection[str]) -> str:
    """What was left out of a finding, and how to get it. `shown` are the chunks in all results of the reply, by id."""
    lists = [(name, value, fitted.data[name]) for name, value in whole.data.items() if isinstance(value, list)]
    left = [f"{len(value) - len(rest)} {name}" for name, value, rest in lists if isinstance(rest, list) and len(rest) < len(value)]
    lost = [chunk for chunk in whole.chunks[1 if fitted.chunks else 0 :] if chunk.id not in shown]
    if lost:
        following = f"the next in {truncate(lost[0].relative_path, MAX_PATH)} from line {lost[0].start_line}"
        left.append(f"{plural(len(lost), 'excerpt')}, {following}")
    return f"{NO_ROOM}: {'; '.join(left)}. Ask for less at a time." if left else ""
