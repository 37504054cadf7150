"""One call of the offline provider: the tools it calls, and the answer it makes of their results.

Loaded with the first message (see providers/offline.py): it would take a tenth of the time until the prompt is visible.
"""

import json
import re
from collections.abc import Generator, Mapping, Sequence
from typing import Any

from zkchat_cli.llm.base import Delta, Request, StreamFinished, TextPart, ToolCallsPart
from zkchat_cli.llm.offline import ranking
from zkchat_cli.llm.offline.passages import QuotablePassage
from zkchat_cli.llm.offline.question import AnalyzedMessage, AnalyzedQuestion, analyze_message, asks_for_summary, word_forms
from zkchat_cli.llm.offline.ranking import MAX_QUOTES, Preference, QuoteSource, RankedQuote, missing_words, rank_passages
from zkchat_cli.markdown.blocks import split_sentences
from zkchat_cli.models import PromptMessage, ToolCall
from zkchat_cli.text.truncate import truncate
from zkchat_cli.text.words import fold, stem, terms

MAX_DOCUMENTS = 3
MAX_QUERY = 400
MAX_SUMMARY, MAX_PER_PART = 6, 2
"""Quotes in a summary of a document, and for each of several questions or documents."""
MIN_COVERAGE = 0.52
"""The share of the question's words, weighted by rarity, that a passage and its surroundings must contain to be an answer."""
MIN_COVERAGE_IN_NAMED = 0.3
"""The same in a document that the user named, which is likely about the question."""
MIN_TITLE_SIMILARITY = 0.7
BEGINNING = 60
"""Lines to read of a note whose title is the question."""
IN_SECTION, QUOTED_BEFORE = 1.6, 0.3
"""Factors for passages of a section that the message names, and for passages that were quoted before."""
MIN_SENTENCES, MAX_DIGEST = 4, 12
NO_ANSWER = "Your notes don't say"
NO_MATCH = f"{NO_ANSWER}: nothing in them shares a word with your question.\n"
_DASH = re.compile(r"(?<!\S)-+(?=\w)")
"""A question about `find -name` excludes nothing."""
_MARKS = re.compile(r"[“”„«»「」『』\"`\[\]<>]")
"""Would turn a repeated question into a quotation or a citation."""
_LINE_NUMBER = re.compile(r"[0-9]{1,9}")
_PAIRED_MARKS = re.compile("[^“”]*(?:“[^“”]*”[^“”]*)*")


def answer_request(request: Request) -> Generator[Delta, None, None]:
    """The deltas of one model call: tool calls, or an answer word by word, as from a model."""
    asked = max((i for i, m in enumerate(request.messages) if m.role == "user" and m.kind == "conversation"), default=-1)
    messages = request.messages
    message = analyze_message(messages, asked)
    turn = messages[asked + 1 :]
    documents = [m for m in messages[max(asked - 1, 0) : max(asked, 0)] if m.kind == "documents"]
    results = [m for m in turn if m.role == "tool"]
    rounds = sum(1 for m in turn if m.tool_calls)
    calls: tuple[ToolCall, ...] = ()
    if rounds == 0 <= asked and not results:
        calls = _first_calls(request, message, asked)
    elif rounds == 1 and request.tools:
        calls = _second_calls(message, _read_excerpts([*documents, *results]), asked)
    if not calls:
        reads = {call.id for m in turn for call in m.tool_calls if call.name == "read_zk_document" and _unread_documents(messages, asked)}
        named = [*documents, *(m for m in results if m.tool_call_id in reads)]
        text = "" if results or _read_excerpts(documents) else _retell_conversation(message, messages) or summarize_message(messages)
        text = remembered_facts(message, messages[:asked]) + (text or quote_answer(message, [*documents, *results], named))
    if calls:
        yield ToolCallsPart(calls)
        yield StreamFinished("tool_calls")
        return
    yield from (TextPart(word) for word in re.findall(r"[^ \n]*[ \n]?", text) if word)
    yield StreamFinished("stop")


def remembered_facts(message: AnalyzedMessage, before: Sequence[PromptMessage]) -> str:
    """The facts of smart memory that answer the question, word for word."""
    memories = [m.content for m in before if m.kind == "memory" and m.content.startswith("<smart-memory>")]
    facts = [line[2:] for content in memories for line in content.split("\n") if line.startswith("- ") and not line.startswith("- [[")]
    relevant = [
        fact
        for fact in facts
        if any(rank_passages(question, [QuoteSource(0, "", "", None, fact)])[1] >= MIN_COVERAGE for question in message.questions)
    ]
    return "".join(f"From memory: {_MARKS.sub('', fact)}\n\n" for fact in relevant[:MAX_PER_PART])


