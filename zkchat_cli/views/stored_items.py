"""What is stored, as lines for the shell and the chat: conversations, and memory with what a prompt
includes of it and why.
"""

from collections.abc import Iterable, Iterator, Sequence
from datetime import datetime
from typing import Any

from zkchat_cli.memory.facts import StoredMemory, describe_source
from zkchat_cli.memory.memory import Memory
from zkchat_cli.memory.project import MemoryItem, MemoryKind
from zkchat_cli.models.conversations import ConversationOverview, FoundMessage
from zkchat_cli.models.facts import Fact
from zkchat_cli.models.messages import ZkChatMessage
from zkchat_cli.text.numbers import plural
from zkchat_cli.text.truncate import truncate, truncate_to_minute
from zkchat_cli.text.words import content_terms, fold
from zkchat_cli.vault.search.query import snippet
from zkchat_cli.views.text import IN_SHELL, PROMPT, StyledLine, StyledSpan, styled_line

MAX_LISTED = 200  # conversations in a list
MAX_TITLE = 80
MAX_SNIPPET = 160
NO_CONVERSATIONS = "There are no conversations with these notes yet."
UNTITLED = "untitled"


def format_time(timestamp: str) -> str:
    """`2025-05-08 12:00` in local time; an invalid timestamp is only shortened."""
    try:
        when = datetime.fromisoformat(timestamp)
        return f"{when.astimezone() if when.tzinfo else when:%Y-%m-%d %H:%M}"
    except (ValueError, OverflowError):
        return truncate_to_minute(timestamp)


def display_title(overview: ConversationOverview) -> str:
    return truncate(overview.title or overview.first_line or UNTITLED, MAX_TITLE)


def size_and_time(overview: ConversationOverview) -> str:
    return f"{format_time(overview.updated_at)}, {plural(overview.messages, 'message')}"


def conversation_lines(
    overviews: Iterable[ConversationOverview], current: str | None = None
) -> list[StyledLine]:
    """One line per conversation: id, title, time and size; an arrow marks the `current` one."""
    lines = []
    for each in overviews:
        arrow = StyledSpan("" if current is None else "→ " if each.id == current else "  ")
        size = size_and_time(each) + (f", {plural(each.tokens, 'token')}" if each.tokens else "")
        left = arrow, StyledSpan(each.id, "cyan"), StyledSpan(f"  {display_title(each)}", "bold")
        lines.append(StyledLine(left, (StyledSpan(size, "dim"),)))
    return lines


def filter_by_title(
    overviews: Iterable[ConversationOverview], text: str
) -> list[ConversationOverview]:
    words = fold(text).split()
    return [
        each
        for each in overviews
        if all(word in fold(f"{each.title or ''} {each.first_line or ''}") for word in words)
    ]


def search_result_lines(found: Sequence[FoundMessage], text: str) -> Iterator[StyledLine]:
    for each in found:
        title = truncate(each.title or UNTITLED, MAX_TITLE)
        head = (StyledSpan(each.conversation_id, "cyan"), StyledSpan(f"  {title}", "bold"))
        message = each.message
        speaker = {"user": "you", "tool": message.tool_name or "tool"}.get(
            message.role, message.model or message.role
        )
        yield StyledLine(head, (StyledSpan(f"{speaker}, {format_time(message.timestamp)}", "dim"),))
        yield styled_line(f"    {best_line(each.message.content, text)}")


def search_result_document(found: FoundMessage, text: str) -> dict[str, Any]:
    return {
        "conversation_id": found.conversation_id,
        "title": found.title,
        "message_id": found.message.id,
        "role": found.message.role,
        "timestamp": found.message.timestamp,
        "snippet": best_line(found.message.content, text),
        "score": found.score,
    }


def best_line(content: str, text: str) -> str:
    return snippet(content, 1, set(content_terms(text)), MAX_SNIPPET).text


