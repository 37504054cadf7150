"""Memory as people see it, in lines: what a prompt would hold and why, and what is remembered."""

from collections.abc import Iterator, Sequence

from zkchat_cli.lines import Line, Span, line
from zkchat_cli.memory.project import MemoryItem
from zkchat_cli.memory.smart import Relevant, source_of
from zkchat_cli.models import Fact

NONE = "No memory: a note ZKCHAT.md in the vault's root would be sent with every message, and {} keeps a fact."


def included(items: Sequence[MemoryItem]) -> Iterator[Line]:
    """What goes into the prompt: its name, tokens and reason, then its text."""
    for item in items:
        name = item.key if item.kind in ("fact", "agent") else item.relative_path
        yield Line((Span(name or "", "bold", item.relative_path or None), Span(f" · {item.tokens} tokens · {item.reason}", "dim")))
        if item.cut:
            yield line("  its end is cut", "yellow")
        for each in item.content.split("\n"):
            yield line(f"  {each.removeprefix('- ') if item.kind in ('fact', 'document') else each}")


def facts(remembered: Sequence[Fact]) -> Iterator[Line]:
    """Every fact, with who told it when."""
    for fact in remembered:
        yield Line((Span(fact.key, "bold"), Span(f" · {fact.created_at[:10]} · {source_of(fact)}", "dim")))
        yield line(f"  {fact.content}")


def found(ranked: Sequence[Relevant]) -> Iterator[Line]:
    """What a search found, with its score."""
    for relevant in ranked:
        item = relevant.item
        yield Line((Span(item.key, "bold", item.relative_path), Span(f" · {relevant.score:.2f} · {relevant.reason}", "dim")))
        yield line(f"  {item.told.removeprefix('- ').splitlines()[0] if item.told else ''}")
