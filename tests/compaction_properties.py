"""Properties of random conversations, however often they are compacted and whatever the model
answers; for the tests and, with many more examples, for the benchmark.
"""

import random
from collections.abc import Callable
from contextlib import closing
from dataclasses import replace
from typing import Any

from factories import AppFixture, CountingIds, message, report_of, resume
from hypothesis import given, settings
from hypothesis import strategies as st
from summary_models import SummaryModel, check_prompt, failing_reply, search_turns, summary_reply

from zkchat_cli.chat.session import ZkChatSession
from zkchat_cli.events import TextDelta
from zkchat_cli.llm.base import Delta, StreamFinished
from zkchat_cli.models.archive import ConversationArchive
from zkchat_cli.models.messages import ZkChatMessage
from zkchat_cli.models.prompts import Prompt
from zkchat_cli.store.sqlite.chat_session_store import ChatSessionStore

PLAIN = (
    "anvil bellows chisel drill easel harbour lighthouse recipe garden report museum letter river"
).split()
WORDS = [*PLAIN, *"漢字 [[Filters]] Müller 2025-03-07".split()]


_STRATEGIES: dict[str, tuple[st.SearchStrategy[Any], ...]] = {}


def tried_on(
    *strategies: st.SearchStrategy[Any],
) -> Callable[[Callable[..., None]], Callable[..., None]]:
    """What a property's values are taken from."""

    def remember(check: Callable[..., None]) -> Callable[..., None]:
        _STRATEGIES[check.__name__] = strategies
        return check

    return remember


def as_random_test(check: Callable[..., None]) -> Callable[[AppFixture], None]:
    """The property as a test that Hypothesis calls with many values. Made anew each time: such a
    test takes settings only once.
    """
    return given(*_STRATEGIES[check.__name__])(check)


def with_examples(check: Callable[..., None], examples: int) -> Callable[[AppFixture], None]:
    """The property, tried on this many examples."""
    return settings(max_examples=examples)(as_random_test(check))


def prose(words: int, seed: int, of: list[str] = WORDS) -> str:
    chance = random.Random(seed)
    return " ".join(chance.choice(of) for _ in range(words)) + "."


pieces = st.sampled_from(["text", "search", "failed", "pinned", "huge", "wordless"])
histories = st.lists(pieces, min_size=1, max_size=14)
ways = st.lists(
    st.sampled_from(["good", "timeout", "empty", "large", "context_length", "malformed", "cut"]),
    min_size=1,
    max_size=6,
)


def build_history(kinds: list[str], seed: int) -> list[ZkChatMessage]:
    messages: list[ZkChatMessage] = []
    for i, kind in enumerate(kinds, 1):
        if kind == "search":
            messages += search_turns(1, words=seed % 90, after=messages)[len(messages) :]
            messages[-4:] = prefix_ids(
                messages[-4:], f"s{i}", messages[-5].id if len(messages) > 4 else None
            )
            continue
        words = {"text": 40, "failed": 40, "pinned": 20, "huge": 400, "wordless": 0}[kind]
        parent = messages[-1].id if messages else None
        text = prose(words, seed + i) if words else "…? " * 60
        status = "failed" if kind == "failed" else "complete"
        messages.append(
            message("user", text, f"u{i}", parent_id=parent, status=status, pinned=kind == "pinned")
        )
        if kind != "failed":
            messages.append(
                message(
                    "assistant",
                    prose(words, seed - i) if words else "!! " * 60,
                    f"a{i}",
                    parent_id=f"u{i}",
                )
            )
    return messages


def prefix_ids(turn: list[ZkChatMessage], prefix: str, parent: str | None) -> list[ZkChatMessage]:
    named: list[ZkChatMessage] = []
    for each in turn:
        named.append(
            each.model_copy(
                update={"id": f"{prefix}-{each.id}", "parent_id": named[-1].id if named else parent}
            )
        )
    return named


def summary_call(kind: str) -> list[Delta]:
    match kind:
        case "good":
            return summary_reply(prose(30, 1))
        case "large":
            return summary_reply(prose(3000, 2))
        case "malformed":
            return [TextDelta("I would rather not."), StreamFinished("stop")]
        case "cut":
            return failing_reply("cut", TextDelta("<conversation-summary>It"))
        case "empty":
            return [StreamFinished("stop")]
        case "timeout":
            return failing_reply("timeout")
        case _:
            return failing_reply("context_length")


