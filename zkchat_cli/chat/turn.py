"""A turn while it runs: its runtime, its messages so far, its cost, its time by phase."""

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace

from zkchat_cli.chat.runtime import Runtime
from zkchat_cli.context.prompt_messages import count_call_tokens
from zkchat_cli.events import ReasoningDelta, TextDelta, TextWithdrawn
from zkchat_cli.llm.base import Window
from zkchat_cli.models.citations import FoundSentence
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
from zkchat_cli.models.reports import AnswerLevel, RequestKind
from zkchat_cli.tokens.calibration import CountedPrompt

PHASES = ("prepare", "model", "tools", "store")


def _no_time() -> Timings:
    return dict.fromkeys(PHASES, 0.0)


@dataclass
class PhaseTimer:
    """Seconds by phase.

    Only the time in which zkchat works counts, not what a consumer does between two events.
    """

    clock: Callable[[], float]
    seconds: Timings = field(default_factory=_no_time)

    @contextmanager
    def __call__(self, phase: str) -> Iterator[None]:
        """Count the time of a `with` block for this phase."""
        start = self.clock()
        try:
            yield
        finally:
            self.seconds[phase] += self.clock() - start

    def timings(self) -> Timings:
        """Milliseconds by phase; `overhead` is zkchat's own share, without model and tools."""
        milliseconds = {phase: round(1000 * spent, 2) for phase, spent in self.seconds.items()}
        overhead = round(milliseconds["prepare"] + milliseconds["store"], 2)
        return {**milliseconds, "overhead": overhead}


