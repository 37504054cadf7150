"""Past prompts: what each model call was sent, restored from the store and the log, and the
difference between two of them.

The store keeps what was sent. Dropped messages and named documents follow from the log, which is
append-only.
"""

from collections.abc import Callable, Sequence
from typing import NamedTuple

from zkchat_cli.context.dropped_items import EarlierTurn, dropped_messages, named_documents
from zkchat_cli.context.turns import failure_reason
from zkchat_cli.errors import UsageError
from zkchat_cli.models.messages import ZkChatMessage, split_into_exchanges
from zkchat_cli.models.prompts import Prompt, PromptKind, PromptMessage, PromptTool, SentPrompt
from zkchat_cli.text.numbers import plural


class SentPrompts(NamedTuple):
    """The prompts of a turn's calls, in order. `number` is the turn's number, from 1."""

    number: int
    calls: tuple[SentPrompt, ...]

    @property
    def last(self) -> Prompt:
        """The prompt of the turn's last call, which gave the answer."""
        return self.calls[-1].prompt

    @property
    def tokens(self) -> int:
        """Tokens of the last prompt."""
        return self.last.usage.total_tokens


def restore_sent_prompts(
    history: Sequence[ZkChatMessage], number: int, read: Callable[[str], Sequence[SentPrompt]]
) -> SentPrompts:
    """The complete prompts of a turn.

    `read` finds them by the id of the turn's question. Raises UsageError if there is no such turn,
    or if none of its prompts was stored.
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
    calls: list[SentPrompt] = []
    for call in sent:
        prompt = restore_prompt(call, history)
        calls.append(call.model_copy(update={"prompt": prompt}))
    return SentPrompts(number, tuple(calls))


def restore_prompt(sent: SentPrompt, history: Sequence[ZkChatMessage]) -> Prompt:
    """The prompt completed with the messages of the branch that it dropped, and the documents that
    its messages name.
    """
    before: list[ZkChatMessage] = []
    for message in history:
        if message.id == sent.question_id:
            break
        before.append(message)
    turns: list[EarlierTurn] = []
    for messages in split_into_exchanges(before):
        ids = [message.id for message in messages]
        turns.append(EarlierTurn(ids, failure_reason(messages)))
    dropped = dropped_messages(turns, sent.prompt.messages, sent.summarized_through)
    there: set[str] = set()
    for rendered in sent.prompt.messages:
        if rendered.kind != "recalled":
            there.update(rendered.source_ids)
    named = named_documents(message for message in history if message.id in there)
    return sent.prompt.model_copy(
        update={"dropped": (*dropped, *sent.prompt.dropped), "documents": named}
    )


class RemovedMessage(NamedTuple):
    """A message that a prompt no longer has, and the reason; that is empty if unknown."""

    message: PromptMessage
    reason: str


class PromptDiff(NamedTuple):
    """What a prompt has that an earlier one did not have, and what it lacks."""

    added: tuple[PromptMessage, ...]
    removed: tuple[RemovedMessage, ...]
    tools_added: tuple[str, ...]
    tools_removed: tuple[str, ...]


def diff_prompts(before: Prompt, after: Prompt) -> PromptDiff:
    """What one prompt has and another lacks.

    Messages are compared by their text: a masked tool result differs from the full one.
    """
    known = set(map(_tool_identity, before.tools))
    tools_added = [tool.name for tool in after.tools if _tool_identity(tool) not in known]
    offered = {tool.name for tool in after.tools}
    tools_removed = [tool.name for tool in before.tools if tool.name not in offered]
    return PromptDiff(
        added=_subtract(after.messages, before.messages),
        removed=_find_removed(before, after),
        tools_added=tuple(tools_added),
        tools_removed=tuple(tools_removed),
    )


def _find_removed(before: Prompt, after: Prompt) -> tuple[RemovedMessage, ...]:
    """The messages that only the earlier prompt has, with the reasons."""
    reasons = {dropped.id: dropped.reason for dropped in after.dropped}
    kinds: dict[str | None, PromptKind] = {}
    for message in after.messages:
        if message.source_ids:
            kinds[_first_source(message)] = message.kind
    removed: list[RemovedMessage] = []
    for message in _subtract(before.messages, after.messages):
        source = _first_source(message)
        reason = reasons.get(source or "", "")
        if not reason and kinds.get(source) == message.kind:
            reason = "sent in another form"
        removed.append(RemovedMessage(message, reason))
    return tuple(removed)


def _tool_identity(tool: PromptTool) -> str:
    return tool.model_dump_json()


def _first_source(message: PromptMessage) -> str | None:
    """The first log message or path that a message was made from, if there is one."""
    return message.source_ids[0] if message.source_ids else None


def _subtract(
    messages: Sequence[PromptMessage], others: Sequence[PromptMessage]
) -> tuple[PromptMessage, ...]:
    """The messages that are not among the others."""
    there = set(map(_identity, others))
    return tuple(message for message in messages if _identity(message) not in there)


def _identity(message: PromptMessage) -> str:
    return message.model_dump_json(
        include={"role", "content", "tool_calls", "tool_call_id", "kind", "source_ids"}
    )
