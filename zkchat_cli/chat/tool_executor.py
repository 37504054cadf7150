"""Runs tool calls: finds the tool, fits findings into a number of tokens, and numbers their chunks.

A failure is a result too: a mistake of the model comes back to it as a short error that it can
correct. `ToolCallRunner` knows the turn: what is left of its window, and who approves a call.
"""

import logging
from bisect import bisect_right
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from zkchat_cli.errors import VaultError
from zkchat_cli.memory.memory import Memory
from zkchat_cli.models.messages import ToolCall, ToolRun
from zkchat_cli.models.notes import ContentChunk
from zkchat_cli.references.chunk_budget import NO_ROOM, reduce_to_fit, share_evenly
from zkchat_cli.references.excerpts import Count, format_tool_result
from zkchat_cli.references.manager import ReferenceManager, ToolCallResponse
from zkchat_cli.text.numbers import plural
from zkchat_cli.text.truncate import truncate
from zkchat_cli.tokens.counter import TokenCounter
from zkchat_cli.tools.base import Tool, ToolArgumentError, ToolOutput
from zkchat_cli.vault.edit.approval import Decision
from zkchat_cli.vault.vault import Vault

# Characters of replaced text that are shown to the model: if it had not read the text, it now sees
# what it removed
MAX_OUTCOME = 80
# Tokens of the note that says what a result leaves out, without the path in it
OMISSION_TOKENS = 55
# Most characters in an error of a path, a tool's name, arguments or an exception
MAX_PATH = 200
MAX_NAME = 60
MAX_SHOWN = 120
_log = logging.getLogger(__name__)


class ToolResult(NamedTuple):
    """What the model reads (`content`), and the numbered chunks that it can cite."""

    content: str
    chunks: tuple[ContentChunk, ...]
    run: ToolRun


class ToolOutcome(NamedTuple):
    """The finding of a call, or its error when `ok` is False."""

    call: ToolCall
    finding: ToolOutput
    ok: bool
    duration_ms: float = 0.0
    # Whether the call has changed notes
    changed: bool = False


def _error(reason: str) -> ToolOutput:
    return ToolOutput(data={"error": reason})


def refuse_call(call: ToolCall, reason: str) -> ToolOutcome:
    """The outcome of a call that is not run."""
    return ToolOutcome(call, _error(reason), ok=False)


@dataclass(frozen=True, slots=True)
class ToolExecutor:
    """Runs the calls of one reply with these tools."""

    tools: tuple[Tool, ...]
    vault: Vault
    references: ReferenceManager
    counter: TokenCounter
    clock: Callable[[], float]
    memory: Memory | None = None

    def run_call(self, call: ToolCall) -> ToolOutcome:
        """Run a call. It never raises: a failure is an outcome too."""
        start = self.clock()
        try:
            finding = self._find_tool(call).call(call.arguments, self.vault, self.memory)
            ok = True
        except ToolArgumentError as e:
            finding = _error(str(e))
            ok = False
        except Exception as e:  # noqa: BLE001
            # A defect of a tool: the model is told, and may do without it
            _log.exception("%s failed", call.name)
            cause = truncate(f"{type(e).__name__}: {e}", MAX_SHOWN)
            finding = _error(f"{call.name} failed: {cause}")
            ok = False
        return ToolOutcome(call, finding, ok, 1000 * (self.clock() - start))

    def apply_decision(self, outcome: ToolOutcome, decision: Decision, turn: str) -> ToolOutcome:
        """Make the change that a call proposes, or the part of it that the user took, or tell the
        model that it was refused.
        """
        change = outcome.finding.change
        assert change is not None
        if not decision.allowed:
            refused = ToolOutput(data={"error": decision.reason, "change": change.summary})
            return outcome._replace(finding=refused, ok=False)
        try:
            self.vault.editor.apply(decision.change_to_make(change), turn)
        except VaultError as e:
            return outcome._replace(finding=_error(f"{e.message}. {e.hint}".strip()), ok=False)
        told = f"done: {decision.told}" if decision.told else "done"
        data = {"done": change.summary, **decision.report}
        done = ToolOutput(data=data, note=change.note, outcome=told)
        return outcome._replace(finding=done, changed=True)

    def results(self, outcomes: Sequence[ToolOutcome], room: int) -> tuple[ToolResult, ...]:
        """The results of one reply's calls, together in about `room` tokens. A note says what was
        left out.
        """
        findings = [outcome.finding for outcome in outcomes]
        fitted = _fit_findings(findings, room, self.counter.count)
        responses: list[ToolCallResponse] = []
        for outcome, part in zip(outcomes, fitted, strict=True):
            call = outcome.call
            responses.append(ToolCallResponse(call.id, call.name, part.chunks))
        extracted = self.references.extract_referenceable_chunks(responses)
        shown: set[str] = set()
        for found in extracted:
            shown.update(chunk.id for chunk in found.chunks)
        results: list[ToolResult] = []
        for outcome, part, found in zip(outcomes, fitted, extracted, strict=True):
            notes = (outcome.finding.note, _omission_note(outcome.finding, part, shown))
            content = format_tool_result(found.chunks, part.data, " ".join(filter(None, notes)))
            results.append(ToolResult(content, found.chunks, self._make_run(outcome, content)))
        return tuple(results)

    def _make_run(self, outcome: ToolOutcome, content: str) -> ToolRun:
        """A call as the log and the screen show it, with the tokens of its result."""
        finding = outcome.finding
        told = finding.outcome if outcome.ok else str(finding.data["error"])
        return ToolRun(
            name=outcome.call.name,
            arguments=outcome.call.arguments,
            ok=outcome.ok,
            tokens=self.counter.count(content),
            duration_ms=round(outcome.duration_ms, 2),
            outcome=truncate(told, MAX_OUTCOME),
        )

    def _find_tool(self, call: ToolCall) -> Tool:
        """The tool of this call.

        Raises ToolArgumentError, also for arguments that could not be read.
        """
        name = truncate(call.name, MAX_NAME)
        found = next((tool for tool in self.tools if tool.name == call.name), None)
        if found is None:
            names = ", ".join(tool.name for tool in self.tools)
            offered = f"the tools are {names}" if names else "no tools are offered"
            raise ToolArgumentError(f"unknown tool {name}; {offered}")
        if call.malformed is not None:
            shown = truncate(call.malformed, MAX_SHOWN)
            raise ToolArgumentError(
                f"the arguments of {name} are not a JSON object: {shown!r}. Call it again "
                "with correct JSON"
            )
        return found


