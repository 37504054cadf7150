"""Frozen values: messages, prompts, conversations, reports.

They are pydantic models because each is stored, exported or printed as JSON. Missing is `None`,
never absent. Line numbers start at 1; paths are relative to the vault with `/`. Models that one
question does not need are built when they are first used: 0.5 ms each.
"""

from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import groupby
from operator import attrgetter
from typing import Annotated, Any, Literal, get_args

from pydantic import AfterValidator, BaseModel, ConfigDict, Field

Count = Annotated[int, Field(strict=True, ge=0, le=10**15)]
"""A number of tokens, lines or the like. Imported files are untrusted: `"12"` and `true` are
refused, and sums fit a database's column.
"""
# A score or milliseconds: a finite number
Quantity = Annotated[float, Field(strict=True, ge=-(10**15), le=10**15)]


_NO_FIELD_NAMES: set[str] = set()
"""Replaces pydantic's set of the fields that were given, which would take two fifths of the memory
of a long conversation.
"""


class Value(BaseModel):
    """Frozen; refuses unknown keys, so that a misspelt field in a file is an error and not lost
    data.

    A class is built when its first value is made: building all of them takes 12 ms, and the budget
    bar needs eight. From pydantic 2.14 on it is built under a lock: two threads may make the first
    value at once.
    """

    model_config = ConfigDict(frozen=True, extra="forbid", defer_build=True)

    def model_post_init(self, _context: Any, /) -> None:
        object.__setattr__(self, "__pydantic_fields_set__", _NO_FIELD_NAMES)


# The message that `/continue` sends
CONTINUE_PROMPT = "Go on exactly where your last answer stopped. Do not repeat what you have said."
Role = Literal["system", "user", "assistant", "tool"]
MessageStatus = Literal["pending", "complete", "unfinished", "failed", "damaged"]
"""A damaged message is not what was stored: its content says so, and it never goes into a prompt.
"""
ReferenceType = Literal["direct", "search", "import", "memory"]
Delivery = Literal["injected", "partly", "offered"]
"""How the model gets a document that the user named: its full text, some sections, or only its
summary with a request to read it.
"""
CitationVerdict = Literal["cited", "verified", "cut", "misquoted", "missing"]
"""There is no quote; the quote is in the cited chunk; it is there, but cut so that it says
something else; it is not in the chunk; no chunk in the prompt has that number. Of several, the last
of this order counts most.
"""
Support = Literal["supports", "does_not_support", "unclear"]
"""Whether the cited chunk says what the sentence says, as far as words, numbers, names and
negations show.
"""
RetrievalMode = Literal["tools", "before", "both", "none"]
"""Who searches the notes for an answer: the model with tools, zkchat before the model is called,
both, or nobody.
"""
ReferenceStatus = Literal["found", "broken", "ambiguous"]
FinishReason = Literal["stop", "length", "tool_calls", "content_filter", "cancelled", "error"]
AnswerLevel = Literal["answer", "most_likely", "nothing"]
"""How sure the offline provider is: sentences that answer, the likeliest sections, or nothing about
the question.
"""
Similarities = Callable[[str, Sequence[str]], list[float] | None]
"""How similar texts are to a sentence or a question in meaning: cosines, or None without a model
that can tell.
"""


class ToolCall(Value):
    """A tool call of the model. If its arguments are not valid JSON, `arguments` is empty and
    `malformed` has the text.
    """

    id: str
    name: str
    arguments: dict[str, Any] = Field(default_factory=dict)
    malformed: str | None = None


class ThinkingBlocks(Value):
    """Reasoning blocks that their provider needs back unchanged until the turn ends."""

    provider: str
    blocks: tuple[dict[str, Any], ...]
    # False for what only the server can read: it is of no use after the turn
    stored: bool = True


