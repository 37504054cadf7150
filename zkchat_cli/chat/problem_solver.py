"""Works on a goal in several turns of one conversation, until the model says that it is reached.

Each step is an ordinary turn: it is stored, cited and checked as any other, and can be undone or
asked again. The model ends with the word DONE or FAIL; without either, the next step follows.
"""

import re
from collections.abc import Generator
from contextlib import closing
from typing import Any, Literal

from zkchat_cli.chat.session import ZkChatSession
from zkchat_cli.chat.user_input import UserInput
from zkchat_cli.events import Event, TurnCompleted
from zkchat_cli.markdown.plain_text import to_plain_text
from zkchat_cli.models.messages import TokenUsage, sum_usage
from zkchat_cli.models.reports import TurnReport
from zkchat_cli.text.truncate import truncate
from zkchat_cli.text.words import replace_surrogates

# Most characters of the goal that each further step repeats, and of what is searched for
MAX_REPEATED = 500
MAX_SEARCHED = 300
_INSTRUCTIONS = """\
The user wants a goal reached, in at most {limit} answers of yours. Make as much progress in each \
as you can. If the goal is reached, give the whole result, and end with a last line that says only \
DONE. If it cannot be reached, say why, and end with a last line that says only FAIL. Otherwise \
say what is still missing, and end without either word: you will be asked to continue."""
_LAST_WORD = re.compile(r"\b(DONE|FAIL)\W*(?:\[\d+\]\W*)*\Z")
_LAST_LINE = re.compile(r"^\W*(done|fail)\W*\Z", re.MULTILINE | re.IGNORECASE)

SolverOutcome = Literal["done", "failed", "unfinished", "answered"]
"""How the work on a goal ended: the model said DONE or FAIL, or neither in the last step.
"answered": the model cannot work in steps, and has answered once.
"""
_OUTCOMES: dict[str, SolverOutcome] = {"DONE": "done", "FAIL": "failed"}


class IterativeProblemSolver:
    """Runs the steps to a goal, at most `limit`: call `run_step` until there is an `outcome`."""

    def __init__(
        self, session: ZkChatSession, goal: str, limit: int, typed: str | None = None
    ) -> None:
        """Prepare the first step. If part of the goal came through a pipe, `typed` is the part
        that the user typed. Raises as `ZkChatSession.send` does.
        """
        self._session = session
        self.goal = replace_surrogates(goal)
        runtime, self._first, _ = session.runtimes.for_message(UserInput.parse(goal, typed))
        # Whether the model can judge if the goal is reached
        self.works_in_steps = runtime.model.works_in_steps
        self.model = runtime.model.name
        self.limit = limit if self.works_in_steps else 1
        self.steps: list[TurnReport] = []
        self.outcome: SolverOutcome | None = None

    @property
    def next_number(self) -> int:
        """The number of the next step, or of the one that is running, from 1."""
        return len(self.steps) + 1

    @property
    def usage(self) -> TokenUsage:
        """The tokens of all finished steps."""
        return sum_usage(step.usage for step in self.steps)

    def run_step(self) -> Generator[Event, None, None]:
        """Run the next step and yield the events of its turn. Closing the generator stops it; a
        step that was stopped or failed leaves the work without an outcome.
        """
        with closing(self._session.send_input(self._input())) as turn:
            for event in turn:
                if isinstance(event, TurnCompleted):
                    self.steps.append(event.report)
                    self.outcome = self._judge(event.report)
                yield event

    def _input(self) -> UserInput:
        """The message of the next step: first the goal as it was typed, then a request to
        continue, which names no documents a second time.
        """
        if not self.works_in_steps:
            return self._first
        instructions = _INSTRUCTIONS.format(limit=self.limit)
        if not self.steps:
            return self._first._replace(instructions=instructions)
        mention = self._first.mention
        goal = self.goal.partition(mention)[2].lstrip(" \t\n,:") if mention else self.goal
        repeated = truncate(to_plain_text(goal), MAX_REPEATED)
        text = f"Step {self.next_number} of {self.limit}. Continue towards the goal: {repeated}"
        return UserInput(
            f"{mention} {text}" if mention else text,
            typed="",
            mention=mention,
            learning_points=(),
            searched=missing_part(self.steps[-1].answer),
            instructions=instructions,
        )

    def _judge(self, report: TurnReport) -> SolverOutcome | None:
        """How the work ends with this step; None if it continues."""
        if not self.works_in_steps:
            return "answered"
        said = last_word(report.answer)
        if said is not None:
            return said
        return "unfinished" if len(self.steps) >= self.limit else None

    def to_json(self) -> dict[str, Any]:
        """The goal, how the work ended, and each step as `ask --json` prints it."""
        return {
            "goal": self.goal,
            "limit": self.limit,
            "outcome": self.outcome,
            "usage": self.usage.model_dump(mode="json"),
            "steps": [step.model_dump(mode="json") for step in self.steps],
        }


def missing_part(answer: str) -> str:
    """The last paragraph of an answer, which shall say what is still missing: where zkchat searches
    for the model, the next step needs passages about that.
    """
    paragraphs = [part for part in re.split(r"\n\s*\n", answer) if part.strip()]
    return truncate(to_plain_text(paragraphs[-1]), MAX_SEARCHED) if paragraphs else ""


def last_word(answer: str) -> SolverOutcome | None:
    """What an answer says about its goal: it ends with DONE or FAIL in capitals, or its last line
    is only that word, whatever marks are around it.
    """
    text = answer.rstrip()
    found = _LAST_WORD.search(text) or _LAST_LINE.search(text)
    return _OUTCOMES[found[1].upper()] if found else None
