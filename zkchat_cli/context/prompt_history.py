"""Past prompts: what each model call was sent, restored from the store and the log, and the
difference between two of them.

The store keeps what was sent; dropped messages and named documents follow from the log, which is
append-only.
"""

from collections.abc import Callable, Sequence
from typing import NamedTuple

from zkchat_cli.context.prompt_assembly import dropped_messages, named_documents
from zkchat_cli.context.turns import failure_reason
from zkchat_cli.errors import UsageError
from zkchat_cli.models.messages import ZkChatMessage, split_into_exchanges
from zkchat_cli.models.prompts import Prompt, PromptMessage, SentPrompt
from zkchat_cli.text.numbers import plural


class SentPrompts(NamedTuple):
    """The calls of a turn in order. `number` is the turn's, from 1."""

    number: int
    calls: tuple[SentPrompt, ...]

    @property
    def last(self) -> Prompt:
        """The prompt of the call that answered."""
        return self.calls[-1].prompt

    @property
    def tokens(self) -> int:
        return self.last.usage.total_tokens


def restore_sent_prompts(
    history: Sequence[ZkChatMessage], number: int, read: Callable[[str], Sequence[SentPrompt]]
) -> SentPrompts:
    """The complete prompts of a turn; `read` finds them by the id of its question. Raises
    UsageError if there is no such turn, or if none was stored.
    """
    questions = [message.id for message in history if message.role == "user"]
    if not 0 < number <= len(questions):
        raise UsageError(
            f"there is no turn {number}",
            f"The conversation has {plural(len(questions), 'turn')}, counted by your messages.",
        )
    sent = read(questions[number - 1])
    if not sent:
        problem = (
            f"no prompt of turn {number} was stored: it was imported without, or made no model call"
        )
        raise UsageError(problem, "zkchat context show prints what the next call would send.")
    return SentPrompts(
        number,
        tuple(each.model_copy(update={"prompt": restore_prompt(each, history)}) for each in sent),
    )


def restore_prompt(sent: SentPrompt, history: Sequence[ZkChatMessage]) -> Prompt:
    """The prompt with the messages of the branch that it dropped, and the documents that its
    messages name.
    """
    question = next(
        (i for i, message in enumerate(history) if message.id == sent.question_id), len(history)
    )
    turns = split_into_exchanges(history[:question])
    ids = [([message.id for message in turn], failure_reason(turn)) for turn in turns]
    dropped = dropped_messages(ids, sent.prompt.messages, sent.summarized_through)
    there = {id_ for m in sent.prompt.messages if m.kind != "recalled" for id_ in m.source_ids}
    named = named_documents([message for message in history if message.id in there])
    return sent.prompt.model_copy(
        update={"dropped": (*dropped, *sent.prompt.dropped), "documents": named}
    )


class PromptDiff(NamedTuple):
    """What a prompt has that an earlier one had not, and what it lacks; each removed message with
    the reason if known.
    """

    added: tuple[PromptMessage, ...]
    removed: tuple[tuple[PromptMessage, str], ...]
    tools_added: tuple[str, ...]
    tools_removed: tuple[str, ...]


def diff_prompts(before: Prompt, after: Prompt) -> PromptDiff:
    """Messages are compared by what they say: a masked tool result differs from the full one."""
    reasons = {dropped.id: dropped.reason for dropped in after.dropped}
    kinds = {id_: m.kind for m in after.messages for id_ in m.source_ids[:1]}
    tools_before, tools_after = (
        {tool.name: tool for tool in prompt.tools} for prompt in (before, after)
    )

    def explain(removed: PromptMessage) -> str:
        source = removed.source_ids[0] if removed.source_ids else ""
        return reasons.get(source) or (
            "sent in another form" if kinds.get(source) == removed.kind else ""
        )

    return PromptDiff(
        added=_subtract(after.messages, before.messages),
        removed=tuple(
            (message, explain(message)) for message in _subtract(before.messages, after.messages)
        ),
        tools_added=tuple(
            name for name, tool in tools_after.items() if tools_before.get(name) != tool
        ),
        tools_removed=tuple(name for name in tools_before if name not in tools_after),
    )


def _subtract(
    messages: Sequence[PromptMessage], others: Sequence[PromptMessage]
) -> tuple[PromptMessage, ...]:
    """The messages without the others."""
    there = set(map(_identity, others))
    return tuple(message for message in messages if _identity(message) not in there)


def _identity(message: PromptMessage) -> str:
    return message.model_dump_json(
        include={"role", "content", "tool_calls", "tool_call_id", "kind", "source_ids"}
    )
