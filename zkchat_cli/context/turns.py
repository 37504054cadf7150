"""Turns: the user's messages with everything that answers them, as the branch in use holds them and
as they are sent.

A prompt keeps, drops or folds whole turns, never single messages, so that a tool call always has
its result and an answer its question. Every prompt has the fixed messages word for word: those that
the user pinned, and standing instructions. Only "from now on …", "always answer in …" and the like
are such (the rules know English, German and Chinese), not "translate this", nor a phrase in a long
pasted text.
"""

import json
import re
from bisect import bisect_right
from collections.abc import Iterable, Sequence
from copy import copy
from functools import lru_cache
from itertools import chain
from operator import attrgetter
from typing import NamedTuple

from zkchat_cli.models.compaction import Compaction
from zkchat_cli.models.messages import Role, ThinkingBlocks, ToolCall, ZkChatMessage
from zkchat_cli.models.notes import ContentChunk
from zkchat_cli.models.prompts import PromptKind, PromptMessage
from zkchat_cli.references.injection import describe_documents
from zkchat_cli.text.patterns import lazy_pattern
from zkchat_cli.text.sentences import end_mark
from zkchat_cli.tokens.counter import MESSAGE_OVERHEAD, TokenCounter

# Characters; a longer message is a text to work on
MAX_CLASSIFIED = 2000
# Each compaction looks at every message of the window again
CACHED_MESSAGES = 512

_START = (
    r"(?:^|(?<=[.!?。！？\n]))[ \t]{0,8}(?:[-*] )?(?:(?:and|but|so|please|also|und|aber|bitte|请)[ "
    r",，]{0,2}){0,3}"
)
"""The start of a sentence. All repetitions are bounded: a text of blank lines must not take a
second.
"""
_VERBS = (
    r"(?:answer|reply|respond|use|write|cite|quote|mention|include|add|say|tell|call|ask|show|give "
    r"me|translate|invent|guess|summari[sz]e|"
    r"assume|change|delete|link|list|refer|format|explain|keep (?:it|your|answers)|be "
    r"(?:brief|concise|short|precise|exact|honest|polite))"
)
_RULES = (
    rf"(?:always|never|don't ever|do not ever) {_VERBS}\b|(?:don't|do not) {_VERBS}\b",
    r"(?:make sure|be sure|remember|you (?:must|should|are to|shall))(?: to| that you| "
    r"you)? (?:always|never)\b",
    r"(?:from (?:now|here|today) on|from this point on|going forward|for the rest of "
    r"(?:this|our) (?:chat|conversation))\b",
    r"(?:in (?:all )?(?:your )?(?:future|further) (?:answers|replies)|in (?:all|every one "
    r"of) your (?:answers|replies))\b",
    r"(?:remember (?:that|:)|keep in mind (?:that|:)|don't forget that|do not forget that)",
    r"(?:answer|reply|respond|write) (?:me "
    r")?(?:only|always|exclusively|briefly|concisely|in "
    r"(?:english|german|french|spanish|italian|"
    r"chinese|japanese|korean|portuguese|russian|dutch|short|one sentence|bullet points))\b",
    r"(?:ab jetzt|ab sofort|von nun an|von jetzt an|künftig|in zukunft)\b",
    r"(?:immer|nie|niemals) (?:auf |in |mit |nur )",
    r"(?:antworte|schreibe?|nenne|verwende|benutze|zitiere|erkläre)\b[^.!?\n]{0,60}\b(?:immer|nie|niemals|nur|stets)\b",
    r"(?:antworte|schreibe?) (?:mir )?(?:bitte )?(?:auf|kurz|knapp)\b|merke? dir\b|denke? "
    r"daran\b|vergiss nicht\b",
    r"(?:从现在(?:开始|起)|从今以后|今后|以后|始终|总是|永远|务必|不要再|记住|牢记|请记)",
)