def open_session(
    workspace: AppFixture, kinds: list[str], seed: int, model: SummaryModel
) -> ZkChatSession:
    workspace.store.close()
    workspace.store = workspace.new_store()
    workspace.new_id = CountingIds("n")
    return resume(workspace, build_history(kinds, seed), model=model)


def message_values(prompt: Prompt) -> list[tuple[str, str, int]]:
    return [(m.role, m.content, m.tokens) for m in prompt.messages]


@tried_on(
    histories,
    ways,
    st.integers(0, 1000),
    st.sampled_from([1500, 3000, 6000]),
    st.lists(st.sampled_from([None, 0, 2, 5]), max_size=3),
)
def every_prompt_is_sound_and_an_import_gives_the_identical_one(
    workspace: AppFixture,
    kinds: list[str],
    ways: list[str],
    seed: int,
    window: int,
    keeps: list[int | None],
) -> None:
    workspace.max_context = window
    model = SummaryModel([summary_call(way) for way in ways])
    session = open_session(workspace, kinds, seed, model)
    for keep in keeps:
        asked = len(model.asked)
        done = session.compact(keep=keep)
        assert (
            done.mode == "none" and done.tokens_after == done.tokens_before
        ) or done.tokens_after < done.tokens_before
        assert done.model_calls == len(model.asked) - asked
        assert done.summary_tokens <= session.runtime.largest_summary
        again = session.prompt()
        # A summary that failed is tried again
        has_failed = done.model_calls > 0 and done.summary_tokens == 0
        if done.mode != "none" and not has_failed:
            assert session.compact(keep=keep).mode == "none"
            assert session.prompt() == again
    for text in ("And now?", "And [[Filters]]?"):
        report_of(session.send(text))
        check_prompt(session.prompt())
    for request in model.requests:
        assert (
            sum(m.tokens for m in request.messages) + sum(t.tokens for t in request.tools)
            <= session.runtime.budget.effective_limit
        )
    archive = ConversationArchive.model_validate_json(
        workspace.store.archive(session.conversation.id).model_dump_json()
    )
    with closing(ChatSessionStore.open(None)) as elsewhere:
        elsewhere.restore([archive])
        copy = replace(workspace, store=elsewhere).session(model, archive.conversation)
        assert message_values(copy.prompt()) == message_values(session.prompt())


@tried_on(
    histories, st.integers(0, 1000), st.lists(st.sampled_from([6, 4, 2, 0]), min_size=1, max_size=3)
)
def undo_gives_each_earlier_prompt_back(
    workspace: AppFixture, kinds: list[str], seed: int, keeps: list[int]
) -> None:
    workspace.max_context = 6000
    session = open_session(workspace, kinds, seed, SummaryModel([summary_reply("A word.")]))
    prompts = [session.prompt()]
    prompts += [session.prompt() for keep in keeps if session.compact(keep=keep).mode != "none"]
    while True:
        assert session.prompt() == prompts.pop()
        if session.stored_state().undo_compaction() is None:
            break
    assert prompts == []


@tried_on(
    st.integers(15, 120),
    st.integers(0, 1000),
    st.sampled_from([3000, 5000, 8000]),
    st.sampled_from(["hybrid", "summarize"]),
)
def a_compacted_prompt_stays_small_for_as_many_turns_as_were_freed(
    workspace: AppFixture, words: int, seed: int, window: int, strategy: str
) -> None:
    workspace.max_context = window
    workspace.strategy = strategy
    model = SummaryModel(
        [summary_reply(prose(30, seed))],
        answer=[TextDelta(prose(words, seed)), StreamFinished("stop")],
    )
    session = open_session(workspace, [], seed, model)
    freed = turns = 0
    for i in range(40):
        report = report_of(session.send(prose(words, seed + i)))
        at = report.context.compaction.at
        total = report.context.total_tokens
        assert at is not None
        assert total <= at
        assert not report.context.compaction.due
        turns += 1
        if report.compaction is not None:
            assert turns > freed // max(
                turn.tokens for turn in session.stored_state().turns(session.runtime.counter).turns
            )
            assert report.compaction.tokens_after == total
            freed = at - total
            turns = 0
