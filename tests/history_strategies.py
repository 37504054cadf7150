"""Random histories, and the properties of every prompt made from them; for the tests and, with many
more examples, for the benchmark.
"""

import os
from collections.abc import Sequence
from functools import cache
from typing import Any

from factories import COUNTER, NOON, chunk, make_compaction, make_history, message, split_into_turns
from hypothesis import given
from hypothesis import strategies as st

from zkchat_cli import tools
from zkchat_cli.config.schema import ContextSettings
from zkchat_cli.context import strategies
from zkchat_cli.context.budget import Budget
from zkchat_cli.context.prompt_assembly import assemble_prompt
from zkchat_cli.context.prompt_inputs import PromptInputs
from zkchat_cli.memory.project import MemoryItem
from zkchat_cli.models.messages import ThinkingBlocks, ToolCall, ZkChatMessage
from zkchat_cli.models.notes import DocumentReference
from zkchat_cli.models.prompts import Calibration, ContextUsage, Prompt, PromptMessage
from zkchat_cli.tokens.counter import TokenCounter

EXAMPLES = int(os.environ.get("EXAMPLES", "15"))
"""Random histories for each property and strategy; CONTRIBUTING.md says how to try more."""

DESCRIPTORS = tuple(tool.descriptor for tool in tools.load_tools())
CORE_TOOLS = frozenset(tool.name for tool in tools.load_tools() if tool.core)
STRATEGIES = ["discard", "summarize", "hybrid"]
QUESTIONS = ["", "anvil?", "Which notes link to the anvil?", "x" * 800]

words = (
    st.text(st.sampled_from("ab cd. \n<>/漢😀"), max_size=40)
    | st.just("anvil " * 30)
    | st.just("x" * 500)
)
call_ids = st.sampled_from(["call-1-1", "call-1-2", "offline-3-1"])


@cache
def counting(factor: float) -> TokenCounter:
    """A counter calibrated for some model."""
    return COUNTER if factor == 1 else COUNTER.calibrated(Calibration(text=factor))


def tool_calls(ids: Sequence[str]) -> tuple[ToolCall, ...]:
    return tuple(
        ToolCall(id=id_, name="find_excerpts", arguments={"query": "anvil " * i})
        for i, id_ in enumerate(ids)
    )


def with_documents(text: str) -> dict[str, Any]:
    named = DocumentReference(
        wikilink="[[A]]",
        relative_path="A.md",
        reference_type="direct",
        delivery="injected",
        numbers=(1,),
    )
    return {"references": (named,), "chunks": (chunk(1, text, relative_path="A.md"),)}


@st.composite
def histories(draw: st.DrawFn) -> tuple[ZkChatMessage, ...]:
    """Any mixture of messages that an import may contain."""
    messages: list[ZkChatMessage] = []
    for i in range(draw(st.integers(0, 25))):
        role = draw(
            st.sampled_from(
                ["user", "user", "assistant", "assistant", "assistant", "tool", "tool", "system"]
            )
        )
        more: dict[str, Any] = {
            "status": draw(st.sampled_from(["complete"] * 6 + ["failed", "unfinished", "pending"]))
        }
        if role == "assistant":
            more["tool_calls"] = tool_calls(draw(st.lists(call_ids, max_size=3)))
        if role == "tool":
            more["tool_call_id"] = draw(call_ids | st.none())
        content = draw(words)
        if role == "user" and content and draw(st.integers(0, 5)) == 0:
            more |= with_documents(draw(words))
        more["token_count"] = draw(st.none() | st.integers(0, 5000))
        messages.append(message(role, content, f"m{i}", timestamp=NOON, **more))
    return tuple(messages)


@st.composite
def turns_in_progress(draw: st.DrawFn) -> tuple[ZkChatMessage, ...]:
    """Nothing, a question, or a question with a tool call, its result and the model's reasoning."""
    question = draw(st.sampled_from(QUESTIONS))
    if not question:
        return ()
    more = with_documents(draw(words)) if draw(st.booleans()) else {}
    asked = message("user", question, "now", status="pending", **more)
    if draw(st.booleans()):
        return (asked,)
    thinking = ThinkingBlocks(
        provider="anthropic", blocks=({"type": "thinking", "thinking": draw(words)},)
    )
    calling = message(
        "assistant", "", "call", tool_calls=tool_calls(["call-1-1"]), thinking=thinking
    )
    return (asked, calling, message("tool", draw(words), "result", tool_call_id="call-1-1"))


def pairs_are_whole(messages: Sequence[PromptMessage]) -> bool:
    """Whether every call is followed by its result, and every result follows its call."""
    waiting: list[str] = []
    for m in messages:
        if m.role == "tool":
            if m.tool_call_id not in waiting:
                return False
            waiting.remove(m.tool_call_id)
        elif waiting:
            return False
        else:
            waiting = [call.id for call in m.tool_calls]
    return not waiting


def is_recall(message: PromptMessage) -> bool:
    """Whether it quotes turns that are not sent themselves, even if it is only one message of one
    turn.
    """
    return message.content.startswith(("<recalled-conversation", "<kept-message"))


