"""Requests that continue the one before: "and in April?", "only those with #book", "the second
one", "as a table". Pure.

What a conversation lists is never stored: each request is read again from the messages of the user,
so a follow-up means the same after a restart.
"""

from collections.abc import Sequence

from zkchat_cli.llm.offline.clauses import read_clause
from zkchat_cli.llm.offline.compared_aspects import read_further_aspect
from zkchat_cli.llm.offline.dated_follow_ups import complete_question
from zkchat_cli.llm.offline.list_positions import (
    continues_question,
    names_shown_note,
    read_position,
)
from zkchat_cli.llm.offline.main_request import main_request
from zkchat_cli.llm.offline.message_frame import without_frame, without_thanks
from zkchat_cli.llm.offline.note_request import NoteRequest
from zkchat_cli.llm.offline.note_scope import PUNCTUATION, has_date, read_scope
from zkchat_cli.llm.offline.property_values import change_value
from zkchat_cli.llm.offline.request_slots import NUMBERS, bare_text, compile_filled
from zkchat_cli.llm.offline.requests import parse_request
from zkchat_cli.llm.offline.small_talk import reply_to_small_talk
from zkchat_cli.models.reports import RequestKind
from zkchat_cli.text.patterns import lazy_pattern

# Messages before a follow-up that are read
MOST_EARLIER = 12
# Kinds of requests for notes, which a follow-up can restrict
LISTED = ("list", "count", "table")
# Kinds of requests that are answered with quotations
QUOTED = ("lookup", "definition", "how_to", "when", "compare")
# What cannot be done with quotations
ABOUT_ANSWERS = ("count", "tabulate")
_ONLY = lazy_pattern(
    r"(?:(?:and|but|now|only|just|what about|how about|or|und|aber|nur|was ist mit|wie sieht es mit"
    r"|oder|et|mais|seulement|uniquement|juste|y|e|pero|solo|mas|so|somente|apenas|ou) )+"
    r"(?:(?:those|the ones|ones|them|die|diejenigen|jene|davon|ceux|celles|las|los|as|os|aquellas"
    r"|aquelas|aqueles) )?(?P<rest>.+)"
    r"|(?:those|the ones|diejenigen|ceux|celles|aquellas|aquelas|(?:las|los|as|os|die)"
    r"(?= (?:com|con|mit|sem|sin|ohne) )) (?P<rest2>.+)"
)
_AS_TABLE = compile_filled(
    r"(?:(?:{show}|{make}|and|und|et|y|e|now|put|them|those|that|it|this|that|das|es|cela|ca|eso|isso"
    r"|sie|les|las|los) )*(?:as|in|into|als|in eine[rm]?|in form|en|comme|como|em|numa|dans"
    r"|sous(?: la)? forme|en forma|em forma|na forma)"
    r" (?:{the} |an )*{table}"
)
_COUNT = lazy_pattern(
    r"(?:(?:and|und|et|y|e) )?(?:how many(?: (?:are there|is that|of them|are they|in all))?"
    r"|wie ?viele(?: (?:sind es|sind das|davon))?|combien(?: (?:y en a[- ]t[- ]il|il y en a))?"
    r"|cuant[ao]s(?: (?:son|hay))?|quant[ao]s(?: (?:sao|ha|existem))?)"
)
_LIST = compile_filled(
    r"(?:(?:and|und|et|y|e) )?(?:(?:{show}|which(?: ones)?|welche|lesquel(?:le)?s|cuales|quais)"
    r"(?: (?:them|those|all|sie|alle|(?:are|sind|sont|son|sao) (?:they|these|those|das|es)))*)"
)
_ORDER = compile_filled(
    r"(?:(?:and|und|et|y|e|{the}|only|nur) )*(?:(?P<newest>{newest})|(?P<oldest>{oldest}))"
    r"(?: (?P<limit>{number}))?(?: (?:first|zuerst|d['’]abord|primero|primeiro|one|ones))?"
)

_COMPARE = compile_filled(
    r"(?:(?:and|now|please|can you|und|jetzt|et|maintenant|y|ahora|e|agora) )*(?:"
    r"compare (?:them(?: all)?|these|those|both|all of them|the (?P<limit>{number})(?: of them)?)"
    r"|vergleiche? (?:sie|diese|alle|beide|die (?:beiden|(?P<limit2>{number})))(?: alle)?"
    r"|compare[rz]?[- ](?:les|ceux-ci|celles-ci)(?: (?P<limit3>{number}))?"
    r"|comparal[oa]s|compara(?:r|me)? (?:l[oa]s (?P<limit4>{number})|est[oa]s|tod[oa]s)"
    r"|compar(?:a|e|ar)(?:-[oa]s| (?:[oa]s (?P<limit5>{number})|est[ea]s|ess[ea]s|tod[oa]s)))"
    r"(?: (?:with each other|to each other|miteinander|entre (?:eux|elles|si)))?"
)


def resolve_request(message: str, earlier: Sequence[str]) -> NoteRequest:
    """The request of a message after these of the user."""
    before: NoteRequest | None = None
    questions = questions_of(earlier)
    completed = [whole_question(text, questions[:i]) for i, text in enumerate(questions)]
    typed_message = message
    message = whole_question(message, questions)
    for text, typed in list(zip(completed, questions, strict=True))[-MOST_EARLIER:]:
        # A question in full stands alone
        continued = _continue_request(text, before) if text == typed else None
        request = continued or parse_request(text)
        if request.task in ABOUT_ANSWERS:
            continue
        # "tell me more" continues a list, and a look-up is no list
        if request.kind != "more":
            before = request
        elif before is not None:
            before = before._replace(page=before.page + 1)
    if message != typed_message:
        return parse_request(message)
    continued = _compare_listed(message, before) or _continue_request(message, before)
    return continued or parse_request(message)


