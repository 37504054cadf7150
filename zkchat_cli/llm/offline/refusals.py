"""Answers to what no search can do: that it cannot, who could, and the nearest that it can."""

from zkchat_cli.llm.offline.answer import EXCERPTS, OfflineAnswer, WantedCall, format_quotes
from zkchat_cli.llm.offline.asked_turn import READ_TOOL, SEARCH_TOOL, AskedTurn, read_excerpts
from zkchat_cli.llm.offline.note_request import NoteRequest
from zkchat_cli.llm.offline.outlines import answer_with_outline
from zkchat_cli.llm.offline.question import analyze_text
from zkchat_cli.llm.offline.ranking import rank_passages
from zkchat_cli.llm.offline.request_handler import RequestHandler, plain_name
from zkchat_cli.llm.offline.selection import select_quotes
from zkchat_cli.models.notes import Similarities
from zkchat_cli.text.request_phrases import RequestPhrases, request_phrases

MOST_QUOTES = 3
# Tasks about what a note says: the nearest to it is the note's outline
ABOUT_TEXTS = ("write", "translate")
_MODEL = "--model ollama/qwen3"


def next_refusal_calls(request: NoteRequest, turn: AskedTurn) -> list[WantedCall]:
    """A search for what is wanted, so that the answer has more than a no."""
    if turn.calls_of(SEARCH_TOOL, READ_TOOL) or request.task in ("web", "change"):
        return []
    if request.task in ABOUT_TEXTS and request.note and not turn.documents:
        return [WantedCall(READ_TOOL, {"relative_path": request.note})]
    if request.about:
        return [WantedCall(SEARCH_TOOL, {"query": request.about, "limit": EXCERPTS})]
    return []


def answer_with_refusal(
    request: NoteRequest, turn: AskedTurn, similarities: Similarities | None
) -> OfflineAnswer | None:
    """What cannot be done, which model could, and what the notes say about the subject."""
    phrases = request_phrases(turn.asked, turn.texts)
    text = f"{_refusal(request.task, phrases)}\n"
    excerpts = read_excerpts(turn.results)
    if request.note or turn.documents:
        outline = answer_with_outline(request, turn) if request.task in ABOUT_TEXTS else None
        return OfflineAnswer(f"{text}\n{outline.text}" if outline else text, None)
    if not request.about or not excerpts:
        return OfflineAnswer(text, None)
    ranked = rank_passages(analyze_text(request.about), excerpts, similarities)
    if not ranked.is_answer:
        return OfflineAnswer(text, None)
    quotes = format_quotes(select_quotes(ranked.on_topic, MOST_QUOTES))
    nearest = phrases.notes_say.format(name=plain_name(request.about))
    return OfflineAnswer(f"{text}\n{nearest}\n\n{quotes}", "most_likely")


def _refusal(task: str, phrases: RequestPhrases) -> str:
    """What cannot be done, and for which model it would work."""
    any_model = phrases.any_model.format(option=_MODEL)
    sentences = {
        "write": f"{phrases.cannot_write} {any_model}",
        "translate": f"{phrases.cannot_translate} {any_model}",
        "change": phrases.cannot_change.format(command=f"zkchat chat --unsafe {_MODEL}"),
        "remind": phrases.cannot_remind.format(command="/remember TEXT"),
        "author": phrases.cannot_tell_author,
        "count": phrases.cannot_count,
        "tabulate": phrases.cannot_tabulate,
    }
    return sentences.get(task, phrases.cannot_browse)


REFUSAL = RequestHandler(frozenset((SEARCH_TOOL,)), next_refusal_calls, answer_with_refusal)
