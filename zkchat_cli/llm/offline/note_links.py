"""Answers to requests for the links to a note, from it, or between two notes."""

import shlex
from collections.abc import Sequence
from pathlib import PurePosixPath
from typing import Any

from zkchat_cli.llm.offline.answer import OfflineAnswer, WantedCall, format_quotes
from zkchat_cli.llm.offline.asked_turn import AskedTurn, FinishedCall
from zkchat_cli.llm.offline.note_request import NoteRequest
from zkchat_cli.llm.offline.quotes import QuoteSource, find_quotes
from zkchat_cli.llm.offline.request_handler import RequestHandler, explain_error, plain_name
from zkchat_cli.llm.offline.request_slots import bare_text
from zkchat_cli.models.notes import Similarities
from zkchat_cli.text import words
from zkchat_cli.text.note_phrases import NotePhrases, note_phrases
from zkchat_cli.text.patterns import lazy_pattern

TOOLS = {
    "to": "find_backlinks",
    "from": "find_forward_links",
    "between": "find_link_path",
}
# Links in an answer, and characters of a line that is quoted
MOST_SHOWN = 7
LONGEST_LINE = 100
_WORD_FOR_NOTE = lazy_pattern(r"[ -](?:note|page|file|document|notiz|seite|zettel|datei)$")


def next_link_calls(request: NoteRequest, turn: AskedTurn) -> list[WantedCall]:
    """The call that follows the links; once more for "the Compost note" where no note is called so
    with its last word.
    """
    tool = TOOLS[request.direction or "to"]
    made = turn.calls_of(tool)
    if not made:
        return [WantedCall(tool, _arguments(request))]
    shorter = request._replace(
        note=_without_word_for_note(request.note), other=_without_word_for_note(request.other)
    )
    is_tried = len(made) > 1 or not made[0].error or shorter == request
    return [] if is_tried else [WantedCall(tool, _arguments(shorter))]


def _arguments(request: NoteRequest) -> dict[str, Any]:
    if request.direction == "between":
        return {"source": request.note, "target": request.other}
    return {"relative_path": request.note}


def _without_word_for_note(name: str) -> str:
    """What "Compost note" or "Kompost-Notiz" names."""
    found = _WORD_FOR_NOTE.search(bare_text(name))
    return name[: found.start()] if found and found.start() else name


def answer_with_links(
    request: NoteRequest,
    turn: AskedTurn,
    similarities: Similarities | None = None,  # noqa: ARG001
) -> OfflineAnswer | None:
    """The links, each with its line."""
    calls = turn.calls_of(*TOOLS.values())
    if not calls:
        return None
    call = calls[-1]
    phrases = note_phrases(turn.asked, turn.texts)
    if call.error:
        # "How is the pump connected to the valve?" need not be about links
        return None if request.may_be_lookup else explain_error(call, phrases)
    match request.direction:
        case "from":
            return _links_from(request, call, phrases)
        case "between":
            return _path_between(request, call, phrases)
        case _:
            return _links_to(request, call, phrases)


def _links_to(request: NoteRequest, call: FinishedCall, phrases: NotePhrases) -> OfflineAnswer:
    name = _name(call.data.get("path", request.note))
    if not call.excerpts:
        return OfflineAnswer(f"{phrases.no_links_to.format(name=name)}\n", "nothing")
    by_path: dict[str, QuoteSource] = {}
    for excerpt in call.excerpts:
        by_path.setdefault(excerpt.path, excerpt)
    shown = list(by_path.values())[:MOST_SHOWN]
    left = len(by_path) - len(shown)
    if int(call.data.get("backlinks", 0)) > len(call.excerpts):
        left = int(call.data["backlinks"]) - len(shown)
    total = len(shown) + left
    head = phrases.links_to_one if total == 1 else phrases.links_to_many
    head = head.format(count=phrases.number(total), name=name)
    rest = _rest(left, "backlinks", _asked_note(call), phrases)
    return OfflineAnswer(f"{head}\n\n{_lines(shown)}{rest}", "answer")


def _links_from(request: NoteRequest, call: FinishedCall, phrases: NotePhrases) -> OfflineAnswer:
    name = _name(call.data.get("path", request.note))
    links = call.data.get("links", ())
    if not links:
        return OfflineAnswer(f"{phrases.no_links_from.format(name=name)}\n", "nothing")
    by_target: dict[str, str] = {}
    for link in links:
        target = link["path"]
        by_target[target or link["link"]] = _name(target) if target else ""
    lines = []
    for key, target in list(by_target.items())[:MOST_SHOWN]:
        lines.append(f"- {target or f'{plain_name(key)} ({phrases.broken})'}\n")
    cited = "".join(f"[{excerpt.source}]" for excerpt in call.excerpts[:MOST_SHOWN])
    rest = _rest(len(by_target) - len(lines), "links", _asked_note(call), phrases)
    notes = phrases.notes(len(by_target))
    head = phrases.links_from.format(name=name, notes=notes, cited=cited)
    return OfflineAnswer(f"{head}\n\n{''.join(lines)}{rest}", "answer")


def _path_between(request: NoteRequest, call: FinishedCall, phrases: NotePhrases) -> OfflineAnswer:
    if not call.data.get("path"):
        said = phrases.no_path.format(
            left=plain_name(request.note), right=plain_name(request.other)
        )
        return OfflineAnswer(f"{said}\n", "nothing")
    way = " → ".join(_name(path) for path in call.data["path"])
    return OfflineAnswer(f"{way}\n\n{_lines(call.excerpts)}", "answer")


def _lines(excerpts: Sequence[QuoteSource]) -> str:
    """A line for each excerpt: the note, and its words if they are few."""
    languages = words.detect_languages(excerpt.text for excerpt in excerpts)
    lines: list[str] = []
    for excerpt in excerpts:
        title = plain_name(excerpt.title)
        quotes = find_quotes([excerpt], languages)[:1]
        if quotes and len(quotes[0].text) <= LONGEST_LINE:
            lines.append(f"- {title}: {format_quotes(quotes)}")
        else:
            lines.append(f"- {title} [{excerpt.source}]\n")
    return "".join(lines)


def _name(path: object) -> str:
    return plain_name(PurePosixPath(str(path)).name.removesuffix(".md"))


def _asked_note(call: FinishedCall) -> str:
    return str(call.arguments.get("relative_path", ""))


def _rest(left: int, command: str, note: str, phrases: NotePhrases) -> str:
    if left <= 0:
        return ""
    written = f"`{shlex.join(['zkchat', 'vault', command, note])}`"
    return f"\n{phrases.and_more_by.format(count=phrases.number(left), command=written)}\n"


LINKS = RequestHandler(frozenset(TOOLS.values()), next_link_calls, answer_with_links)
