"""`html`: the current branch as one page to check the answers on: each `[n]` leads to its source, the quoted words marked in the excerpt.

The page holds all it needs and asks for nothing: no script, no image, no font, no address is loaded, and a policy in its head forbids it.
What notes and models wrote is Markdown in which nothing acts (`prose`), and text everywhere else (`elements`).
"""

import base64
import hashlib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from zkchat_cli import __version__
from zkchat_cli.citations.marks import cited_marks
from zkchat_cli.exporters.base import (
    SPEAKERS,
    UNANSWERED,
    Exporter,
    asked,
    branch,
    brought,
    folded_in,
    not_cited,
    summaries,
    title,
    tool_answers,
)
from zkchat_cli.exporters.html.elements import element, folded, harmless, text
from zkchat_cli.exporters.html.figures import Cost, figures
from zkchat_cli.exporters.html.markdown import rendered
from zkchat_cli.exporters.html.sources import SourceList, unused, where
from zkchat_cli.exporters.html.style import STYLE
from zkchat_cli.models import Compaction, ContentChunk, ConversationArchive, ToolCall, ZkChatMessage, split_into_exchanges
from zkchat_cli.text.truncate import truncate

_QUESTION = 80
_RESULT = 2000
"""Characters of a tool's answer that is no list of excerpts."""


def export(archive: ConversationArchive) -> str:
    messages = branch(archive)
    page = _Page(tool_answers(messages), _chunks(archive.messages))
    turns = "".join(page.turn(turn) for turn in split_into_exchanges(messages))
    body = element(
        "body",
        element("a", "Skip to the conversation", href="#conversation", class_="skip"),
        _header(archive, messages),
        _contents(page.questions),
        element("main", turns or element("p", "Nothing has been said yet."), id="conversation"),
        _summary(summaries(archive, messages)),
        figures(page.costs),
        element("footer", element("p", text(f"Exported by zkchat {__version__}. Nothing on this page is loaded from elsewhere."))),
    )
    return harmless(f"<!DOCTYPE html>\n{element('html', _head(archive, messages), body, lang='en')}\n")


def _head(archive: ConversationArchive, messages: Sequence[ZkChatMessage]) -> str:
    digest = base64.b64encode(hashlib.sha256(STYLE.encode()).digest()).decode()
    policy = f"default-src 'none'; style-src 'sha256-{digest}'; base-uri 'none'; form-action 'none'"
    meta = {
        "viewport": "width=device-width, initial-scale=1",
        "color-scheme": "light dark",
        "referrer": "no-referrer",
        "generator": f"zkchat {__version__}",
        "conversation": archive.conversation.id,
        "date": archive.conversation.created_at,
        "model": _models(messages),
    }
    return element(
        "head",
        element("meta", charset="utf-8"),
        element("meta", http_equiv="Content-Security-Policy", content=policy),
        *(element("meta", name=name, content=content) for name, content in meta.items()),
        element("title", text(title(archive))),
        element("style", STYLE),
    )


def _header(archive: ConversationArchive, messages: Sequence[ZkChatMessage]) -> str:
    facts = {
        "Date": _when(archive.conversation.created_at),
        "Model": text(_models(messages)),
        "Conversation": text(archive.conversation.id),
    }
    told = (element("dt", name) + element("dd", fact) for name, fact in facts.items() if fact)
    return element("header", element("h1", text(title(archive)), dir="auto"), element("dl", *told))


def _models(messages: Iterable[ZkChatMessage]) -> str:
    return ", ".join(dict.fromkeys(message.model for message in messages if message.model))


def _when(timestamp: str) -> str:
    return element("time", text(truncate(timestamp[:16].replace("T", " "), 40)), datetime=timestamp)


def _contents(questions: Mapping[int, str]) -> str:
    if len(questions) < 2:
        return ""
    links = (element("li", element("a", text(words), href=f"#message-{number}", dir="auto")) for number, words in questions.items())
    return element("nav", folded("Questions", element("ol", *links), class_="contents"), aria_label="Questions")


def _chunks(messages: Iterable[ZkChatMessage]) -> dict[int, ContentChunk]:
    """All excerpts by their number; one that was given twice (only an import can hold such) keeps its first meaning."""
    found: dict[int, ContentChunk] = {}
    for message in messages:
        for chunk in message.chunks:
            if chunk.number is not None:
                found.setdefault(chunk.number, chunk)
    return found


