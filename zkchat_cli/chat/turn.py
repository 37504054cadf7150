"""A turn while it runs (its runtime, its messages so far, its cost, its time by phase), and what
stores it.
"""

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from zkchat_cli.chat.runtime import Runtime
from zkchat_cli.chat.state import ConversationState
from zkchat_cli.context.turns import count_call_tokens
from zkchat_cli.errors import StoreError
from zkchat_cli.events import Notice
from zkchat_cli.models.compaction import Compaction
from zkchat_cli.models.messages import (
    ThinkingBlocks,
    Timings,
    TokenUsage,
    ToolCall,
    ToolRun,
    ZkChatMessage,
    sum_usage,
)
from zkchat_cli.models.notes import ContentChunk
from zkchat_cli.models.prompts import Calibration, Prompt, SentPrompt
from zkchat_cli.models.reports import AnswerLevel
from zkchat_cli.store.chat_session_store import ChatSessionStore
from zkchat_cli.text.numbers import plural
from zkchat_cli.text.truncate import truncate
from zkchat_cli.text.words import replace_surrogates
from zkchat_cli.tokens.counter import CountedPrompt

# Levels of JSON accepted from a model: the store and servers read few more, and no tool's arguments
# have more than one
MAX_JSON_DEPTH = 50


@dataclass
class PhaseTimer:
    """Seconds by phase, counted only while zkchat works: what a consumer does between two events
    does not count.
    """

    clock: Callable[[], float]
    seconds: Timings = field(
        default_factory=lambda: dict.fromkeys(("prepare", "model", "tools", "store"), 0.0)
    )

    @contextmanager
    def __call__(self, phase: str) -> Iterator[None]:
        start = self.clock()
        try:
            yield
        finally:
            self.seconds[phase] += self.clock() - start

    def timings(self) -> Timings:
        ms = {phase: round(1000 * seconds, 2) for phase, seconds in self.seconds.items()}
        return {**ms, "overhead": round(ms["prepare"] + ms["store"], 2)}


class CompletedTurn(NamedTuple):
    user: ZkChatMessage
    answer: Sequence[ZkChatMessage]
    sent: Sequence[SentPrompt]
    calibrations: Mapping[str, Calibration]
    facts: Sequence[str]


@dataclass
class TurnInProgress:
    """The messages so far (the user's first) and the text of the answer being streamed. The runtime
    is replaced when the turn learns how the model counts, or how large its window really is.
    """

    runtime: Runtime
    timer: PhaseTimer
    messages: list[ZkChatMessage] = field(default_factory=list)
    shortened: dict[str, ZkChatMessage] = field(default_factory=dict)
    """Earlier tool results of this turn as they are sent now, without their middles, by id."""
    text: str = ""
    reasoning: str = ""
    thinking: ThinkingBlocks | None = None
    usage: TokenUsage = field(default_factory=lambda: sum_usage(()))
    level: AnswerLevel | None = None
    # Why the model gets no more tools in this turn
    no_more_tools: str = ""
    prompt: Prompt | None = None
    compaction: Compaction | None = None
    # How the model counts, as far as that is known
    calibration: Calibration = field(default_factory=Calibration)
    # The prompt of the last call with reported usage
    counted: CountedPrompt | None = None
    sent: list[SentPrompt] = field(default_factory=list)
    """The prompts of its model calls so far, without those that the server refused and that were
    made anew.
    """
    # Whether it has been added to the history; that happens once
    closed: bool = False

    @property
    def user(self) -> ZkChatMessage:
        return self.messages[0]

    @property
    def sent_messages(self) -> tuple[ZkChatMessage, ...]:
        """The messages as the next prompt has them."""
        return tuple(self.shortened.get(message.id, message) for message in self.messages)

    @property
    def chunks(self) -> list[ContentChunk]:
        """All chunks that the user's message and the tools brought into this turn, in order."""
        return [chunk for message in self.messages for chunk in message.chunks]

    @property
    def memory_sent(self) -> tuple[str, ...]:
        """What memory the model got: paths, and `fact:KEY` or `agent:NAME`."""
        messages = (m for sent in self.sent for m in sent.prompt.messages if m.kind == "memory")
        return tuple(dict.fromkeys(source for message in messages for source in message.source_ids))

    @property
    def runs(self) -> tuple[ToolRun, ...]:
        return tuple(message.tool_run for message in self.messages if message.tool_run is not None)

    def add_usage(
        self, reported: TokenUsage | None, prompt: Prompt, calls: tuple[ToolCall, ...]
    ) -> None:
        """Add the cost of a model call, as reported by the provider or else as counted by
        zkchat.
        """
        self.sent[-1] = self.sent[-1].model_copy(update={"usage": reported})
        counter = self.runtime.counter
        written = (
            counter.count(self.text)
            + counter.count(self.reasoning)
            + count_call_tokens(calls, counter)
        )
        call = reported or TokenUsage(
            prompt_tokens=prompt.usage.total_tokens, completion_tokens=written, estimated=True
        )
        self.usage = sum_usage((self.usage, call))


