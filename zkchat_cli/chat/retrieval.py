"""How a turn gets passages of the notes: the model searches with tools, or zkchat searches before the model is called.

`choose_retrieval` decides by the setting, the model and its window; `Retriever` also looks at what the model did in the conversation so
far, and finds the passages.
"""

from collections.abc import Sequence
from itertools import islice
from typing import TYPE_CHECKING, Literal

from zkchat_cli.chat.runtime import Runtime, SessionServices
from zkchat_cli.chat.state import ConversationState
from zkchat_cli.errors import VaultError
from zkchat_cli.llm.base import Model
from zkchat_cli.models import ContentChunk, PromptMessage, Retrieval, RetrievalMode, ZkChatMessage
from zkchat_cli.references.chunk_format import rank_chunks
from zkchat_cli.tools.base import Tool

if TYPE_CHECKING:
    from zkchat_cli.llm.offline.question import AnalyzedQuestion

SMALL_WINDOW = 16_384
"""Tokens of a window up to which a model counts as small, and passages are found before the question: tools would fill it."""
FIRST_ANSWERS = 2
"""Answers without a tool call after which a model counts as one that calls none."""
MOST_PASSAGES = 10
"""Results of a search, as in the offline provider."""
EARLIER_QUESTIONS = 5
"""Questions in which the subject of a follow-up is looked for."""


def choose_retrieval(
    wanted: RetrievalMode | Literal["auto"], model: Model, tools: Sequence[Tool], window: int, problem: str = ""
) -> Retrieval:
    """The mode for a value of `retrieval.mode`, and the reason. `problem` says why the model's tool calls are of no use."""
    if model.name == "offline":
        return Retrieval(mode="tools", reason="the offline provider searches by itself")
    if wanted != "auto":
        if tools or wanted == "before":
            return Retrieval(mode=wanted, reason="retrieval.mode")
        return Retrieval(mode="before" if wanted == "both" else "none", reason=f"retrieval.mode = {wanted}, without any tools")
    if not tools:
        return Retrieval(mode="none", reason="this agent has no tools")
    if model.calls_tools is False:
        return Retrieval(mode="before", reason=f"{model.name} cannot call tools, as {model.known_from} says")
    if problem:
        return Retrieval(mode="before", reason=problem)
    if window <= SMALL_WINDOW:
        writes = any(tool.writes for tool in tools)
        return Retrieval(mode="both" if writes else "before", reason=f"a window of {window:,} tokens is too small for tools alone")
    return Retrieval(mode="tools", reason=f"the model can call tools, in a window of {window:,} tokens")


class Retriever:
    def __init__(self, services: SessionServices, state: ConversationState) -> None:
        self._vault, self._state = services.vault, state
        self._judged: dict[str, tuple[int, tuple[ZkChatMessage, ...] | None, int, str | None]] = {}
        """By model: how many exchanges were judged, the last of them, the answers without a call, and the verdict if that is known."""

    def warm_up(self) -> None:
        """Load in advance what the first search for a question needs."""
        self._analyze("…", follows=False)

    def with_retrieval(self, runtime: Runtime, wanted: RetrievalMode | None = None) -> Runtime:
        """The runtime with the mode of its next turn: `wanted`, or what the settings say."""
        setting = wanted or runtime.settings.retrieval.mode
        problem = self._tool_problem(runtime) if setting == "auto" else ""
        return runtime.with_retrieval(choose_retrieval(setting, runtime.model, runtime.tools, runtime.window.tokens, problem))

    def _tool_problem(self, runtime: Runtime) -> str:
        """Why the model's tool calls are of no use, by its first answers in this conversation; empty if they are, or nothing shows it."""
        name, exchanges = runtime.model.name, self._state.exchanges
        count, last, without, problem = self._judged.get(name, (0, None, 0, None))
        if exchanges[count - 1 : count] != (last,):  # another branch, or nothing was judged yet
            count, without, problem = 0, 0, None
        while problem is None and count < len(exchanges):
            messages = last = exchanges[count]
            count += 1
            question, answer = messages[0], messages[-1]
            if question.retrieval != "tools" or answer.model != name:
                continue
            if calls := [call for message in messages for call in message.tool_calls]:
                unreadable = all(call.malformed is not None for call in calls)
                problem = f"{name} called tools with unreadable arguments" if unreadable else ""
            elif not question.chunks and self.search(question.prompt_text, follows=False):  # it needed a call
                without += 1
            if without == FIRST_ANSWERS:
                problem = f"{name} called no tool in its first {FIRST_ANSWERS} answers"
        self._judged[name] = count, last, without, problem
        return problem or ""

    def search(self, text: str, *, follows: bool = True, about_named: bool = False) -> list[ContentChunk]:
        """The passages for a question, best first; of a follow-up also by the words of the question before it. None for small talk, for a
        question about documents as a whole that it names (`about_named`), or if the vault is gone."""
        question = self._analyze(text, follows=follows)
        if question is None or (about_named and question.about_document):
            return []
        try:
            found = [self._vault.search(query, MOST_PASSAGES) for query in question.searches]
        except VaultError:  # the scan before has reported it
            return []
        return list({found[call][rank].id: found[call][rank] for call, rank in rank_chunks(found)}.values())

    def _analyze(self, text: str, *, follows: bool) -> "AnalyzedQuestion | None":
        """What a question asks for, of a follow-up with what was asked before; None for small talk."""
        # only a turn that searches needs this, and it would delay the start
        from zkchat_cli.llm.offline.question import analyze_question, reply_to_small_talk

        if reply_to_small_talk(text, (), ()) is not None:
            return None
        questions = (message for message in reversed(self._state.history) if message.role == "user")
        earlier = [*islice(questions, EARLIER_QUESTIONS)][::-1] if follows else []
        asked = [*((message.id, message.prompt_text) for message in earlier), ("", text)]
        messages = [PromptMessage(role="user", content=content, tokens=0, kind="conversation", source_ids=(id_,)) for id_, content in asked]
        return analyze_question(messages, len(messages) - 1)
