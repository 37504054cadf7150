"""One call of the offline provider: the tools it calls, and the answer it makes of their results.

Loaded with the first message (see providers/offline.py): it would take a tenth of the time until
the prompt is visible.
"""

import re
from collections.abc import Generator, Sequence, Set

from zkchat_cli.events import TextDelta
from zkchat_cli.llm.base import Delta, Request, StreamFinished
from zkchat_cli.llm.offline.amounts import AMOUNTS
from zkchat_cli.llm.offline.answer import (
    OfflineAnswer,
    WantedCall,
    answer_from_notes,
    first_calls,
    relevant_facts,
)
from zkchat_cli.llm.offline.asked_turn import (
    READ_TOOL,
    SEARCH_TOOL,
    AskedTurn,
    find_question,
    read_excerpts,
)
from zkchat_cli.llm.offline.compared_notes import COMPARE_IN_TABLE, COMPARE_KIND
from zkchat_cli.llm.offline.comparisons import COMPARE
from zkchat_cli.llm.offline.continuations import CONTINUATION
from zkchat_cli.llm.offline.dated_answers import answer_about_day, day_calls
from zkchat_cli.llm.offline.follow_ups import questions_of, resolve_request, whole_question
from zkchat_cli.llm.offline.heading_lists import answer_with_items, noun_of_list
from zkchat_cli.llm.offline.main_request import main_request
from zkchat_cli.llm.offline.note_kinds import needs_vault, with_kinds
from zkchat_cli.llm.offline.note_links import LINKS
from zkchat_cli.llm.offline.note_lists import LIST
from zkchat_cli.llm.offline.note_request import NoteRequest
from zkchat_cli.llm.offline.outlines import OUTLINE
from zkchat_cli.llm.offline.picked_lines import PICKED_LINE
from zkchat_cli.llm.offline.picked_notes import PICK
from zkchat_cli.llm.offline.property_answers import answer_with_property
from zkchat_cli.llm.offline.question import AnalyzedQuestion, analyze_question, user_messages
from zkchat_cli.llm.offline.quoted_passages import PASSAGE
from zkchat_cli.llm.offline.refinements import next_refinement_calls, refine
from zkchat_cli.llm.offline.refusals import REFUSAL
from zkchat_cli.llm.offline.request_handler import RequestHandler
from zkchat_cli.llm.offline.requests import as_look_up, parse_request
from zkchat_cli.llm.offline.small_talk import reply_to_small_talk
from zkchat_cli.llm.offline.tables import TABLE
from zkchat_cli.llm.offline.versions import VERSIONS
from zkchat_cli.models.messages import ToolCall
from zkchat_cli.models.notes import Similarities
from zkchat_cli.models.prompts import PromptMessage
from zkchat_cli.models.reports import RequestKind
from zkchat_cli.text.answer_phrases import language_for, phrases_for, with_marks_of
from zkchat_cli.text.patterns import lazy_pattern

HANDLERS: dict[RequestKind | None, RequestHandler] = {
    "list": LIST,
    "count": LIST,
    "links": LINKS,
    "outline": OUTLINE,
    "compare": COMPARE,
    "table": TABLE,
    "more": CONTINUATION,
    None: REFUSAL,
}
"""Other kinds are look-ups."""
# Kinds of questions that may be about what was on a day
ABOUT_A_DAY = ("lookup", "definition")
_WORD = re.compile(r"[^ \n]*[ \n]?")
# A fenced block of code, up to a fence that is as long
_FENCED_BLOCK = lazy_pattern(r"^(`{3,})[^\n`]*\n.*?^\1`*[ \t]*$", re.MULTILINE | re.DOTALL)


def answer_request(
    request: Request, similarities: Similarities | None = None
) -> Generator[Delta, None, None]:
    """The deltas of one model call: tool calls, or an answer word by word, as from a model. Small
    talk is answered without notes.
    """
    request = request._replace(messages=tuple(map(_without_code, request.messages)))
    typed = find_question(request.messages).question
    request = request._replace(messages=_with_whole_question(request.messages))
    turn = find_question(request.messages)
    reply = _small_talk(request.messages, turn)
    if reply:
        yield from _deltas(OfflineAnswer(reply, None), None)
        return
    asked = _parse(request.messages, turn)
    tools = {tool.name for tool in request.tools}
    handler = _handler(asked)
    if handler and needs_vault(asked):
        handler = with_kinds(handler)
    if handler and handler.tools <= tools:
        calls = _tool_calls(handler.next_calls(asked, turn), turn, tools)
        if calls:
            yield StreamFinished("tool_calls", calls=calls)
            return
        answer = handler.answer(asked, turn, similarities)
        if answer is not None:
            yield from _deltas(_with_marks(answer, turn), asked.kind)
            return
        if asked.may_be_lookup:
            asked = as_look_up(turn.question)._replace(noun=noun_of_list(asked))
    question = analyze_question(_with_subject(request.messages, turn, asked), turn.position)
    if turn.position >= 0:
        question = question._replace(
            typed=request.messages[turn.position].content,
            only_names_time=turn.question not in typed,
        )
    if turn.calls_of(SEARCH_TOOL, READ_TOOL):
        wanted = next_refinement_calls(asked, question, turn)
    else:
        wanted = first_calls(question, turn.documents)
        wanted += day_calls(question, turn) if _is_about_time(asked, question) else []
    calls = _tool_calls(wanted, turn, tools)
    if calls:
        yield StreamFinished("tool_calls", calls=calls)
        return
    answer = _look_up(asked, question, turn, similarities)
    yield from _deltas(_with_marks(answer, turn), asked.kind)


