"""Answers to requests for a list ("list my servers") that is not one of notes: the items below the
heading or title with that name. Pure.
"""

from collections.abc import Sequence

from zkchat_cli.llm.offline.answer import OfflineAnswer, format_quotes
from zkchat_cli.llm.offline.asked_turn import AskedTurn, read_excerpts
from zkchat_cli.llm.offline.note_descriptions import list_arguments
from zkchat_cli.llm.offline.note_request import NoteRequest
from zkchat_cli.llm.offline.note_scope import clean_subject
from zkchat_cli.llm.offline.quotes import RankedQuote, find_quotes
from zkchat_cli.llm.offline.request_handler import plain_name
from zkchat_cli.llm.offline.vault_kinds import is_name, names_of_kind
from zkchat_cli.text import words
from zkchat_cli.text.note_phrases import note_phrases
from zkchat_cli.text.request_phrases import request_phrases

MOST_ITEMS = 10


def noun_of_list(request: NoteRequest) -> str:
    """What a request lists ("servers"), if it says nothing else of it; else empty."""
    has_more = request.state or request.lacks or request.companion or request.maker
    is_bare = list_arguments(request).keys() <= {"about"} and not (has_more or request.pick)
    if request.kind != "list" or request.what or not is_bare:
        return ""
    noun = request.noun or request.about
    return noun if len(noun.split()) == 1 else ""


def answer_with_items(noun: str, turn: AskedTurn) -> OfflineAnswer | None:
    """The items of the list that is called so in the excerpts that were found; None without it."""
    items = _items_of(noun, turn)
    if not items:
        return None
    section = plain_name(" › ".join(items[0].section))
    head = request_phrases(turn.asked, turn.texts).items_of.format(name=section)
    left = len(items) - MOST_ITEMS
    phrases = note_phrases(turn.asked, turn.texts)
    rest = ""
    if left > 0:
        title = plain_name(items[0].excerpt.title)
        rest = f"\n{phrases.and_more_in.format(count=phrases.number(left), name=title)}\n"
    return OfflineAnswer(f"{head}\n\n{format_quotes(items[:MOST_ITEMS])}{rest}", "answer")


def _items_of(noun: str, turn: AskedTurn) -> Sequence[RankedQuote]:
    """The items of the longest list below a heading or title with this name."""
    excerpts = read_excerpts(turn.results)
    names = names_of_kind(noun)
    languages = words.detect_languages(excerpt.text for excerpt in excerpts)
    lists: dict[tuple[str, ...], list[RankedQuote]] = {}
    for quote in find_quotes(excerpts, languages, max_group=0):
        is_item = quote.passage.kind == "item" and not quote.passage.is_below_heading
        section = tuple(quote.section)
        if is_item and not quote.passage.parents and is_name(clean_subject(section[-1]), names):
            lists.setdefault((quote.excerpt.path, *section), []).append(quote)
    return max(lists.values(), key=len, default=())