@dataclass
class TurnInProgress:
    """The messages of a turn so far (the user's first) and the text of the answer being streamed.

    Others read it, and change it by its verbs only. It replaces its runtime when it learns how the
    model counts, how large its window really is, or that the turn gets no more tools.
    """

    runtime: Runtime
    timer: PhaseTimer
    messages: list[ZkChatMessage] = field(default_factory=list)
    # Earlier tool results of this turn as they are sent now, without their middles, by message id
    shortened: dict[str, ZkChatMessage] = field(default_factory=dict)
    text: str = ""
    reasoning: str = ""
    thinking: ThinkingBlocks | None = None
    usage: TokenUsage = field(default_factory=lambda: sum_usage(()))
    level: AnswerLevel | None = None
    request: RequestKind | None = None
    # Sentences that zkchat has found for an answer without a source
    evidence: tuple[FoundSentence, ...] = ()
    # Why the model gets no more tools in this turn
    no_more_tools: str = ""
    prompt: Prompt | None = None
    compaction: Compaction | None = None
    # How the model counts, as far as known
    calibration: Calibration = field(default_factory=Calibration)
    # The prompt of the last call with reported usage
    counted: CountedPrompt | None = None
    # The prompts of the turn's model calls, without those that the server refused and that were
    # replaced
    sent: list[SentPrompt] = field(default_factory=list)
    # Whether the turn has been added to the history; that happens once
    closed: bool = False

    @property
    def user(self) -> ZkChatMessage:
        """The user's message, which begins the turn."""
        return self.messages[0]

    @property
    def sent_messages(self) -> tuple[ZkChatMessage, ...]:
        """The messages in the form in which the next prompt has them."""
        return tuple(self.shortened.get(message.id, message) for message in self.messages)

    @property
    def chunks(self) -> list[ContentChunk]:
        """All chunks that the user's message and the tools have added to this turn, in order."""
        return [chunk for message in self.messages for chunk in message.chunks]

    @property
    def memory_sent(self) -> tuple[str, ...]:
        """The memory that the model got: paths, and `fact:KEY` or `agent:NAME`."""
        sources: dict[str, None] = {}
        for sent in self.sent:
            for message in sent.prompt.messages:
                if message.kind == "memory":
                    sources |= dict.fromkeys(message.source_ids)
        return tuple(sources)

    @property
    def runs(self) -> tuple[ToolRun, ...]:
        """The records of the tool calls so far."""
        return tuple(message.tool_run for message in self.messages if message.tool_run is not None)

    # the runtime

    def calibrate(self, calibration: Calibration) -> None:
        """Use this calibration from now on."""
        self.calibration = calibration
        self.runtime = self.runtime.calibrated(calibration)

    def learn(self, calibration: Calibration) -> None:
        """Remember this calibration; use it now only if it gives more tokens than zkchat counts."""
        counter = self.runtime.counter
        self.calibration = calibration
        counts_more_text = calibration.text > counter.factor
        if counts_more_text or calibration.tool_factor > counter.tool_factor:
            self.runtime = self.runtime.calibrated(calibration)

    def use_runtime(self, runtime: Runtime) -> None:
        """Continue with this runtime: one with another mode of retrieval, or an earlier one."""
        self.runtime = runtime

    def assume_window(self, window: Window) -> None:
        """Assume that the model's window is smaller than it was thought to be."""
        self.runtime = replace(self.runtime, rejected_window=window)

    def confirm_prompt(self, accepted: int) -> None:
        """Forget the assumed window if the server has accepted a prompt that does not fit into it.

        The window is often a guess, because few servers say theirs when they refuse a prompt. A
        guess that is too small would end every further turn.
        """
        limit = self.runtime.budget.effective_limit
        if self.runtime.rejected_window is not None and accepted > limit:
            self.runtime = replace(self.runtime, rejected_window=None)

    def end_tools(self, reason: str) -> None:
        """Offer no more tools in this turn."""
        self.no_more_tools = reason
        self.runtime = replace(self.runtime, tools=())

    # the messages

    def begin(self, question: ZkChatMessage) -> None:
        """Begin with this question; its documents are added later."""
        self.messages.append(question)

    def replace_question(self, question: ZkChatMessage) -> None:
        """Replace the question with the same one with other documents."""
        self.messages[0] = question

    def shorten_result(self, shorter: ZkChatMessage) -> None:
        """Send this from now on instead of the whole result of the same id."""
        self.shortened[shorter.id] = shorter

    def add_reply(self, messages: Sequence[ZkChatMessage]) -> None:
        """Add a reply that calls tools, and the results.

        The text of the reply is then in its first message.
        """
        self.messages += messages
        self.text = ""
        self.reasoning = ""
        self.thinking = None

    def close(self) -> None:
        """Remember that the turn has been added to the history."""
        self.closed = True

    # the reply that is being streamed

    def add_delta(self, delta: TextDelta | ReasoningDelta | TextWithdrawn) -> None:
        """Add a piece of the answer or of what the model reasons before; or take all text of the
        reply so far for reasoning.
        """
        match delta:
            case TextDelta(text):
                self.text += text
            case ReasoningDelta(text):
                self.reasoning += text
            case TextWithdrawn():
                self.reasoning += self.text
                self.text = ""

    def finish_reply(
        self,
        level: AnswerLevel | None,
        request: RequestKind | None,
        thinking: ThinkingBlocks | None,
    ) -> None:
        """Remember how sure the answer is, what the question was taken for, and the reasoning that
        the provider needs back.
        """
        self.level = level
        self.request = request
        self.thinking = thinking

    def use_evidence(self, found: tuple[FoundSentence, ...]) -> None:
        """Show these sentences below the answer."""
        self.evidence = found

    # the prompts and their cost

    def use_prompt(self, prompt: Prompt) -> None:
        """Remember the prompt that was built for the next call."""
        self.prompt = prompt

    def add_count(self, counted: CountedPrompt) -> None:
        """Remember how many tokens the model counted in the prompt of its last call."""
        self.counted = counted

    def add_compaction(self, done: Compaction) -> None:
        """Add the cost of a compaction, and remember it unless it changed nothing."""
        self.usage = sum_usage((self.usage, done.usage))
        if done.mode != "none":
            self.compaction = done

    def add_call(self, prompt: Prompt) -> None:
        """Remember a prompt that is being sent."""
        stored = tuple(message.as_stored() for message in prompt.messages)
        self.sent.append(
            SentPrompt(
                question_id=self.user.id,
                call=len(self.sent) + 1,
                model=self.runtime.model.name,
                prompt=prompt.model_copy(update={"messages": stored}),
            )
        )

    def forget_refused_call(self) -> None:
        """Forget the last prompt: the server has refused it, and it will be replaced."""
        self.sent.pop()

    def add_usage(
        self, reported: TokenUsage | None, prompt: Prompt, calls: tuple[ToolCall, ...] = ()
    ) -> None:
        """Add the cost of a model call: the provider's report, or zkchat's own count."""
        self.sent[-1] = self.sent[-1].model_copy(update={"usage": reported})
        counter = self.runtime.counter
        written = counter.count(self.text) + counter.count(self.reasoning)
        written += count_call_tokens(calls, counter)
        counted = TokenUsage(
            prompt_tokens=prompt.usage.total_tokens, completion_tokens=written, estimated=True
        )
        charged = (reported or counted).at_price(self.runtime.price)
        self.usage = sum_usage((self.usage, charged))

    def add_broken_call(self) -> None:
        """Add the cost of a call that broke off after some text: the server charges for it too.

        A call that the server refused is forgotten, and may have been the only one.
        """
        has_text = bool(self.text or self.reasoning)
        if self.prompt is None or not has_text or not self.sent:
            return
        if self.sent[-1].usage is None:
            self.add_usage(None, self.prompt)


def count_thinking(turn: TurnInProgress) -> int | None:
    """Tokens of the reasoning before the last reply: as its provider reported them, else as
    counted; None without reasoning.
    """
    usage = turn.sent[-1].usage if turn.sent else None
    if usage is not None and usage.reasoning_tokens:
        return usage.reasoning_tokens
    return turn.runtime.counter.count(turn.reasoning) if turn.reasoning else None
