"""The answer to a question in quotations: the searches for it, and the sentences that answer."""

import json
import re
from collections import Counter
from collections.abc import Sequence, Set
from contextlib import suppress
from typing import Any, NamedTuple

from zkchat_cli.llm.offline.asked_parts import is_year
from zkchat_cli.llm.offline.asked_turn import READ_TOOL, SEARCH_TOOL, AskedTurn, read_excerpts
from zkchat_cli.llm.offline.confidence import MOST_NAMED_WORDS
from zkchat_cli.llm.offline.named_words import as_written, is_name, is_noun, phrases_of
from zkchat_cli.llm.offline.nested_quotes import with_nested
from zkchat_cli.llm.offline.question import AnalyzedQuestion
from zkchat_cli.llm.offline.quotes import (
    QuoteSource,
    RankedQuote,
    cjk_characters,
    have_any_word,
)
from zkchat_cli.llm.offline.ranking import RankedPassages, rank_passages
from zkchat_cli.llm.offline.selection import (
    MAX_QUOTES,
    MIN_SHARE,
    add_code,
    nearest_quotes,
    select_quotes,
)
from zkchat_cli.llm.offline.small_talk import QUOTE_MARKS
from zkchat_cli.llm.offline.summary import summarize_excerpts
from zkchat_cli.models.notes import Similarities
from zkchat_cli.models.prompts import PromptMessage
from zkchat_cli.models.reports import AnswerLevel
from zkchat_cli.references.chunk_budget import NO_ROOM
from zkchat_cli.text.answer_phrases import (
    AnswerPhrases,
    QuotationMarks,
    language_of_question,
    phrases_for,
)
from zkchat_cli.text.word_lists import ENGLISH
from zkchat_cli.text.words import detect_language, terms

MAX_DOCUMENTS = 3
# Results of a search: with ten instead of six, a right note is among them for 80 instead of 77 of
# 100 questions
EXCERPTS = 10
# Quotes in a summary of one document
MAX_SUMMARY = 6
# Quotes in a summary from each of several documents
MAX_PER_DOCUMENT = 2
# Remembered facts in an answer
MAX_FACTS = 2
_FACTS_BEGIN = "<smart-memory>"
_WORD = re.compile(r"[^ \n]*[ \n]?")
_PAIRED_MARKS = re.compile("[^“”]*(?:“[^“”]*”[^“”]*)*")


MARKS = QuotationMarks("“", "”")
OTHER_MARKS = (QuotationMarks("«", "»"), QuotationMarks("「", "」"))


class OfflineAnswer(NamedTuple):
    """A text, and how sure it is; None if that cannot be said."""

    text: str
    level: AnswerLevel | None


class WantedCall(NamedTuple):
    """A tool to call, and its arguments."""

    tool: str
    arguments: dict[str, Any]


def first_calls(question: AnalyzedQuestion, documents: Sequence[PromptMessage]) -> list[WantedCall]:
    """The calls that read the named documents, if the prompt does not have their text, and that
    search, unless the question is about a document as a whole.
    """
    paths = {excerpt.path for excerpt in read_excerpts(documents)}
    calls = [
        WantedCall(READ_TOOL, {"relative_path": path})
        for path in _unread_paths(documents, paths)[:MAX_DOCUMENTS]
    ]
    if question.about_document and (calls or paths):
        return calls
    searches = [{"query": query, "limit": EXCERPTS} for query in question.searches]
    return calls + [WantedCall(SEARCH_TOOL, arguments) for arguments in searches]


def _unread_paths(documents: Sequence[PromptMessage], read: Set[str]) -> list[str]:
    """The paths of named documents that are not among those that were read."""
    # The first document belongs to the message itself, if there is a text
    first = 1 if read else 0
    paths = [path for message in documents for path in message.source_ids[first:]]
    return [path for path in paths if path not in read]


def answer_from_notes(
    question: AnalyzedQuestion, turn: AskedTurn, similarities: Similarities | None
) -> OfflineAnswer:
    """The answer from remembered facts and the excerpts that the tools have found."""
    excerpts = read_excerpts([*turn.documents, *turn.results])
    facts = relevant_facts(question, turn.before)
    if not excerpts:
        phrases = phrases_for(question.asked, ())
        problem = _answer_without_excerpts(turn, facts, phrases)
        if problem is not None:
            return problem
    paths = turn.named_paths
    named = [excerpt for excerpt in excerpts if excerpt.path in paths]
    if question.alone and not have_any_word(excerpts, question.alone.subject):
        # "what about penguins?" has a subject of its own
        question = question.alone
    others = [excerpt for excerpt in excerpts if excerpt.path not in paths]
    if named and turn.names_documents:
        others = []
    earlier = turn.earlier_texts if question.is_follow_up else ""
    answer = quote_answer(question, others, named, earlier, similarities)
    return OfflineAnswer(facts + answer.text, "answer" if facts else answer.level)