def _fit_findings(
    findings: Sequence[ToolOutput], room: int, count: Count
) -> tuple[ToolOutput, ...]:
    """The part of one reply's findings that fits into about `room` tokens.

    Lists take at most half of it if there are chunks too; the most relevant chunks take the rest.
    """
    calls = tuple(finding.chunks for finding in findings)
    sizes = [count(format_tool_result((), finding.data, finding.note)) for finding in findings]
    size = sum(sizes)
    if size <= room and reduce_to_fit(calls, room - size, count) == calls:
        return tuple(findings)
    room -= sum(_omission_tokens(finding, count) for finding in findings)
    for_data = max(0, min(size, room // 2 if any(calls) else room))
    shares = share_evenly(sizes, for_data, [0] * len(sizes))
    fitted_chunks = reduce_to_fit(calls, room - for_data, count)
    fitted: list[ToolOutput] = []
    for finding, chunks, share in zip(findings, fitted_chunks, shares, strict=True):
        data = _shorten_lists(finding, share, count)
        fitted.append(finding._replace(chunks=chunks, data=data))
    return tuple(fitted)


def _omission_tokens(finding: ToolOutput, count: Count) -> int:
    """Tokens of a note about left-out parts that names one of the finding's paths."""
    paths = {truncate(chunk.relative_path, MAX_PATH) for chunk in finding.chunks}
    return OMISSION_TOKENS + max(map(count, paths), default=0)


def _shorten_lists(finding: ToolOutput, share: int, count: Count) -> Mapping[str, object]:
    """The data of a finding, with lists shortened one after the other until it has at most `share`
    tokens.
    """

    def size(data: Mapping[str, object]) -> int:
        return count(format_tool_result((), data, finding.note))

    data = finding.data
    for name, value in finding.data.items():
        if isinstance(value, list) and size(data) > share:
            shorter = [{**data, name: value[: n + 1]} for n in range(len(value))]
            items = bisect_right(shorter, share, key=size)
            data = {**data, name: value[:items]}
    return data


def _omission_note(whole: ToolOutput, fitted: ToolOutput, shown: Collection[str]) -> str:
    """A note that says what was left out of a finding, and how to get it.

    `shown` are the chunks in all results of the reply, by id.
    """
    left: list[str] = []
    for name, value in whole.data.items():
        if not isinstance(value, list):
            continue
        rest = fitted.data[name]
        if isinstance(rest, list) and len(rest) < len(value):
            left.append(f"{len(value) - len(rest)} {name}")
    # The first chunk may be present under another id, as a truncated text
    others = whole.chunks[1:] if fitted.chunks else whole.chunks
    lost = [chunk for chunk in others if chunk.id not in shown]
    if lost:
        path = truncate(lost[0].relative_path, MAX_PATH)
        following = f"the next in {path} from line {lost[0].start_line}"
        left.append(f"{plural(len(lost), 'excerpt')}, {following}")
    if not left:
        return ""
    return f"{NO_ROOM}: {'; '.join(left)}. Ask for less at a time."
