"""Frozen values: conversations, prompts, reports.

They are pydantic models because each is stored, exported or printed as JSON. Missing is `None`, never absent. Line numbers start at 1;
paths are relative to the vault with `/`. Models that one question does not need are built when they are first used: 0.5 ms each.
"""

from zkchat_cli.models.base import Count, Quantity, Value
from zkchat_cli.models.conversation_archive import ArchivedCall, ArchivedPrompts, ConversationArchive
from zkchat_cli.models.conversations import (
    Compaction,
    CompactionMode,
    Conversation,
    ConversationOverview,
    Fact,
    FoundMessage,
    NoteUsage,
)
from zkchat_cli.models.messages import (
    CONTINUE_PROMPT,
    AnswerLevel,
    Citation,
    CitationVerdict,
    ContentChunk,
    Delivery,
    DocumentReference,
    FinishReason,
    MessageStatus,
    ReferenceStatus,
    ReferenceType,
    RetrievalMode,
    Role,
    SpokenMessage,
    Support,
    TaskFigures,
    ThinkingBlocks,
    Timings,
    TokenUsage,
    ToolCall,
    ToolRun,
    ZkChatMessage,
    branch_to,
    group_by_number,
    split_into_exchanges,
    sum_usage,
    worst_verdict,
)
from zkchat_cli.models.notes import IndexReport, LinkResolution, SemanticStatus
from zkchat_cli.models.prompts import (
    BudgetStatus,
    BudgetStatuses,
    Calibration,
    CompactionDue,
    ContextUsage,
    DroppedItem,
    MessageBreakdown,
    Prompt,
    PromptComponents,
    PromptKind,
    PromptMessage,
    PromptTool,
    Retrieval,
    SentPrompt,
    TurnMetrics,
)
from zkchat_cli.models.reports import TurnReport
