"""The nouns of zkchat as frozen values: what a conversation holds, what a prompt is made of, what an answer reports.

They are pydantic models because each of them crosses a border (the store, an export file, `--json`), where it is validated on the
way in and dumped on the way out. Missing is `None`, never absent. Line numbers start at 1; paths are relative to the vault with `/`.
"""

from collections.abc import Iterable, Iterator
from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, Field

Role = Literal["system", "user", "assistant", "tool"]
MessageStatus = Literal["pending", "complete", "unfinished", "failed"]
ReferenceType = Literal["direct", "search", "import", "memory", "link"]
Delivery = Literal["injected", "partly", "offered"]
"""How a document that the user named reaches the model: its text in the prompt, some sections of it, or only what it is about, with a
request to read it."""
CitationStatus = Literal["verified", "cited", "misquoted", "missing"]
"""The quoted words stand in the cited chunk; nothing was quoted; they do not stand there; nothing with that number was in the prompt."""
ReferenceStatus = Literal["found", "broken", "ambiguous"]
MentionKind = Literal["named", "import", "link", "memory", "found", "cited"]
PromptKind = Literal["system", "memory", "summary", "documents", "tool_results", "conversation"]
CompactionMode = Literal["none", "masked", "full", "simple", "extractive", "truncated"]
FinishReason = Literal["stop", "length", "tool_calls", "content_filter", "cancelled", "error"]


class Value(BaseModel):
    """A frozen value that refuses unknown keys, so that a misspelt field in a file is an error and not a loss."""

    model_config = ConfigDict(frozen=True, extra="forbid")


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
    def standing(self) -> CitationStatus:
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
    """The `@name` that called the agent for this message alone, as it is written in `content`."""
    goal: str | None = None
    """Of a user's message in an agent run: the goal that it works on."""

    @property
    def asked(self) -> str:
        """What was said, without the name of the agent that it is addressed to: that is for zkchat, not for the model."""
        if not self.addressed:
            return self.content
        before, _, after = self.content.partition(self.addressed)
        return before + after.lstrip(" \t\n,:")


def exchanges(messages: Iterable[ZkChatMessage]) -> Iterator[list[ZkChatMessage]]:
    """Each question with what follows it; what an import has before the first one comes by itself."""
    turn: list[ZkChatMessage] = []
    for message in messages:
        if message.role == "user" and turn:
            yield turn
            turn = []
        turn.append(message)
    if turn:
        yield turn


def branch(log: Iterable[ZkChatMessage], head_id: str | None) -> tuple[ZkChatMessage, ...]:
    """The messages of a log that lead to one of them, from the first; none for None."""
    there = {message.id: message for message in log}
    found: list[ZkChatMessage] = []
    while head_id is not None:
        found.append(there[head_id])
        head_id = found[-1].parent_id
    return tuple(reversed(found))


class Compaction(Value):
    """What stands in the prompt in place of what was said: a summary for the messages from the conversation's start through `last_id`, and
    shortened versions of the results and documents that the `masked` messages brought in. It deletes nothing.

    One that only masks has no summary: an earlier one goes on to hold. `mode` "none" is stored where a model was asked in vain, so that it
    is not asked again at once; it holds nothing.
    """

    id: str
    created_at: str
    last_id: str | None = None
    tokens_before: int
    tokens_after: int
    messages_folded: int
    results_masked: int = 0
    summary: str | None = None
    summary_tokens: int = 0
    mode: CompactionMode
    model_calls: int = 0
    instructions: str | None = None
    preview: bool = False
    masked: tuple[str, ...] = ()
    made_after: str | None = None
    """The newest message when it was made."""
    usage: TokenUsage | None = None
    """What its model calls cost."""
    problem: str | None = None
    """Why it is not the summary that the model was asked for first."""


class Conversation(Value):
    """A conversation's label: `vault` is the real path of its notes, `head_id` the newest message of the current branch."""

    id: str
    vault: str
    title: str | None = None
    created_at: str
    updated_at: str
    head_id: str | None = None


class Overview(Conversation):
    """A conversation as a list shows it: how many messages its log has, what they say in tokens, and how its first question begins."""

    messages: int
    first_line: str | None = None
    tokens: int = 0


class Mention(Value):
    """How one answer used one note; or how a question did, whose answer did not (`message_id` is then the question's).

    `how` it came in, each once: named by the user, with an import or as a linked note, from memory, found by a tool, cited. `numbers` are
    those of the note's chunks that were found or cited; of the `citations`, so many `held`.
    """

    conversation_id: str
    title: str | None
    message_id: str
    timestamp: str
    question: str | None
    """The user's words, shortened; None where nobody asked (an imported conversation may begin with an answer)."""
    how: tuple[MentionKind, ...]
    numbers: tuple[int, ...] = ()
    citations: int = 0
    held: int = 0


class Fact(Value):
    """Something that somebody asked to remember. A newer one with its `key` takes its place; it is then kept as history (`ended_at`).

    `source` is who asked: `user`, `model`, or the path of the file it was imported from; the conversation and the message say where.
    """

    key: str
    content: str
    source: str
    conversation_id: str | None = None
    message_id: str | None = None
    created_at: str
    last_accessed: str | None = None
    """When it last went into a prompt, to the day."""
    ended_at: str | None = None
    title: str | None = None
    """Of the conversation, where it has one and is still there."""


class OftenCited(Value):
    """A note that answers in several conversations cited; `last_cited` is when, the newest time."""

    relative_path: str
    conversations: int
    answers: int
    last_cited: str


class Said(Value):
    """A message of some conversation that a search found; `score` is higher for better, comparable within one search only."""

    conversation_id: str
    title: str | None
    message: ZkChatMessage
    score: float


