"""What the offline provider does with a conversation: which tools it asks for, and the answer it makes of what they find.

Loaded when the first message is there (see providers/offline.py): it takes a tenth of the time until the prompt is visible.
"""

import json
import re
from collections.abc import Generator, Mapping, Sequence
from dataclasses import replace
from typing import Any

from zkchat_cli.llm.base import Delta, Request, StreamFinished, TextPart, ToolCallsPart
from zkchat_cli.llm.offline.question_analysis import AnalyzedQuestion, AskedParts, asks_for_summary, other_forms, understand
from zkchat_cli.llm.offline.quotable import QuotablePassage
from zkchat_cli.llm.offline.quote_ranking import (
    MOST,
    Favour,
    QuoteSource,
    RankedQuote,
    alikeness,
    chosen,
    extracted,
    missing,
    opening,
    ranked,
)
from zkchat_cli.markdown.blocks import sentences
from zkchat_cli.models import PromptMessage, ToolCall
from zkchat_cli.text.truncate import truncate
from zkchat_cli.text.words import fold, stem, terms

_DASH = re.compile(r"(?<!\S)-+(?=\w)")
"""Who asks about `find -name` excludes nothing."""
_MARKS = re.compile(r"[“”„«»「」『』\"`\[\]<>]")
"""What would be taken for a quotation or a citation where a question is repeated."""
_FIRST_LINE = re.compile(r"[0-9]{1,9}")
_ROUND = re.compile(r"\n\n\(Round [0-9]+ of [0-9]+: [^\n]*\)\Z")
_PAIRED = re.compile("[^“”]*(?:“[^“”]*”[^“”]*)*")
MAX_DOCUMENTS_READ = 3
MAX_QUERY = 400
MOST_IN_A_SUMMARY = 6
MOST_OF_A_PART = 2
"""Quotations for each of several questions, or of each of several documents."""
ENOUGH = 0.52
"""The least share of the question's words, weighted by rarity, that a piece with what is around it must hold to be an answer."""
ENOUGH_IN_NAMED = 0.3
"""The same within a document that the user named: it is meant to be about the question."""
TITLED = 0.7
"""How far a title must be the question for the note to be read."""
BEGINNING = 60
"""Lines of it that are read."""
IN_SECTION = 1.6
LEAST_SENTENCES, MOST_IN_A_DIGEST = 4, 12
SAID_BEFORE = 0.3
"""What a quotation of an earlier answer is worth in an answer to a question that follows it up."""
FINISH = "finish"
"""The tool that ends an agent run. Whoever has no plan is done with a goal after one round, and says so."""
NOT_SAID = "Your notes don't say"
NOTHING = f"{NOT_SAID}: nothing in them shares a word with your question.\n"


def reply(request: Request) -> Generator[Delta, None, None]:
    """The deltas of one model call: tool calls, or an answer word by word, as a model would give it."""
    asked = max((i for i, m in enumerate(request.messages) if m.role == "user" and m.kind == "conversation"), default=-1)
    in_run = any(tool.name == FINISH for tool in request.tools)
    if in_run and asked >= 0:
        request = _without_round(request, asked)
    understood = understand(request.messages, asked)
    now = request.messages[asked + 1 :]
    given = [m for m in request.messages[max(asked - 1, 0) : max(asked, 0)] if m.kind == "documents"]
    found = [m for m in now if m.role == "tool"]
    rounds = sum(1 for m in now if m.tool_calls)
    calls = _calls(request, understood, asked) if rounds == 0 <= asked and not found else ()
    if rounds == 1 and request.tools:
        calls = _once_more(understood, _excerpts([*given, *found]), asked)
    if calls:
        yield ToolCallsPart(calls)
        yield StreamFinished("tool_calls")
        return
    read = {c.id for m in now for c in m.tool_calls if c.name == "read_zk_document" and _introduced(request.messages, asked)}
    named = [*given, *(m for m in found if m.tool_call_id in read)]
    text = "" if found or _excerpts(given) else (_retold(understood, request.messages) or digest(request.messages))
    answer = remembered(understood, request.messages[:asked]) + (text or answer_from(understood, [*given, *found], named))
    if in_run:
        unmet = "the notes do not say" if answer.startswith(NOT_SAID) else ""
        yield ToolCallsPart((ToolCall(id=f"offline-{asked}-finish", name=FINISH, arguments={"answer": answer, "unmet": unmet}),))
        yield StreamFinished("tool_calls")
        return
    for line in answer.splitlines(keepends=True):
        words = line.split(" ")
        for i, word in enumerate(words):
            yield TextPart(word if i == len(words) - 1 else word + " ")
    yield StreamFinished("stop")


