"""Messages of a conversation, their tool calls, documents and citations."""

from collections import defaultdict
from collections.abc import Iterable, Iterator
from typing import Any, Literal, NamedTuple, get_args

from pydantic import Field

from zkchat_cli.models.base import Count, Quantity, Value

CONTINUE_PROMPT = "Go on exactly where your last answer stopped. Do not repeat what you have said."
"""The message that `/continue` sends."""
Role = Literal["system", "user", "assistant", "tool"]
MessageStatus = Literal["pending", "complete", "unfinished", "failed", "damaged"]
"""A damaged message is not what was stored: its content says so, and it never goes into a prompt."""
ReferenceType = Literal["direct", "search", "import", "memory"]
Delivery = Literal["injected", "partly", "offered"]
"""How the model gets a document that the user named: its full text, some sections, or only its summary with a request to read it."""
CitationVerdict = Literal["cited", "verified", "cut", "misquoted", "missing"]
"""There is no quote; the quote is in the cited chunk; it is there, but cut so that it says something else; it is not in the chunk; no chunk
in the prompt has that number. Of several, the last of this order counts most."""
Support = Literal["supports", "does_not_support", "unclear"]
"""Whether the cited chunk says what the sentence says, as far as words, numbers, names and negations show."""
RetrievalMode = Literal["tools", "before", "both", "none"]
"""Who searches the notes for an answer: the model with tools, zkchat before the model is called, both, or nobody."""
ReferenceStatus = Literal["found", "broken", "ambiguous"]
FinishReason = Literal["stop", "length", "tool_calls", "content_filter", "cancelled", "error"]
AnswerLevel = Literal["answer", "most_likely", "nothing"]
"""How sure the offline provider is: sentences that answer, the likeliest sections, or nothing about the question."""


class ToolCall(Value):
    """A tool call of the model. If its arguments are not valid JSON, `arguments` is empty and `malformed` has the text."""

    id: str
    name: str
    arguments: dict[str, Any] = Field(default_factory=dict)
    malformed: str | None = None


class ThinkingBlocks(Value):
    """Reasoning blocks that their provider needs back unchanged until the turn ends."""

    provider: str
    blocks: tuple[dict[str, Any], ...]
    stored: bool = True
    """False for what only the server can read: it is of no use after the turn."""


class ContentChunk(Value):
    """A chunk of a note that search finds and answers cite.

    `id` changes with the text or its position. `score` is comparable within one search only. `number` is what the model cites as
    `[number]`, unique in the conversation (see ReferenceManager).
    """

    id: str
    relative_path: str
    title: str
    heading: str | None = None
    start_line: Count
    end_line: Count
    text: str
    score: Quantity | None = None
    score_words: Quantity | None = None
    """`score` is made of this score by words and of the cosine of the chunk's best window; None without words or vectors."""
    score_meaning: Quantity | None = None
    number: Count | None = None


class DocumentReference(Value):
    """A document that a message names (`direct`) or imports (`import`), that a tool found (`search`) or memory named (`memory`)."""

    wikilink: str
    relative_path: str | None = None
    reference_type: ReferenceType
    summary: str | None = None
    context_snippet: str | None = None
    status: ReferenceStatus = "found"
    number: Count | None = None
    numbers: tuple[Count, ...] = ()
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
    """Whether an earlier message or tool put its text into the prompt already."""

    @property
    def candidate_links(self) -> str:
        return ", ".join(f"[[{name}]]" for name in self.candidates)


class Citation(Value):
    """One cited source of an answer, with at most one quote. `valid`: the chunk was in the prompt and contains the quote, if any, uncut.

    `sentence`: the whole sentence of a quote that is cut. `spans` are the character ranges of the answer with this citation.
    """

    number: Count
    relative_path: str | None = None
    heading: str | None = None
    start_line: Count | None = None
    end_line: Count | None = None
    quote: str | None = None
    valid: bool = False
    verdict: CitationVerdict = "missing"
    sentence: str | None = None
    support: Support | None = None
    spans: tuple[tuple[Count, Count], ...] = ()

    @property
    def is_unsupported(self) -> bool:
        """Whether the source does not seem to say what the sentence says, and its words are not the reason."""
        return self.support == "does_not_support" and self.verdict != "misquoted"


def worst_verdict(verdicts: Iterable[CitationVerdict]) -> CitationVerdict:
    """The verdict on several citations of one source."""
    return max(verdicts, key=get_args(CitationVerdict).index)


def group_by_number(citations: Iterable[Citation]) -> dict[int, list[Citation]]:
    """The citations of each source, the sources by number."""
    groups: defaultdict[int, list[Citation]] = defaultdict(list)
    for citation in citations:
        groups[citation.number].append(citation)
    return dict(sorted(groups.items()))


class ToolRun(Value):
    """The result of a tool call: `tokens` sent to the model; `outcome` in a few words for the user, empty if the number of excerpts says
    it."""

    name: str
    arguments: dict[str, Any]
    ok: bool
    tokens: Count
    duration_ms: Quantity
    outcome: str = ""


