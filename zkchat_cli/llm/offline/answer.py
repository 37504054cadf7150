"""One call of the offline provider: the tools it calls, and the answer it makes of their results.

Loaded with the first message (see providers/offline.py): it would take a tenth of the time until the prompt is visible.
"""

import json
import re
from collections.abc import Generator, Sequence
from typing import Any

from zkchat_cli.llm.base import Delta, Request, StreamFinished, TextPart, ToolCallsPart
from zkchat_cli.llm.offline.question import AnalyzedQuestion, analyze_question, asks_for_summary
from zkchat_cli.llm.offline.ranking import (
    MAX_QUOTES,
    QuoteSource,
    RankedQuote,
    first_statements,
    rank_passages,
    select_quotes,
    summarize_excerpts,
)
from zkchat_cli.markdown.blocks import split_sentences
from zkchat_cli.models import PromptMessage, ToolCall
from zkchat_cli.text.truncate import truncate

MAX_DOCUMENTS, MAX_NEAREST = 3, 5
MAX_QUERY = 400
MAX_SUMMARY, MAX_PER_DOCUMENT, MAX_FACTS = 6, 2, 2
"""Quotes in a summary of a document, and in one of several documents; remembered facts."""
MIN_COVERAGE = 0.52
"""The share of the question's words, weighted by rarity, that a passage and its surroundings must contain to be an answer."""
MIN_COVERAGE_IN_NAMED = 0.3
"""The same in a document that the user named, which is likely about the question."""
MIN_SENTENCES, MAX_DIGEST = 4, 12
"""Sentences of a text worth summarizing, and of its summary."""
NO_ANSWER = "Your notes don't say"
NO_MATCH = f"{NO_ANSWER}: nothing in them shares a word with your question.\n"
_DASH = re.compile(r"(?<!\S)-+(?=\w)")
"""A question about `find -name` excludes nothing."""
_MARKS = re.compile(r"[“”„«»「」『』\"`\[\]<>]")
"""Would turn a fact into a quotation or a citation."""
_PAIRED_MARKS = re.compile("[^“”]*(?:“[^“”]*”[^“”]*)*")


def answer_request(request: Request) -> Generator[Delta, None, None]:
    """The deltas of one model call: tool calls, or an answer word by word, as from a model."""
    messages = request.messages
    asked = max((i for i, m in enumerate(messages) if m.role == "user" and m.kind == "conversation"), default=-1)
    question = analyze_question(messages, asked)
    documents = [m for m in messages[max(asked - 1, 0) : max(asked, 0)] if m.kind == "documents"]
    turn = messages[asked + 1 :]
    results = [m for m in turn if m.role == "tool"]
    excerpts = _read_excerpts([*documents, *results])
    summary = summarize_message(messages)
    wanted: list[tuple[str, dict[str, Any]]] = []
    if asked >= 0 and not turn and not summary:
        wanted = _first_calls(question, documents)
    elif len(results) == len(turn) - 1 and not question.about_document and rank_passages(question, excerpts)[1] < MIN_COVERAGE:
        wanted = [("find_excerpts", {"query": truncate(question.keywords, MAX_QUERY)})] if question.keywords else []
    tools = {tool.name for tool in request.tools}
    calls = [ToolCall(id=f"offline-{asked}-{len(turn)}-{i}", name=name, arguments=a) for i, (name, a) in enumerate(wanted) if name in tools]
    if calls:
        yield ToolCallsPart(tuple(calls))
        yield StreamFinished("tool_calls")
        return
    reads = {call.id for m in turn for call in m.tool_calls if call.name == "read_zk_document"}
    named = [*documents, *(m for m in results if m.tool_call_id in reads)]
    earlier = [m.content for m in messages[: max(asked, 0)] if m.role == "assistant"] if question.is_follow_up else []
    text = summary or quote_answer(question, excerpts, _read_excerpts(named), "\n".join(earlier))
    text = remembered_facts(question, messages[: max(asked, 0)]) + text
    yield from (TextPart(word) for word in re.findall(r"[^ \n]*[ \n]?", text) if word)
    yield StreamFinished("stop")


def _first_calls(question: AnalyzedQuestion, documents: Sequence[PromptMessage]) -> list[tuple[str, dict[str, Any]]]:
    """Read the named documents whose text is not in the prompt, and search, unless the question is about a document as a whole."""
    paths = {excerpt.path for excerpt in _read_excerpts(documents)}
    sources = [id_ for m in documents for id_ in m.source_ids[1 if paths else 0 :]]  # the first is the message's own, if there is a text
    reads = [("read_zk_document", {"relative_path": path}) for path in sources if path not in paths][:MAX_DOCUMENTS]
    query = truncate(_DASH.sub("", question.query), MAX_QUERY)
    if not query or (question.about_document and (reads or paths)):
        return reads
    return [*reads, ("find_excerpts", {"query": query})]