def storable_thinking(thinking: ThinkingBlocks) -> ThinkingBlocks | None:
    """Reasoning as the store holds it and as it is sent back; None when it cannot be stored."""
    blocks = _storable_json([*thinking.blocks])
    return None if blocks is None else thinking.model_copy(update={"blocks": tuple(blocks)})


def without_unstored_thinking(message: ZkChatMessage) -> ZkChatMessage:
    """A message without the reasoning that is of no use after its turn."""
    if message.thinking is None or message.thinking.stored:
        return message
    return message.model_copy(update={"thinking": None})


def storable_call(call: ToolCall, id_: str) -> ToolCall:
    """A model's tool call under another id, without text that cannot be stored."""
    arguments = _storable_json(call.arguments)
    malformed = (
        "nested too deeply"
        if arguments is None
        else call.malformed and replace_surrogates(call.malformed)
    )
    return ToolCall(
        id=id_, name=replace_surrogates(call.name), arguments=arguments or {}, malformed=malformed
    )


def _storable_json(value: Any) -> Any:
    """The value without what Python reads and JSON does not have ("NaN", "Infinity", lone
    surrogates): no provider would accept it. None if it is nested too deeply.
    """
    if _is_deeper(value, MAX_JSON_DEPTH):
        return None
    return json.loads(
        replace_surrogates(json.dumps(value, ensure_ascii=False)), parse_constant=lambda _: None
    )


def _is_deeper(value: object, levels: int) -> bool:
    inner = (
        value.values() if isinstance(value, dict) else value if isinstance(value, list) else None
    )
    return inner is not None and (
        levels == 0 or any(_is_deeper(each, levels - 1) for each in inner)
    )


TITLE_LENGTH = 60


def default_title(question: str) -> str:
    """The title of a conversation that nobody has named."""
    return truncate(question, TITLE_LENGTH)


class TurnRecorder:
    def __init__(
        self, store: ChatSessionStore, state: ConversationState, now: Callable[[], str]
    ) -> None:
        self._store = store
        self._state = state
        self._now = now
        self._pending_turns: list[CompletedTurn] = []
        self._pending_questions: set[str] = set()
        # Why nothing is stored for now, as reported
        self.problem: StoreError | None = None

    @property
    def unstored(self) -> tuple[ZkChatMessage, ...]:
        """The messages of the turns that could not be stored when they ended."""
        return tuple(
            message for turn in self._pending_turns for message in (turn.user, *turn.answer)
        )

    def begin(self, question: ZkChatMessage) -> list[Notice]:
        """Store the question of a turn that begins. Returns what to tell the user: a problem stops
        nothing.
        """
        self._pending_questions.add(question.id)
        known = (None, self._state.head, *self._state.undo_stack)
        self._state.undo_stack = []
        try:
            self._state.store_conversation()
            self.store_pending()
            head = self._store_question(question)
        except StoreError as e:
            return self.report(e)
        if head in known:
            return self.report()
        other = "another program has continued this conversation; yours is another branch"
        return [Notice(other, "/branches lists both; nothing is lost."), *self.report()]

    def commit(self, turn: CompletedTurn) -> list[Notice]:
        """Store a finished turn in one transaction, after those that could not be stored before.
        Returns what to tell the user.
        """
        try:
            self.store_pending(turn)
        except StoreError as e:
            return self.report(e)
        return self.report()

    def store_pending(self, *finished: CompletedTurn) -> None:
        """Store the turns that could not be stored when they ended, then these. Raises
        StoreError.
        """
        # one that was stopped while it was stored may be there after all
        stored = {message.id for message in self._state.log()} if self._pending_turns else set()
        self._pending_turns += finished
        while self._pending_turns:
            turn = self._pending_turns[0]
            if not turn.answer or turn.answer[-1].id not in stored:
                self._state.store_conversation()
                self._store_question(turn.user)
                self._store.commit(
                    self._state.conversation.id,
                    turn.user,
                    turn.answer,
                    updated_at=self._now(),
                    title=default_title(turn.user.content),
                    sent=turn.sent,
                    calibrations=turn.calibrations,
                    facts_used=turn.facts,
                )
            self._pending_turns.pop(0)

    def flush(self) -> None:
        """Store what is pending, at the end of a conversation. Raises StoreError that says how much
        would be lost.
        """
        try:
            self.store_pending()
        except StoreError as e:
            lost = (
                f"{plural(len(self._pending_turns), 'turn')} of conversation "
                f"{self._state.conversation.id} cannot be stored"
            )
            raise StoreError(f"{lost}: {e.message}", e.hint) from e

    def _store_question(self, question: ZkChatMessage) -> str | None:
        """Returns the head before it; None if it has been stored."""
        if question.id not in self._pending_questions:
            return None
        head = self._store.add(
            self._state.conversation.id, question.model_copy(update={"status": "pending"})
        )
        self._pending_questions.discard(question.id)
        return head

    def report(self, problem: StoreError | None = None) -> list[Notice]:
        """Tell the user of a problem once, until it is another one or over. The hint names the
        cause, whatever it was that failed.
        """
        known = self.problem
        self.problem = problem
        if problem is None:
            return [Notice("everything is stored again")] if known is not None else []
        if known is not None and known.hint == problem.hint:
            return []
        return [Notice(f"this conversation is not stored for now: {problem.message}", problem.hint)]