def transcript_lines(
    conversation: ConversationOverview, history: Sequence[ZkChatMessage], most_sources: int
) -> Iterator[StyledLine]:
    """A conversation for reading: questions, answers and the sources of each answer."""
    # Imports the reading of citations, which lists do not need
    from zkchat_cli.views.sources import source_lines

    size = StyledSpan(f"{conversation.id}, {size_and_time(conversation)}", "dim")
    yield StyledLine((StyledSpan(display_title(conversation), "bold"),), (size,))
    for message in history:
        if message.role == "tool" or not message.content.strip():
            continue
        yield styled_line()
        if message.role == "user":
            first, *rest = message.display_text.expandtabs(4).split("\n")
            yield StyledLine((StyledSpan(PROMPT, "bold"), StyledSpan(first, "bold")))
            yield from (styled_line(f"      {each}", "bold") for each in rest)
        else:
            yield from (
                styled_line(each, indent=0)
                for each in message.content.expandtabs(4).rstrip("\n").split("\n")
            )
        if message.status in ("failed", "unfinished"):
            yield styled_line(
                {"failed": "  (no answer)", "unfinished": "  (stopped)"}[message.status], "yellow"
            )
        if message.role == "assistant":
            cited = message.citations, message.references, message.uncited_statements or 0
            sources = source_lines(*cited, most_sources, IN_SHELL.all_sources)
            yield from [styled_line(), *sources] if sources else ()


NO_MEMORY = (
    "No memory yet. A note ZKCHAT.md in the vault's root is sent with every message, and {} "
    "saves a fact."
)


def memory_item_lines(items: Sequence[MemoryItem]) -> Iterator[StyledLine]:
    """What goes into the prompt: name, tokens and reason, then the text."""
    for item in items:
        name = item.key if item.kind in ("fact", "agent", "user") else item.relative_path
        about = StyledSpan(f" · {item.tokens:,} tokens · {item.reason}", "dim")
        yield StyledLine((StyledSpan(name or "", "bold", item.relative_path or None), about))
        if item.cut:
            yield styled_line("  its end is cut off", "yellow")
        for each in item.content.split("\n"):
            yield styled_line(
                f"  {each.removeprefix('- ') if item.kind in ('fact', 'document') else each}"
            )


def fact_lines(facts: Sequence[Fact]) -> Iterator[StyledLine]:
    for fact in facts:
        yield StyledLine(
            (
                StyledSpan(fact.key, "bold"),
                StyledSpan(f" · {fact.created_at[:10]} · {describe_source(fact)}", "dim"),
            )
        )
        yield styled_line(f"  {fact.content}")


def memory_search_lines(ranked: Sequence[StoredMemory]) -> Iterator[StyledLine]:
    for item in ranked:
        yield StyledLine(
            (
                StyledSpan(item.key, "bold", item.relative_path),
                StyledSpan(f" · {item.score:.2f} · {item.reason}", "dim"),
            )
        )
        yield styled_line(
            f"  {item.prompt_line.removeprefix('- ').splitlines()[0] if item.prompt_line else ''}"
        )


def fact_update_text(fact: Fact, replaced: Fact | None) -> str:
    text = f"Remembered as {fact.key}: {fact.content}"
    if replaced is not None and replaced.content != fact.content:
        text += f"\nIt replaces the fact of {replaced.created_at[:10]}: {replaced.content}"
    return text


def level_lines(
    memory: Memory, root_items: Sequence[MemoryItem], items: Sequence[MemoryItem]
) -> Iterator[StyledLine]:
    """For each level of memory, what of it is among the `items` for a prompt, or why nothing is;
    `root_items` are of the vault's root.
    """
    switches = memory.switches
    root = [f"{item.relative_path} · {item.tokens:,} tokens" for item in root_items]
    folders = [
        f"{each.relative_path} · {each.tokens:,} tokens"
        for each in items
        if each.kind == "file" and each not in root_items
    ]
    facts, notes = (sum(item.kind == kind for item in items) for kind in ("fact", "document"))
    project = ", ".join(root) or f"none of {', '.join(switches.project_file)} in the vault's root"
    folder = ", ".join(folders) or "no memory file beside the notes of this turn"

    def private_file(level: MemoryKind, without: str) -> str:
        file = memory.private.get(level)
        tokens = sum(item.tokens for item in items if item.kind == level)
        return (
            without
            if file is None
            else f"{file} · {tokens:,} tokens"
            if tokens
            else f"there is no {file}"
        )

    cited = f"; and {notes} of the notes that answers cited" if notes else ""
    for level, effect in (
        ("user", private_file("user", "off (memory.user = false)")),
        ("project", project if switches.project else "off (memory.project = false)"),
        ("folder", folder if switches.project else "off (memory.project = false)"),
        (
            "agent",
            private_file(
                "agent", "no agent is in use" if switches.agent else "off (memory.agent = false)"
            ),
        ),
        ("facts", f"{facts} relevant, of {len(memory.facts())} remembered{cited}"),
    ):
        shown = effect if memory.enabled else "off (context.memory_integration = false)"
        yield StyledLine((StyledSpan(f"{level:<8} ", "bold"), StyledSpan(shown, "dim")), indent=9)