def _first_calls(request: Request, message: AnalyzedMessage, asked: int) -> tuple[ToolCall, ...]:
    """Read the named documents and search; nothing for a text that is to be summarized as it is in the message."""
    tools = {tool.name for tool in request.tools}
    if not tools or _retell_conversation(message, request.messages) or summarize_message(request.messages):
        return ()
    wanted: list[tuple[str, dict[str, Any]]] = [
        ("read_zk_document", {"relative_path": path}) for path in _unread_documents(request.messages, asked)
    ]
    if not (message.about_document and (wanted or _read_excerpts(request.messages[max(asked - 1, 0) : asked]))):
        source = message.source or (message.earlier_quotes[0].source if message.wants_more and message.earlier_quotes else None)
        if excerpt := next((e for e in _read_excerpts(request.messages[:asked]) if e.source == source), None):
            lines = {"start_line": excerpt.start_line, "end_line": excerpt.start_line + BEGINNING}
            wanted.append(("read_zk_document", {"relative_path": excerpt.path, **lines}))
        queries = (query for question in message.questions for query in (question.query_without_topic, question.query))
        wanted += [("find_excerpts", {"query": query}) for query in (truncate(_DASH.sub("", q), MAX_QUERY) for q in queries) if query]
    available = [(name, arguments) for name, arguments in wanted if name in tools]
    return tuple(ToolCall(id=f"offline-{asked}-{i}", name=name, arguments=args) for i, (name, args) in enumerate(available, 1))


def _second_calls(message: AnalyzedMessage, found: Sequence[QuoteSource], asked: int) -> tuple[ToolCall, ...]:
    """Read the beginning of a note whose title is the question; or search for other forms of words that were not found."""
    if len(message.questions) != 1 or message.about_document:
        return ()
    question = message.questions[0]
    begun = {excerpt.path for excerpt in found if excerpt.is_beginning}
    similarities = [(ranking.heading_similarity(question, e.title), e) for e in found if e.path not in begun]
    similarity, excerpt = max(similarities, key=lambda pair: pair[0], default=(0.0, None))
    if excerpt and similarity >= MIN_TITLE_SIMILARITY:
        arguments: dict[str, Any] = {"relative_path": excerpt.path, "start_line": 1, "end_line": BEGINNING}
        return (ToolCall(id=f"offline-{asked}-again", name="read_zk_document", arguments=arguments),)
    if rank_passages(question, found)[1] >= MIN_COVERAGE or not (forms := word_forms(question, missing_words(question, found))):
        return ()
    query = truncate(f"{_DASH.sub('', question.query)} {forms}", 2 * MAX_QUERY)
    return (ToolCall(id=f"offline-{asked}-again", name="find_excerpts", arguments={"query": query}),)


def _unread_documents(messages: Sequence[PromptMessage], asked: int) -> list[str]:
    """The documents that the message names and whose text is not in the prompt."""
    before = messages[asked - 1] if asked > 0 else None
    if before is None or before.kind != "documents":
        return []
    given = {excerpt.path for excerpt in _read_excerpts([before])}
    return [id_ for id_ in before.source_ids[1 if given else 0 :] if id_ not in given][:MAX_DOCUMENTS]


def _retell_conversation(message: AnalyzedMessage, messages: Sequence[PromptMessage]) -> str:
    """The quotes so far, oldest first, if their excerpts are still there to cite."""
    if not message.about_conversation:
        return ""
    sources = {excerpt.source for excerpt in _read_excerpts(messages)}
    quotes = dict.fromkeys(quote for quote in reversed(message.earlier_quotes) if quote.source in sources)
    retold = [RankedQuote(quote.text, (quote.source,), 1.0, (0, i)) for i, quote in enumerate(quotes)]
    return f"So far I quoted:\n\n{_format_quotes(retold[:MAX_DIGEST])}" if retold else ""


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
    return "".join(f"- {quote.text}\n" for quote in ranking.summarize_excerpts([QuoteSource(0, "", "", None, text)], limit))


def quote_answer(message: AnalyzedMessage, results: Sequence[PromptMessage], named: Sequence[PromptMessage] = ()) -> str:
    """The answer in quotations, or an honest "your notes don't say" with the nearest notes.

    `named`: the results with documents that the user named. If nothing in them answers, their beginning is the best there is.
    """
    excerpts = _read_excerpts(results)
    if not excerpts:
        return NO_MATCH
    documents: dict[str, list[QuoteSource]] = {}
    for excerpt in _read_excerpts(named) if not message.is_follow_up else ():
        documents.setdefault(excerpt.path, []).append(excerpt)
    if parts := _answer_parts(message, excerpts, documents):
        return "\n".join(f"{title}\n\n{_format_quotes(quotes)}" if quotes else f"{title}\n" for title, quotes in parts)
    nearest = dict(reversed([*{e.title: e.source for e in reversed(excerpts)}.items()]))
    names = [f"[[{title}]] [{source}]" for title, source in nearest.items()]
    return f"{NO_ANSWER}{' more' if message.wants_more else ''}. Nearest: {', '.join(names[:3])}\n"


