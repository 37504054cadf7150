"""One call of the offline provider: the tools it calls, and the answer it makes of their results.

Loaded with the first message (see providers/offline.py): it would take a tenth of the time until the prompt is visible.
"""

import json
import re
from collections.abc import Generator, Sequence
from typing import Any, NamedTuple

from zkchat_cli.llm.base import Delta, Request, Similarities, StreamFinished, TextPart, ToolCallsPart
from zkchat_cli.llm.offline.question import AnalyzedQuestion, analyze_question, asks_for_summary, user_messages
from zkchat_cli.llm.offline.ranking import (
    MAX_QUOTES,
    MIN_SHARE,
    QuoteSource,
    RankedQuote,
    add_code,
    excerpts_about,
    rank_passages,
    select_quotes,
    select_sections,
    summarize_excerpts,
)
from zkchat_cli.llm.offline.small_talk import QUOTE_MARKS, reply_to_small_talk
from zkchat_cli.markdown.blocks import split_sentences
from zkchat_cli.models import AnswerLevel, PromptMessage, ToolCall
from zkchat_cli.references.chunk_format import NO_ROOM, parse_tool_result

MAX_DOCUMENTS = 3
EXCERPTS = 10
"""Results of a search: with ten instead of six, a right note is among them for 80 instead of 77 of 100 questions."""
MAX_SUMMARY, MAX_PER_DOCUMENT, MAX_FACTS = 6, 2, 2
"""Quotes in a summary of a document, and in one of several documents; remembered facts."""
MIN_SENTENCES, MAX_DIGEST = 4, 12
"""Sentences of a text worth summarizing, and of its summary."""
NOTHING_FOUND = "Nothing in your notes is about this.\n"
NOTHING_IN_PERIOD = "None of your notes is from that time.\n"
NO_SENTENCE = "I found no sentence that answers this. Most likely: "
NO_PASSAGES = (
    "There was no room in the context window for passages of your notes. Raise context.max_tokens, or ask in a new conversation.\n"
)
_PAIRED_MARKS = re.compile("[^“”]*(?:“[^“”]*”[^“”]*)*")


class Answer(NamedTuple):
    text: str
    level: AnswerLevel | None = None


def answer_request(request: Request, similarities: Similarities | None = None) -> Generator[Delta, None, None]:
    """The deltas of one model call: tool calls, or an answer word by word, as from a model.

    A request for a summary of the message itself and small talk are answered without notes.
    """
    messages = request.messages
    question_at = max((i for i, m in enumerate(messages) if m.role == "user" and m.kind == "conversation"), default=-1)
    before, turn = messages[: max(question_at, 0)], messages[question_at + 1 :]
    documents = [m for m in messages[max(question_at - 1, 0) : max(question_at, 0)] if m.kind == "documents"]
    text: str | None = summarize_message(messages)
    if not text and question_at >= 0 and not documents:
        answers = [m.content for m in before if m.role == "assistant" and not m.tool_calls and m.content]
        text = reply_to_small_talk(messages[question_at].content, user_messages(before), answers)
    answer = Answer(text or "")
    if not text:
        question = analyze_question(messages, question_at)
        tools = {tool.name for tool in request.tools}
        wanted = [] if turn else _first_calls(question, documents)
        calls = [ToolCall(id=f"offline-{question_at}-{i}", name=name, arguments=a) for i, (name, a) in enumerate(wanted) if name in tools]
        if calls:
            yield ToolCallsPart(tuple(calls))
            yield StreamFinished("tool_calls")
            return
        answer = _answer_from_notes(question, before, documents, turn, similarities)
    yield from (TextPart(word) for word in re.findall(r"[^ \n]*[ \n]?", answer.text) if word)
    yield StreamFinished("stop", level=answer.level)


def _answer_from_notes(
    question: AnalyzedQuestion,
    before: Sequence[PromptMessage],
    documents: Sequence[PromptMessage],
    turn: Sequence[PromptMessage],
    similarities: Similarities | None,
) -> Answer:
    results = [m for m in turn if m.role == "tool"]
    excerpts = _read_excerpts([*documents, *results])
    facts = remembered_facts(question, before)
    if not excerpts and any(NO_ROOM in m.content for m in results):
        return Answer(facts + NO_PASSAGES)
    if results and not excerpts and all(errors := [_tool_error(m) for m in results]):
        return Answer(f"{facts}Your notes could not be searched: {errors[-1]}\n", None if facts else "nothing")
    reads = {call.id for m in turn for call in m.tool_calls if call.name == "read_zk_document"}
    paths = {excerpt.path for excerpt in _read_excerpts([*documents, *(m for m in results if m.tool_call_id in reads)])}
    named = [excerpt for excerpt in excerpts if excerpt.path in paths]
    others = [excerpt for excerpt in excerpts if excerpt.path not in paths]
    others = excerpts_about(question.names, others) if named else others  # only they can answer in place of the named documents
    if question.alone and not excerpts_about(question.alone.subject, excerpts, any):  # "what about penguins?" has a subject of its own
        question = question.alone
    earlier = [m.content for m in before if m.role == "assistant"] if question.is_follow_up else []
    answer = quote_answer(question, others, named, "\n".join(earlier), similarities)
    return Answer(facts + answer.text, "answer" if facts else answer.level)


def _tool_error(result: PromptMessage) -> str | None:
    """Why a call has failed; None if it has not."""
    try:
        document = json.loads(result.content)
    except (ValueError, RecursionError):
        return None
    return str(document["error"]) if isinstance(document, dict) and "error" in document else None


