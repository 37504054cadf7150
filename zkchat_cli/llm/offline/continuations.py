"""Answers to "tell me more": the next notes of a list, or what was not quoted yet."""

from collections.abc import Sequence

from zkchat_cli.llm.offline.answer import (
    OfflineAnswer,
    WantedCall,
    answering_quotes,
    format_quotes,
)
from zkchat_cli.llm.offline.asked_turn import SEARCH_TOOL, AskedTurn
from zkchat_cli.llm.offline.follow_ups import resolve_request
from zkchat_cli.llm.offline.note_kinds import needs_vault, with_kinds
from zkchat_cli.llm.offline.note_lists import LIST, answer_with_list, next_list_calls
from zkchat_cli.llm.offline.note_request import NoteRequest
from zkchat_cli.llm.offline.question import (
    AnalyzedQuestion,
    analyze_question,
    analyze_text,
    user_messages,
)
from zkchat_cli.llm.offline.quotes import RankedQuote, comparable_words
from zkchat_cli.llm.offline.ranking import rank_passages
from zkchat_cli.llm.offline.request_handler import RequestHandler
from zkchat_cli.llm.offline.requests import parse_request
from zkchat_cli.llm.offline.selection import MAX_QUOTES
from zkchat_cli.llm.offline.small_talk import reply_to_small_talk
from zkchat_cli.models.notes import Similarities
from zkchat_cli.text import words
from zkchat_cli.text.request_phrases import request_phrases

# Results of a search: the first ten were looked at already
MOST_RESULTS = 20


def next_continuation_calls(request: NoteRequest, turn: AskedTurn) -> Sequence[WantedCall]:
    """The search or the list of the question before, further down."""
    question = request.about or _last_question(turn)
    if not question:
        return []
    earlier = _last_request(question, turn)
    if not request.about and earlier.kind in ("list", "count"):
        return _pages_of_list(earlier, turn).next_calls(earlier._replace(kind="list"), turn)
    if turn.calls_of(SEARCH_TOOL):
        return []
    outlined = _outlined(request, earlier)
    queries = (outlined,) if outlined else _analyze(question, turn, request).searches
    return [WantedCall(SEARCH_TOOL, {"query": each, "limit": MOST_RESULTS}) for each in queries]


def answer_with_continuation(
    request: NoteRequest, turn: AskedTurn, similarities: Similarities | None
) -> OfflineAnswer | None:
    """New passages or notes only; or that there are none."""
    question = request.about or _last_question(turn)
    phrases = request_phrases(turn.asked, turn.texts)
    if not question:
        return OfflineAnswer(f"{phrases.nothing_before}\n", None)
    nothing_more = OfflineAnswer(f"{phrases.that_is_all}\n", "nothing")
    earlier = _last_request(question, turn)
    if not request.about and earlier.kind in ("list", "count"):
        answer = _pages_of_list(earlier, turn).answer(earlier._replace(kind="list"), turn, None)
        is_end = answer is None or answer.level != "answer" or "- " not in answer.text
        return nothing_more if is_end else answer
    asked = _analyze(question, turn, request)
    new = _new_quotes(asked, turn, similarities, _outlined(request, earlier))
    if not new:
        has_answers = bool(turn.answers) and not request.about
        return nothing_more if has_answers else None
    return OfflineAnswer(f"{phrases.more}\n\n{format_quotes(new, with_titles=True)}", "answer")


def _outlined(request: NoteRequest, earlier: NoteRequest) -> str:
    """The subject of the outline that is continued; empty for any other request."""
    return earlier.about if earlier.kind == "outline" and not request.about else ""


def _last_request(question: str, turn: AskedTurn) -> NoteRequest:
    """The request of the last question, which may continue those before it."""
    asked = user_messages(turn.before)
    last = max((i for i, each in enumerate(asked) if each == question), default=0)
    return resolve_request(question, asked[:last])


def _pages_of_list(request: NoteRequest, turn: AskedTurn) -> RequestHandler:
    """What answers a request for a list, from the first note on that was not shown."""
    page = _pages(turn)
    pages = RequestHandler(
        LIST.tools,
        lambda wanted, of_turn: next_list_calls(wanted, of_turn, page),
        lambda wanted, of_turn, near: answer_with_list(wanted, of_turn, near, page),
    )
    return with_kinds(pages) if needs_vault(request) else pages


def _new_quotes(
    question: AnalyzedQuestion,
    turn: AskedTurn,
    similarities: Similarities | None,
    outlined: str,
) -> Sequence[RankedQuote]:
    """What is about the question and was not quoted in the conversation; if there is any, only what
    the notes say that are named after the subject of an outline.
    """
    found = {
        excerpt.source: excerpt for call in turn.calls_of(SEARCH_TOOL) for excerpt in call.excerpts
    }
    ranked = rank_passages(question, list(found.values()), similarities)
    said = turn.earlier_texts
    unsaid = [quote for quote in ranked.all if quote.text not in said and quote.is_complete]
    languages = words.detect_languages(excerpt.text for excerpt in found.values())
    subject = comparable_words(outlined, languages)
    of_outline = [
        quote
        for quote in unsaid
        if subject and subject <= comparable_words(quote.excerpt.title, languages)
    ]
    new = of_outline or [quote for quote in unsaid if quote.is_on_topic]
    if not new:
        return []
    return answering_quotes(ranked._replace(on_topic=tuple(new)), MAX_QUOTES, said)


def _analyze(question: str, turn: AskedTurn, request: NoteRequest) -> AnalyzedQuestion:
    """The question, with the turns before it if it is one of the conversation."""
    if request.about:
        return analyze_text(question)
    positions = [
        i
        for i, message in enumerate(turn.before)
        if message.role == "user" and message.kind == "conversation" and message.content == question
    ]
    return analyze_question(turn.before, positions[-1])


def _earlier_questions(turn: AskedTurn) -> list[str]:
    """What the user asked before, without small talk."""
    asked = user_messages(turn.before)
    return [each for each in asked if reply_to_small_talk(each, (), ()) is None]


def _last_question(turn: AskedTurn) -> str:
    """The last question that is no request for more; empty without one."""
    for question in reversed(_earlier_questions(turn)):
        parsed = parse_request(question)
        if parsed.kind != "more":
            return question
        if parsed.about:
            return parsed.about
    return ""


def _pages(turn: AskedTurn) -> int:
    """How many pages of the last list were shown."""
    count = 1
    for question in reversed(_earlier_questions(turn)):
        if parse_request(question).kind != "more":
            break
        count += 1
    return count


CONTINUATION = RequestHandler(
    LIST.tools | {SEARCH_TOOL}, next_continuation_calls, answer_with_continuation
)