def _answer_without_excerpts(
    turn: AskedTurn, facts: str, phrases: AnswerPhrases
) -> OfflineAnswer | None:
    """Why there are no excerpts; None if the notes just have none."""
    if any(NO_ROOM in result.content for result in turn.results):
        return OfflineAnswer(f"{facts}{phrases.no_room}\n", None)
    errors = [_tool_error(result) for result in turn.results]
    if errors and all(errors):
        text = phrases.search_failed.format(why=errors[-1])
        return OfflineAnswer(f"{facts}{text}\n", None if facts else "nothing")
    return None


def relevant_facts(question: AnalyzedQuestion, messages: Sequence[PromptMessage]) -> str:
    """The remembered facts that answer the question, as the beginning of an answer."""
    facts = [fact for message in messages for fact in _remembered_facts(message)]
    relevant = [
        fact
        for fact in facts
        if rank_passages(question, [QuoteSource(0, "", "", None, fact)]).is_answer
    ]
    shown = [QUOTE_MARKS.sub("", fact) for fact in relevant[:MAX_FACTS]]
    beginning = phrases_for(question.asked, shown).from_memory
    return "".join(f"{beginning} {fact}\n\n" for fact in shown)


def _remembered_facts(message: PromptMessage) -> list[str]:
    """The facts in a message with memory; its other items are links to notes."""
    if message.kind != "memory" or not message.content.startswith(_FACTS_BEGIN):
        return []
    items = [line for line in message.content.split("\n") if line.startswith("- ")]
    return [item.removeprefix("- ") for item in items if not item.startswith("- [[")]


def _tool_error(result: PromptMessage) -> str | None:
    """Why a call has failed; None if it has not."""
    with suppress(ValueError, RecursionError):
        document = json.loads(result.content)
        if isinstance(document, dict) and "error" in document:
            return str(document["error"])
    return None


def quote_answer(
    question: AnalyzedQuestion,
    excerpts: Sequence[QuoteSource],
    named: Sequence[QuoteSource] = (),
    earlier_answers: str = "",
    similarities: Similarities | None = None,
) -> OfflineAnswer:
    """The answer in quotations; if none is sure enough, the nearest ones, which are called so.

    `named`: the excerpts of documents that the user named or added; what answers in them comes
    first, and what is in the other `excerpts` only if nothing does. What `earlier_answers` quote is
    quoted again only if there is nothing else.
    """
    phrases = phrases_for(question.asked, (each.text for each in (*named, *excerpts)))
    summary = _summarize_whole(question, excerpts, named)
    if summary:
        return OfflineAnswer(summary, "answer")
    of_named = rank_passages(question, named, similarities)
    ranked = of_named
    if not of_named.is_answer:
        ranked = rank_passages(question, excerpts, similarities)
    if ranked.is_answer:
        limit = MAX_SUMMARY if question.wants_summary else MAX_QUOTES
        quotes = answering_quotes(ranked, limit, earlier_answers)
        shown = format_quotes(quotes, with_titles=True)
        return OfflineAnswer(f"{phrases.from_notes}\n\n{shown}", "answer")
    if not named and not ranked.matches:
        is_dated = question.about_period
        text = phrases.nothing_in_period if is_dated else phrases.nothing_found
        return OfflineAnswer(f"{text}\n", "nothing")
    if named:
        ranked = rank_passages(question, [*named, *excerpts], similarities)
    return _quote_nearest(question, ranked, phrases)


def _quote_nearest(
    question: AnalyzedQuestion, ranked: RankedPassages, phrases: AnswerPhrases
) -> OfflineAnswer:
    """The passages that most likely answer, best first."""
    quotes = with_nested(nearest_quotes(ranked.all), ranked.all)
    if not quotes:
        return OfflineAnswer(f"{phrases.nothing_found}\n", "nothing")
    beginning = _how_sure(question, ranked, phrases)
    shown = format_quotes(quotes, with_titles=True)
    return OfflineAnswer(f"{beginning}\n\n{shown}", "most_likely")