def _without_round(request: Request, asked: int) -> Request:
    """The request with the bare goal as its question: in which round it stands says nothing of what it is about."""
    goal = request.messages[asked]
    bare = goal.model_copy(update={"content": _ROUND.sub("", goal.content)})
    return replace(request, messages=(*request.messages[:asked], bare, *request.messages[asked + 1 :]))


def remembered(asked: AskedParts, before: Sequence[PromptMessage]) -> str:
    """The facts of smart memory that answer the question, as they were kept; those of an earlier message are not there any more."""
    told = [m.content for m in before if m.kind == "memory" and m.content.startswith("<smart-memory>")]
    facts = [line[2:] for content in told for line in content.split("\n") if line.startswith("- ") and not line.startswith("- [[")]
    answering = (fact for fact in facts if any(ranked(q, [QuoteSource(0, "", "", None, fact)])[1] >= ENOUGH for q in asked.questions))
    return "".join(f"From memory: {_MARKS.sub('', fact)}\n\n" for fact in list(answering)[:MOST_OF_A_PART])


def _calls(request: Request, understood: AskedParts, asked: int) -> tuple[ToolCall, ...]:
    """Nothing to look up for a text that is to be summarised as it stands in the message."""
    offered = {tool.name for tool in request.tools}
    given = _excerpts(request.messages[max(asked - 1, 0) : asked]) if understood.document else []
    if not offered or _retold(understood, request.messages) or digest(request.messages):
        return ()
    wanted: list[tuple[str, dict[str, Any]]] = [
        ("read_zk_document", {"relative_path": path}) for path in _introduced(request.messages, asked)
    ]
    if understood.document and (wanted or given):
        return _numbered(wanted, offered, asked)
    source = understood.pointed or (understood.said[0].source if understood.more and understood.said else None)
    earlier = _excerpts(request.messages[:asked])
    if pointed := next((e for e in earlier if e.source == source), None):
        lines = {"start_line": pointed.start_line, "end_line": pointed.start_line + BEGINNING}
        wanted.append(("read_zk_document", {"relative_path": pointed.path, **lines}))
    asks = (query for question in understood.questions for query in (question.alone, question.query))
    queries = (truncate(_DASH.sub("", query), MAX_QUERY) for query in asks)
    wanted += [("find_excerpts", {"query": query}) for query in queries if query]
    return _numbered(wanted, offered, asked)


def _numbered(wanted: Sequence[tuple[str, dict[str, Any]]], offered: set[str], asked: int) -> tuple[ToolCall, ...]:
    numbered = enumerate(((name, arguments) for name, arguments in wanted if name in offered), 1)
    return tuple(ToolCall(id=f"offline-{asked}-{i}", name=name, arguments=arguments) for i, (name, arguments) in numbered)


def _once_more(understood: AskedParts, found: Sequence[QuoteSource], asked: int) -> tuple[ToolCall, ...]:
    """A note whose title is the question is read from its beginning, if that was not found; what was not found is looked for in other
    forms of its words, which the search, being exact, does not know."""
    if len(understood.questions) != 1 or understood.document:
        return ()
    question = understood.questions[0]
    begun = {e.path for e in found if e.first}
    titled = max((e for e in found if e.path not in begun), key=lambda e: alikeness(question, e.title), default=None)
    if titled and alikeness(question, titled.title) >= TITLED:
        arguments: dict[str, Any] = {"relative_path": titled.path, "start_line": 1, "end_line": BEGINNING}
        return (ToolCall(id=f"offline-{asked}-again", name="read_zk_document", arguments=arguments),)
    if ranked(question, found)[1] >= ENOUGH or not (forms := other_forms(question, missing(question, found))):
        return ()
    query = truncate(f"{_DASH.sub('', question.query)} {forms}", 2 * MAX_QUERY)
    return (ToolCall(id=f"offline-{asked}-again", name="find_excerpts", arguments={"query": query}),)