def remembered_facts(question: AnalyzedQuestion, before: Sequence[PromptMessage]) -> str:
    """The facts of smart memory that answer the question, word for word."""
    memories = [m.content for m in before if m.kind == "memory" and m.content.startswith("<smart-memory>")]
    facts = [line[2:] for content in memories for line in content.split("\n") if line.startswith("- ") and not line.startswith("- [[")]
    relevant = [fact for fact in facts if rank_passages(question, [QuoteSource(0, "", "", None, fact)])[1] >= MIN_COVERAGE]
    return "".join(f"From memory: {_MARKS.sub('', fact)}\n\n" for fact in relevant[:MAX_FACTS])


def summarize_message(messages: Sequence[PromptMessage]) -> str:
    """The most important sentences of a text in a message that asks to summarize it; empty for any other message."""
    users = [m.content for m in messages if m.role == "user" and m.kind == "conversation"]
    content = users[-1] if users else ""
    lines = [line for line in content.split("\n") if line.strip()]
    request = next((line for line in (*lines[:1], *lines[-1:]) if asks_for_summary(line)), "")
    if not request and not asks_for_summary(" ".join(m.content for m in messages if m.role == "system")):
        return ""
    text = content.replace(request, "", 1) if request and len(lines) > 1 else content
    sentences = len(split_sentences(text))
    if sentences < MIN_SENTENCES:
        return ""
    limit = max(3, min(MAX_DIGEST, sentences // 4))
    return "".join(f"- {quote.text}\n" for quote in summarize_excerpts([QuoteSource(0, "", "", None, text)], limit))


def quote_answer(
    question: AnalyzedQuestion, excerpts: Sequence[QuoteSource], named: Sequence[QuoteSource] = (), earlier_answers: str = ""
) -> str:
    """The answer in quotations, or an honest "your notes don't say" with the nearest notes.

    `named`: the excerpts of documents that the user named. If nothing in them answers, their beginning is the best there is. What
    `earlier_answers` quote is quoted again only if there is nothing else.
    """
    if not excerpts:
        return NO_MATCH
    if named and question.about_document:
        paths = dict.fromkeys(excerpt.path for excerpt in named)
        limit = MAX_SUMMARY if len(paths) == 1 else MAX_PER_DOCUMENT
        documents = [[excerpt for excerpt in named if excerpt.path == path] for path in paths]
        summaries = [(own[0].title, summarize_excerpts(own, limit)) for own in documents]
        if parts := [f"[[{title}]]:\n\n{_format_quotes(quotes)}" for title, quotes in summaries if quotes]:
            return "\n".join(parts)
    limit = MAX_SUMMARY if question.wants_summary else MAX_QUOTES
    for searched, min_coverage in ((named, MIN_COVERAGE_IN_NAMED), (excerpts, MIN_COVERAGE)):
        ranked, coverage = rank_passages(question, searched)
        if ranked and coverage >= min_coverage:
            new = [quote for quote in ranked if quote.text not in earlier_answers]
            return f"From your notes:\n\n{_format_quotes(select_quotes(new or ranked, limit))}"
    if beginning := first_statements(named):
        return f"[[{named[0].title}]] begins:\n\n{_format_quotes(beginning)}"
    nearest = {excerpt.title: excerpt.source for excerpt in reversed(excerpts)}
    names = [f"[[{title}]] [{source}]" for title, source in reversed(nearest.items())]
    return f"{NO_ANSWER}. Nearest: {', '.join(names[:MAX_NEAREST])}\n"


def _format_quotes(quotes: Sequence[RankedQuote]) -> str:
    return "\n\n".join(_in_quotation_marks(q) + " " + "".join(f"[{s}]" for s in q.sources) for q in quotes) + "\n"


def _in_quotation_marks(quote: RankedQuote) -> str:
    """In marks that the text itself does not contain, unless in pairs; code stays code."""
    text = f"`{quote.text}`" if quote.passage.kind == "code" and "`" not in quote.text else quote.text
    if _PAIRED_MARKS.fullmatch(text):
        return f"“{text}”"
    opening, closing = next(((a, b) for a, b in (("«", "»"), ("「", "」")) if a not in text and b not in text), ("“", "”"))
    return opening + text + closing


def _read_excerpts(results: Sequence[PromptMessage]) -> list[QuoteSource]:
    """The numbered excerpts of tool results and of named documents, each source once. An error text contains none."""
    found: dict[int, QuoteSource] = {}
    for result in results:
        if result.role != "tool" and result.kind != "documents":
            continue
        try:
            document = json.loads(result.content.rpartition("\n")[2] if result.kind == "documents" else result.content)
        except (ValueError, RecursionError):
            continue
        excerpts = document.get("excerpts") if isinstance(document, dict) else None
        for rank, item in enumerate(excerpts if isinstance(excerpts, list) else []):
            if isinstance(item, dict) and isinstance(item.get("source"), int) and isinstance(item.get("text"), str):
                title, heading = str(item.get("title", "")), item.get("heading")
                place = (str(item.get("path", title)), title, str(heading) if heading else None)
                found.setdefault(item["source"], QuoteSource(item["source"], *place, item["text"], rank))
    return list(found.values())
