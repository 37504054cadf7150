"""The inputs of a prompt, rendered as messages. The strategy then chooses the turns that go between
them.
"""

import json
from collections.abc import Iterable
from typing import Any, NamedTuple

from zkchat_cli.context.budget import Budget
from zkchat_cli.context.important_messages import important_room, keep_important
from zkchat_cli.context.instructions import citing_reminder
from zkchat_cli.context.prompt_inputs import PromptInputs
from zkchat_cli.context.prompt_messages import SUMMARY_TAG, make_prompt_message, render_turn
from zkchat_cli.context.strategies.base import Strategy
from zkchat_cli.context.tool_filter import find_omitted_tools
from zkchat_cli.context.turns import TurnHistory
from zkchat_cli.context.usage import measure_usage
from zkchat_cli.memory.project import MemoryItem
from zkchat_cli.models.compaction import Compaction
from zkchat_cli.models.messages import Role
from zkchat_cli.models.prompts import ContextUsage, PromptMessage, PromptTool
from zkchat_cli.text.fences import fence
from zkchat_cli.tokens.counter import TokenCounter


class PromptLayout(NamedTuple):
    """The rendered inputs, before a strategy chooses turns."""

    tools: tuple[PromptTool, ...]
    # Why tools are not offered, by their names
    omitted_tools: dict[str, str]
    front: tuple[PromptMessage, ...]
    summary: tuple[PromptMessage, ...]
    # The fixed messages of turns that failed or are in the summary
    fixed: tuple[PromptMessage, ...]
    contextual_memory: tuple[PromptMessage, ...]
    current: tuple[PromptMessage, ...]
    # The turns that can be sent and are not covered by the summary
    recent: TurnHistory

    @property
    def without_turns(self) -> tuple[PromptMessage, ...]:
        """The messages of the prompt without any turns."""
        return (*self.front, *self.summary, *self.fixed, *self.contextual_memory, *self.current)

    def measure(self, budget: Budget, counter: TokenCounter) -> ContextUsage:
        """The usage without any turns."""
        return measure_usage(self.without_turns, self.tools, budget, counter)


def lay_out_prompt(
    inputs: PromptInputs,
    budget: Budget,
    strategy: Strategy,
    counter: TokenCounter,
    *,
    keeps_important: bool = True,
) -> PromptLayout:
    """The inputs as messages, and the tools to offer. With `keeps_important`, important messages
    stay when their turns leave the prompt.
    """
    history = inputs.history
    if keeps_important:
        history = keep_important(history, important_room(budget))
    compaction = inputs.compaction if strategy.summarizes else None
    recent = history.since(history.count_covered(compaction))
    covered = history.fixed[: len(history.fixed) - len(recent.fixed)]
    out_of_sight = TurnHistory(covered, history.failed).all_turns
    tools = _describe_tools(inputs.tool_descriptors, counter)
    omitted = find_omitted_tools(tools, inputs, budget)
    system_prompt = make_prompt_message("system", "system", inputs.instructions, counter)
    memory = [_render_memory(item, "system", counter) for item in inputs.memory]
    fixed: list[PromptMessage] = []
    for turn in out_of_sight:
        fixed += turn.fixed
    return PromptLayout(
        tools=tuple(tool for tool in tools if tool.name not in omitted),
        omitted_tools=omitted,
        front=(system_prompt, *memory),
        summary=_render_summary(compaction, counter),
        fixed=tuple(fixed),
        contextual_memory=_render_contextual_memory(inputs.contextual_memory, counter),
        current=_render_current(inputs, counter),
        recent=recent,
    )


def _render_summary(
    compaction: Compaction | None, counter: TokenCounter
) -> tuple[PromptMessage, ...]:
    if compaction is None or not compaction.summary:
        return ()
    text = fence(SUMMARY_TAG, compaction.summary)
    return (make_prompt_message("user", "summary", text, counter, (compaction.id,)),)


def _describe_tools(
    descriptors: Iterable[dict[str, Any]], counter: TokenCounter
) -> tuple[PromptTool, ...]:
    tools: list[PromptTool] = []
    for descriptor in descriptors:
        tokens = counter.count_tool(json.dumps(descriptor, ensure_ascii=False))
        name = descriptor["function"]["name"]
        tools.append(PromptTool(name=name, descriptor=descriptor, tokens=tokens))
    return tuple(tools)


def _render_current(inputs: PromptInputs, counter: TokenCounter) -> tuple[PromptMessage, ...]:
    """The turn in progress.

    If excerpts were found before the question, a reminder how to cite follows: small models follow
    best what they read last.
    """
    rendered = render_turn(inputs.current, counter, in_progress=True)
    question = inputs.question
    if question is None or not question.chunks or len(inputs.current) > 1:
        return rendered
    number = question.chunks[0].number
    if number is None or question.retrieval in ("tools", None):
        return rendered
    return (*rendered, make_prompt_message("user", "system", citing_reminder(number), counter))


def _render_contextual_memory(
    items: Iterable[MemoryItem], counter: TokenCounter
) -> tuple[PromptMessage, ...]:
    """The memory for this message: files, and all facts in one message.

    They are not system messages: some providers move those to the front, where they would change
    with every turn.
    """
    files: list[PromptMessage] = []
    facts: list[MemoryItem] = []
    for item in items:
        if item.kind == "file":
            files.append(_render_memory(item, "user", counter))
        else:
            facts.append(item)
    if not facts:
        return tuple(files)
    text = fence("smart-memory", "\n".join(item.content for item in facts))
    ids = tuple(map(memory_id, facts))
    return (*files, make_prompt_message("user", "memory", text, counter, ids))


def _render_memory(item: MemoryItem, role: Role, counter: TokenCounter) -> PromptMessage:
    match item.kind:
        case "agent":
            text = fence("agent-memory", item.content, agent=item.key)
        case "user":
            text = fence("user-memory", item.content)
        case _:
            text = fence("project-memory", item.content, path=item.relative_path)
    return make_prompt_message(role, "memory", text, counter, (memory_id(item),))


def memory_id(item: MemoryItem) -> str:
    """The id of memory in a prompt: its path, `fact:KEY` or `agent:NAME`."""
    return item.relative_path or f"{item.kind}:{item.key}"