def sums_are_exact(prompt: Prompt) -> None:
    usage: ContextUsage = prompt.usage
    assert usage.total_tokens == sum(m.tokens for m in prompt.messages) + sum(
        t.tokens for t in prompt.tools
    )
    assert usage.total_tokens == usage.system_tokens + usage.tool_tokens + usage.message_tokens
    assert usage.message_tokens == sum(usage.message_breakdown.values())
    assert usage.total_tokens == sum(usage.components.values())
    assert usage.available_tokens == usage.max_context - usage.total_tokens
    assert min(usage.components.values()) >= 0
    status = usage.budget_status
    assert [status[name].used for name in ("system", "tools", "messages")] == [
        usage.system_tokens,
        usage.tool_tokens,
        usage.message_tokens,
    ]


def each_part_is_what_its_text_counts(
    prompt: Prompt, counter: TokenCounter, believed: set[str]
) -> None:
    """The stored counts of the messages in `believed` are taken as they are."""
    for m in prompt.messages:
        content = m.tokens - m.call_tokens - m.thinking_tokens - 4
        assert believed.intersection(m.source_ids[:1]) or content == counter.count(m.content)
        assert (m.call_tokens > 0, m.thinking_tokens > 0) == (
            bool(m.tool_calls),
            m.thinking is not None,
        )


def what_is_not_sent_is_explained(prompt: Prompt, messages: Sequence[ZkChatMessage]) -> None:
    whole = {id_ for m in prompt.messages if not is_recall(m) for id_ in m.source_ids}
    dropped = [d.id for d in prompt.dropped if not d.id.startswith("tool:")]
    assert len(dropped) == len(set(dropped))
    said = {m.id for m in messages if m.role in ("user", "assistant") and m.content}
    assert said <= whole | set(dropped)
    assert not {m.id for m in messages} & whole & set(dropped)
    offered = {t.name for t in prompt.tools}
    assert {d.id for d in prompt.dropped if d.id.startswith("tool:")} == {
        f"tool:{d['function']['name']}" for d in DESCRIPTORS if d["function"]["name"] not in offered
    }


@given(
    history=histories(),
    current=turns_in_progress(),
    strategy=st.sampled_from(STRATEGIES),
    window=st.integers(1400, 5000),
    factor=st.sampled_from([1, 0.7, 1.37]),
    summary=st.sampled_from([None, "They spoke of the anvil.", "They spoke at length. " * 100]),
    last=st.integers(0, 25),
    smart=st.booleans(),
)
def any_history_makes_a_prompt_that_keeps_all_promises(
    history: tuple[ZkChatMessage, ...],
    current: tuple[ZkChatMessage, ...],
    strategy: str,
    window: int,
    factor: float,
    summary: str | None,
    last: int,
    smart: bool,
) -> None:
    counter = counting(factor)
    budget = Budget.from_settings(ContextSettings(), window)
    material = PromptInputs(
        instructions="Cite.",
        history=make_history(history, counter),
        current=current,
        memory=(MemoryItem("ZKCHAT.md", "Be brief.", 3, "why"),),
        compaction=make_compaction(summary, f"m{last}"),
        tool_descriptors=DESCRIPTORS,
        contextual_memory=(MemoryItem("colour", "Hers is green.", 4, "it bears on the message"),)
        if smart
        else (),
        filter_tools=True,
        core_tools=CORE_TOOLS,
    )
    prompt = assemble_prompt(material, budget, strategies.strategy(strategy), counter)

    assert prompt.usage.total_tokens <= prompt.usage.effective_limit
    # Recall does not undo a compaction
    if prompt.usage.compaction.at is not None and not prompt.usage.compaction.due:
        assert prompt.usage.total_tokens <= prompt.usage.compaction.at
    sums_are_exact(prompt)
    each_part_is_what_its_text_counts(
        prompt, counter, {m.id for m in history if m.token_count is not None}
    )
    what_is_not_sent_is_explained(prompt, (*history, *current))

    assert [m.kind for m in prompt.messages[:2]] == ["system", "memory"]
    assert pairs_are_whole(prompt.messages)
    behind = [
        m
        for m in prompt.messages
        if m.source_ids and m.source_ids[0] in {"now", "call", "result"} and m.kind != "documents"
    ]
    assert [m.source_ids[0] for m in behind] == [m.id for m in current]
    assert list(prompt.messages[len(prompt.messages) - len(behind) :]) == behind

    cut = [turn for turn in split_into_turns(history, counter) if not turn.failure and turn.prompt]
    whole = {m.source_ids[0] for m in prompt.messages if m.source_ids and not is_recall(m)}
    kept = [
        turn
        for turn in cut
        if all(
            m.source_ids[0] in whole for m in turn.prompt if m.kind != "documents" and m.source_ids
        )
    ]
    assert kept == cut[len(cut) - len(kept) :]

    assert assemble_prompt(material, budget, strategies.strategy(strategy), counter) == prompt
