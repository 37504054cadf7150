"""For tests of compaction: conversations, and a model that summarizes well, badly or not at all."""

import re
from collections.abc import Callable, Generator, Iterable, Sequence
from dataclasses import dataclass, field

from factories import COUNTER, AppFixture, chunk, exchanges, message, resume
from history_strategies import pairs_are_whole, sums_are_exact

from zkchat_cli.chat.session import ZkChatSession
from zkchat_cli.errors import ProviderError, ProviderErrorKind
from zkchat_cli.events import CompactionDone, Event, TextDelta
from zkchat_cli.llm.base import Delta, Model, Request, StreamFailed, StreamFinished
from zkchat_cli.models.compaction import Compaction
from zkchat_cli.models.messages import TokenUsage, ToolCall, ZkChatMessage
from zkchat_cli.models.prompts import Prompt
from zkchat_cli.summarization.prompt import INSTRUCTIONS, SIMPLE_INSTRUCTIONS

SUMMARY = "The user moves things: thing1 is on shelf 7 now."


def is_for_summary(request: Request) -> bool:
    """Whether the request is for a summary."""
    return request.messages[0].content.startswith((INSTRUCTIONS, SIMPLE_INSTRUCTIONS))


def summary_reply(text: str = SUMMARY) -> list[Delta]:
    """The deltas of a summary."""
    return [
        TextDelta(f"<conversation-summary>{text}</conversation-summary>"),
        StreamFinished("stop", TokenUsage(prompt_tokens=50, completion_tokens=9)),
    ]


def failing_reply(kind: ProviderErrorKind, *before: Delta) -> list[Delta]:
    return [*before, StreamFailed(ProviderError(kind, f"it failed: {kind}", "Again."))]


@dataclass
class SummaryModel(Model):
    """A model that answers "Noted." and streams the given summaries, one per call and then the last
    one again.
    """

    ways: Sequence[Sequence[Delta]] = ()
    name: str = "summariser"
    answer: Sequence[Delta] = (TextDelta("Noted."), StreamFinished("stop"))
    asked: list[Request] = field(default_factory=list)
    """The requests for summaries."""
    requests: list[Request] = field(default_factory=list)
    write: Callable[[int], str] | None = None
    """Writes a summary of so many words, instead of `ways`."""

    def stream(self, request: Request) -> Generator[Delta, None, None]:
        self.requests.append(request)
        if not is_for_summary(request):
            yield from self.answer
            return
        self.asked.append(request)
        if self.write is not None:
            words = re.search(r"at most (\d+) words", request.messages[-1].content)
            assert words is not None
            yield from summary_reply(self.write(int(words[1])))
        else:
            yield from self.ways[min(len(self.asked), len(self.ways)) - 1]

    @property
    def sent(self) -> int:
        """Tokens of all requests for summaries."""
        return sum(m.tokens for request in self.asked for m in request.messages)


def numbered_exchanges(count: int = 12, words: int = 1) -> list[tuple[str, str]]:
    """Questions and answers, each pair with a fact of its own."""
    return [
        (
            f"On day {i} I moved thing{i} to shelf {i * 7}. " * words,
            f"Noted: thing{i} is on shelf {i * 7} now, since day {i}. " * words,
        )
        for i in range(1, count + 1)
    ]


def search_turns(
    count: int = 12, words: int = 60, *, after: Sequence[ZkChatMessage] = ()
) -> list[ZkChatMessage]:
    """Turns with a long tool result each, appended to the conversation `after`."""
    messages: list[ZkChatMessage] = [*after]
    for i in range(1, count + 1):
        call = ToolCall(id=f"call-{i}", name="find_excerpts", arguments={"query": f"thing{i}"})
        result = (
            f"Found: thing{i}. "
            + f"All that is known of thing number {i}. " * words
            + f"The end of {i}."
        )
        more = (
            message("user", f"Where is thing{i}?", f"u{i}"),
            message("assistant", "", f"c{i}", tool_calls=(call,)),
            message(
                "tool",
                result,
                f"r{i}",
                tool_call_id=call.id,
                tool_name=call.name,
                chunks=(chunk(i),),
            ),
            message("assistant", f"On shelf {i * 7} [{i}].", f"a{i}"),
        )
        for each in more:
            messages.append(
                each.model_copy(update={"parent_id": messages[-1].id if messages else None})
            )
    return messages


def overfull_session(app: AppFixture, model: Model, turns: int = 16) -> ZkChatSession:
    """A conversation for which compaction is due."""
    app.max_context = 4000
    return resume(app, exchanges(*numbered_exchanges(turns, 5)), model=model)


def find_compaction(events: Iterable[Event]) -> Compaction:
    (done,) = (event.compaction for event in events if isinstance(event, CompactionDone))
    return done


def check_prompt(prompt: Prompt) -> None:
    """Check a prompt: it is within the limit, each call has its result and each result its call,
    and the sums are exact.
    """
    assert prompt.usage.total_tokens <= prompt.usage.effective_limit
    sums_are_exact(prompt)
    for m in prompt.messages:
        if not m.thinking:
            calls = sum(
                COUNTER.count(c.name) + COUNTER.count(str(c.arguments).replace("'", '"'))
                for c in m.tool_calls
            )
            assert m.tokens == COUNTER.count(m.content) + calls + 4
    assert pairs_are_whole(prompt.messages)