def _handler(asked: NoteRequest) -> RequestHandler | None:
    """What answers a kind of request; None for a look-up."""
    if asked.pick and asked.kind == "more":
        return PASSAGE
    if asked.pick and (asked.what or asked.measure):
        return PICKED_LINE
    if asked.kind == "compare" and (asked.what or not asked.left):
        return COMPARE_IN_TABLE if asked.left else COMPARE_KIND
    if asked.measure:
        return AMOUNTS
    if asked.version:
        return VERSIONS
    return PICK if asked.pick else HANDLERS.get(asked.kind)


def _is_about_time(asked: NoteRequest, question: AnalyzedQuestion) -> bool:
    """Whether a look-up may be about what was in a time. One for a date is, if it names another."""
    return asked.kind in ABOUT_A_DAY or (asked.kind == "when" and question.only_names_time)


def _without_code(message: PromptMessage) -> PromptMessage:
    """A message that was typed, without the blocks of code beside its words: the output of a
    command has other words than the question about it.
    """
    if message.role != "user" or message.kind != "conversation" or "```" not in message.content:
        return message
    rest = _FENCED_BLOCK.sub("", message.content).strip()
    return message.model_copy(update={"content": rest}) if rest else message


def _with_whole_question(messages: tuple[PromptMessage, ...]) -> tuple[PromptMessage, ...]:
    """The messages with the last question in full, where it only names another day than the one
    before it, and without a greeting before it.
    """
    turn = find_question(messages)
    if turn.position < 0 or turn.documents:
        return messages
    asked = main_request(turn.question)
    whole = whole_question(asked, questions_of(user_messages(turn.before)))
    question = messages[turn.position].model_copy(update={"content": whole})
    return (*messages[: turn.position], question, *messages[turn.position + 1 :])


def _tool_calls(
    wanted: Sequence[WantedCall], turn: AskedTurn, tools: Set[str]
) -> tuple[ToolCall, ...]:
    """The wanted calls of tools that there are, with ids that no earlier call of the turn has."""
    first = len(turn.results)
    return tuple(
        ToolCall(id=f"offline-{turn.position}-{i}", name=each.tool, arguments=each.arguments)
        for i, each in enumerate(wanted, first)
        if each.tool in tools
    )


def _look_up(
    asked: NoteRequest,
    question: AnalyzedQuestion,
    turn: AskedTurn,
    similarities: Similarities | None,
) -> OfflineAnswer:
    """The sentences that answer, with what the kind of request needs."""
    if _is_about_time(asked, question):
        of_day = answer_about_day(question, turn, similarities)
        if of_day is not None:
            return of_day
    if not turn.documents:
        if asked.noun and (listed := answer_with_items(asked.noun, turn)):
            return listed
        found = read_excerpts(turn.results)
        phrases = phrases_for(question.asked, (excerpt.text for excerpt in found))
        of_property: OfflineAnswer | None = None
        if not question.is_follow_up:
            of_property = answer_with_property(question.asked, found, phrases)
        if of_property is not None:
            return of_property
        refined = refine(asked, question, found, similarities)
        if refined is not None:
            facts = relevant_facts(question, turn.before)
            return OfflineAnswer(facts + refined.text, refined.level)
    return answer_from_notes(question, turn, similarities)


def _with_marks(answer: OfflineAnswer, turn: AskedTurn) -> OfflineAnswer:
    """The answer with the quotation marks of the language that it speaks."""
    language = language_for(turn.asked, turn.texts)
    return answer._replace(text=with_marks_of(language, answer.text))


def _small_talk(messages: Sequence[PromptMessage], turn: AskedTurn) -> str | None:
    """The reply to small talk; a message that names documents is none."""
    if turn.position < 0 or turn.documents:
        return None
    text = messages[turn.position].content
    return reply_to_small_talk(text, user_messages(turn.before), turn.answers)


def _parse(messages: Sequence[PromptMessage], turn: AskedTurn) -> NoteRequest:
    if turn.position < 0:
        return parse_request("")
    question = messages[turn.position].content
    if turn.documents:
        return parse_request(question)
    return resolve_request(question, user_messages(turn.before))


def _with_subject(
    messages: Sequence[PromptMessage], turn: AskedTurn, asked: NoteRequest
) -> Sequence[PromptMessage]:
    """The messages with a question that has no words of an instruction, which no note need have."""
    about = asked.about or f"{asked.left} {asked.right}".strip()
    if turn.documents or not about or asked.kind in ("definition", "how_to", "when"):
        return messages
    question = messages[turn.position]
    if len(about) >= len(question.content):
        return messages
    changed = list(messages)
    changed[turn.position] = question.model_copy(update={"content": about})
    return changed


def _deltas(answer: OfflineAnswer, kind: RequestKind | None) -> Generator[Delta, None, None]:
    for word in _WORD.findall(answer.text):
        if word:
            yield TextDelta(word)
    yield StreamFinished("stop", level=answer.level, request=kind)