def _first_calls(question: AnalyzedQuestion, documents: Sequence[PromptMessage]) -> list[tuple[str, dict[str, Any]]]:
    """The calls that read the named documents, if the prompt does not have their text, and that search, unless the question is about a
    document as a whole."""
    paths = {excerpt.path for excerpt in _read_excerpts(documents)}
    sources = [id_ for m in documents for id_ in m.source_ids[1 if paths else 0 :]]  # the first is the message's own, if there is a text
    reads = [("read_zk_document", {"relative_path": path}) for path in sources if path not in paths][:MAX_DOCUMENTS]
    if question.about_document and (reads or paths):
        return reads
    return [*reads, *(("find_excerpts", {"query": query, "limit": EXCERPTS}) for query in question.searches)]


def remembered_facts(question: AnalyzedQuestion, before: Sequence[PromptMessage]) -> str:
    """The facts of smart memory that answer the question, word for word."""
    memories = [m.content for m in before if m.kind == "memory" and m.content.startswith("<smart-memory>")]
    facts = [line[2:] for content in memories for line in content.split("\n") if line.startswith("- ") and not line.startswith("- [[")]
    relevant = [fact for fact in facts if rank_passages(question, [QuoteSource(0, "", "", None, fact)]).is_answer]
    return "".join(f"From memory: {QUOTE_MARKS.sub('', fact)}\n\n" for fact in relevant[:MAX_FACTS])


def summarize_message(messages: Sequence[PromptMessage]) -> str:
    """The most important sentences of the text in a message that asks for a summary of it; empty for any other message."""
    users = [m.content for m in messages if m.role == "user" and m.kind == "conversation"]
    content = users[-1] if users else ""
    lines = [line for line in content.split("\n") if line.strip()]
    request = next((line for line in (*lines[:1], *lines[-1:]) if asks_for_summary(line)), "")
    if not request:
        return ""
    text = content.replace(request, "", 1) if len(lines) > 1 else content
    sentences = len(split_sentences(text))
    if sentences < MIN_SENTENCES:
        return ""
    limit = max(3, min(MAX_DIGEST, sentences // 4))
    return "".join(f"- {quote.text}\n" for quote in summarize_excerpts([QuoteSource(0, "", "", None, text)], limit))


def quote_answer(
    question: AnalyzedQuestion,
    excerpts: Sequence[QuoteSource],
    named: Sequence[QuoteSource] = (),
    earlier_answers: str = "",
    similarities: Similarities | None = None,
) -> Answer:
    """The answer in quotations; if none is sure enough, the likeliest sections with their openings.

    `named`: the excerpts of documents that the user named; what answers in them comes first. What `earlier_answers` quote is quoted again
    only if there is nothing else.
    """
    whole = named if question.about_document else excerpts if question.about_period else ()
    if whole:
        paths = list(dict.fromkeys(excerpt.path for excerpt in whole))[:MAX_QUOTES]
        limit = MAX_SUMMARY if len(paths) == 1 else MAX_PER_DOCUMENT
        documents = [[excerpt for excerpt in whole if excerpt.path == path] for path in paths]
        summaries = [(own[0].title, summarize_excerpts(own, limit)) for own in documents]
        if parts := [f"[[{title}]]:\n\n{_format_quotes(quotes)}" for title, quotes in summaries if quotes]:
            return Answer("\n".join(parts), "answer")
    limit = MAX_SUMMARY if question.wants_summary else MAX_QUOTES
    for searched in (named, excerpts):
        ranked = rank_passages(question, searched, similarities)
        if ranked.is_answer:
            least = MIN_SHARE * ranked.on_topic[0].value
            new = [quote for quote in ranked.on_topic if quote.text not in earlier_answers and quote.value >= least]
            quotes = add_code(select_quotes(new or ranked.on_topic, limit), ranked.all)
            return Answer(f"From your notes:\n\n{_format_quotes(quotes)}", "answer")
    if named:
        ranked = rank_passages(question, named, similarities)
    elif not ranked.matches:
        return Answer(NOTHING_IN_PERIOD if question.about_period else NOTHING_FOUND, "nothing")
    sections = select_sections(ranked)
    if not sections:
        return Answer(NOTHING_FOUND, "nothing")
    shown = [f"{_section_name(quotes[0])}\n\n{_format_quotes(quotes)}" for quotes in sections]
    return Answer(NO_SENTENCE + "\nOr: ".join(shown), "most_likely")


def _section_name(quote: RankedQuote) -> str:
    return " › ".join(" ".join(QUOTE_MARKS.sub("", name).split()) for name in quote.section)


def _format_quotes(quotes: Sequence[RankedQuote]) -> str:
    mark = "- " if len(quotes) > 1 else ""
    return "".join(f"{mark}{_in_quotation_marks(q)} {''.join(f'[{s}]' for s in q.sources)}\n" for q in quotes)


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
        parsed = parse_tool_result(result.content) if result.role == "tool" or result.kind == "documents" else None
        for rank, item in enumerate(parsed[1]["excerpts"] if parsed else ()):
            title, heading = str(item.get("title", "")), item.get("heading")
            place = (str(item.get("path", title)), title, str(heading) if heading else None)
            if item["source"] not in found or found[item["source"]].rank > rank:
                found[item["source"]] = QuoteSource(item["source"], *place, item["text"], rank)
    return sorted(found.values(), key=lambda excerpt: excerpt.rank)
