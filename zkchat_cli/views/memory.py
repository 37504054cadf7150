"""Memory as lines: what a prompt includes and why, the remembered facts, and search results."""

from collections.abc import Iterator, Mapping, Sequence

from zkchat_cli.memory.fact_ranking import RankedMemory, describe_source
from zkchat_cli.memory.project import MemoryItem
from zkchat_cli.models import Fact
from zkchat_cli.views.text import StyledLine, StyledSpan, styled_line

NO_MEMORY = "No memory yet. A note ZKCHAT.md in the vault's root is sent with every message, and {} saves a fact."


def memory_item_lines(items: Sequence[MemoryItem]) -> Iterator[StyledLine]:
    """What goes into the prompt: name, tokens and reason, then the text."""
    for item in items:
        name = item.key if item.kind in ("fact", "agent", "user") else item.relative_path
        yield StyledLine(
            (StyledSpan(name or "", "bold", item.relative_path or None), StyledSpan(f" · {item.tokens:,} tokens · {item.reason}", "dim"))
        )
        if item.cut:
            yield styled_line("  its end is cut off", "yellow")
        for each in item.content.split("\n"):
            yield styled_line(f"  {each.removeprefix('- ') if item.kind in ('fact', 'document') else each}")


def fact_lines(facts: Sequence[Fact]) -> Iterator[StyledLine]:
    for fact in facts:
        yield StyledLine((StyledSpan(fact.key, "bold"), StyledSpan(f" · {fact.created_at[:10]} · {describe_source(fact)}", "dim")))
        yield styled_line(f"  {fact.content}")


def memory_search_lines(ranked: Sequence[RankedMemory]) -> Iterator[StyledLine]:
    for each in ranked:
        item = each.item
        yield StyledLine((StyledSpan(item.key, "bold", item.relative_path), StyledSpan(f" · {each.score:.2f} · {each.reason}", "dim")))
        yield styled_line(f"  {item.prompt_line.removeprefix('- ').splitlines()[0] if item.prompt_line else ''}")


def level_lines(levels: Mapping[str, str]) -> Iterator[StyledLine]:
    """What each level of memory gives to a prompt, or why nothing."""
    for level, effect in levels.items():
        yield StyledLine((StyledSpan(f"{level:<8} ", "bold"), StyledSpan(effect, "dim")), indent=9)
