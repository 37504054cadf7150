"""Keeps a fault in what only accompanies a turn from ending it: the fault is logged, the user is
told once, and the turn continues without that step.

What a turn cannot do without (the message itself, the model's call, the store's record of it) is
not guarded: its error ends the turn, which is stored as far as it got.
"""

import logging
import threading
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Literal

from zkchat_cli.errors import PromptTooLarge, ZkchatError
from zkchat_cli.events import Notice

_log = logging.getLogger(__name__)

AccompanyingStep = Literal[
    "external tools",
    "scan",
    "references",
    "document summaries",
    "model summaries",
    "passages",
    "learning points",
    "memory",
    "recall",
    "vectors",
    "earlier tools",
    "summary",
    "compaction",
    "calibration",
    "citations",
    "evidence",
    "sources",
    "related notes",
    "figures",
    "preparation",
]
"""What only accompanies a turn."""

_CONSEQUENCES: dict[AccompanyingStep, str] = {
    "external tools": "the tools of other programs are not offered",
    "scan": "the notes are searched as they were before",
    "references": "the message is sent without its documents",
    "document summaries": "documents are listed without a summary",
    "model summaries": "no model summarizes notes now, which keep their first lines",
    "passages": "the message is sent without passages of your notes",
    "learning points": "no learning points are kept of the message",
    "memory": "the prompt has no memory",
    "recall": "no earlier turns are recalled",
    "vectors": "earlier turns are found by their words only",
    "earlier tools": "the tools are chosen anew",
    "summary": "another kind of summary is used",
    "compaction": "the oldest turns may be left out of the prompt",
    "calibration": "token counts are not corrected",
    "citations": "the citations of the answer are not verified",
    "evidence": "no sentences of your notes are added to the answer",
    "sources": "the documents of the answer are not listed",
    "related notes": "no related notes are shown",
    "figures": "some figures of the turn are missing",
    "preparation": "the next message may take longer",
}


def _no_log() -> Path | None:
    return None


@dataclass(frozen=True, slots=True)
class _Containment:
    """A block that a fault ends; `report` gets the fault. Ctrl-C, a closed turn and what is
    `passing` pass.
    """

    report: Callable[[Exception], None]
    # The message itself does not fit, which the user has to know
    passing: tuple[type[Exception], ...] = (PromptTooLarge,)

    def __enter__(self) -> None:
        return

    def __exit__(self, _: object, fault: BaseException | None, __: object) -> bool:
        if not isinstance(fault, Exception) or isinstance(fault, self.passing):
            return False
        self.report(fault)
        return True


class FaultGuard:
    """The guard of one session's turns. `start_log` begins a log file and returns it, or None where
    nothing may be written.
    """

    def __init__(self, start_log: Callable[[], Path | None] = _no_log) -> None:
        self._start_log = start_log
        self._log_file: Path | None = None
        self._has_started = False
        self._told: set[AccompanyingStep] = set()
        self._notices: list[Notice] = []
        # Threads that prepare the next message have faults, too
        self._lock = threading.Lock()

    def contain(self, step: AccompanyingStep) -> "_Containment":
        """Run a block that belongs to this step; a fault ends the block and nothing else."""
        if step == "figures":
            # They are printed, perhaps for a reader that is gone, such as `head`
            return _Containment(partial(self._report, step), (BrokenPipeError,))
        return _Containment(partial(self._report, step))

    def describe_failure(self, fault: Exception) -> ZkchatError:
        """The error to tell the user when a fault has ended the turn."""
        if isinstance(fault, ZkchatError):
            return fault
        with self._lock:
            self._log("a turn", fault)
        hint = f"The message is stored. {self._advice()}"
        return ZkchatError(f"unexpected {type(fault).__name__}: {fault}", hint)

    def _report(self, step: AccompanyingStep, fault: Exception) -> None:
        """Log a fault, and tell the user if it is the first one of this step."""
        with self._lock:
            self._log(step, fault)
            if step not in self._told:
                self._told.add(step)
                self._notices.append(self._describe(step, fault))

    def _describe(self, step: AccompanyingStep, fault: Exception) -> Notice:
        consequence = _CONSEQUENCES[step]
        if isinstance(fault, ZkchatError):
            return Notice(f"{consequence}: {fault.message}", fault.hint)
        problem = f"{consequence}: unexpected {type(fault).__name__}: {fault}"
        return Notice(problem, f"The chat continues. {self._advice()}")

    def _log(self, failed: str, fault: Exception) -> None:
        if not self._has_started:
            self._has_started = True
            self._log_file = self._start_log()
        _log.error("%s failed: %s", failed, fault, exc_info=fault)

    def _advice(self) -> str:
        advice = "Please report this defect of zkchat"
        if self._log_file is None:
            return f"{advice}."
        return f"{advice}; {self._log_file} says where it is."

    def take_notices(self) -> list[Notice]:
        """What the user has not been told yet."""
        with self._lock:
            notices = self._notices
            self._notices = []
        return notices
