"""Memory as lines: what a prompt includes and why, the remembered facts, and search results."""

from collections.abc import Iterator, Sequence

from zkchat_cli.memory.facts import StoredMemory, describe_source
from zkchat_cli.memory.memory import Memory
from zkchat_cli.memory.project import MemoryItem
from zkchat_cli.models import Fact
from zkchat_cli.views.text import StyledLine, StyledSpan, styled_line

NO_MEMORY = "No memory yet. A note ZKCHAT.md in the vault's root is sent with every message, and {} saves a fact."


def memory_item_lines(items: Sequence[MemoryItem]) -> Iterator[StyledLine]:
    """What goes into the prompt: name, tokens and reason, then the text."""
    for item in items:
        name = item.key if item.kind in ("fact", "agent", "user") else item.relative_path
        about = StyledSpan(f" · {item.tokens:,} tokens · {item.reason}", "dim")
        yield StyledLine((StyledSpan(name or "", "bold", item.relative_path or None), about))
        if item.cut:
            yield styled_line("  its end is cut off", "yellow")
        for each in item.content.split("\n"):
            yield styled_line(f"  {each.removeprefix('- ') if item.kind in ('fact', 'document') else each}")


def fact_lines(facts: Sequence[Fact]) -> Iterator[StyledLine]:
    for fact in facts:
        yield StyledLine((StyledSpan(fact.key, "bold"), StyledSpan(f" · {fact.created_at[:10]} · {describe_source(fact)}", "dim")))
        yield styled_line(f"  {fact.content}")


def memory_search_lines(ranked: Sequence[StoredMemory]) -> Iterator[StyledLine]:
    for item in ranked:
        yield StyledLine((StyledSpan(item.key, "bold", item.relative_path), StyledSpan(f" · {item.score:.2f} · {item.reason}", "dim")))
        yield styled_line(f"  {item.prompt_line.removeprefix('- ').splitlines()[0] if item.prompt_line else ''}")


def fact_update_text(fact: Fact, replaced: Fact | None) -> str:
    text = f"Remembered as {fact.key}: {fact.content}"
    if replaced is not None and replaced.content != fact.content:
        text += f"\nIt replaces the fact of {replaced.created_at[:10]}: {replaced.content}"
    return text


def level_lines(memory: Memory, root_items: Sequence[MemoryItem], items: Sequence[MemoryItem]) -> Iterator[StyledLine]:
    """For each level of memory, what of it is among the `items` for a prompt, or why nothing is; `root_items` are of the vault's root."""
    switches = memory.switches
    root = [f"{item.relative_path} · {item.tokens:,} tokens" for item in root_items]
    folders = [f"{each.relative_path} · {each.tokens:,} tokens" for each in items if each.kind == "file" and each not in root_items]
    facts, notes = (sum(item.kind == kind for item in items) for kind in ("fact", "document"))
    project = ", ".join(root) or f"none of {', '.join(switches.project_file)} in the vault's root"
    folder = ", ".join(folders) or "no memory file beside the notes of this turn"

    def private_file(level: str, without: str) -> str:
        file = memory.private[level].file if level in memory.private else None
        tokens = sum(item.tokens for item in items if item.kind == level)
        return without if file is None else f"{file} · {tokens:,} tokens" if tokens else f"there is no {file}"

    cited = f"; and {notes} of the notes that answers cited" if notes else ""
    for level, effect in (
        ("user", private_file("user", "off (memory.user = false)")),
        ("project", project if switches.project else "off (memory.project = false)"),
        ("folder", folder if switches.project else "off (memory.project = false)"),
        ("agent", private_file("agent", "no agent is in use" if switches.agent else "off (memory.agent = false)")),
        ("facts", f"{facts} relevant, of {len(memory.facts())} remembered{cited}"),
    ):
        shown = effect if memory.enabled else "off (context.memory_integration = false)"
        yield StyledLine((StyledSpan(f"{level:<8} ", "bold"), StyledSpan(shown, "dim")), indent=9)