def _introduced(messages: Sequence[PromptMessage], asked: int) -> list[str]:
    """The documents that the message names and whose text is not there yet."""
    before = messages[asked - 1] if asked > 0 else None
    if before is None or before.kind != "documents":
        return []
    given = {e.path for e in _excerpts([before])}
    return [id_ for id_ in before.source_ids[1 if given else 0 :] if id_ not in given][:MAX_DOCUMENTS_READ]


def _retold(understood: AskedParts, messages: Sequence[PromptMessage]) -> str:
    """What was quoted so far, from the first answer on, as far as the excerpts are still there to be cited."""
    there = {e.source for e in _excerpts(messages)}
    said = [s for s in reversed(understood.said) if s.source in there] if understood.conversation else []
    quotes = [RankedQuote(s.text, (s.source,), "", 1.0, (0, i)) for i, s in enumerate(dict.fromkeys(said))]
    return f"So far I quoted:\n\n{_quoted(quotes[:MOST_IN_A_DIGEST])}" if quotes else ""


def digest(messages: Sequence[PromptMessage]) -> str:
    """The sentences that say most of a text that a message brings along and asks to summarise; empty for any other message."""
    said = [m.content for m in messages if m.role == "user" and m.kind == "conversation"]
    text = said[-1] if said else ""
    lines = [line for line in text.split("\n") if line.strip()]
    asks = next((line for line in (*lines[:1], *lines[-1:]) if asks_for_summary(line)), "")
    system = " ".join(m.content for m in messages if m.role == "system")
    if not asks and not asks_for_summary(system):
        return ""
    brought = text.replace(asks, "", 1) if asks and len(lines) > 1 else text
    if len(sentences(brought)) < LEAST_SENTENCES:
        return ""
    most = max(3, min(MOST_IN_A_DIGEST, len(sentences(brought)) // 4))
    return "".join(f"- {quote.text}\n" for quote in extracted([QuoteSource(0, "", "", None, brought)], most))


def answer_from(asked: AskedParts, results: Sequence[PromptMessage], named: Sequence[PromptMessage] = ()) -> str:
    """The answer in quotations, or an honest "your notes don't say" with the nearest notes.

    `named` are the results that hold documents the user named: when nothing in them answers, how they begin is the best there is.
    """
    excerpts = _excerpts(results)
    if not excerpts:
        return NOTHING
    favour = _favour(asked)
    documents: dict[str, list[QuoteSource]] = {}
    if not asked.follows:
        for excerpt in _excerpts(named):
            documents.setdefault(excerpt.path, []).append(excerpt)
    parts: list[tuple[str, list[RankedQuote]]] = []
    if 1 < len(documents) <= MAX_DOCUMENTS_READ or (documents and asked.document):
        for own in documents.values():
            quotes = _of_document(asked, own, favour, MOST_IN_A_SUMMARY if len(documents) == 1 else MOST_OF_A_PART)
            parts += [(f"[[{own[0].title}]]:", quotes)] if quotes else []
    elif len(asked.questions) > 1:
        for question in asked.questions:
            quotes = _answering(question, excerpts, favour, MOST_OF_A_PART)
            asks = truncate(_MARKS.sub("", question.text), MAX_QUERY)
            parts.append((asks if quotes else f"{asks} {NOT_SAID}.", quotes))
        parts = parts if any(quotes for _, quotes in parts) else []
    else:
        most = MOST_IN_A_SUMMARY if asked.summary else MOST
        within = [e for own in documents.values() for e in own]
        quotes = extracted(_from(asked.pointed, excerpts), most, favour) if asked.pointed is not None and not asked.telling else []
        quotes = quotes or _answering(asked.questions[0], within, favour, most, ENOUGH_IN_NAMED)
        quotes = quotes or _answering(asked.questions[0], excerpts, favour, most)
        parts = [("From your notes:", quotes)] if quotes else []
        if not quotes and (begin := opening(within)):
            parts = [(f"[[{within[0].title}]] begins:", begin)]
    if parts:
        return "\n".join(f"{title}\n\n{_quoted(quotes)}" if quotes else f"{title}\n" for title, quotes in parts)
    nearest = {e.title: e.source for e in reversed(excerpts)}
    names = [f"[[{title}]] [{source}]" for title, source in reversed(nearest.items())]
    return f"{NOT_SAID}{' more' if asked.more else ''}. Nearest: {', '.join(names[:3])}\n"


def _from(source: int | None, excerpts: Sequence[QuoteSource]) -> list[QuoteSource]:
    """The excerpt of that number and what follows it in its note, as far as it was found."""
    pointed = next((e for e in excerpts if e.source == source), None)
    return [e for e in excerpts if pointed and e.path == pointed.path and e.start_line >= pointed.start_line][:3]


def _of_document(asked: AskedParts, own: Sequence[QuoteSource], favour: Favour, most: int) -> list[RankedQuote]:
    """What a document says to the question; for a question about the document as such, what it says at all."""
    if asked.document:
        return extracted(own, most, favour)
    return _answering(asked.questions[0], own, favour, most, ENOUGH_IN_NAMED) or opening(own, 1)


def _answering(
    question: AnalyzedQuestion, excerpts: Sequence[QuoteSource], favour: Favour, most: int, enough: float | None = None
) -> list[RankedQuote]:
    quotes, coverage = ranked(question, excerpts, favour)
    return chosen(quotes, most) if coverage >= (ENOUGH if enough is None else enough) else []


def _favour(asked: AskedParts) -> Favour:
    """How the conversation weighs what is found: what was quoted before comes last, or with "more" never; named sections come first."""
    said = {" ".join(fold(s.text).strip("` …").split()) for s in asked.said} if asked.follows else set()

    def favour(excerpt: QuoteSource, piece: QuotablePassage) -> float:
        weight = 1.0
        if said and " ".join(fold(piece.text).strip("` …").split()) in said:
            weight *= 0.0 if asked.more or asked.pointed is not None else SAID_BEFORE
        if asked.sections and asked.sections & {" ".join(stem(t) for t in terms(h)) for h in piece.headings}:
            weight *= IN_SECTION
        return weight * (IN_SECTION if excerpt.source == asked.pointed else 1.0)

    return favour


def _quoted(quotes: Sequence[RankedQuote]) -> str:
    return "\n\n".join(_marked(q) + " " + "".join(f"[{s}]" for s in q.sources) for q in quotes) + "\n"


def _marked(quote: RankedQuote) -> str:
    """The words in quotation marks that they do not hold themselves, unless in pairs; a line of code stays one."""
    text = f"`{quote.text}`" if quote.code and "`" not in quote.text else quote.text
    if _PAIRED.fullmatch(text):
        return f"“{text}”"
    marks = next((m for m in ("«»", "「」") if not set(m) & set(text)), "“”")
    return marks[0] + text + marks[1]


def _excerpts(results: Sequence[PromptMessage]) -> list[QuoteSource]:
    """The numbered excerpts of tool results and of documents that a message names, each source once; a result that is not our JSON (an
    error text) has none."""
    found: dict[int, QuoteSource] = {}
    for result in results:
        if result.role != "tool" and result.kind != "documents":
            continue
        content = result.content.rpartition("\n")[2] if result.kind == "documents" else result.content
        try:
            document = json.loads(content)
        except (ValueError, RecursionError):
            continue
        excerpts = document.get("excerpts") if isinstance(document, dict) else None
        for rank, item in enumerate(excerpts if isinstance(excerpts, list) else []):
            if isinstance(item, dict) and isinstance(item.get("source"), int) and isinstance(item.get("text"), str):
                found.setdefault(item["source"], _excerpt(item, rank))
    return list(found.values())


def _excerpt(item: Mapping[str, Any], rank: int) -> QuoteSource:
    title, heading = str(item.get("title", "")), item.get("heading")
    line = _FIRST_LINE.match(str(item.get("lines", "")))
    return QuoteSource(
        source=item["source"],
        path=str(item.get("path", title)),
        title=title,
        heading=str(heading) if heading else None,
        text=item["text"],
        rank=rank,
        start_line=int(line[0]) if line else 1,
    )
