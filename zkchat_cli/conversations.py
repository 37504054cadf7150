"""Stored conversations as lines: the same list for `zkchat sessions` and for the commands of the chat."""

import re
from collections.abc import Iterable, Iterator, Sequence
from datetime import datetime, timedelta

from zkchat_cli.context.ways import IN_SHELL
from zkchat_cli.errors import UsageError
from zkchat_cli.lines import Line, Span, line
from zkchat_cli.models import Overview, Said, ZkChatMessage
from zkchat_cli.references.listing import listing
from zkchat_cli.vault.snippets import snippet
from zkchat_cli.words import content_terms, fold, shorten, terms

LONGEST_TITLE = 80
LONGEST_SNIPPET = 160
_WORD = re.compile(r"\w+(?:['’]\w+)*")
_AGE = re.compile(r"(\d{1,5})\s*([dwmy]?)", re.IGNORECASE)
_DAYS = {"": 1, "d": 1, "w": 7, "m": 30, "y": 365}
NONE = "There is no conversation with these notes yet."
UNTITLED = "untitled"


def day(timestamp: str) -> str:
    """`2025-05-08 12:00`, as the clock on the reader's wall had it; of a time that is none, what it begins with."""
    try:
        when = datetime.fromisoformat(timestamp)
        return f"{when.astimezone() if when.tzinfo else when:%Y-%m-%d %H:%M}"
    except (ValueError, OverflowError):
        return timestamp[:16].replace("T", " ")


def name(overview: Overview) -> str:
    return shorten(overview.title or overview.first_line or UNTITLED, LONGEST_TITLE)


def facts(overview: Overview) -> str:
    """When something was last said, and how much there is."""
    return f"{day(overview.updated_at)}, {overview.messages} message{'' if overview.messages == 1 else 's'}"


def listed(overviews: Iterable[Overview], current: str | None = None, *, mark: bool = True) -> list[Line]:
    """A line each: id, title, and how much was said when; with `mark` the `current` one has an arrow."""
    return [
        Line(
            (Span(("→ " if each.id == current else "  ") if mark else ""), Span(each.id, "cyan"), Span(f"  {name(each)}", "bold")),
            (Span(facts(each), "dim"), Span(f", {each.tokens} tokens" if each.tokens else "", "dim")),
        )
        for each in overviews
    ]


def ago(age: str, now: str) -> datetime:
    """When it was so long before `now`: `90d` (or `90`), `12w`, `6m`, `1y`; or the beginning of a day, `2025-05-08`. Raises UsageError."""
    try:
        if found := _AGE.fullmatch(age.strip()):
            return datetime.fromisoformat(now) - timedelta(days=int(found[1]) * _DAYS[found[2].lower()])
        return datetime.fromisoformat(age.strip()).astimezone()
    except (ValueError, OverflowError):
        raise UsageError(f"{shorten(age, 40)!r} is no age", "As 90d, 12w, 6m or 1y, or a date, as 2025-05-08.") from None


def titled(overviews: Iterable[Overview], text: str) -> list[Overview]:
    """Those whose title or first line has every word of `text`."""
    words = fold(text).split()
    return [each for each in overviews if all(word in fold(f"{each.title or ''} {each.first_line or ''}") for word in words)]


def found(said: Sequence[Said], text: str) -> Iterator[Line]:
    """Messages that a search found, with where each stands and the words found."""
    wanted = set(content_terms(text))
    for each in said:
        title = shorten(each.title or UNTITLED, LONGEST_TITLE)
        head = (Span(each.conversation_id, "cyan"), Span(f"  {title}", "bold"))
        yield Line(head, (Span(f"{speaker(each.message)}, {day(each.message.timestamp)}", "dim"),))
        yield Line((Span("    "), *marked(excerpt(each.message.content, text), wanted)))


def spoken(said: Iterable[Said], most: int) -> list[Said]:
    """What was said itself, by the user or in an answer: what tools returned is in the notes."""
    return [each for each in said if each.message.role != "tool"][:most]


def excerpt(content: str, text: str) -> str:
    """The line of a message that has most of the words of `text`."""
    return snippet(content, 1, set(content_terms(text)), LONGEST_SNIPPET).text


def marked(shown: str, wanted: set[str]) -> Iterator[Span]:
    """The words that were wanted, marked in what is shown."""
    at = 0
    for word in _WORD.finditer(shown):
        if wanted.intersection(terms(word[0])):
            yield Span(shown[at : word.start()])
            yield Span(word[0], "bold")
            at = word.end()
    yield Span(shown[at:])


def words_found(shown: str, text: str) -> list[str]:
    """The words of `text` that stand in what is shown, as they stand there, each once."""
    return list(dict.fromkeys(span.text for span in marked(shown, set(content_terms(text))) if span.style))


def speaker(message: ZkChatMessage) -> str:
    return {"user": "you", "tool": message.tool_name or "tool"}.get(message.role, message.model or message.role)


def told(conversation: Overview, history: Sequence[ZkChatMessage], most_sources: int) -> Iterator[Line]:
    """A conversation for reading: who said what, and the sources of each answer. A line of a text is a line here."""
    yield Line((Span(name(conversation), "bold"),), (Span(f"{conversation.id}, {facts(conversation)}", "dim"),))
    for message in history:
        if message.role == "tool" or not message.content.strip():
            continue
        yield line()
        if message.role == "user":
            first, *rest = message.typed.expandtabs(4).split("\n")
            yield Line((Span("you › ", "bold"), Span(first, "bold")))
            yield from (line(f"      {each}", "bold") for each in rest)
        else:
            yield from (line(each, indent=0) for each in message.content.expandtabs(4).split("\n"))
        if message.status in ("failed", "unfinished"):
            yield line({"failed": "  it was not answered", "unfinished": "  it was stopped here"}[message.status], "yellow")
        if message.role == "assistant":
            yield from _sources(message, most_sources)


def _sources(message: ZkChatMessage, most: int) -> Iterator[Line]:
    shown = listing(message.citations, message.references, message.uncited_statements or 0, most, IN_SHELL.all_sources)
    if shown:
        yield line()
        yield from shown
