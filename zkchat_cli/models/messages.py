"""What is said in a conversation: messages, the tools they call, the documents they name, find and cite."""

from collections.abc import Iterable, Iterator
from typing import Any, Literal

from pydantic import Field

from zkchat_cli.models.base import Value

CONTINUE_PROMPT = "Go on exactly where your last answer stopped. Do not repeat what you have said."
"""What the model is asked for `/continue`."""
Role = Literal["system", "user", "assistant", "tool"]
MessageStatus = Literal["pending", "complete", "unfinished", "failed"]
ReferenceType = Literal["direct", "search", "import", "memory", "link"]
Delivery = Literal["injected", "partly", "offered"]
"""How a document that the user named reaches the model: its text in the prompt, some sections of it, or only what it is about, with a
request to read it."""
CitationStatus = Literal["verified", "cited", "misquoted", "missing"]
"""The quoted words stand in the cited chunk; nothing was quoted; they do not stand there; nothing with that number was in the prompt."""
ReferenceStatus = Literal["found", "broken", "ambiguous"]
FinishReason = Literal["stop", "length", "tool_calls", "content_filter", "cancelled", "error"]


class ToolCall(Value):
    """The model's wish to run a tool: `arguments` as decoded from its JSON; if that was none, they are empty and `malformed` has it."""

    id: str
    name: str
    arguments: dict[str, Any] = Field(default_factory=dict)
    malformed: str | None = None


class ThinkingBlocks(Value):
    """Reasoning as a provider wants it back until the turn ends, unchanged; of no use to any other provider."""

    provider: str
    blocks: tuple[dict[str, Any], ...]


class ContentChunk(Value):
    """A piece of a note, as search finds it and an answer cites it.

    `id` changes when the text or its place changes. `score` is higher for better, comparable within one search only. `number` is what
    the model cites as `[number]`; the ReferenceManager gives it, one numbering for the whole conversation.
    """

    id: str
    relative_path: str
    title: str
    heading: str | None = None
    start_line: int
    end_line: int
    text: str
    score: float | None = None
    number: int | None = None


class DocumentReference(Value):
    """A document that a message names (`direct`), a note linked from there (`link`), a file it imports (`import`), what tools brought in
    (`search`) or memory named (`memory`)."""

    wikilink: str
    relative_path: str | None = None
    reference_type: ReferenceType
    summary: str | None = None
    context_snippet: str | None = None
    status: ReferenceStatus = "found"
    number: int | None = None
    numbers: tuple[int, ...] = ()
    """Of all its chunks; `number` is the first."""
    heading: str | None = None
    headings: tuple[str, ...] = ()
    """What else is in a document that is not in the prompt as a whole."""
    candidates: tuple[str, ...] = ()
    """For a broken link the nearest existing names, for an ambiguous one the notes that lost."""
    delivery: Delivery | None = None
    delivery_reason: str | None = None
    """Why it was delivered so, with the figures."""
    above: bool = False
    """Whether its text was in the prompt already, by an earlier message or a tool; then it is not put there again."""


class Citation(Value):
    """One source of an answer, with one quotation or none. `valid`: that chunk was in the prompt and the quoted words, if any, stand in it.

    `spans` are the places in the answer (from, to; characters) where it is cited so.
    """

    number: int
    relative_path: str | None = None
    heading: str | None = None
    start_line: int | None = None
    end_line: int | None = None
    quote: str | None = None
    valid: bool = False
    status: CitationStatus = "missing"
    spans: tuple[tuple[int, int], ...] = ()

    @property
    def effective_status(self) -> CitationStatus:
        """`status`; for a citation that was stored before there was one, what its other fields say."""
        if self.status == "missing" and self.relative_path is not None:
            return "misquoted" if not self.valid else "verified" if self.quote else "cited"
        return self.status


