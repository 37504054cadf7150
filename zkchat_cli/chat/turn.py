"""A turn while it runs: its messages so far, its cost, and its time by phase. The session's scratch paper."""

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field

from zkchat_cli.models import (
    Compaction,
    ContentChunk,
    DocumentReference,
    Prompt,
    SentPrompt,
    ThinkingBlocks,
    Timings,
    TokenUsage,
    ToolRun,
    TurnMetrics,
    ZkChatMessage,
)
from zkchat_cli.tokens.counter import TokenCounter


@dataclass
class PhaseTimer:
    """Seconds by phase, measured only while the session itself works: what a consumer does between two events is not its time."""

    clock: Callable[[], float]
    seconds: dict[str, float] = field(default_factory=lambda: dict.fromkeys(("prepare", "model", "tools", "store"), 0.0))

    @contextmanager
    def __call__(self, phase: str) -> Iterator[None]:
        start = self.clock()
        try:
            yield
        finally:
            self.seconds[phase] += self.clock() - start

    def timings(self) -> Timings:
        ms = {phase: round(1000 * seconds, 2) for phase, seconds in self.seconds.items()}
        return Timings(**ms, overhead=round(ms["prepare"] + ms["store"], 2))


@dataclass(frozen=True)
class CompletedTurn:
    """A turn that is over, as it is stored."""

    user: ZkChatMessage
    answer: Sequence[ZkChatMessage]
    sent: Sequence[SentPrompt]
    learned: TurnMetrics


@dataclass
class TurnInProgress:
    """A turn in progress: the messages so far (the user's first) and the text of the answer being streamed."""

    messages: list[ZkChatMessage]
    timer: PhaseTimer
    text: str = ""
    reasoning: str = ""
    thinking: ThinkingBlocks | None = None
    usage: TokenUsage = field(default_factory=lambda: TokenUsage(prompt_tokens=0, completion_tokens=0, estimated=False))
    prompt: Prompt | None = None
    compaction: Compaction | None = None
    factors: list[tuple[str, float]] = field(default_factory=list)
    """Of each call whose provider reported how much it was: the model, and how many tokens that makes of each that zkchat counts."""
    sent: list[SentPrompt] = field(default_factory=list)
    """The prompts of its model calls so far."""
    closed: bool = False
    """Whether it has been taken into the history; that happens once."""

    @property
    def user(self) -> ZkChatMessage:
        return self.messages[0]

    @property
    def chunks(self) -> list[ContentChunk]:
        """All chunks that the user's message and tools brought into this turn, in order."""
        return [chunk for message in self.messages for chunk in message.chunks]

    @property
    def injected(self) -> tuple[DocumentReference, ...]:
        """The documents that the user named and whose text was in the prompt from the start."""
        paths = {chunk.relative_path for chunk in self.user.chunks}
        return tuple(reference for reference in self.user.references if reference.above or reference.relative_path in paths)

    @property
    def runs(self) -> tuple[ToolRun, ...]:
        return tuple(message.tool_run for message in self.messages if message.tool_run is not None)

    def asking(self, model: str, prompt: Prompt) -> None:
        """Note that the model is called with this prompt."""
        self.sent.append(SentPrompt(question_id=self.user.id, call=len(self.sent) + 1, model=model, prompt=prompt))

    def add_usage(self, reported: TokenUsage | None, prompt: Prompt, counter: TokenCounter) -> None:
        """Add up what a model call cost, as the provider says or, where it does not, as zkchat counts."""
        self.sent[-1] = self.sent[-1].model_copy(update={"usage": reported})
        call = reported or TokenUsage(prompt_tokens=prompt.usage.total_tokens, completion_tokens=counter.count(self.text))
        self.usage = TokenUsage(
            prompt_tokens=self.usage.prompt_tokens + call.prompt_tokens,
            completion_tokens=self.usage.completion_tokens + call.completion_tokens,
            estimated=self.usage.estimated or call.estimated,
            cached_tokens=_sum(self.usage.cached_tokens, call.cached_tokens),
        )


def _sum(a: int | None, b: int | None) -> int | None:
    return None if a is None and b is None else (a or 0) + (b or 0)
