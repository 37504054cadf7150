"""What making a prompt costs in a long conversation, and how much of it is the same from call to
call, as a provider's cache wants it.
"""

import json
import time
from collections.abc import Callable, Generator, Iterator, Sequence
from dataclasses import dataclass, field, replace
from itertools import pairwise

import vaults
from ground import Ground
from measuring import Goal, Row, in_turns, timed

from zkchat_cli.app import factory
from zkchat_cli.app.settings import StartupOptions
from zkchat_cli.chat.prompt_builder import PromptBuilder
from zkchat_cli.chat.runtime import Runtime
from zkchat_cli.chat.session import ZkChatSession
from zkchat_cli.chat.state import ConversationState
from zkchat_cli.chat.tool_executor import ToolExecutor
from zkchat_cli.context import strategies
from zkchat_cli.events import TurnCompleted
from zkchat_cli.llm.base import Delta, Model, Request
from zkchat_cli.llm.providers.offline import OfflineModel
from zkchat_cli.models.archive import ConversationArchive
from zkchat_cli.models.messages import ZkChatMessage

PATTERN = 200
"""Turns after which a long conversation says the same again, under other ids."""
STEADY_TURNS = 40


@dataclass
class Remembering(Model):
    """The offline model, with a memory of what it was sent, of how often the conversation had been
    compacted by then, and from where on it was sent whole.
    """

    name = "offline"
    sent: list[tuple[str, int, tuple[str, ...]]] = field(default_factory=list)
    compactions: Callable[[], int] = int
    _model: OfflineModel = field(default_factory=OfflineModel)

    def prepare(self) -> None:
        self._model.prepare()

    def stream(self, request: Request) -> Generator[Delta, None, None]:
        tools = [json.dumps(tool.descriptor) for tool in request.tools]
        messages = [
            f"{m.role}: {m.content} {[(c.name, c.arguments) for c in m.tool_calls]}"
            for m in request.messages
        ]
        begin = next(
            (m.source_ids[:1] for m in request.messages if m.kind in ("conversation", "documents")),
            (),
        )
        self.sent.append(("\n".join((*tools, *messages)), self.compactions(), begin))
        return self._model.stream(request)


def figures(ground: Ground) -> Iterator[Row]:
    bench = factory.open_app(
        StartupOptions(vault=ground.vault, model="offline", store=False), ground.env, ground.vault
    )
    bench.vault.refresh()
    plain = bench.session()
    toolbox = ToolExecutor(
        plain.runtime.tools, bench.vault, plain.state.references, bench.counter, time.perf_counter
    )
    pattern = vaults.conversation(
        min(PATTERN, ground.turns), ground.words, toolbox, str(bench.vault.root), factory.new_id
    ).messages
    for turns, limit in ((ground.turns, 5.0), (10 * ground.turns, 10.0)):
        yield from assembling(ground, bench, repeated(pattern, turns), turns, limit)
    for strategy in strategies.names():
        yield from steadiness(ground, bench, strategy)
    bench.close()


def repeated(pattern: Sequence[ZkChatMessage], turns: int) -> tuple[ZkChatMessage, ...]:
    """A conversation of so many turns of four messages."""
    again = (
        message.model_copy(update={"id": f"{i}-{message.id}"})
        for i in range(-(-4 * turns // len(pattern)))
        for message in pattern
    )
    return tuple(message for message, _ in zip(again, range(4 * turns), strict=False))


def said_again(archive: ConversationArchive, turns: int) -> ConversationArchive:
    """The conversation said over and over, until it has so many turns; its ids are its own."""
    messages: list[ZkChatMessage] = []
    for message in repeated(archive.messages, turns):
        messages.append(
            message.model_copy(
                update={
                    "id": f"{turns}-{message.id}",
                    "parent_id": messages[-1].id if messages else None,
                }
            )
        )
    conversation = archive.conversation.model_copy(
        update={"id": f"{turns}-{archive.conversation.id}", "head_id": messages[-1].id}
    )
    return archive.model_copy(update={"messages": tuple(messages), "conversation": conversation})


def assembling(
    ground: Ground, bench: factory.App, history: tuple[ZkChatMessage, ...], turns: int, limit: float
) -> Iterator[Row]:
    """Prompts for one new message after another; the floor gathers the same messages and adds up
    their tokens.
    """
    session = bench.session()
    for strategy in strategies.names():
        runtime = replace(session.runtime, strategy=strategies.strategy(strategy))
        state = ConversationState(session.services)
        for start in range(0, len(history), 4):
            state.append(history[start : start + 4])
        prompts = PromptBuilder(session.services, state)
        questions = (ground.words.question() for _ in ground.times(100))
        made = {
            question: (session.services.new_message("user", question),) for question in questions
        }
        floor = prompts.build(runtime)

        def assemble(
            question: str,
            prompts: PromptBuilder = prompts,
            runtime: Runtime = runtime,
            made: dict[str, tuple[ZkChatMessage]] = made,
        ) -> object:
            return prompts.build(runtime, made[question])

        def gather(_: str, messages: Sequence[object] = floor.messages) -> object:
            return sum(message.tokens for message in tuple(messages))  # type: ignore[attr-defined]

        measured = in_turns(timed(assemble), timed(gather), made)
        yield Row(
            f"assemble, {strategy}, {turns} turns",
            *measured,
            "gather and add up the same messages",
            Goal(limit, "p95"),
        )


def steadiness(ground: Ground, bench: factory.App, strategy: str) -> Iterator[Row]:
    """Of all that is sent in a conversation with tools, the share that does not stand at the same
    place in the next prompt, so that a cache has kept it in vain; not across compactions.

    A strategy without summaries leaves turns out instead, in batches: that is its compaction, and
    so often due where a turn with its tool results takes a quarter of the window that no strategy
    could leave 95 % as they were. What compactions change is told besides.
    """
    opened = bench.session()
    model = Remembering()
    chosen = strategies.strategy(strategy)
    session = ZkChatSession(opened.services, replace(opened.runtime, model=model, strategy=chosen))
    model.compactions = lambda: len(session.store.compactions(session.conversation.id))
    for _ in range(6 if ground.quick else STEADY_TURNS):
        last = list(session.send(ground.words.question()))[-1]
        assert isinstance(last, TurnCompleted), last
    within = [(one, other) for one, other in pairwise(model.sent) if one[1] == other[1]]
    steady = (
        within
        if chosen.summarizes
        else [(one, other) for one, other in within if one[2] == other[2]]
    )
    yield Row(f"prompt changed, {strategy}", [changed(steady)], goal=Goal(5, "median"), unit="%")
    besides = "compactions" if chosen.summarizes else "turns that it leaves out"
    yield Row(f"  with the {besides}", [changed(list(pairwise(model.sent)))], unit="%")


def changed(
    pairs: Sequence[tuple[tuple[str, int, tuple[str, ...]], tuple[str, int, tuple[str, ...]]]],
) -> float:
    """Of what was sent first, the share that did not stand at the same place the next time, in
    percent.
    """
    return 100 * (
        1
        - sum(same(one[0], other[0]) for one, other in pairs)
        / max(1, sum(len(one[0]) for one, _ in pairs))
    )


def same(one: str, other: str) -> int:
    """Characters that two texts have in common from the start."""
    return next(
        (i for i, (a, b) in enumerate(zip(one, other, strict=False)) if a != b),
        min(len(one), len(other)),
    )