class ToolRun(Value):
    """What a tool call came to: `tokens` of its result as the model gets it; `outcome` in a few words for who watches, empty where the
    number of excerpts says it."""

    name: str
    arguments: dict[str, Any]
    ok: bool
    tokens: int
    duration_ms: float
    outcome: str = ""


class TokenUsage(Value):
    """What a model call cost; `estimated` when the provider did not say and zkchat counted."""

    prompt_tokens: int
    completion_tokens: int
    estimated: bool = True
    cached_tokens: int | None = None
    """How many of the prompt's tokens the provider had in its cache, where it says so."""


class Timings(Value):
    """Milliseconds of a turn; `overhead` is everything but model and tools."""

    prepare: float
    model: float
    tools: float
    store: float
    overhead: float


class ZkChatMessage(Value):
    """One message of the append-only log. `parent_id` makes the log a tree: undo, retry and edit move its head.

    `content` is what was said, word for word. What zkchat adds for the model (the list of referenced documents) is rendered from
    `references` at assembly, so the log stays clean and the addition is counted apart (`augmented_token_count`, both together).
    Only a tool's answer has `tool_call_id` and `tool_name`; `chunks` are what it brought in, or what a user's message names and the prompt
    has in full.
    """

    id: str
    parent_id: str | None = None
    role: Role
    content: str
    timestamp: str
    status: MessageStatus = "complete"
    references: tuple[DocumentReference, ...] = ()
    citations: tuple[Citation, ...] = ()
    chunks: tuple[ContentChunk, ...] = ()
    tool_calls: tuple[ToolCall, ...] = ()
    tool_call_id: str | None = None
    tool_name: str | None = None
    tool_run: ToolRun | None = None
    reasoning: str | None = None
    thinking: ThinkingBlocks | None = None
    model: str | None = None
    finish_reason: FinishReason | None = None
    usage: TokenUsage | None = None
    uncited_statements: int | None = None
    timings_ms: Timings | None = None
    """Of the turn that an answer ends, until it was stored."""
    token_count: int | None = None
    augmented_token_count: int | None = None
    tool_tokens: int | None = None
    pinned: bool = False
    priority: int = Field(default=5, ge=1, le=10)
    priority_set: bool = False
    """Whether the user set `priority`; else it follows from rules (see context/priorities.py)."""
    agent: str | None = None
    """Of a user's message: the agent that answers it."""
    addressed: str | None = None
    """The `@name` that called the agent for this message alone, as it is written in `content`; behind a text that was piped in, with the
    empty line before it, for that text may say the same."""
    goal: str | None = None
    """Of a user's message in an agent run: the goal that it works on."""

    @property
    def display_text(self) -> str:
        """The content, as a list of messages shows it: not in words that the user has never seen."""
        return "/continue" if self.role == "user" and self.content == CONTINUE_PROMPT else self.content

    @property
    def prompt_text(self) -> str:
        """What was said, without the name of the agent that it is addressed to: that is for zkchat, not for the model."""
        if not self.addressed:
            return self.content
        piped = self.addressed.startswith("\n")
        before, there, after = self.content.rpartition(self.addressed) if piped else self.content.partition(self.addressed)
        return before + ("\n\n" if piped and there else "") + after.lstrip(" \t\n,:")


def split_into_exchanges(messages: Iterable[ZkChatMessage]) -> Iterator[list[ZkChatMessage]]:
    """Each question with what follows it; what an import has before the first one comes by itself."""
    turn: list[ZkChatMessage] = []
    for message in messages:
        if message.role == "user" and turn:
            yield turn
            turn = []
        turn.append(message)
    if turn:
        yield turn


def branch_to(log: Iterable[ZkChatMessage], head_id: str | None) -> tuple[ZkChatMessage, ...]:
    """The messages of a log that lead to one of them, from the first; none for None."""
    there = {message.id: message for message in log}
    found: list[ZkChatMessage] = []
    while head_id is not None:
        found.append(there[head_id])
        head_id = found[-1].parent_id
    return tuple(reversed(found))
