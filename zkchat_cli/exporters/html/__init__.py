"""`html`: the current branch as one page for checking the answers: each `[n]` links to its source,
with the quoted words highlighted.

The page is one file and loads nothing: no script, image, font or address, and a policy in its head
forbids them. Jinja2 escapes every value; the only markup that comes from a note or a model is that
of `render_markdown`, in which nothing can act.
"""

import base64
import hashlib
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cache
from itertools import count
from pathlib import Path
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

from markupsafe import Markup, escape

from zkchat_cli import __version__
from zkchat_cli.citations.cited_marks import cited_marks
from zkchat_cli.citations.marks import CitationMark
from zkchat_cli.citations.omissions import quote_ranges
from zkchat_cli.context.message_priority import describe_priority
from zkchat_cli.exporters import base
from zkchat_cli.exporters.html.markdown import render_markdown
from zkchat_cli.models.archive import ConversationArchive
from zkchat_cli.models.citations import Citation, group_by_number, worst_verdict
from zkchat_cli.models.messages import (
    TokenUsage,
    ZkChatMessage,
    split_into_exchanges,
    sum_usage,
)
from zkchat_cli.models.notes import ContentChunk
from zkchat_cli.references.manager import ReferenceManager
from zkchat_cli.text.truncate import truncate, truncate_to_minute
from zkchat_cli.vault.links.wikilinks import note_name

if TYPE_CHECKING:
    from jinja2 import Environment

_STYLE = Path(__file__).with_name("style.css").read_text(encoding="utf-8")
# Pieces of the page that are cleaned at once. Cleaning all of a long page would keep Python's lock
# for 0.15 s, in which a window cannot react.
PIECES = 1000
_UNSAFE = re.compile(
    "[\0-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069\ud800-\udfff\ufdd0-\ufdef\ufffe\uffff]"
)
"""Control characters, bidi overrides, lone surrogates, and what HTML forbids."""
# The sign of a citation's status, since not everybody sees colors, and what it means
STATUSES: Mapping[str, tuple[str, str]] = {
    "cited": ("•", "cited without a quotation"),
    "verified": ("✓", "verified: the source contains the quoted words"),
    "cut": (
        "✂",
        "cut: the source contains the quoted words, but its whole sentence says something else",
    ),
    "misattributed": ("✗", "misattributed: another source of the turn has the quoted words"),
    "misquoted": ("✗", "misquoted: the source does not contain the quoted words"),
    "missing": ("?", f"missing: {base.NO_SOURCE}"),
}


def export(archive: ConversationArchive) -> str:
    """The page of a conversation."""
    messages = base.current_branch(archive)
    compaction = base.current_summary(archive, messages)
    # In an import two excerpts can have the same number: then the first one counts
    references = ReferenceManager.from_log(archive.messages)
    chunks = references.chunks_by_number()
    numbers = count(1)
    turns = [_template_turn(turn, chunks, numbers) for turn in split_into_exchanges(messages)]
    questions: list[SimpleNamespace] = []
    for turn in turns:
        questions += [each for each in turn.articles if each.message.role == "user"]
    style_hash = hashlib.sha256(_STYLE.encode()).digest()
    page = (
        _templates()
        .get_template("template.html.j2")
        .stream(
            version=__version__,
            style=Markup(_STYLE),
            style_digest=base64.b64encode(style_hash).decode(),
            conversation=archive.conversation,
            title=base.conversation_title(archive),
            models=base.model_names(messages),
            tokens=_describe_usage(sum_usage(message.usage for message in messages)),
            turns=turns,
            questions=questions,
            compaction=compaction,
            summary=compaction and render_markdown(compaction.summary or ""),
        )
    )
    page.enable_buffering(PIECES)
    return "".join(map(_replace_unsafe, page))


def _describe_usage(usage: TokenUsage) -> str:
    """Tokens in and out; empty if no provider reported any."""
    if not usage.prompt_tokens:
        return ""
    about = "~" if usage.estimated else ""
    return f"{about}{usage.prompt_tokens:,} in, {about}{usage.completion_tokens:,} out"


def turn_html(messages: Sequence[ZkChatMessage], number: int) -> str:
    """One turn without its sources, as the page has it: its marks link to `#source-NUMBER.M-N`,
    where N is the source of message M.
    """
    turn = _template_turn(messages, {}, count(1), f"{number}.")
    macros: Any = _templates().get_template("turns.html.j2").module
    return _replace_unsafe(macros.turn_html(turn, brief=True))


@cache
def colors(*, dark: bool) -> Mapping[str, str]:
    """The colors of the page by name."""
    light, _, night = _STYLE.partition("@media (prefers-color-scheme: dark)")
    return dict(re.findall("--([a-z-]+): (#[0-9a-f]{6})", night if dark else light))


def _replace_unsafe(text: str) -> str:
    """Show characters that act or are not allowed in HTML as U+FFFD."""
    return _UNSAFE.sub("\ufffd", text.replace("\r\n", "\n"))