class ContentChunk(Value):
    """A chunk of a note that search finds and answers cite.

    `id` changes with the text or its position. `score` is comparable within one search only.
    `number` is what the model cites as `[number]`, unique in the conversation (see
    ReferenceManager).
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
    """`score` is made of this score by words and of the cosine of the chunk's best window; None
    without words or vectors.
    """
    score_meaning: Quantity | None = None
    number: Count | None = None


class DocumentReference(Value):
    """A document that a message names (`direct`) or imports (`import`), that a tool found
    (`search`) or memory named (`memory`).
    """

    wikilink: str
    relative_path: str | None = None
    reference_type: ReferenceType
    summary: str | None = None
    context_snippet: str | None = None
    status: ReferenceStatus = "found"
    number: Count | None = None
    # Of all its chunks; `number` is the first
    numbers: tuple[Count, ...] = ()
    heading: str | None = None
    # What else is in a document that is not in the prompt as a whole
    headings: tuple[str, ...] = ()
    # For a broken link the nearest existing names, for an ambiguous one the notes that lost
    candidates: tuple[str, ...] = ()
    delivery: Delivery | None = None
    # Why it was delivered so, with the figures
    delivery_reason: str | None = None
    above: Any = Field(False, exclude=True)  # of version 0.1; read and ignored

    @property
    def candidate_links(self) -> str:
        return ", ".join(f"[[{name}]]" for name in self.candidates)


class Citation(Value):
    """One cited source of an answer, with at most one quote. `valid`: the chunk was in the prompt
    and contains the quote, if any, uncut.

    `sentence`: the whole sentence of a quote that is cut. `spans` are the character ranges of the
    answer with this citation.
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
        """Whether the source does not seem to say what the sentence says, and its words are not the
        reason.
        """
        return self.support == "does_not_support" and self.verdict != "misquoted"


def worst_verdict(verdicts: Iterable[CitationVerdict]) -> CitationVerdict:
    """The verdict on several citations of one source."""
    return max(verdicts, key=get_args(CitationVerdict).index)


def group_by_number(citations: Iterable[Citation]) -> dict[int, list[Citation]]:
    """The citations of each source, the sources by number."""
    by_number = attrgetter("number")
    return {
        number: [*same] for number, same in groupby(sorted(citations, key=by_number), by_number)
    }


class ToolRun(Value):
    """The result of a tool call: `tokens` sent to the model; `outcome` in a few words, empty if the
    number of excerpts says it.
    """

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
    # Tokens of the prompt from the provider's cache, if reported
    cached_tokens: Count | None = None
    # Tokens of the completion that are reasoning, if reported
    reasoning_tokens: Count | None = None


def sum_usage(usages: Iterable[TokenUsage | None]) -> TokenUsage:
    """The cost of several calls together, as far as known; cached and reasoning tokens are None if
    no provider reported them.
    """
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


Timings = dict[str, Quantity]
"""Milliseconds of a turn: prepare, model, tools, store, and `overhead`, which is everything but
model and tools.
"""


