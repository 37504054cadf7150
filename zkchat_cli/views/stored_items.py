"""Stored conversations and memory as lines for the shell and the chat; of memory also what a prompt
includes, and why.
"""

from collections.abc import Iterable, Iterator, Sequence
from datetime import datetime
from typing import Any, NamedTuple

from zkchat_cli.memory.facts import StoredMemory, describe_source
from zkchat_cli.memory.memory import Memory
from zkchat_cli.memory.project import MemoryItem, MemoryKind
from zkchat_cli.models.conversations import ConversationOverview, FoundMessage
from zkchat_cli.models.facts import Fact
from zkchat_cli.models.messages import ZkChatMessage
from zkchat_cli.text.case_folder import fold
from zkchat_cli.text.numbers import plural
from zkchat_cli.text.sanitize import sanitize_name
from zkchat_cli.text.truncate import truncate, truncate_to_minute
from zkchat_cli.text.words import content_terms
from zkchat_cli.vault.search.snippet import snippet
from zkchat_cli.views.text import IN_SHELL, PROMPT, StyledLine, StyledSpan, styled_line

# Conversations in a list
MAX_LISTED = 200
# Characters of a title, and of a line of a message
MAX_TITLE = 80
MAX_SNIPPET = 160
NO_CONVERSATIONS = "There are no conversations with these notes yet."
# While the server is away
NONE_HERE = "No conversations are kept here."
LISTED_LATER = "Those on the server are listed when it answers."
NONE_WHILE_AWAY = f"{NONE_HERE} {LISTED_LATER}"
UNTITLED = "untitled"
TAB_WIDTH = 4
_ENDINGS = {"failed": "  (no answer)", "unfinished": "  (stopped)"}


def format_time(timestamp: str) -> str:
    """`2025-05-08 12:00` in local time; an invalid timestamp is only shortened."""
    try:
        when = datetime.fromisoformat(timestamp)
        if when.tzinfo:
            when = when.astimezone()
        return f"{when:%Y-%m-%d %H:%M}"
    except (ValueError, OverflowError):
        return truncate_to_minute(timestamp)


def display_title(overview: ConversationOverview) -> str:
    """The title, or else the first line, on one short line."""
    title = overview.title or overview.first_line or UNTITLED
    return truncate(sanitize_name(title), MAX_TITLE)


def size_and_time(overview: ConversationOverview) -> str:
    """When it was last used, how many messages it has, and who shares it, if somebody else does."""
    shown = f"{format_time(overview.updated_at)}, {plural(overview.messages, 'message')}"
    if overview.owner is not None:
        shown += f", shared by {sanitize_name(overview.owner)}"
    return shown


def conversation_lines(
    overviews: Iterable[ConversationOverview], current: str | None = None
) -> list[StyledLine]:
    """One line per conversation: id, title, time and size; an arrow marks the `current` one."""
    lines = []
    for each in overviews:
        arrow = ""
        if current is not None:
            arrow = "→ " if each.id == current else "  "
        size = size_and_time(each)
        if each.tokens:
            size += f", {plural(each.tokens, 'token')}"
        left = (
            StyledSpan(arrow),
            StyledSpan(each.id, "cyan"),
            StyledSpan(f"  {display_title(each)}", "bold"),
        )
        lines.append(StyledLine(left, (StyledSpan(size, "dim"),)))
    return lines


def filter_by_title(
    overviews: Iterable[ConversationOverview], text: str
) -> list[ConversationOverview]:
    """The conversations with all these words in their title or first line."""
    words = fold(text).split()
    found = []
    for overview in overviews:
        name = fold(f"{overview.title or ''} {overview.first_line or ''}")
        if all(word in name for word in words):
            found.append(overview)
    return found


def search_result_lines(found: Sequence[FoundMessage], text: str) -> Iterator[StyledLine]:
    """Messages that a search for `text` found, with their conversations."""
    for each in found:
        title = truncate(each.title or UNTITLED, MAX_TITLE)
        head = (StyledSpan(each.conversation_id, "cyan"), StyledSpan(f"  {title}", "bold"))
        message = each.message
        about = f"{_speaker(message)}, {format_time(message.timestamp)}"
        yield StyledLine(head, (StyledSpan(about, "dim"),))
        yield styled_line(f"    {best_line(message.content, text)}")


def _speaker(message: ZkChatMessage) -> str:
    match message.role:
        case "user":
            return "you"
        case "tool":
            return message.tool_name or "tool"
    return message.model or message.role


def search_result_document(found: FoundMessage, text: str) -> dict[str, Any]:
    """A message that a search for `text` found, with its conversation, for JSON."""
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
    """The line of a message that answers a search for `text` best."""
    return snippet(content, 1, set(content_terms(text)), MAX_SNIPPET).text


def transcript_lines(
    conversation: ConversationOverview, history: Sequence[ZkChatMessage], most_sources: int
) -> Iterator[StyledLine]:
    """A conversation for reading: questions, answers and the sources of each answer."""
    size = StyledSpan(f"{conversation.id}, {size_and_time(conversation)}", "dim")
    yield StyledLine((StyledSpan(display_title(conversation), "bold"),), (size,))
    yield from said_lines(history, most_sources)


