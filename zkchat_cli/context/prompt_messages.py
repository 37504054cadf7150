"""Messages of the log as the model gets them."""

import json
from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple

from zkchat_cli.models.images import Image
from zkchat_cli.models.messages import Role, ThinkingBlocks, ToolCall, ZkChatMessage
from zkchat_cli.models.notes import ContentChunk
from zkchat_cli.models.prompts import PromptKind, PromptMessage
from zkchat_cli.references.document_list import describe_documents
from zkchat_cli.text.sanitize import show_controls, show_controls_in
from zkchat_cli.tokens.counter import MESSAGE_OVERHEAD, TokenCounter

INTERRUPTED = "\n[interrupted by the user]"
FIXED_TAG = "kept-message"
SUMMARY_TAG = "conversation-summary"
RECALLED_TAG = "recalled-conversation"
# The beginning of the note that replaces the middle of a masked text (see `masks.py`)
MASK_NOTE = "\n[… the middle of this older text is left out."
# The same for pictures
MASKED_IMAGES_NOTE = "\n[… pictures of this older message are left out:"
# Length of the longest token in the shipped vocabularies, in characters
_MAX_TOKEN_LENGTH = 128
# Most tokens of one character: each token is at least one byte
_MAX_TOKENS_PER_CHARACTER = 4


def make_prompt_message(
    role: Role,
    kind: PromptKind,
    content: str,
    counter: TokenCounter,
    source_ids: tuple[str, ...] = (),
    chunks: tuple[ContentChunk, ...] = (),
    images: tuple[Image, ...] = (),
) -> PromptMessage:
    """A message with the number of its tokens."""
    image_tokens = sum(map(counter.count_image, images))
    return PromptMessage(
        role=role,
        content=show_controls(content),
        tokens=counter.count(content) + image_tokens + MESSAGE_OVERHEAD,
        kind=kind,
        source_ids=source_ids,
        images=images,
        image_tokens=image_tokens,
        chunks=chunks,
    )


def render_turn(
    messages: Sequence[ZkChatMessage], counter: TokenCounter, *, in_progress: bool = False
) -> tuple[PromptMessage, ...]:
    """The messages of a turn as the model gets them.

    Documents come before the question. Tool calls without a result are left out, and so are results
    without a call. As long as the turn is in progress, the model's reasoning goes back to it.
    """
    matched = _match_calls(messages)
    rendered: list[PromptMessage] = []
    for position, message in enumerate(messages):
        if message.role == "tool":
            if position in matched.results:
                rendered.append(_render_message(message, (), None, counter))
            continue
        if not in_progress:
            message = _without_added(message)
        if message.role == "user" and (message.references or message.chunks):
            rendered.append(_render_documents(message, counter))
        calls = matched.calls_of(message, position)
        if message.content or calls:
            thinking = message.thinking if in_progress else None
            rendered.append(_render_message(message, calls, thinking, counter))
    if rendered and not in_progress:
        rendered += _render_interruption(rendered[-1], counter)
    return tuple(rendered)


def _without_added(message: ZkChatMessage) -> ZkChatMessage:
    """An earlier question without the documents that every question has: the newest has them as
    they are now.
    """
    if not any(reference.added for reference in message.references):
        return message
    others = tuple(each for each in message.references if not each.added)
    added: set[int] = set()
    for reference in message.references:
        if reference.added:
            added.update(reference.all_numbers)
    for reference in others:
        added.difference_update(reference.all_numbers)
    chunks = tuple(chunk for chunk in message.chunks if chunk.number not in added)
    return message.model_copy(update={"references": others, "chunks": chunks})


def _render_interruption(last: PromptMessage, counter: TokenCounter) -> Iterator[PromptMessage]:
    """The message that ends a turn that was stopped after a tool; none for other turns.

    Mistral's models refuse a question right after the result of a tool.
    """
    if last.role == "tool":
        text = INTERRUPTED.strip()
        yield make_prompt_message("assistant", "conversation", text, counter, last.source_ids)


def _render_documents(message: ZkChatMessage, counter: TokenCounter) -> PromptMessage:
    """The documents of a question.

    The source ids are the documents' paths; if some of their text or a picture is sent, the id of
    the message comes first.
    """
    paths: dict[str, None] = {}
    for reference in message.references:
        if reference.relative_path and reference.delivery != "left_out":
            paths[reference.relative_path] = None
    images = sent_images(message)
    own = (message.id,) if message.chunks or images else ()
    text = describe_documents(
        message.references,
        message.chunks,
        message.retrieval,
        as_text=bool(message.plain_excerpts),
    )
    ids = (*own, *paths)
    return make_prompt_message("user", "documents", text, counter, ids, message.chunks, images)