class ZkChatMessage(Value):
    """One message of the append-only log. `parent_id` makes the log a tree: undo, retry and edit
    move its head.

    `content` is verbatim. The list of referenced documents is added from `references` at assembly
    (`augmented_token_count` includes it). `chunks` are what a tool found; of a user's message the
    text of documents that it names, and the passages that were found for it.
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
    # Of the turn that ends with this answer
    timings_ms: Timings | None = None
    # Who searched the notes for this user message
    retrieval: RetrievalMode | None = None
    # Whether its documents were sent as text, which small models read best, and not as JSON
    plain_excerpts: bool | None = None
    token_count: Count | None = None
    augmented_token_count: Count | None = None
    tool_tokens: Count | None = None
    # Whether the user wants it in every prompt; None if a rule decides (see `context/turns`)
    pinned: bool | None = None
    # The agent that answers this user message, or that gave this answer
    agent: str | None = None
    # Of the reasoning, as the provider reported them, else as counted
    thinking_tokens: Count | None = None
    memory_references: tuple[str, ...] = ()
    """The memory that the model had for this answer: paths of files and notes, `fact:KEY`,
    `agent:NAME`.
    """
    # What the user stated, decided or corrected in this message, in their words
    learning_points: tuple[str, ...] = ()
    # Of the turn that ends with this answer, if it called tools: calls and tokens
    task: dict[str, Count] | None = None
    # When its fields last changed after it was stored (a status, a pin); its words never do
    updated_at: str | None = None
    # The `@name` in `content` that mentions the agent, for this message only
    addressed: str | None = None
    other_records: tuple[dict[str, Any], ...] = ()

    @property
    def display_text(self) -> str:
        """The content for lists of messages; `/continue` instead of its prompt, which the user has
        never seen.
        """
        return (
            "/continue" if self.role == "user" and self.content == CONTINUE_PROMPT else self.content
        )

    @property
    def prompt_text(self) -> str:
        """The content without the agent mention, which is not for the model."""
        if not self.addressed:
            return self.content
        before, _, after = self.content.partition(self.addressed)
        return before + after.lstrip(" \t\n,:")


def split_into_exchanges(messages: Iterable[ZkChatMessage]) -> Iterator[list[ZkChatMessage]]:
    """Each question with its answers; messages before the first question, as in some imports, come
    first.
    """
    turn: list[ZkChatMessage] = []
    for message in messages:
        if message.role == "user" and turn:
            yield turn
            turn = []
        turn.append(message)
    if turn:
        yield turn


def branch_to(log: Iterable[ZkChatMessage], head_id: str | None) -> tuple[ZkChatMessage, ...]:
    """The messages from the first through `head_id`; none for None. If damage hides the head,
    through the last of the log.
    """
    messages = {message.id: message for message in log}
    if head_id is not None and head_id not in messages:
        head_id = next(reversed(messages), None)
    found: list[ZkChatMessage] = []
    while head_id is not None:
        found.append(messages[head_id])
        head_id = found[-1].parent_id
    return tuple(reversed(found))


PromptKind = Literal[
    "system", "summary", "memory", "documents", "tool_results", "recalled", "conversation"
]
"""What a message of a prompt has: `recalled` are passages of older turns, quoted for this message.
"""


class PromptMessage(Value):
    """A message exactly as the model gets it; `source_ids` are the log messages or note paths it
    was made from.
    """

    role: Role
    content: str
    tool_calls: tuple[ToolCall, ...] = ()
    tool_call_id: str | None = None
    thinking: ThinkingBlocks | None = None
    # Including `call_tokens` (tool calls) and `thinking_tokens` (reasoning sent back)
    tokens: Count
    call_tokens: Count = 0
    thinking_tokens: Count = 0
    kind: PromptKind
    source_ids: tuple[str, ...] = ()

    def thinking_for(self, provider: str) -> tuple[dict[str, Any], ...]:
        """The blocks of reasoning that go back to a provider: its own."""
        return (
            self.thinking.blocks
            if self.thinking is not None and self.thinking.provider == provider
            else ()
        )


class PromptTool(Value):
    """A tool as the model gets it: `descriptor` in the OpenAI function form."""

    name: str
    descriptor: dict[str, Any]
    tokens: Count


class BudgetStatus(Value):
    used: Count
    budget: Count
    percentage: Quantity


class CompactionDue(Value):
    due: bool
    reason: str | None = None
    # Tokens of a prompt above which it is due; None if the strategy does not summarize
    at: Count | None = None
    # What the prompt would take with all turns that no summary covers, which is compared with `at`
    tokens: Count | None = None


_MESSAGE_KINDS = tuple(kind for kind in get_args(PromptKind) if kind != "system")
_COMPONENTS = ("content", "tools", "tool_calls", "reasoning", "overhead")


def _with_all(names: Sequence[str]) -> Callable[[dict[str, int]], dict[str, int]]:
    """Figures of exactly these names, in this order: those that were stored by an earlier version
    are without zeros.
    """
    return lambda found: {name: found.get(name, 0) for name in names}


class ContextUsage(Value):
    """Tokens of a prompt by component: total = system + tool + message. At most `effective_limit`
    is sent; the rest is for the answer.
    """

    system_tokens: Count
    tool_tokens: Count
    message_tokens: Count
    total_tokens: Count
    available_tokens: Count
    max_context: Count
    effective_limit: Count
    estimated: bool
    # Of every kind but the instructions
    message_breakdown: Annotated[dict[PromptKind, Count], AfterValidator(_with_all(_MESSAGE_KINDS))]
    budget_status: dict[str, BudgetStatus]  # of system, tools and messages
    compaction: CompactionDue
    window_source: str | None = None  # where `max_context` comes from
    components: Annotated[dict[str, Count], AfterValidator(_with_all(_COMPONENTS))] = dict.fromkeys(
        _COMPONENTS, 0
    )
    """All tokens by purpose: `content` is what is said, `overhead` the provider's cost for each
    message; tools, tool calls, reasoning.
    """
    # How many tokens this model counts for each that zkchat counts, as its provider reported
    calibration: Quantity = 1.0


class DroppedItem(Value):
    """A message (by its id), a tool (`tool:NAME`) or a memory (its path, `fact:KEY`) that is not in
    a prompt.
    """

    id: str
    reason: str
    kind: Literal["message", "tool", "memory"] = "message"


class Retrieval(Value):
    """Who searches the notes for a turn, and why."""

    mode: RetrievalMode
    reason: str


class Prompt(Value):
    """What one model call sends, and what was dropped."""

    messages: tuple[PromptMessage, ...]
    tools: tuple[PromptTool, ...]
    usage: ContextUsage
    dropped: tuple[DroppedItem, ...] = ()
    # The documents that its messages name, and how each is delivered
    documents: tuple[DocumentReference, ...] = ()
    # The paths of those documents that are no longer there
    deleted: tuple[str, ...] = ()
    # How the turn gets passages; None in a stored prompt
    retrieval: Retrieval | None = None
    strategy: str


class Calibration(Value):
    """How many tokens a model counts for each that zkchat counts, in texts and in descriptions of
    tools.
    """

    text: Quantity = 1.0
    # None until a call has shown it: descriptions then count like text, but never less than zkchat
    # counts
    tools: Quantity | None = None
    calls: Count = 0  # measurements of text alone so far

    @property
    def tool_factor(self) -> float:
        return max(1.0, self.text) if self.tools is None else self.tools


class SentPrompt(Value):
    """What one model call of a turn was sent; `call` counts from 1. `prompt.dropped` has no
    messages (see `context/prompt_history`).
    """

    question_id: str
    call: Count
    model: str
    prompt: Prompt
    # As the provider reported; None if it did not, or failed
    usage: TokenUsage | None = None
    # The last message that the prompt's summary covers
    summarized_through: str | None = None


CompactionMode = Literal["none", "masked", "full", "simple", "extractive", "truncated"]


class Compaction(Value):
    """What the prompt has in place of old messages: a summary of those from the first through
    `last_id`, and shortened results and documents of the `masked` messages. It deletes nothing.

    One that only masks has no summary; the earlier one stays in use. `mode` "none" changes nothing.
    """

    id: str
    created_at: str
    last_id: str | None = None
    tokens_before: Count
    tokens_after: Count
    messages_folded: Count
    results_masked: Count = 0
    summary: str | None = None
    summary_tokens: Count = 0
    quoted: tuple[str, ...] = ()
    """The first messages of the turns that an extractive summary quotes: the next one is chosen
    from them and newer turns.
    """
    mode: CompactionMode
    model_calls: Count = 0
    instructions: str | None = None
    preview: bool = False
    masked: tuple[str, ...] = ()
    made_after: str | None = None  # the newest message at that time
    # The model that was asked for the summary
    model: str | None = None
    usage: TokenUsage | None = None  # of its model calls
    # The user asked for it; `usage` is part of no answer's usage then
    requested: bool = False
    # Why the first requested summary was not used
    problem: str | None = None
    # Of a preview: a digest of everything that it was made from. A compaction of the same state
    # uses the preview.
    state: str | None = None
    # An undone compaction is no longer used, but earlier prompts had it
    undone: bool = False

    def with_summary_of(self, earlier: "Compaction | None") -> "Compaction":
        """The compaction as prompts use it: one that only masks gets the earlier summary, others
        stay as they are.
        """
        if self.summary or earlier is None:
            return self
        return self.model_copy(
            update=earlier.model_dump(include={"summary", "summary_tokens", "quoted", "last_id"})
        )


class Conversation(Value):
    """`vault` is the real path of its notes, `head_id` the newest message of the current branch."""

    id: str
    vault: str
    title: str | None = None
    created_at: str
    updated_at: str
    head_id: str | None = None


class ConversationOverview(Conversation):
    """A conversation for lists: its number of questions and answers, its tokens, and the beginning
    of its first question.
    """

    messages: int
    first_line: str | None = None
    tokens: int = 0


class Fact(Value):
    """A remembered fact. A newer one with the same `key` replaces it; it then stays as history
    (`ended_at`).

    `source` is `user`, `model`, or the path of an imported file.
    """

    key: str
    content: str
    source: str
    conversation_id: str | None = None
    message_id: str | None = None
    created_at: str
    # When it last went into a prompt; updated once a day
    last_accessed: str | None = None
    ended_at: str | None = None
    # The agent that it belongs to; None if it is shared
    agent: str | None = None
    # Of the conversation, if it still exists
    title: str | None = None


class NoteUsage(Value):
    """How often the conversations about a vault used a note."""

    relative_path: str
    conversations: int
    answers: int
    citations: int
    last_used: str


class FoundMessage(Value):
    """A message that a search found; `score` is comparable within one search only."""

    conversation_id: str
    title: str | None
    message: ZkChatMessage
    score: float


class ArchivedCall(Value):
    """What one model call was sent (see SentPrompt): its messages and tools in order, as indexes
    into those of `prompts`, from 0.
    """

    # Older versions of zkchat also stored the request here
    model_config = ConfigDict(extra="ignore")

    question_id: str
    model: str
    usage: TokenUsage | None = None
    strategy: str
    dropped: tuple[DroppedItem, ...] = ()
    figures: ContextUsage
    messages: tuple[Count, ...] = ()
    tools: tuple[Count, ...] = ()


class ArchivedPrompts(Value):
    """What the model calls were sent, in the order in which they were made; each message and each
    tool of the prompts is listed once.
    """

    messages: tuple[PromptMessage, ...]
    tools: tuple[PromptTool, ...]
    calls: tuple[ArchivedCall, ...]


class ConversationArchive(Value):
    """A whole conversation for export and import: every branch of its log, every compaction, the
    prompts of its calls. Lossless.

    Messages are in the order of writing, a parent before its children. `prompts` is None if none
    were stored.
    """

    format: Literal["zkchat-conversation"] = "zkchat-conversation"
    version: Literal[3] = 3
    conversation: Conversation
    messages: tuple[ZkChatMessage, ...]
    compactions: tuple[Compaction, ...] = ()
    prompts: ArchivedPrompts | None = None


class LinkResolution(Value):
    """One link of a text and its target. `candidates` are paths: the nearest notes of a broken
    link, the other matches of an ambiguous one.

    `reason` says why an ambiguous link got its target.
    """

    raw: str
    kind: Literal["wikilink", "markdown"]
    target: str | None
    heading: str | None = None
    alias: str | None = None
    embed: bool = False
    status: ReferenceStatus
    candidates: tuple[str, ...] = ()
    via: Literal["alias", "title"] | None = None
    reason: str | None = None
    line: int = 1
    text: str = ""  # the written target: `a` for `[[a#h|b]]`
    # The end of the link in the text
    end: int = 0


class SemanticStatus(Value):
    """How far search by meaning has come: the windows of all chunks, estimated until it is
    complete, and those with a vector.
    """

    provider: str
    model: str
    windows: int
    embedded: int
    complete: bool


class IndexReport(Value):
    """The size of the index and the changes of the last refresh; `problems` names notes that were
    skipped or decoded with errors.
    """

    notes: int
    chunks: int
    links: int
    broken_links: int
    added: int = 0
    changed: int = 0
    removed: int = 0
    seconds: float = 0.0
    # Of search by meaning; None if it is off
    semantic: SemanticStatus | None = None
    problems: tuple[str, ...] = ()
    # Why the whole index was rebuilt, if it was
    rebuilt: str | None = None


class TurnReport(Value):
    """A finished turn; `ask --json` prints it."""

    conversation_id: str
    message_id: str
    answer: str
    model: str
    strategy: str
    finish_reason: FinishReason
    references: tuple[DocumentReference, ...]
    citations: tuple[Citation, ...]
    tools: tuple[ToolRun, ...]
    usage: TokenUsage
    context: ContextUsage
    compaction: Compaction | None
    timings_ms: Timings
    # Sentences of the answer that state something without a citation
    uncited_statements: int = 0
    agent: str | None = None
    # Whether the answer cites a source that exists
    grounded: bool
    retrieval: RetrievalMode
    # How sure the offline provider is of its answer; None for other providers
    level: AnswerLevel | None = None

    @property
    def lacks_source(self) -> bool:
        """Whether a language model states something without any source from the notes."""
        return (
            not self.grounded
            and self.uncited_statements > 0
            and self.level is None
            and self.model != "offline"
        )
