"""What the model saw then: prompts as they were sent, made complete from the log, and what changed from one to another.

Stored is what was sent; what was left out, and what the messages name, follows from the log, which is only added to.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from zkchat_cli.context.turns import is_failed
from zkchat_cli.errors import UsageError
from zkchat_cli.models import Dropped, Prompt, PromptMessage, SentPrompt, ZkChatMessage, split_into_exchanges

RECALLED = "<recalled-conversation>"


@dataclass(frozen=True, slots=True)
class SentPrompts:
    """The calls of a turn, in their order; `number` counts the questions of the branch, from 1."""

    number: int
    calls: tuple[SentPrompt, ...]

    @property
    def last(self) -> Prompt:
        """What the call was sent that answered."""
        return self.calls[-1].prompt

    @property
    def tokens(self) -> int:
        return self.last.usage.total_tokens

    def call(self, number: int) -> SentPrompt:
        """That call. Raises UsageError."""
        if not 0 < number <= len(self.calls):
            calls = "1 call" if len(self.calls) == 1 else f"{len(self.calls)} calls"
            raise UsageError(f"turn {self.number} has no call {number}", f"It made {calls}; leave out the call to see all.")
        return self.calls[number - 1]

    def to_json(self, call: int | None = None) -> dict[str, Any]:
        """For `--json`: all calls, or one. Raises UsageError."""
        shown = self.calls if call is None else (self.call(call),)
        calls = [sent.model_dump(mode="json", exclude={"question_id", "summarised_through"}) for sent in shown]
        return {"turn": self.number, "question_id": self.calls[0].question_id, "calls": calls}


def find_question(history: Sequence[ZkChatMessage], number: int) -> ZkChatMessage:
    """The question of that turn. Raises UsageError when the branch has none of that number."""
    questions = [message for message in history if message.role == "user"]
    if not 0 < number <= len(questions):
        has = f"has {len(questions)} turn{'s' * (len(questions) != 1)}"
        raise UsageError(f"there is no turn {number}", f"The conversation {has}, counted by your messages.")
    return questions[number - 1]


def restore_sent_prompts(history: Sequence[ZkChatMessage], number: int, sent: Sequence[SentPrompt]) -> SentPrompts:
    """What the calls of a turn were sent, complete. Raises UsageError when nothing of it was kept."""
    if not sent:
        why = "it was imported without, came to no call, or an earlier zkchat stored it"
        raise UsageError(f"no prompt of turn {number} was kept: {why}", "zkchat context show prints what the next call would send.")
    return SentPrompts(number, tuple(each.model_copy(update={"prompt": restore_prompt(each, history)}) for each in sent))


def restore_prompt(sent: SentPrompt, history: Sequence[ZkChatMessage]) -> Prompt:
    """The prompt with what it left out of the branch `history`, and the documents that its messages name."""
    above = _above(history, sent.question_id)
    quoted = {id_ for m in sent.prompt.messages if m.content.startswith(RECALLED) for id_ in m.source_ids}
    there = {id_ for m in sent.prompt.messages for id_ in m.source_ids if not m.content.startswith(RECALLED)}
    dropped = [
        Dropped(id=message.id, reason=f"{reason}; quoted because it bears on the message" if message.id in quoted else reason)
        for message, reason in _reasons(above, sent.summarised_through)
        if message.id not in there
    ]
    named = {(r.relative_path or r.wikilink, r.heading): r for m in history if m.role == "user" and m.id in there for r in m.references}
    return sent.prompt.model_copy(update={"dropped": (*dropped, *sent.prompt.dropped), "documents": tuple(named.values())})


def _above(history: Sequence[ZkChatMessage], question_id: str) -> Sequence[ZkChatMessage]:
    place = next((i for i, message in enumerate(history) if message.id == question_id), len(history))
    return history[:place]


def _reasons(above: Sequence[ZkChatMessage], through: str | None) -> list[tuple[ZkChatMessage, str]]:
    """Each message with why it would not be in the prompt; the summary stands for those up to `through`."""
    summarised = any(message.id == through for message in above)
    found: list[tuple[ZkChatMessage, str]] = []
    for turn in split_into_exchanges(above):
        reason = "the model call failed" if is_failed(turn) else "in the summary" if summarised else "no room"
        found += ((message, reason) for message in turn)
        summarised = summarised and all(message.id != through for message in turn)
    return found


@dataclass(frozen=True, slots=True)
class PromptDiff:
    """What one prompt has that another had not, and what it lost; of the lost ones why, where that is known."""

    added: tuple[PromptMessage, ...]
    removed: tuple[tuple[PromptMessage, str], ...]
    tools_added: tuple[str, ...]
    tools_removed: tuple[str, ...]

    def to_json(self) -> dict[str, Any]:
        """For `--json`."""
        return {
            "added": [message.model_dump(mode="json") for message in self.added],
            "lost": [{**message.model_dump(mode="json"), "reason": why or None} for message, why in self.removed],
            "tools_added": self.tools_added,
            "tools_lost": self.tools_removed,
        }


def diff_prompts(before: Prompt, after: Prompt) -> PromptDiff:
    """Messages are the same that say the same; a masked result is another than the whole one."""
    reasons = {dropped.id: dropped.reason for dropped in after.dropped}
    shortened = {id_: m.kind for m in after.messages for id_ in m.source_ids[:1]}
    tools = {tool.name: tool for tool in before.tools}, {tool.name: tool for tool in after.tools}

    def why(lost: PromptMessage) -> str:
        source = lost.source_ids[0] if lost.source_ids else ""
        return reasons.get(source) or ("sent in another form" if shortened.get(source) == lost.kind else "")

    return PromptDiff(
        added=_without(after.messages, before.messages),
        removed=tuple((message, why(message)) for message in _without(before.messages, after.messages)),
        tools_added=tuple(name for name, tool in tools[1].items() if tools[0].get(name) != tool),
        tools_removed=tuple(name for name in tools[0] if name not in tools[1]),
    )


def _without(messages: Sequence[PromptMessage], others: Sequence[PromptMessage]) -> tuple[PromptMessage, ...]:
    there: dict[str, int] = {}
    for message in others:
        there[_said(message)] = there.get(_said(message), 0) + 1
    left = []
    for message in messages:
        if there.get(_said(message), 0):
            there[_said(message)] -= 1
        else:
            left.append(message)
    return tuple(left)


def _said(message: PromptMessage) -> str:
    return message.model_dump_json(include={"role", "content", "tool_calls", "tool_call_id", "kind"})