def is_fixed(message: ZkChatMessage) -> bool:
    """Whether every prompt has the message, even if its turn is folded or dropped. What the user
    said with /pin or /unpin wins.
    """
    if message.pinned is not None:
        return message.pinned
    return message.role == "user" and _gives_instruction(message.content)


_INSTRUCTION = lazy_pattern(rf"{_START}(?:{'|'.join(_RULES)})", re.IGNORECASE)


@lru_cache(maxsize=CACHED_MESSAGES)
def _gives_instruction(content: str) -> bool:
    found = _INSTRUCTION.search(content) if len(content) <= MAX_CLASSIFIED else None
    if found is None:
        return False
    # "remember that note about owls?" is no instruction
    return end_mark(content, found.end()) not in ("?", "？")


INTERRUPTED = "\n[interrupted by the user]"
FIXED_TAG = "kept-message"
SUMMARY_TAG = "conversation-summary"
RECALLED_TAG = "recalled-conversation"
# Begins the note that replaces the middle of a masked text (see `masks.py`)
MASK_NOTE = "\n[… the middle of this older text is left out."
# Characters of the longest token in the shipped vocabularies
_MAX_TOKEN_LENGTH = 128


class Turn:
    """The messages of a turn, also in the form in which they are sent. `number` counts the user's
    messages, from 1.
    """

    def __init__(
        self, messages: Sequence[ZkChatMessage], number: int, counter: TokenCounter
    ) -> None:
        self.messages = tuple(messages)
        self.number = number
        self.counter = counter
        self.ids = tuple(message.id for message in messages)
        self.prompt = render_turn(messages, counter)
        # If there is one, the turn never goes into a prompt
        self.failure = failure_reason(messages)
        self.fixed = tuple(
            make_prompt_message(
                "user", "conversation", _fence_fixed(message, number), counter, (message.id,)
            )
            for message in messages
            if message.content
            and message.status != "damaged"
            and (message.pinned if self.failure else is_fixed(message))
        )
        """Its pinned messages and standing instructions, as they are sent without the turn; of a
        failed turn only the pinned ones.
        """
        self.fixed_ids = frozenset(id_ for message in self.fixed for id_ in message.source_ids)
        self.called_tools = frozenset(
            call.name for message in messages for call in message.tool_calls
        )
        self.tokens = sum(m.tokens for m in self.prompt)
        self.fixed_tokens = sum(m.tokens for m in self.fixed)

    @property
    def id(self) -> str:
        return self.ids[0]

    @property
    def spoken(self) -> list[ZkChatMessage]:
        """What the user and the model said."""
        return [message for message in self.messages if message.role != "tool" and message.content]

    @property
    def foldable_tokens(self) -> int:
        """Tokens that a prompt saves without the turn."""
        return self.tokens - self.fixed_tokens

    def with_prompt(self, rendered: tuple[PromptMessage, ...]) -> "Turn":
        """The turn as it is sent in another form."""
        turn = copy(self)
        turn.prompt = rendered
        turn.tokens = sum(m.tokens for m in rendered)
        return turn


def failure_reason(messages: Sequence[ZkChatMessage]) -> str:
    """Why a turn is left out of prompts: a message is damaged, or the call failed, was stopped
    before a word, or the process died. Empty for other turns.
    """
    last = messages[-1]
    if any(m.status == "damaged" for m in messages):
        return "a message is damaged on disk"
    failed = any(m.status == "failed" for m in messages) or (
        last.role == "user" and last.status in ("pending", "unfinished")
    )
    return "the model call failed" if failed else ""