def sent_images(message: ZkChatMessage) -> tuple[Image, ...]:
    """The pictures that a question sends."""
    sent = [each for each in message.references if each.delivery == "injected"]
    return tuple(each.image for each in sent if each.image is not None)


class CallPlace(NamedTuple):
    """The place of a tool call: the position of its message, and its position in that message, both
    from 0.
    """

    message: int
    position: int


class _MatchedCalls(NamedTuple):
    """The calls that have a result, and the messages that are results of calls."""

    calls: set[CallPlace]
    results: set[int]

    def calls_of(self, message: ZkChatMessage, position: int) -> tuple[ToolCall, ...]:
        """The calls that have a result, in the message at this position."""
        found: list[ToolCall] = []
        for index, call in enumerate(message.tool_calls):
            if CallPlace(position, index) in self.calls:
                arguments = show_controls_in(call.arguments)
                found.append(call.model_copy(update={"arguments": arguments}))
        return tuple(found)


def _match_calls(messages: Sequence[ZkChatMessage]) -> _MatchedCalls:
    """Match calls and results.

    A result belongs to the first unanswered call with its id in the message right before the
    results. Providers demand this order, but imported logs may have another.
    """
    matched = _MatchedCalls(set(), set())
    open_calls: list[tuple[str, CallPlace]] = []
    for position, message in enumerate(messages):
        if message.role != "tool":
            open_calls = []
            if message.role == "assistant":
                for index, call in enumerate(message.tool_calls):
                    open_calls.append((call.id, CallPlace(position, index)))
            continue
        for open_call in open_calls:
            id_, place = open_call
            if id_ == message.tool_call_id:
                open_calls.remove(open_call)
                matched.calls.add(place)
                matched.results.add(position)
                break
    return matched


def count_call_tokens(calls: Iterable[ToolCall], counter: TokenCounter) -> int:
    """Tokens of the names and arguments of tool calls."""
    tokens = 0
    for call in calls:
        tokens += counter.count(call.name)
        tokens += counter.count(json.dumps(call.arguments, ensure_ascii=False))
    return tokens


def is_masked_text(content: str) -> bool:
    """Whether a text of results or documents lacks its middle or its pictures."""
    return MASK_NOTE in content or MASKED_IMAGES_NOTE in content


def _render_message(
    message: ZkChatMessage,
    calls: tuple[ToolCall, ...],
    thinking: ThinkingBlocks | None,
    counter: TokenCounter,
) -> PromptMessage:
    content = show_controls(message.prompt_text)
    tokens = _content_tokens(message, counter)
    if message.role == "assistant" and message.status == "unfinished" and message.content:
        content += INTERRUPTED
        tokens = counter.count(content)
    is_result = message.role == "tool"
    call_tokens = count_call_tokens(calls, counter) if calls else 0
    thinking_tokens = 0
    if thinking:
        thinking_tokens = counter.count(json.dumps(thinking.blocks, ensure_ascii=False))
    return PromptMessage(
        role=message.role,
        content=content,
        tool_calls=calls,
        thinking=thinking,
        tokens=tokens + call_tokens + thinking_tokens + MESSAGE_OVERHEAD,
        call_tokens=call_tokens,
        thinking_tokens=thinking_tokens,
        tool_call_id=message.tool_call_id if is_result else None,
        kind="tool_results" if is_result else "conversation",
        source_ids=(message.id,),
        chunks=message.chunks if is_result and not is_masked_text(content) else (),
    )


def _content_tokens(message: ZkChatMessage, counter: TokenCounter) -> int:
    """Tokens of what the message says.

    The stored number is used if it is possible for a text of this length: an import may contain any
    number, and the prompt would grow past its limit.
    """
    content = message.prompt_text
    stored = message.token_count
    if stored is None:
        return counter.count(content)
    shortest = stored / _MAX_TOKENS_PER_CHARACTER
    longest = stored * _MAX_TOKEN_LENGTH
    if shortest <= len(content) <= longest:
        return counter.scale(stored)
    return counter.count(content)