def _answer_parts(
    message: AnalyzedMessage, excerpts: Sequence[QuoteSource], documents: Mapping[str, Sequence[QuoteSource]]
) -> list[tuple[str, list[RankedQuote]]]:
    """Titles with quotes: by document, by question, or all in one."""
    preference = _preference(message)
    if 1 < len(documents) <= MAX_DOCUMENTS or (documents and message.about_document):
        limit = MAX_SUMMARY if len(documents) == 1 else MAX_PER_PART
        by_document = [(own[0].title, _quote_document(message, own, preference, limit)) for own in documents.values()]
        return [(f"[[{title}]]:", quotes) for title, quotes in by_document if quotes]
    if len(message.questions) > 1:
        parts = []
        for question in message.questions:
            quotes = _quote_question(question, excerpts, preference, MAX_PER_PART)
            title = truncate(_MARKS.sub("", question.text), MAX_QUERY)
            parts.append((title if quotes else f"{title} {NO_ANSWER}.", quotes))
        return parts if any(quotes for _, quotes in parts) else []
    limit = MAX_SUMMARY if message.wants_summary else MAX_QUOTES
    named = [excerpt for own in documents.values() for excerpt in own]
    source = next((e for e in excerpts if e.source == message.source), None)
    quotes = []
    if source and not message.has_subject:  # "explain [2]": that excerpt, and what follows it in its note
        following = [e for e in excerpts if e.path == source.path and e.start_line >= source.start_line]
        quotes = ranking.summarize_excerpts(following[:3], limit, preference)
    quotes = quotes or _quote_question(message.questions[0], named, preference, limit, MIN_COVERAGE_IN_NAMED)
    quotes = quotes or _quote_question(message.questions[0], excerpts, preference, limit)
    if quotes:
        return [("From your notes:", quotes)]
    beginning = ranking.first_statements(named)
    return [(f"[[{named[0].title}]] begins:", beginning)] if beginning else []


def _quote_document(message: AnalyzedMessage, own: Sequence[QuoteSource], preference: Preference, limit: int) -> list[RankedQuote]:
    if message.about_document:
        return ranking.summarize_excerpts(own, limit, preference)
    return _quote_question(message.questions[0], own, preference, limit, MIN_COVERAGE_IN_NAMED) or ranking.first_statements(own, 1)


def _quote_question(
    question: AnalyzedQuestion, excerpts: Sequence[QuoteSource], preference: Preference, limit: int, min_coverage: float = MIN_COVERAGE
) -> list[RankedQuote]:
    quotes, coverage = rank_passages(question, excerpts, preference)
    return ranking.select_quotes(quotes, limit) if coverage >= min_coverage else []


def _preference(message: AnalyzedMessage) -> Preference:
    """Passages quoted before come last, or for "more" not at all; named sections come first."""

    def normalized(text: str) -> str:
        return " ".join(fold(text).strip("` …").split())

    quoted = {normalized(quote.text) for quote in message.earlier_quotes} if message.is_follow_up else set()

    def preference(excerpt: QuoteSource, passage: QuotablePassage) -> float:
        weight = 1.0
        if quoted and normalized(passage.text) in quoted:
            weight *= 0.0 if message.wants_more or message.source is not None else QUOTED_BEFORE
        if message.sections and message.sections & {" ".join(stem(t) for t in terms(heading)) for heading in passage.headings}:
            weight *= IN_SECTION
        return weight * (IN_SECTION if excerpt.source == message.source else 1.0)

    return preference


def _format_quotes(quotes: Sequence[RankedQuote]) -> str:
    return "\n\n".join(_in_quotation_marks(q) + " " + "".join(f"[{s}]" for s in q.sources) for q in quotes) + "\n"


def _in_quotation_marks(quote: RankedQuote) -> str:
    """In marks that the text itself does not contain, unless in pairs; code stays code."""
    text = f"`{quote.text}`" if quote.code and "`" not in quote.text else quote.text
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
                line = _LINE_NUMBER.match(str(item.get("lines", "")))
                place = (str(item.get("path", title)), title, str(heading) if heading else None)
                found.setdefault(item["source"], QuoteSource(item["source"], *place, item["text"], rank, int(line[0]) if line else 1))
    return list(found.values())