class TurnHistory(NamedTuple):
    """The finished turns of a branch, oldest first: those that can be sent, those that failed, and
    those of `turns` with fixed messages. What each prompt asks of it takes as long with 10,000
    turns as with 100.
    """

    turns: tuple[Turn, ...] = ()
    failed: tuple[Turn, ...] = ()
    fixed: tuple[Turn, ...] = ()

    @property
    def all_turns(self) -> tuple[Turn, ...]:
        return (
            tuple(sorted((*self.turns, *self.failed), key=_number)) if self.failed else self.turns
        )

    @property
    def tokens(self) -> int:
        """Tokens of `turns`."""
        return sum(turn.tokens for turn in self.turns)

    @property
    def fixed_tokens(self) -> int:
        """Tokens of the fixed messages in `turns`."""
        return sum(turn.fixed_tokens for turn in self.fixed)

    def since(self, position: int) -> "TurnHistory":
        """The turns that can be sent from this position on."""
        turns = self.turns[position:]
        return TurnHistory(
            turns,
            (),
            tuple(turn for turn in self.fixed if turns and turn.number >= turns[0].number),
        )

    def count_covered(self, compaction: Compaction | None) -> int:
        """How many of `turns`, from the first, a compaction's summary covers. Searched from the
        end, where its border is.
        """
        if compaction is not None and compaction.summary:
            for turn in chain(reversed(self.turns), self.failed):
                if compaction.last_id in turn.ids:
                    return bisect_right(self.turns, turn.number, key=_number)
        return 0


_number = attrgetter("number")


def make_turns(
    exchanges: Iterable[Sequence[ZkChatMessage]],
    counter: TokenCounter,
    before: TurnHistory = TurnHistory(),  # noqa: B008, RUF100
) -> TurnHistory:
    """The turns `before` and those of these exchanges after them. The first question is turn 1;
    messages before it, as in some imports, are a turn of their own, 0.
    """
    number = max((turn.number for turn in (*before.turns[-1:], *before.failed[-1:])), default=None)
    made: list[Turn] = []
    for messages in exchanges:
        number = number + 1 if number is not None else int(messages[0].role == "user")
        made.append(Turn(messages, number, counter))
    turns = [turn for turn in made if not turn.failure]
    failed = [turn for turn in made if turn.failure]
    return TurnHistory(
        (*before.turns, *turns),
        (*before.failed, *failed),
        (*before.fixed, *(turn for turn in turns if turn.fixed)),
    )


def _fence_fixed(message: ZkChatMessage, turn: int) -> str:
    why = "pinned by the user" if message.pinned else "an instruction of the user that still holds"
    return fence(
        FIXED_TAG,
        message.content,
        turn=turn,
        role=message.role,
        date=message.timestamp[:10],
        why=why,
    )


def fence(tag: str, text: str, **attributes: object) -> str:
    """Text that is data, between tags that it cannot close."""
    harmless = re.sub(rf"<\s*/\s*(?={tag})", r"<\\/", text, flags=re.IGNORECASE)
    written = "".join(
        f" {key}={json.dumps(value, ensure_ascii=False)}" for key, value in attributes.items()
    )
    return f"<{tag}{written}>\n{harmless}\n</{tag}>"


def make_prompt_message(
    role: Role,
    kind: PromptKind,
    content: str,
    counter: TokenCounter,
    source_ids: tuple[str, ...] = (),
    chunks: tuple[ContentChunk, ...] = (),
) -> PromptMessage:
    """A message with the tokens that it takes."""
    return PromptMessage(
        role=role,
        content=content,
        tokens=counter.count(content) + MESSAGE_OVERHEAD,
        kind=kind,
        source_ids=source_ids,
        chunks=chunks,
    )


def render_turn(
    messages: Sequence[ZkChatMessage], counter: TokenCounter, *, in_progress: bool = False
) -> tuple[PromptMessage, ...]:
    """The messages of a turn as the model gets them: documents come before the question, and tool
    calls without a result are left out, as are results without a call. While it is in progress the
    model's reasoning goes back to it.
    """
    answered_calls, results = _match_calls(messages)
    rendered: list[PromptMessage] = []
    for position, message in enumerate(messages):
        if message.role == "tool":
            rendered += [_render_message(message, (), None, counter)] if position in results else []
            continue
        if message.role == "user" and (message.references or message.chunks):
            paths = dict.fromkeys(r.relative_path for r in message.references if r.relative_path)
            # With the message's own id where its text is sent
            ids = (*([message.id] if message.chunks else []), *paths)
            text = describe_documents(
                message.references,
                message.chunks,
                message.retrieval,
                as_text=bool(message.plain_excerpts),
            )
            rendered.append(
                make_prompt_message("user", "documents", text, counter, ids, message.chunks)
            )
        calls = tuple(
            call for i, call in enumerate(message.tool_calls) if (position, i) in answered_calls
        )
        if message.content or calls:
            rendered.append(
                _render_message(message, calls, message.thinking if in_progress else None, counter)
            )
    # Stopped; Mistral's models refuse a question after a tool result
    if rendered and rendered[-1].role == "tool" and not in_progress:
        rendered.append(
            make_prompt_message(
                "assistant", "conversation", INTERRUPTED.strip(), counter, rendered[-1].source_ids
            )
        )
    return tuple(rendered)