def _how_sure(question: AnalyzedQuestion, ranked: RankedPassages, phrases: AnswerPhrases) -> str:
    """What is known and missing, if that can be said in a few words of the question."""
    if ranked.confidence.is_close:
        return phrases.close
    missing = ranked.confidence.missing
    is_short = len(question.subject) <= MOST_NAMED_WORDS
    # Notes of a year or in a folder need not say it
    if missing is None or is_year(missing) or missing in _words_of_folders(ranked):
        return phrases.not_sure
    may_be_named = is_short or is_name(missing, question.text)
    # Two characters may be parts of two words
    if cjk_characters(missing) or not may_be_named or _is_in_other_language(question, ranked):
        return phrases.not_sure
    language = language_of_question(question.asked)
    if not is_noun(missing, question.text, language):
        return phrases.not_sure
    named = as_written(missing, question.text)
    # "Your notes have something on 5" would say nothing
    known = [
        word
        for word in ranked.confidence.known
        if not word.isdecimal() and is_noun(word, question.text, language)
    ]
    if not known or len(known) > MOST_NAMED_WORDS:
        return phrases.nothing_on.format(missing=named)
    return phrases.partly.format(known=phrases_of(known, question.text), missing=named)


def _words_of_folders(ranked: RankedPassages) -> set[str]:
    """The words of the folders that the passages are in."""
    folders = {quote.excerpt.path.rpartition("/")[0] for quote in ranked.all}
    return {word for folder in folders for word in terms(folder)}


def _is_in_other_language(question: AnalyzedQuestion, ranked: RankedPassages) -> bool:
    """Whether a question is in another language than most of the passages, which have other words
    for the same.
    """
    language = language_of_question(question.asked)
    texts = dict.fromkeys(quote.excerpt.text for quote in ranked.all)
    counts = Counter(filter(None, map(detect_language, texts))) or Counter([ENGLISH])
    return language is not None and counts[language] < max(counts.values())


def _summarize_whole(
    question: AnalyzedQuestion, excerpts: Sequence[QuoteSource], named: Sequence[QuoteSource]
) -> str:
    """A summary for a question about a document as a whole, or about a time; empty for another
    question, and for excerpts that cannot be summarized.
    """
    whole: Sequence[QuoteSource] = ()
    if question.about_document:
        whole = named
    elif question.about_period:
        whole = excerpts
    paths = list(dict.fromkeys(excerpt.path for excerpt in whole))[:MAX_QUOTES]
    limit = MAX_SUMMARY if len(paths) == 1 else MAX_PER_DOCUMENT
    summaries = []
    for path in paths:
        document = [excerpt for excerpt in whole if excerpt.path == path]
        if quotes := summarize_excerpts(document, limit):
            summaries.append(f"[[{document[0].title}]]:\n\n{format_quotes(quotes)}")
    return "\n".join(summaries)


def answering_quotes(ranked: RankedPassages, limit: int, earlier_answers: str) -> list[RankedQuote]:
    """The quotes of an answer, new ones if there are any; code with its label."""
    least = MIN_SHARE * ranked.on_topic[0].value
    new = [
        quote
        for quote in ranked.on_topic
        if quote.text not in earlier_answers and quote.value >= least
    ]
    selected = with_nested(select_quotes(new or ranked.on_topic, limit), ranked.all)
    return add_code(selected, ranked.all)


def format_quotes(quotes: Sequence[RankedQuote], *, with_titles: bool = False) -> str:
    """Quotations with their citations, as a list if there are several; behind each, the blocks that
    it shows by their ids. Each text is quoted once. With titles, a property has the name of its
    note in front of it.
    """
    told: set[str] = set()
    lines: list[str] = []
    for quote in quotes:
        if quote.excerpt.shown_in and quote.text in told:
            continue
        told.add(quote.text)
        blocks = [block for block in quote.shown if block.text not in told]
        told.update(block.text for block in blocks)
        shown = "".join(f" → {_cited(block)}" for block in blocks)
        before = quote.header or (quote.owner if with_titles else "")
        named = f"{QUOTE_MARKS.sub('', before)}: " if before else ""
        lines.append(f"{named}{_cited(quote)}{shown}\n")
    mark = "- " if len(lines) > 1 else ""
    return "".join(f"{mark}{line}" for line in lines)


def _cited(quote: RankedQuote) -> str:
    """A quotation with its citations."""
    citations = "".join(f"[{source}]" for source in quote.sources)
    return f"{_in_quotation_marks(quote)} {citations}"


def _in_quotation_marks(quote: RankedQuote) -> str:
    """A quote's text in marks that it does not contain, or only in pairs; code in backticks."""
    text = quote.text
    if quote.passage.kind == "code" and "`" not in text:
        text = f"`{text}`"
    marks = MARKS
    # A single flat mark would pair with that of the next quotation
    if not _PAIRED_MARKS.fullmatch(text) or text.count('"') % 2:
        unused = (m for m in OTHER_MARKS if m.opening not in text and m.closing not in text)
        marks = next(unused, MARKS)
    return f"{marks.opening}{text}{marks.closing}"