def whole_question(message: str, earlier: Sequence[str]) -> str:
    """A message that only names a time as the question before it for that time; others as they
    are. `earlier`: the messages before it, without small talk.
    """
    return complete_question(message, earlier, _kind_of)


def _kind_of(message: str, earlier: Sequence[str]) -> RequestKind | None:
    return resolve_request(message, earlier).kind


def questions_of(messages: Sequence[str]) -> list[str]:
    """The requests in the messages of a user, without small talk."""
    return [main_request(text) for text in messages if reply_to_small_talk(text, (), ()) is None]


def _continue_request(message: str, before: NoteRequest | None) -> NoteRequest | None:
    """The request before as a message changes it; None if it stands alone."""
    if before is None or before.kind not in (*LISTED, *QUOTED, "links", "outline"):
        return None
    text = _bare_request(message)
    bare = bare_text(text)
    if before.kind in QUOTED:
        return _continue_quotations(text, before)
    if picked := _picked(text, before):
        return picked
    before = before._replace(page=0)
    if before.pick:
        before = before._replace(kind="list", pick=0, question="")
    if before.kind not in LISTED:
        if _COUNT.fullmatch(bare):
            # Links are listed with how many there are
            return before if before.kind == "links" else NoteRequest(kind=None, task="count")
        return before._replace(kind="table") if _AS_TABLE.fullmatch(bare) else None
    return _in_other_form(bare, before) or _restrict(text, before)


def _continue_quotations(text: str, before: NoteRequest) -> NoteRequest | None:
    """What can be said further after quotations: the passage of one of them, or a comparison on an
    aspect. They are no list to count or to put into a table.
    """
    bare = bare_text(text)
    if _COUNT.fullmatch(bare):
        return NoteRequest(kind=None, task="count")
    if _AS_TABLE.fullmatch(bare):
        if before.kind == "compare":
            return before._replace(what="table")
        return NoteRequest(kind=None, task="tabulate")
    # "In a table" names a form and no aspect
    if before.kind == "compare" and (aspect := read_further_aspect(text)):
        return before._replace(aspect=aspect)
    position = read_position(text)
    if position and not position.question:
        return NoteRequest(kind="more", pick=position.nth)
    return None


def _picked(text: str, before: NoteRequest) -> NoteRequest | None:
    """One of the notes that were listed, and what is asked about it."""
    if before.kind == "outline" and not before.pick:
        return None
    position = read_position(text)
    if position:
        question = position.question
        if not question and continues_question(text):
            question = before.question
        return before._replace(kind="outline", pick=position.nth, question=question)
    if names_shown_note(text):
        return before._replace(kind="outline", pick=before.pick or 1, question="")
    return None


def _bare_request(message: str) -> str:
    """A message without its polite frame."""
    return without_frame(without_thanks(" ".join(message.split()))).strip(PUNCTUATION)


def _compare_listed(message: str, before: NoteRequest | None) -> NoteRequest | None:
    """A comparison of the notes that were listed, and of no notes after anything else; None for a
    message that asks for something else.
    """
    compared = _COMPARE.fullmatch(bare_text(_bare_request(message)))
    if compared is None:
        return None
    count = _number(next(filter(None, compared.groups()), ""))
    if before is None or before.kind not in LISTED or before.what:
        return NoteRequest(kind="compare")
    # "My cars" are of a kind, "notes about cars" are not
    if before.may_be_lookup and not before.noun:
        before = before._replace(noun=before.about, about="")
    return before._replace(kind="compare", limit=count or before.limit, page=0)


def _in_other_form(bare: str, before: NoteRequest) -> NoteRequest | None:
    """The same notes as a table, as a count, as a list or in another order."""
    listed = before
    if _AS_TABLE.fullmatch(bare):
        return listed._replace(kind="table")
    if _COUNT.fullmatch(bare):
        return listed._replace(kind="count", limit=0)
    if _LIST.fullmatch(bare):
        return listed._replace(kind="list")
    if order := _ORDER.fullmatch(bare):
        count = _number(order["limit"] or "")
        is_newest = bool(order["newest"])
        return listed._replace(newest=is_newest, oldest=not is_newest, limit=count or before.limit)
    return None


def _number(written: str) -> int:
    """The value of a number in digits or words; 0 without one."""
    return int(written) if written.isdigit() else NUMBERS.get(written, 0)


def _restrict(text: str, before: NoteRequest) -> NoteRequest | None:
    """The same notes, but only those that a message names, or of another time, tag or subject."""
    found = _ONLY.fullmatch(bare_text(text))
    rest = text
    if found:
        group = "rest" if found["rest"] else "rest2"
        rest = text[found.start(group) : found.end(group)]
        if changed := change_value(rest, before.property):
            return before._replace(property=changed)
    elif not has_date(text) and not text.startswith("#"):
        return None
    elif parse_request(text).kind in LISTED:
        # "what did I do on 9 May?" is a request of its own
        return None
    fields = read_clause(rest)
    if not fields and (has_date(rest) or "#" in rest):
        fields = read_scope(rest)
    # "what about penguins?" has a subject of its own
    if not fields or set(fields) <= {"about"}:
        return None
    if fields.get("about") and not _ABOUT.match(bare_text(rest)):
        return None
    fields.pop("is_guess", None)
    return before._replace(**fields)  # type: ignore[arg-type]


_ABOUT = compile_filled(r"(?:{about}|{mention}) ")
