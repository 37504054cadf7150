"""`html`: the current branch as one page for checking the answers: each `[n]` links to its source, with the quoted words highlighted.

The page is one file and loads nothing: no script, image, font or address, and a policy in its head forbids them. Jinja2 escapes every
value; the only markup that comes from a note or a model is that of `markdown`, which is harmless.
"""

import base64
import hashlib
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from markupsafe import Markup

from zkchat_cli import __version__
from zkchat_cli.citations.marks import cited_marks
from zkchat_cli.exporters import base
from zkchat_cli.exporters.html import sources
from zkchat_cli.exporters.html.markdown import render_markdown
from zkchat_cli.models import ContentChunk, ConversationArchive, DocumentReference, ToolCall, ZkChatMessage, split_into_exchanges, sum_usage
from zkchat_cli.text.truncate import truncate, truncate_to_minute

if TYPE_CHECKING:
    from jinja2 import Environment

PIECES = 1000
"""Pieces of the page that are cleaned at once: all of a long page would keep Python's lock, and a window still, for 0.15 s."""
_UNSAFE = re.compile("[\0-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069\ud800-\udfff\ufdd0-\ufdef\ufffe\uffff]")
"""Control characters, bidi overrides, lone surrogates, and what HTML forbids."""


def export(archive: ConversationArchive) -> str:
    messages = base.current_branch(archive)
    compaction = base.current_summary(archive, messages)
    builder = _PageBuilder(base.tool_results(messages), _chunks_by_number(archive))
    style = _read_file("style.css")
    page = (
        _templates()
        .get_template("template.html.j2")
        .stream(
            version=__version__,
            style=Markup(style),
            style_digest=base64.b64encode(hashlib.sha256(style.encode()).digest()).decode(),
            conversation=archive.conversation,
            title=base.conversation_title(archive),
            models=base.model_names(messages),
            tokens=_format_usage(messages),
            turns=[builder.turn(turn) for turn in split_into_exchanges(messages)],
            questions=builder.questions,
            compaction=compaction,
            summary=compaction and render_markdown(compaction.summary or ""),
        )
    )
    page.enable_buffering(PIECES)
    return "".join(map(replace_unsafe_characters, page))


def turn_html(messages: Sequence[ZkChatMessage], number: int) -> str:
    """One turn without its sources, as the page has it: its marks link to `#source-NUMBER.M-N`, where N is the source of message M."""
    builder = _PageBuilder(base.tool_results(messages), {}, f"{number}.")
    html = _templates().get_template("turns.html.j2").module.turn_html(builder.turn(messages), brief=True)  # type: ignore[attr-defined]
    return replace_unsafe_characters(html)


@cache
def colors(*, dark: bool) -> Mapping[str, str]:
    """The colors of the page by name."""
    light, _, night = _read_file("style.css").partition("@media (prefers-color-scheme: dark)")
    return dict(re.findall("--([a-z-]+): (#[0-9a-f]{6})", night if dark else light))


def replace_unsafe_characters(text: str) -> str:
    """Show characters that act or are not allowed in HTML as U+FFFD."""
    return _UNSAFE.sub("\ufffd", text.replace("\r\n", "\n"))


class Article(NamedTuple):
    """A message on the page, and its tool calls with their results; that of an unexpected result has only that."""

    number: int
    message: ZkChatMessage
    html: Markup
    calls: list[tuple[ToolCall | None, ZkChatMessage | None]]
    sources: list[sources.Source]


class TurnSection(NamedTuple):
    articles: list[Article]
    uncited: list[DocumentReference]
    uncited_statements: int


@dataclass
class _PageBuilder:
    results: Mapping[tuple[str, str], ZkChatMessage]
    chunks: Mapping[int, ContentChunk]
    prefix: str = ""
    """Of the messages' numbers in ids."""
    questions: list[Article] = field(default_factory=list)
    _count: int = 0

    def turn(self, messages: Sequence[ZkChatMessage]) -> TurnSection:
        calls = {id(self.results.get((message.id, call.id))) for message in messages for call in message.tool_calls}
        articles = [self._article(message) for message in messages if message.role != "tool" or id(message) not in calls]
        return TurnSection(articles, base.uncited_references(messages), sum(message.uncited_statements or 0 for message in messages))

    def _article(self, message: ZkChatMessage) -> Article:
        if message.role == "tool":
            return Article(0, message, Markup(), [(None, message)], [])
        self._count += 1
        builder = sources.SourceListBuilder(f"{self.prefix}{self._count}", message.citations, self.chunks)
        html = Markup()
        if message.content.strip():
            html = render_markdown(message.content, cited_marks(message.content, message.citations), builder.link)
        calls = [(call, self.results.get((message.id, call.id))) for call in message.tool_calls]
        article = Article(self._count, message, html, [*calls], builder.sources())
        if message.role == "user":
            self.questions.append(article)
        return article


def _chunks_by_number(archive: ConversationArchive) -> dict[int, ContentChunk]:
    """The excerpts of all branches; of two with one number, which only an import can have, the first."""
    chunks = (chunk for message in reversed(archive.messages) for chunk in reversed(message.chunks))
    return {chunk.number: chunk for chunk in chunks if chunk.number is not None}


def _format_usage(messages: Sequence[ZkChatMessage]) -> str:
    usage = sum_usage(message.usage for message in messages)
    about = "~" if usage.estimated else ""
    return f"{about}{usage.prompt_tokens:,} in, {about}{usage.completion_tokens:,} out" if usage.prompt_tokens else ""


@cache
def _templates() -> "Environment":
    from jinja2 import Environment, FileSystemLoader, StrictUndefined  # 60 ms, for this format only

    folder = FileSystemLoader(Path(__file__).parent)
    environment = Environment(loader=folder, autoescape=True, trim_blocks=True, lstrip_blocks=True, undefined=StrictUndefined)
    environment.globals.update(
        speakers=base.SPEAKERS,
        status_notes=base.STATUS_NOTES,
        statuses=sources.STATUSES,
        source_title=sources.source_title,
        describe_arguments=base.describe_arguments,
        describe_result=base.describe_result,
        unsupported=base.UNSUPPORTED,
        describe_uncited=base.describe_uncited,
        describe_reference=base.describe_reference,
        compaction_figures=base.compaction_figures,
        format_location=base.format_location,
        truncate=truncate,
        truncate_to_minute=truncate_to_minute,
    )
    return environment


def _read_file(name: str) -> str:
    return Path(__file__).with_name(name).read_text(encoding="utf-8")


EXPORTER = base.Exporter(suffix=".html", export=export)