def _match_calls(messages: Sequence[ZkChatMessage]) -> tuple[set[tuple[int, int]], set[int]]:
    """The calls with a result, as (message, index of the call), and the messages that are such
    results. A result belongs to the first unanswered call of its id in the message right before the
    results, as providers demand; imported logs may have others.
    """
    answered: set[tuple[int, int]] = set()
    results: set[int] = set()
    open_calls: list[tuple[str, tuple[int, int]]] = []
    for position, message in enumerate(messages):
        if message.role != "tool":
            open_calls = (
                [(call.id, (position, i)) for i, call in enumerate(message.tool_calls)]
                if message.role == "assistant"
                else []
            )
            continue
        match = next((call for call in open_calls if call[0] == message.tool_call_id), None)
        if match is not None:
            open_calls.remove(match)
            answered.add(match[1])
            results.add(position)
    return answered, results


def count_call_tokens(calls: Iterable[ToolCall], counter: TokenCounter) -> int:
    """Tokens of the names and arguments of tool calls."""
    return sum(
        counter.count(call.name) + counter.count(json.dumps(call.arguments, ensure_ascii=False))
        for call in calls
    )


def is_masked_text(content: str) -> bool:
    """Whether the middle of a result or of documents has been left out."""
    return MASK_NOTE in content


def _render_message(
    message: ZkChatMessage,
    calls: tuple[ToolCall, ...],
    thinking: ThinkingBlocks | None,
    counter: TokenCounter,
) -> PromptMessage:
    content = message.prompt_text
    stored = message.token_count
    if message.role == "assistant" and message.status == "unfinished" and message.content:
        content = message.content + INTERRUPTED
        stored = None
    # an import may contain any number, and one that is impossible for a text of this length would
    # let the prompt grow past its limit
    possible = (
        stored is not None
        and len(content) <= stored * _MAX_TOKEN_LENGTH
        and stored <= 4 * len(content)
    )
    tokens = counter.scale(stored) if stored is not None and possible else counter.count(content)
    call_tokens = count_call_tokens(calls, counter)
    thinking_tokens = (
        counter.count(json.dumps(thinking.blocks, ensure_ascii=False)) if thinking else 0
    )
    return PromptMessage(
        role=message.role,
        content=content,
        tool_calls=calls,
        thinking=thinking,
        tokens=tokens + call_tokens + thinking_tokens + MESSAGE_OVERHEAD,
        call_tokens=call_tokens,
        thinking_tokens=thinking_tokens,
        tool_call_id=message.tool_call_id if message.role == "tool" else None,
        kind="tool_results" if message.role == "tool" else "conversation",
        source_ids=(message.id,),
        chunks=message.chunks if message.role == "tool" and not is_masked_text(content) else (),
    )


def select_newest(history: TurnHistory, budget: int) -> tuple[Turn, ...]:
    """The newest turns that take at most `budget` tokens, without gaps. The fixed messages of all
    turns are sent with or without them.
    """
    kept: list[Turn] = []
    budget -= history.fixed_tokens
    for turn in reversed(history.turns):
        budget -= turn.foldable_tokens
        if budget < 0:
            break
        kept.append(turn)
    return tuple(reversed(kept))
