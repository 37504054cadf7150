"""One call of the offline provider: the tools it calls, and the answer it makes of their results.

Loaded with the first message (see providers/offline.py): it would take a tenth of the time until
the prompt is visible.
"""

import json
import re
from collections.abc import Generator, Sequence
from contextlib import suppress
from typing import Any

from zkchat_cli.events import TextDelta
from zkchat_cli.llm.base import Delta, Request, StreamFinished
from zkchat_cli.llm.offline import ranking
from zkchat_cli.llm.offline.question import (
    QUOTE_MARKS,
    AnalyzedQuestion,
    analyze_question,
    reply_to_small_talk,
    user_messages,
)
from zkchat_cli.llm.offline.ranking import (
    MAX_QUOTES,
    QuoteSource,
    RankedQuote,
    rank_passages,
    summarize_excerpts,
)
from zkchat_cli.models.messages import ToolCall
from zkchat_cli.models.notes import Similarities
from zkchat_cli.models.prompts import PromptMessage
from zkchat_cli.models.reports import AnswerLevel
from zkchat_cli.references.chunk_budget import NO_ROOM
from zkchat_cli.references.excerpts import parse_tool_result

MAX_DOCUMENTS = 3
# Results of a search: with ten instead of six, a right note is among them for 80 instead of 77 of
# 100 questions
EXCERPTS = 10
# Quotes in a summary of a document, and in one of several documents; remembered facts
MAX_SUMMARY = 6
MAX_PER_DOCUMENT = 2
MAX_FACTS = 2
NOTHING_FOUND = "Nothing in your notes is about this.\n"
NOTHING_IN_PERIOD = "None of your notes is from that time.\n"
NO_SENTENCE = "I found no sentence that answers this. Most likely: "
NO_PASSAGES = (
    "There was no room in the context window for passages of your notes. Raise "
    "context.max_tokens, or ask in a new conversation.\n"
)
_PAIRED_MARKS = re.compile("[^“”]*(?:“[^“”]*”[^“”]*)*")

Answer = tuple[str, AnswerLevel | None]


def answer_request(
    request: Request, similarities: Similarities | None = None
) -> Generator[Delta, None, None]:
    """The deltas of one model call: tool calls, or an answer word by word, as from a model. Small
    talk is answered without notes.
    """
    messages = request.messages
    asked = [i for i, m in enumerate(messages) if m.role == "user" and m.kind == "conversation"]
    position = max(asked, default=-1)
    before = messages[: max(position, 0)]
    turn = messages[position + 1 :]
    documents = [m for m in before[-1:] if m.kind == "documents"]
    text = ""
    level = None
    if asked and not documents:
        answers = [
            m.content for m in before if m.role == "assistant" and not m.tool_calls and m.content
        ]
        text = reply_to_small_talk(messages[position].content, user_messages(before), answers) or ""
    if not text:
        question = analyze_question(messages, position)
        tools = {tool.name for tool in request.tools}
        wanted = [] if turn else _first_calls(question, documents)
        calls = [
            ToolCall(id=f"offline-{position}-{i}", name=name, arguments=a)
            for i, (name, a) in enumerate(wanted)
            if name in tools
        ]
        if calls:
            yield StreamFinished("tool_calls", calls=tuple(calls))
            return
        text, level = _answer_from_notes(question, before, documents, turn, similarities)
    yield from (TextDelta(word) for word in re.findall(r"[^ \n]*[ \n]?", text) if word)
    yield StreamFinished("stop", level=level)


def _first_calls(
    question: AnalyzedQuestion, documents: Sequence[PromptMessage]
) -> list[tuple[str, dict[str, Any]]]:
    """The calls that read the named documents, if the prompt does not have their text, and that
    search, unless the question is about a document as a whole.
    """
    paths = {excerpt.path for excerpt in _read_excerpts(documents)}
    # The first is the message's own, if there is a text
    sources = [id_ for m in documents for id_ in m.source_ids[1 if paths else 0 :]]
    reads = [
        ("read_zk_document", {"relative_path": path}) for path in sources if path not in paths
    ][:MAX_DOCUMENTS]
    if question.about_document and (reads or paths):
        return reads
    return [
        *reads,
        *(("find_excerpts", {"query": query, "limit": EXCERPTS}) for query in question.searches),
    ]


def _answer_from_notes(
    question: AnalyzedQuestion,
    before: Sequence[PromptMessage],
    documents: Sequence[PromptMessage],
    turn: Sequence[PromptMessage],
    similarities: Similarities | None,
) -> Answer:
    results = [m for m in turn if m.role == "tool"]
    excerpts = _read_excerpts([*documents, *results])
    memories = [
        m.content for m in before if m.kind == "memory" and m.content.startswith("<smart-memory>")
    ]
    remembered = [
        line[2:]
        for content in memories
        for line in content.split("\n")
        if line.startswith("- ") and not line.startswith("- [[")
    ]
    relevant = [
        fact
        for fact in remembered
        if rank_passages(question, [QuoteSource(0, "", "", None, fact)]).is_answer
    ]
    facts = "".join(
        f"From memory: {QUOTE_MARKS.sub('', fact)}\n\n" for fact in relevant[:MAX_FACTS]
    )
    if not excerpts and any(NO_ROOM in m.content for m in results):
        return facts + NO_PASSAGES, None
    if results and not excerpts and all(errors := [_tool_error(m) for m in results]):
        return (
            f"{facts}Your notes could not be searched: {errors[-1]}\n",
            None if facts else "nothing",
        )
    reads = {call.id for m in turn for call in m.tool_calls if call.name == "read_zk_document"}
    paths = {
        excerpt.path
        for excerpt in _read_excerpts(
            [*documents, *(m for m in results if m.tool_call_id in reads)]
        )
    }
    named = [excerpt for excerpt in excerpts if excerpt.path in paths]
    others = [] if named else excerpts
    if question.alone and not ranking.have_any_word(excerpts, question.alone.subject):
        # "what about penguins?" has a subject of its own
        question = question.alone
    earlier = [m.content for m in before if m.role == "assistant"] if question.is_follow_up else []
    text, level = quote_answer(question, others, named, "\n".join(earlier), similarities)
    return facts + text, "answer" if facts else level