class TokenUsage(Value):
    """Tokens of a model call; `estimated` if the provider did not report them."""

    prompt_tokens: Count
    completion_tokens: Count
    estimated: bool = True
    cached_tokens: Count | None = None
    """Tokens of the prompt from the provider's cache, if reported."""
    reasoning_tokens: Count | None = None
    """Tokens of the completion that are reasoning, if reported."""


def sum_usage(usages: Iterable[TokenUsage | None]) -> TokenUsage:
    """The cost of several calls together, as far as known; cached and reasoning tokens are None if no provider reported them."""
    known = [usage for usage in usages if usage is not None]
    cached = [usage.cached_tokens for usage in known if usage.cached_tokens is not None]
    reasoning = [usage.reasoning_tokens for usage in known if usage.reasoning_tokens is not None]
    return TokenUsage(
        prompt_tokens=sum(usage.prompt_tokens for usage in known),
        completion_tokens=sum(usage.completion_tokens for usage in known),
        estimated=any(usage.estimated for usage in known),
        cached_tokens=sum(cached) if cached else None,
        reasoning_tokens=sum(reasoning) if reasoning else None,
    )


class Timings(Value):
    """Milliseconds of a turn; `overhead` is everything but model and tools."""

    prepare: Quantity
    model: Quantity
    tools: Quantity
    store: Quantity
    overhead: Quantity


class TaskFigures(Value):
    """What a turn with tools took: model calls, tool calls, those of them that failed, and the tokens of their results."""

    model_calls: Count
    tools_called: Count
    tools_failed: Count
    tool_tokens: Count


class ZkChatMessage(Value):
    """One message of the append-only log. `parent_id` makes the log a tree: undo, retry and edit move its head.

    `content` is verbatim. The list of referenced documents is added from `references` at assembly (`augmented_token_count` includes it).
    `chunks` are what a tool found; of a user's message the text of documents that it names, and the passages that were found for it.
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
    uncited_statements: Count | None = None
    timings_ms: Timings | None = None
    """Of the turn that ends with this answer."""
    retrieval: RetrievalMode | None = None
    """Who searched the notes for this user message."""
    plain_excerpts: bool | None = None
    """Whether its documents were sent as text, which small models read best, and not as JSON."""
    token_count: Count | None = None
    augmented_token_count: Count | None = None
    tool_tokens: Count | None = None
    pinned: bool | None = None
    """Whether the user wants it in every prompt; None if a rule decides (see `context/fixed_messages`)."""
    agent: str | None = None
    """The agent that answers this user message, or that gave this answer."""
    thinking_tokens: Count | None = None
    """Of the reasoning, as the provider reported them, else as counted."""
    memory_references: tuple[str, ...] = ()
    """The memory that the model had for this answer: paths of files and notes, `fact:KEY`, `agent:NAME`."""
    learning_points: tuple[str, ...] = ()
    """What the user stated, decided or corrected in this message, in their words."""
    task: TaskFigures | None = None
    """Of the turn that ends with this answer, if it called tools."""
    updated_at: str | None = None
    """When its fields last changed after it was stored (a status, a pin); its words never do."""
    other_records: tuple[dict[str, Any], ...] = ()
    """Entries that followed in the log of another program and are not messages; kept as they were."""
    addressed: str | None = None
    """The `@name` in `content` that mentions the agent, for this message only."""

    @property
    def display_text(self) -> str:
        """The content for lists of messages; `/continue` instead of its prompt, which the user has never seen."""
        return "/continue" if self.role == "user" and self.content == CONTINUE_PROMPT else self.content

    @property
    def prompt_text(self) -> str:
        """The content without the agent mention, which is not for the model."""
        if not self.addressed:
            return self.content
        before, _, after = self.content.partition(self.addressed)
        return before + after.lstrip(" \t\n,:")


class SpokenMessage(NamedTuple):
    """What recall and summaries need of a message to find and quote it."""

    id: str
    role: str
    content: str
    timestamp: str
    links: tuple[str, ...] = ()
    """To the documents that it references; without memory, which comes with every prompt."""


def split_into_exchanges(messages: Iterable[ZkChatMessage]) -> Iterator[list[ZkChatMessage]]:
    """Each question with its answers; messages before the first question, as in some imports, come first."""
    turn: list[ZkChatMessage] = []
    for message in messages:
        if message.role == "user" and turn:
            yield turn
            turn = []
        turn.append(message)
    if turn:
        yield turn


def branch_to(log: Iterable[ZkChatMessage], head_id: str | None) -> tuple[ZkChatMessage, ...]:
    """The messages from the first through `head_id`; none for None. If damage hides the head, through the last of the log."""
    messages = {message.id: message for message in log}
    if head_id is not None and head_id not in messages:
        head_id = next(reversed(messages), None)
    found: list[ZkChatMessage] = []
    while head_id is not None:
        found.append(messages[head_id])
        head_id = found[-1].parent_id
    return tuple(reversed(found))