class ConversationArchive(Value):
    """A whole conversation for export and import: every branch of its log, every compaction that still holds. Lossless."""

    format: Literal["zkchat-conversation"] = "zkchat-conversation"
    version: Literal[1] = 1
    conversation: Conversation
    messages: tuple[ZkChatMessage, ...]
    compactions: tuple[Compaction, ...] = ()


class PromptMessage(Value):
    """A message exactly as the model gets it; `source_ids` are the log's messages (or the vault's paths) it was made from."""

    role: Role
    content: str
    tool_calls: tuple[ToolCall, ...] = ()
    tool_call_id: str | None = None
    thinking: ThinkingBlocks | None = None
    tokens: int
    """All it takes; `call_tokens` and `thinking_tokens` of them are its tool calls and the reasoning that is sent back."""
    call_tokens: int = 0
    thinking_tokens: int = 0
    kind: PromptKind
    source_ids: tuple[str, ...] = ()


class PromptTool(Value):
    """A tool as the model is told of it: `descriptor` in the OpenAI function form."""

    name: str
    descriptor: dict[str, Any]
    tokens: int


class BudgetStatus(Value):
    used: int
    budget: int
    percentage: float


class MessageBreakdown(Value):
    summary: int = 0
    memory: int = 0
    documents: int = 0
    tool_results: int = 0
    conversation: int = 0


class PromptComponents(Value):
    """The tokens of a prompt by what they are spent on; together they are all of it. `content` is what is said: instructions, memory,
    summary, documents, results and talk, by themselves in the other figures. `overhead` is what a provider takes for each message."""

    content: int = 0
    tools: int = 0
    tool_calls: int = 0
    reasoning: int = 0
    overhead: int = 0


class BudgetStatuses(Value):
    system: BudgetStatus
    tools: BudgetStatus
    messages: BudgetStatus


class CompactionDue(Value):
    due: bool
    reason: str | None = None
    at: int | None = None
    """Tokens of a prompt from which on it is due; None with a strategy that does not summarise."""


class ContextUsage(Value):
    """Tokens of a prompt by component; `total = system + tool + message`, `message` is the sum of its breakdown.

    `effective_limit` is the most that is ever sent (90 % of `max_context`; the rest is for the answer).
    """

    system_tokens: int
    tool_tokens: int
    message_tokens: int
    total_tokens: int
    available_tokens: int
    max_context: int
    effective_limit: int
    estimated: bool
    message_breakdown: MessageBreakdown
    budget_status: BudgetStatuses
    compaction: CompactionDue
    window_source: str | None = None
    """Who says that the window (`max_context`) is that large."""
    components: PromptComponents = PromptComponents()
    calibration: float = 1.0
    """How many tokens this model makes of each that zkchat counts, by what its provider has reported."""


class Dropped(Value):
    id: str
    reason: str


class Prompt(Value):
    """What one model call sends, and what it left out."""

    messages: tuple[PromptMessage, ...]
    tools: tuple[PromptTool, ...]
    usage: ContextUsage
    dropped: tuple[Dropped, ...] = ()
    documents: tuple[DocumentReference, ...] = ()
    """What its messages name, and how each document is delivered."""
    strategy: str


class Sent(Value):
    """What one model call of a turn was sent, as it was then: the `call`-th (from 1) since the question.

    Of the messages that the prompt left out, `prompt.dropped` says nothing: they are what else stood above the question (see context/past).
    """

    question_id: str
    call: int
    model: str
    prompt: Prompt
    usage: TokenUsage | None = None
    """What the provider reported; None where it reported nothing or failed."""
    summarised_through: str | None = None
    """The last message that the prompt's summary stands for."""


class RunReport(Value):
    """How an agent run ended. `unmet` is what the model said is missing of the goal; None where it said nothing of the kind.

    `stopped`: the model called `finish`; the rounds were used up; it did, or said, again what it had before.
    """

    goal: str
    iterations: int
    met: bool
    unmet: str | None = None
    stopped: Literal["finished", "rounds", "repeated"]


class TurnReport(Value):
    """All there is to say about a finished turn: the document that `ask --json` prints."""

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
    uncited_statements: int = 0
    """Sentences of the answer that state something without any citation."""
    agent: str | None = None
    run: RunReport | None = None
    """Of an agent run, whose answer this is."""


class LinkResolution(Value):
    """One link of a text and what it points to. `candidates` are paths: the nearest notes of a broken link, the losers of an ambiguous.

    `reason` says what the target of an ambiguous link has over the first of the losers.
    """

    raw: str
    kind: Literal["wikilink", "markdown"]
    target: str | None
    heading: str | None = None
    alias: str | None = None
    embed: bool = False
    status: ReferenceStatus
    candidates: tuple[str, ...] = ()
    via: Literal["alias"] | None = None
    reason: str | None = None
    line: int = 1
    text: str = ""
    """The target as it was written, trimmed: `a` for `[[a#h|b]]`."""
    end: int = 0
    """Of a wikilink: where in the text it ends."""


class IndexReport(Value):
    """What the index holds and what the last refresh did; `problems` names notes that were skipped or read with replacement."""

    notes: int
    chunks: int
    links: int
    broken_links: int
    added: int = 0
    changed: int = 0
    removed: int = 0
    seconds: float = 0.0
    semantic: bool = False
    """Whether every chunk has a vector, so that all notes are found by their meaning."""
    vectors: int | None = None
    """How many chunks have one; None when there is no search by meaning."""
    problems: tuple[str, ...] = ()
    rebuilt: str | None = None
    """Why the whole index was made anew (damaged, of another version), when it was."""