def _template_turn(
    messages: Sequence[ZkChatMessage],
    chunks: Mapping[int, ContentChunk],
    numbers: Iterator[int],
    prefix: str = "",
) -> SimpleNamespace:
    """A turn as the template takes it: each message with its tool calls and their results. A result
    without a call is an article by itself.

    `chunks` are the excerpts of the conversation by number, `numbers` the next numbers of messages,
    and `prefix` is put before these in the ids of sources.
    """
    results = base.tool_results(messages)
    called: set[int] = set()
    for message in messages:
        called.update(id(results.get((message.id, call.id))) for call in message.tool_calls)
    articles = []
    for message in messages:
        if message.role == "tool":
            if id(message) not in called:
                articles.append(SimpleNamespace(message=message))
            continue
        number = next(numbers)
        sources = _SourceList(f"{prefix}{number}", message.citations)
        html = Markup()
        if message.content.strip():
            html = render_markdown(
                message.content, cited_marks(message.content, message.citations), sources.link
            )
        calls = [(call, results.get((message.id, call.id))) for call in message.tool_calls]
        articles.append(
            SimpleNamespace(
                number=number,
                message=message,
                html=html,
                calls=calls,
                sources=sources.entries(chunks),
            )
        )
    uncited_statements = sum(message.uncited_statements or 0 for message in messages)
    return SimpleNamespace(
        articles=articles,
        uncited=base.uncited_references(messages),
        uncited_statements=uncited_statements,
    )


class _SourceList:
    """The sources of one answer. `article` distinguishes its ids from those of others."""

    def __init__(self, article: str, citations: Sequence[Citation]) -> None:
        self._article = article
        self._by_number = group_by_number(citations)
        self._mark_ids: dict[int, list[str]] = {number: [] for number in self._by_number}

    def link(self, mark: CitationMark, text: str) -> Markup:
        """A citation mark as a link to its source; one with several numbers as a link for each
        number that is a citation.
        """
        if len(mark.numbers) == 1:
            return self._link(mark.numbers[0], mark, text)
        links: list[Markup] = []
        for number in mark.numbers:
            is_cited = number in self._by_number
            links.append(self._link(number, mark, str(number)) if is_cited else Markup(number))
        return Markup("[%s]") % Markup(", ").join(links)

    def _link(self, number: int, mark: CitationMark, text: str) -> Markup:
        citations = self._by_number[number]
        at_mark = [each for each in citations if mark.span in each.spans]
        status = worst_verdict(each.verdict for each in at_mark or citations)
        ids = self._mark_ids[number]
        ids.append(f"cite-{self._article}-{number}-{len(ids) + 1}")
        # Only the text comes from outside; escaping all the rest, too, took 4 % of an export
        sign, description = STATUSES[status]
        return Markup(
            f'<a id="{ids[-1]}" href="#source-{self._article}-{number}" class="cite '
            f'{status}">{escape(text)}'
            f'<span class="sign" aria-hidden="true">{sign}</span><span class="unseen"> '
            f"({description})</span></a>"
        )

    def entries(self, chunks: Mapping[int, ContentChunk]) -> list[SimpleNamespace]:
        """The list below the answer: each source with the worst status of its citations. It must be
        made after all links.
        """
        entries: list[SimpleNamespace] = []
        for number, citations in self._by_number.items():
            entries.append(self._entry(number, citations, chunks.get(number)))
        return entries

    def _entry(
        self, number: int, citations: Sequence[Citation], chunk: ContentChunk | None
    ) -> SimpleNamespace:
        """One source of the list. `chunk` is the excerpt with its number, if there is one."""
        # The first citation that has a path; None if the source is missing
        citation = next(filter(_has_path, citations), None)
        title = ""
        excerpt: Markup | None = None
        quotes = {each.quote: each for each in citations if each.quote}
        if citation is not None:
            if chunk is not None and chunk.relative_path != citation.relative_path:
                chunk = None
            title = source_title(citation, chunk)
            if chunk is not None:
                excerpt = highlight_quotes(chunk.text, _present_quotes(quotes))
        return SimpleNamespace(
            number=number,
            status=worst_verdict(each.verdict for each in citations),
            title=title,
            citation=citation,
            mark_ids=self._mark_ids[number],
            quotes=quotes,
            unsupported=any(each.is_unsupported for each in citations),
            outdated=next((each.outdated for each in citations if each.outdated), None),
            excerpt=excerpt,
        )


def _has_path(citation: Citation) -> bool:
    return citation.relative_path is not None


def _present_quotes(quotes: Mapping[str, Citation]) -> list[str]:
    """The quotations that their excerpt contains."""
    return [text for text, each in quotes.items() if each.verdict in ("verified", "cut")]


def source_title(source: Citation | ContentChunk, chunk: ContentChunk | None = None) -> str:
    """The title of a source for the page: `Note › Heading`. `chunk` is a citation's excerpt."""
    if isinstance(source, ContentChunk):
        chunk = source
    title = chunk.title if chunk else note_name(source.relative_path or "")
    if source.heading and source.heading != title:
        return f"{title} › {source.heading}"
    return title


def highlight_quotes(excerpt: str, quotes: Iterable[str]) -> Markup:
    """An excerpt with the quoted words that it contains highlighted."""
    parts = ""
    at = 0
    for start, end in quote_ranges(excerpt, quotes):
        parts += f"{escape(excerpt[at:start])}<mark>{escape(excerpt[start:end])}</mark>"
        at = end
    return Markup(f"{parts}{escape(excerpt[at:])}")


@cache
def _templates() -> "Environment":
    # 60 ms, for this format only
    from jinja2 import Environment, FileSystemLoader, StrictUndefined

    folder = FileSystemLoader(Path(__file__).parent)
    environment = Environment(
        loader=folder,
        autoescape=True,
        trim_blocks=True,
        lstrip_blocks=True,
        undefined=StrictUndefined,
    )
    environment.globals |= {"base": base, "statuses": STATUSES, "source_title": source_title}
    environment.globals |= {"truncate": truncate, "truncate_to_minute": truncate_to_minute}
    environment.globals["describe_priority"] = describe_priority
    return environment


EXPORTER = base.Exporter(suffix=".html", export=export)