def _tool_error(result: PromptMessage) -> str | None:
    """Why a call has failed; None if it has not."""
    with suppress(ValueError, RecursionError):
        document = json.loads(result.content)
        return (
            str(document["error"]) if isinstance(document, dict) and "error" in document else None
        )
    return None


def quote_answer(
    question: AnalyzedQuestion,
    excerpts: Sequence[QuoteSource],
    named: Sequence[QuoteSource] = (),
    earlier_answers: str = "",
    similarities: Similarities | None = None,
) -> Answer:
    """The answer in quotations; if none is sure enough, the likeliest sections with their openings.
    `named`: the excerpts of documents that the user named; what answers in them comes first. What
    `earlier_answers` quote is quoted again only if there is nothing else.
    """
    whole = named if question.about_document else excerpts if question.about_period else ()
    if whole:
        paths = list(dict.fromkeys(excerpt.path for excerpt in whole))[:MAX_QUOTES]
        limit = MAX_SUMMARY if len(paths) == 1 else MAX_PER_DOCUMENT
        documents = [[excerpt for excerpt in whole if excerpt.path == path] for path in paths]
        summaries = [(own[0].title, summarize_excerpts(own, limit)) for own in documents]
        if parts := [
            f"[[{title}]]:\n\n{_format_quotes(quotes)}" for title, quotes in summaries if quotes
        ]:
            return "\n".join(parts), "answer"
    limit = MAX_SUMMARY if question.wants_summary else MAX_QUOTES
    ranked = of_named = rank_passages(question, named, similarities)
    if not ranked.is_answer:
        ranked = rank_passages(question, excerpts, similarities)
    if ranked.is_answer:
        least = ranking.MIN_SHARE * ranked.on_topic[0].value
        new = [
            quote
            for quote in ranked.on_topic
            if quote.text not in earlier_answers and quote.value >= least
        ]
        quotes = ranking.add_code(ranking.select_quotes(new or ranked.on_topic, limit), ranked.all)
        return f"From your notes:\n\n{_format_quotes(quotes)}", "answer"
    if not named and not ranked.matches:
        return NOTHING_IN_PERIOD if question.about_period else NOTHING_FOUND, "nothing"
    sections = ranking.select_sections(of_named if named else ranked)
    if not sections:
        return NOTHING_FOUND, "nothing"
    names = [
        " › ".join(" ".join(QUOTE_MARKS.sub("", name).split()) for name in quotes[0].section)
        for quotes in sections
    ]
    shown = [
        f"{name}\n\n{_format_quotes(quotes)}" for name, quotes in zip(names, sections, strict=True)
    ]
    return NO_SENTENCE + "\nOr: ".join(shown), "most_likely"


def _format_quotes(quotes: Sequence[RankedQuote]) -> str:
    mark = "- " if len(quotes) > 1 else ""
    return "".join(
        f"{mark}{_in_quotation_marks(q)} {''.join(f'[{s}]' for s in q.sources)}\n" for q in quotes
    )


def _in_quotation_marks(quote: RankedQuote) -> str:
    """In marks that the text itself does not contain, unless in pairs; code stays code."""
    text = (
        f"`{quote.text}`" if quote.passage.kind == "code" and "`" not in quote.text else quote.text
    )
    if _PAIRED_MARKS.fullmatch(text):
        return f"“{text}”"
    opening, closing = next(
        ((a, b) for a, b in (("«", "»"), ("「", "」")) if a not in text and b not in text),
        ("“", "”"),
    )
    return opening + text + closing


def _read_excerpts(results: Sequence[PromptMessage]) -> list[QuoteSource]:
    """The numbered excerpts of tool results and of named documents, each source once. An error text
    contains none.
    """
    found: dict[int, QuoteSource] = {}
    for result in results:
        parsed = (
            parse_tool_result(result.content)
            if result.role == "tool" or result.kind == "documents"
            else None
        )
        for rank, item in enumerate(parsed[1]["excerpts"] if parsed else ()):
            title = str(item.get("title", ""))
            heading = item.get("heading")
            place = (str(item.get("path", title)), title, str(heading) if heading else None)
            if item["source"] not in found or found[item["source"]].rank > rank:
                found[item["source"]] = QuoteSource(item["source"], *place, item["text"], rank)
    return sorted(found.values(), key=lambda excerpt: excerpt.rank)