@dataclass
class _Page:
    """The page while it is written: messages are numbered as they stand on it, and what they say of themselves is gathered."""

    answers: Mapping[tuple[str, str], ZkChatMessage]
    chunks: Mapping[int, ContentChunk]
    questions: dict[int, str] = field(default_factory=dict)
    costs: list[Cost] = field(default_factory=list)
    number: int = 0
    shown: set[int] = field(default_factory=set)
    """Tool answers that stand under their calls, by identity: ids may be used twice."""

    def turn(self, messages: Sequence[ZkChatMessage]) -> str:
        question = next((truncate(message.content, _QUESTION) for message in messages if message.role == "user"), "")
        parts = [self._message(message, question) for message in messages]
        uncited = sum(message.uncited_statements or 0 for message in messages)
        return "".join([*parts, unused(not_cited(messages), uncited)])

    def _message(self, message: ZkChatMessage, question: str) -> str:
        if message.role == "tool":
            return "" if id(message) in self.shown else _call(text(message.tool_name or "tool"), message)
        self.number += 1
        name = f"message-{self.number}"
        if message.role == "user":
            self.questions[self.number] = question
        if message.usage is not None:
            self.costs.append(Cost(self.number, question, message.usage))
        sources = SourceList(str(self.number), message.citations, self.chunks)
        said = rendered(message.content, cited_marks(message.content, message.citations), sources.anchor) if message.content.strip() else ""
        calls = " calls tools" if message.tool_calls and not said else ""
        heading = element("h2", f"{SPEAKERS[message.role]}{calls} · ", _when(message.timestamp), id=f"{name}-title")
        parts = [
            element("div", said, class_="prose", dir="auto", lang="") if said else "",
            *(self._called(message, call) for call in message.tool_calls),
            _supplied(message.chunks),
            element("p", element("em", UNANSWERED[message.status]), class_="note") if message.status in UNANSWERED else "",
            sources.html(),
        ]
        kind = f"{message.role} working" if calls else message.role
        return element("article", heading, *parts, id=name, class_=kind, aria_labelledby=f"{name}-title")

    def _called(self, message: ZkChatMessage, call: ToolCall) -> str:
        answer = self.answers.get((message.id, call.id))
        if answer is not None:
            self.shown.add(id(answer))
        return _call(f"{element('code', text(call.name))} {text(asked(call))}", answer)


def _call(called: str, answer: ZkChatMessage | None) -> str:
    """A tool call as one folded line, with what it brought."""
    came_to = brought(answer)
    took = f", {answer.tool_run.duration_ms:.0f} ms" if answer is not None and answer.tool_run is not None else ""
    line = f"{called}: {text(came_to + took)}" if came_to else called
    if answer is None:
        return folded(line, element("p", "No answer is stored."), class_="call")
    if answer.chunks:
        return folded(line, _listed(answer.chunks), class_="call")
    content = answer.content if len(answer.content) <= _RESULT else f"{answer.content[:_RESULT]}…"
    return folded(line, element("pre", text(content), dir="auto"), class_="call")


def _supplied(chunks: Sequence[ContentChunk]) -> str:
    """What a question had with it in the prompt."""
    if not chunks:
        return ""
    return folded(f"{len(chunks)} excerpt{'s' if len(chunks) > 1 else ''} of the notes it names", _listed(chunks), class_="call")


def _listed(chunks: Iterable[ContentChunk]) -> str:
    return element("ul", *(element("li", *_entry(chunk)) for chunk in chunks))


def _entry(chunk: ContentChunk) -> list[str]:
    number = "" if chunk.number is None else f"[{chunk.number}] "
    return [number, " ".join(where(chunk, chunk))]


def _summary(told: Sequence[Compaction]) -> str:
    """The newest summary as the model wrote it; of those that it took in, when and how much."""
    if not told:
        return ""
    *earlier, last = told
    parts = [element("h2", "Summary", id="summary"), element("p", *_folded_in(last), class_="note")]
    said = rendered(last.summary or "", (), SourceList("summary", (), {}).anchor)
    parts.append(element("div", said, class_="prose", dir="auto", lang=""))
    if earlier:
        lines = element("ul", *(element("li", *_folded_in(each)) for each in reversed(earlier)))
        parts.append(
            folded(f"{len(earlier)} earlier summar{'ies' if len(earlier) > 1 else 'y'}, taken into this one", lines, class_="call")
        )
    return element("section", *parts, aria_labelledby="summary")


def _folded_in(compaction: Compaction) -> tuple[str, str]:
    return _when(compaction.created_at), text(f": {folded_in(compaction)}")


EXPORTER = Exporter(
    name="html", suffix=".html", help="a page to check the answers on: sources, excerpts, figures; opens offline", export=export
)