def said_lines(history: Sequence[ZkChatMessage], most_sources: int) -> Iterator[StyledLine]:
    """Questions, answers and the sources of each answer."""
    # Imports the reading of citations and of priorities, which lists do not need
    from zkchat_cli.context.message_priority import describe_priority
    from zkchat_cli.views.sources import evidence_lines, source_lines

    for message in history:
        if message.role == "tool" or not message.content.strip():
            continue
        yield styled_line()
        yield from _text_lines(message)
        priority = describe_priority(message)
        if priority:
            yield styled_line(f"  ({priority})", "dim")
        if message.status in _ENDINGS:
            yield styled_line(_ENDINGS[message.status], "yellow")
        if message.role == "assistant":
            sources = source_lines(
                message.citations,
                message.references,
                message.uncited_statements or 0,
                most_sources,
                IN_SHELL.all_sources,
            )
            sources = [*sources, *evidence_lines(message.evidence)]
            if sources:
                yield styled_line()
            yield from sources


def _text_lines(message: ZkChatMessage) -> Iterator[StyledLine]:
    """The text of a question or an answer."""
    if message.role == "user":
        first, *rest = message.display_text.expandtabs(TAB_WIDTH).split("\n")
        yield StyledLine((StyledSpan(PROMPT, "bold"), StyledSpan(first, "bold")))
        for line in rest:
            yield styled_line(f"      {line}", "bold")
    else:
        for line in message.content.expandtabs(TAB_WIDTH).rstrip("\n").split("\n"):
            yield styled_line(line, indent=0)


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
        bullet = "- " if item.kind in ("fact", "document") else ""
        for line in item.content.split("\n"):
            yield styled_line(f"  {line.removeprefix(bullet)}")


def fact_lines(facts: Sequence[Fact]) -> Iterator[StyledLine]:
    """Facts with their keys, dates and sources."""
    for fact in facts:
        about = f" · {fact.created_at[:10]} · {describe_source(fact)}"
        yield StyledLine((StyledSpan(fact.key, "bold"), StyledSpan(about, "dim")))
        yield styled_line(f"  {fact.content}")


def memory_search_lines(ranked: Sequence[StoredMemory]) -> Iterator[StyledLine]:
    """What a search of the memory found, best first, with scores and reasons."""
    for item in ranked:
        name = StyledSpan(item.key, "bold", item.relative_path)
        about = StyledSpan(f" · {item.score:.2f} · {item.reason}", "dim")
        yield StyledLine((name, about))
        lines = item.prompt_line.removeprefix("- ").splitlines()
        yield styled_line(f"  {next(iter(lines), '')}")


def fact_update_text(fact: Fact, replaced: Fact | None) -> str:
    """The message that a fact was stored, and which other one it replaces."""
    text = f"Remembered as {fact.key}: {fact.content}"
    if replaced is not None and replaced.content != fact.content:
        text += f"\nIt replaces the fact of {replaced.created_at[:10]}: {replaced.content}"
    return text


def level_lines(
    memory: Memory, root_items: Sequence[MemoryItem], items: Sequence[MemoryItem]
) -> Iterator[StyledLine]:
    """A line for each level of memory: what the `items` for a prompt have of it, or why they have
    nothing. `root_items` are the items from the vault's root.
    """
    for level, effect in _level_effects(memory, root_items, items):
        shown = effect if memory.enabled else "off (context.memory_integration = false)"
        yield StyledLine((StyledSpan(f"{level:<8} ", "bold"), StyledSpan(shown, "dim")), indent=9)


class _LevelEffect(NamedTuple):
    """A level of memory, and what it adds to a prompt."""

    level: str
    effect: str


def _level_effects(
    memory: Memory, root_items: Sequence[MemoryItem], items: Sequence[MemoryItem]
) -> list[_LevelEffect]:
    switches = memory.switches
    project = "off (memory.project = false)"
    folder = project
    if switches.project:
        nothing = f"none of {', '.join(switches.project_file)} in the vault's root"
        project = _file_sizes(root_items) or nothing
        in_folders = [each for each in items if each.kind == "file" and each not in root_items]
        folder = _file_sizes(in_folders) or "no memory file beside the notes of this turn"
    no_agent = "no agent is in use" if switches.agent else "off (memory.agent = false)"
    return [
        _LevelEffect("user", _private_effect(memory, "user", items) or "off (memory.user = false)"),
        _LevelEffect("project", project),
        _LevelEffect("folder", folder),
        _LevelEffect("agent", _private_effect(memory, "agent", items) or no_agent),
        _LevelEffect("facts", _fact_effect(memory, items)),
    ]


def _file_sizes(items: Iterable[MemoryItem]) -> str:
    return ", ".join(f"{item.relative_path} · {item.tokens:,} tokens" for item in items)


def _private_effect(memory: Memory, level: MemoryKind, items: Sequence[MemoryItem]) -> str | None:
    """The memory file of the user or the agent; None if the level has none."""
    file = memory.private.get(level)
    if file is None:
        return None
    tokens = sum(item.tokens for item in items if item.kind == level)
    return f"{file} · {tokens:,} tokens" if tokens else f"there is no {file}"


def _fact_effect(memory: Memory, items: Sequence[MemoryItem]) -> str:
    facts = sum(item.kind == "fact" for item in items)
    notes = sum(item.kind == "document" for item in items)
    effect = f"{facts} relevant, of {len(memory.facts())} remembered"
    if notes:
        effect += f"; and {notes} of the notes that answers cited"
    return effect
