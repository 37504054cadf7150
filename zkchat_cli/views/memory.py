"""Memory as people see it, in lines: what a prompt would hold and why, and what is remembered."""

from collections.abc import Iterator, Sequence

from zkchat_cli.memory.fact_ranking import RankedMemory, describe_source
from zkchat_cli.memory.project import MemoryItem
from zkchat_cli.models import Fact
from zkchat_cli.views.text import StyledLine, StyledSpan, styled_line

NONE = "No memory: a note ZKCHAT.md in the vault's root would be sent with every message, and {} keeps a fact."


def included(items: Sequence[MemoryItem]) -> Iterator[StyledLine]:
    """What goes into the prompt: its name, tokens and reason, then its text."""
    for item in items:
        name = item.key if item.kind in ("fact", "agent") else item.relative_path
        yield StyledLine(
            (StyledSpan(name or "", "bold", item.relative_path or None), StyledSpan(f" · {item.tokens} tokens · {item.reason}", "dim"))
        )
        if item.cut:
            yield styled_line("  its end is cut", "yellow")
        for each in item.content.split("\n"):
            yield styled_line(f"  {each.removeprefix('- ') if item.kind in ('fact', 'document') else each}")


def facts(remembered: Sequence[Fact]) -> Iterator[StyledLine]:
    """Every fact, with who told it when."""
    for fact in remembered:
        yield StyledLine((StyledSpan(fact.key, "bold"), StyledSpan(f" · {fact.created_at[:10]} · {describe_source(fact)}", "dim")))
        yield styled_line(f"  {fact.content}")


def found(ranked: Sequence[RankedMemory]) -> Iterator[StyledLine]:
    """What a search found, with its score."""
    for relevant in ranked:
        item = relevant.item
        yield StyledLine(
            (StyledSpan(item.key, "bold", item.relative_path), StyledSpan(f" · {relevant.score:.2f} · {relevant.reason}", "dim"))
        )
        yield styled_line(f"  {item.prompt_line.removeprefix('- ').splitlines()[0] if item.prompt_line else ''}")
