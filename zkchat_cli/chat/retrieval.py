"""Decides who searches the notes in a turn: the model with tools, zkchat before the model is
called, or both. What decides is the setting, the model, its window, and its first answers.
"""

from collections.abc import Iterator, Sequence
from itertools import islice
from typing import Literal

from zkchat_cli.chat.passage_search import PassageSearch
from zkchat_cli.chat.runtime import Runtime
from zkchat_cli.chat.state import ConversationState
from zkchat_cli.llm.base import Model
from zkchat_cli.models.messages import RetrievalMode, ToolCall, ZkChatMessage
from zkchat_cli.models.prompts import Retrieval
from zkchat_cli.tools.base import Tool

SMALL_WINDOW = 16_384
"""Largest window, in tokens, of a small model. zkchat searches for it before the question, because
tools would fill its window.
"""
# Answers without any tool call after which zkchat assumes that the model calls none
FIRST_ANSWERS = 2
# Answers of a model that are considered for that
MOST_JUDGED = 10


def choose_retrieval(
    wanted: RetrievalMode | Literal["auto"],
    model: Model,
    tools: Sequence[Tool],
    window: int,
    problem: str = "",
) -> Retrieval:
    """The mode for a value of `retrieval.mode`, and the reason.

    `problem` says why the model's tool calls are useless.
    """
    if model.searches_itself:
        return Retrieval(mode="tools", reason=f"the {model.name} provider searches by itself")
    if wanted != "auto":
        return _wanted_retrieval(wanted, has_tools=bool(tools))
    if not tools:
        return Retrieval(mode="none", reason="this agent has no tools")
    if model.calls_tools is False:
        problem = f"{model.name} cannot call tools, as {model.known_from} says"
    if problem:
        return Retrieval(mode="before", reason=problem)
    if window <= SMALL_WINDOW:
        writes = any(tool.writes for tool in tools)
        reason = f"a window of {window:,} tokens is too small for tools alone"
        return Retrieval(mode="both" if writes else "before", reason=reason)
    reason = f"the model can call tools, in a window of {window:,} tokens"
    return Retrieval(mode="tools", reason=reason)


def _wanted_retrieval(wanted: RetrievalMode, *, has_tools: bool) -> Retrieval:
    """The mode that the settings want, if it is possible."""
    if has_tools or wanted == "before":
        return Retrieval(mode=wanted, reason="retrieval.mode")
    reason = f"retrieval.mode = {wanted}, without any tools"
    return Retrieval(mode="before" if wanted == "both" else "none", reason=reason)


class RetrievalPolicy:
    """Chooses the mode of retrieval for each turn of one conversation."""

    def __init__(self, state: ConversationState, search: PassageSearch) -> None:
        self._state = state
        self._search = search
        # Whether the notes have passages for a question, by the question's id
        self._found: dict[str, bool] = {}

    def apply(self, runtime: Runtime, wanted: RetrievalMode | None = None) -> Runtime:
        """The runtime with the mode of its next turn: `wanted`, or else the mode of the
        settings.
        """
        setting = wanted or runtime.settings.retrieval.mode
        problem = self._tool_problem(runtime) if setting == "auto" else ""
        window = runtime.window.tokens
        return runtime.with_retrieval(
            choose_retrieval(setting, runtime.model, runtime.tools, window, problem)
        )

    def _tool_problem(self, runtime: Runtime) -> str:
        """Why the model's tool calls are useless, judged by its first answers in this conversation.

        Empty if they are useful or if nothing is known yet.
        """
        name = runtime.model.name
        without = 0
        for question, *answer in islice(self._answered_by(name), MOST_JUDGED):
            calls: list[ToolCall] = []
            for message in answer:
                calls += message.tool_calls
            if calls:
                return _call_problem(name, calls)
            if self._needed_search(question):
                without += 1
            if without == FIRST_ANSWERS:
                return f"{name} called no tool in its first {FIRST_ANSWERS} answers"
        return ""

    def _answered_by(self, model: str) -> Iterator[Sequence[ZkChatMessage]]:
        """The turns in which this model should have searched with tools."""
        for messages in self._state.exchanges:
            if messages[0].retrieval == "tools" and messages[-1].model == model:
                yield messages

    def _needed_search(self, question: ZkChatMessage) -> bool:
        """Whether only a search finds what the notes have for a question."""
        found = self._found.get(question.id)
        if found is None:
            found = not question.chunks and bool(
                self._search.find(question.prompt_text, follows=False)
            )
            self._found[question.id] = found
        return found


def _call_problem(model: str, calls: Sequence[ToolCall]) -> str:
    """Why these calls are useless; empty if one of them can be read."""
    if all(call.malformed is not None for call in calls):
        return f"{model} called tools with unreadable arguments"
    return ""
