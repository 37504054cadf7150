"""What a definition, steps and a date need beside the best sentences of a look-up. Pure."""

import re
from collections.abc import Callable, Sequence

from zkchat_cli.llm.offline.answer import (
    OfflineAnswer,
    WantedCall,
    answering_quotes,
    format_quotes,
)
from zkchat_cli.llm.offline.asked_turn import READ_TOOL, AskedTurn, read_excerpts
from zkchat_cli.llm.offline.note_request import NoteRequest
from zkchat_cli.llm.offline.numbered_steps import (
    FEWEST_STEPS,
    are_of_other_section,
    letters_of,
    may_have_steps,
    note_named,
    numbered_items,
    steps_of_named,
    without_light_verbs,
)
from zkchat_cli.llm.offline.question import AnalyzedQuestion
from zkchat_cli.llm.offline.quotes import (
    QuoteSource,
    RankedQuote,
    comparable_words,
    find_quotes,
)
from zkchat_cli.llm.offline.ranking import RankedPassages, rank_passages
from zkchat_cli.llm.offline.request_handler import plain_name
from zkchat_cli.llm.offline.request_slots import bare_text
from zkchat_cli.llm.offline.selection import fits_screen
from zkchat_cli.models.notes import Similarities
from zkchat_cli.models.reports import RequestKind
from zkchat_cli.text import words
from zkchat_cli.text.answer_phrases import AnswerPhrases, phrases_for
from zkchat_cli.text.case_folder import fold
from zkchat_cli.text.patterns import lazy_pattern

# Quotes of a definition and of dates, and the steps of one list
MOST_QUOTES = 3
MOST_STEPS = 9
MOST_BESIDE_STEPS = 5
# Characters of the number of a step
LONGEST_NUMBER = 2
# Quotes that a list of steps may be beside
LEADING_QUOTES = 3
_COPULA = (
    r"(?:is|are|was|were|means?|stands for|refers to|describes?|ist|sind|war|waren|bedeutet"
    r"|bezeichnet|est|sont|etait|signifie|designe|es|son|era|fue|significa|e|sao|foi|:|–|—|-)"
)
_ARTICLES = r"(?:(?:an?|the|der|die|das|eine?|l[ae]s?|une?|el|os?|as?) )*"
# In brackets or between commas
_ASIDE = r"(?: \([^)]*\))?(?:,[^,]{1,60},)?"
_DATE = lazy_pattern(
    r"\b(?:19|20)\d\d\b|\b\d{1,2}[./]\d{1,2}\b|\b\d{1,2}(?:st|nd|rd|th)\b"
    r"|\b(?:january|february|march|april|june|july|august|september|october|november|december"
    r"|januar|februar|märz|juni|juli|oktober|dezember|janvier|février|juillet|août|enero|febrero"
    r"|marzo|abril|junio|julio|agosto|janeiro|fevereiro|março|maio|junho|julho)\b",
    re.IGNORECASE,
)
_LEADING_DATE = lazy_pattern(
    r"\d{4}[-_](?:W\d\d|\d\d(?:[-_]\d\d)?)|\d{8}(?!\d)|\d{1,2}\.\d{1,2}\.\d{4}"
)
Refinement = Callable[
    [NoteRequest, RankedPassages, Sequence[QuoteSource], AnswerPhrases],
    OfflineAnswer | None,
]


def next_refinement_calls(
    request: NoteRequest, question: AnalyzedQuestion, turn: AskedTurn
) -> list[WantedCall]:
    """The reading of the note that is named after what is asked, if the passages that were found
    have no definition or steps.
    """
    is_found = _IS_FOUND.get(request.kind)
    if is_found is None or question.is_follow_up or turn.documents or turn.calls_of(READ_TOOL):
        return []
    excerpts = read_excerpts(turn.results)
    path = note_named(request.about, excerpts)
    if path is None or is_found(request.about, excerpts):
        return []
    return [WantedCall(READ_TOOL, {"relative_path": path})]


def _has_definition(subject: str, excerpts: Sequence[QuoteSource]) -> bool:
    return _find_definition(subject, excerpts) is not None


def _has_steps(subject: str, excerpts: Sequence[QuoteSource]) -> bool:
    """Whether the passages of the note that is named after a subject have steps."""
    path = note_named(subject, excerpts)
    return any(may_have_steps(excerpt) for excerpt in excerpts if excerpt.path == path)


def refine(
    request: NoteRequest,
    question: AnalyzedQuestion,
    excerpts: Sequence[QuoteSource],
    similarities: Similarities | None,
) -> OfflineAnswer | None:
    """The answer to a definition, to steps or to a date; None if a look-up answers as well."""
    refinement = _REFINEMENTS.get(request.kind)
    if refinement is None or not excerpts or question.is_follow_up:
        return None
    phrases = phrases_for(question.asked, (excerpt.text for excerpt in excerpts))
    return refinement(request, rank_passages(question, excerpts, similarities), excerpts, phrases)


def _define(
    request: NoteRequest,
    ranked: RankedPassages,
    excerpts: Sequence[QuoteSource],
    phrases: AnswerPhrases,
) -> OfflineAnswer | None:
    """The sentence that says what it is, or the first one of the note with that name."""
    first = _find_definition(request.about, excerpts) if request.about else None
    if first is None:
        return None
    said = fold(first.text)
    quotes = [first]
    for quote in answering_quotes(ranked, MOST_QUOTES, "") if ranked.is_answer else ():
        text = fold(quote.text)
        if text not in said and said not in text:
            quotes.append(quote)
    shown = format_quotes(quotes[:MOST_QUOTES])
    return OfflineAnswer(f"{phrases.from_notes}\n\n{shown}", "answer")


def _find_definition(subject: str, excerpts: Sequence[QuoteSource]) -> RankedQuote | None:
    languages = words.detect_languages(excerpt.text for excerpt in excerpts)
    quotes = [each for each in find_quotes(excerpts, languages) if each.is_complete]
    name = re.escape(bare_text(subject))
    says = re.compile(rf"{_ARTICLES}{name}s?\b{_ASIDE} ?{_COPULA} ")
    for quote in quotes:
        if says.match(bare_text(quote.text)):
            return quote
    wanted = comparable_words(subject, languages)
    return next((quote for quote in quotes if _opens_note(quote, wanted, languages)), None)


def _opens_note(quote: RankedQuote, wanted: frozenset[str], languages: tuple[str, ...]) -> bool:
    """Whether a quote is the first sentence of the note that is called so."""
    title = quote.excerpt.title
    # Notes of outliners have items only
    if quote.passage.kind not in ("prose", "item") or comparable_words(title, languages) != wanted:
        return False
    headings = [heading for heading in quote.passage.headings if heading != title]
    return quote.order.position == 0 or not headings


def _give_steps(
    request: NoteRequest,
    ranked: RankedPassages,
    excerpts: Sequence[QuoteSource],
    phrases: AnswerPhrases,
) -> OfflineAnswer | None:
    """The numbered list of the note that is named after the task, or the best sentences and the
    list in the section of one of them.
    """
    languages = words.detect_languages(excerpt.text for excerpt in excerpts)
    task = without_light_verbs(request.about)
    steps = steps_of_named(task, ranked, excerpts, languages)
    if steps and not are_of_other_section(steps, task, ranked, languages):
        return OfflineAnswer(_format_steps(steps, phrases), "answer")
    if not ranked.is_answer:
        return None
    best_note = ranked.on_topic[0].excerpt.path
    leading = [
        quote for quote in ranked.on_topic[:LEADING_QUOTES] if quote.excerpt.path == best_note
    ]
    # What leads in to a list tells what its steps are for; one that is a step only has its words
    for best in sorted(leading, key=lambda quote: quote.passage.kind == "item"):
        steps = numbered_items(best, languages)
        is_other = are_of_other_section(steps, task, ranked, languages)
        if len(steps) >= FEWEST_STEPS and not is_other:
            return _add_sentences(steps, ranked, phrases)
    return None


def _add_sentences(
    steps: Sequence[RankedQuote], ranked: RankedPassages, phrases: AnswerPhrases
) -> OfflineAnswer | None:
    """The steps, and the best sentences, as many as fit a screen but at least one; None if a
    sentence leads in to the steps and so has them.
    """
    quotes = answering_quotes(ranked, MOST_BESIDE_STEPS, "")
    if any(_leads_in(quote, steps) for quote in quotes):
        return None
    others = [quote for quote in quotes if not _has_step(quote, steps)]
    # What other notes say belongs to other tasks
    path = steps[0].excerpt.path
    others = [quote for quote in others if quote.excerpt.path == path] or others[:1]
    while len(others) > 1 and not fits_screen([*others, *steps[:MOST_STEPS]]):
        others.pop()
    text = _format_steps(steps, phrases)
    if others:
        text = f"{text}\n{phrases.from_notes}\n\n{format_quotes(others)}"
    return OfflineAnswer(text, "answer")


def _format_steps(steps: Sequence[RankedQuote], phrases: AnswerPhrases) -> str:
    """Steps with their numbers, below the name of their section."""
    shown = [f"{i}. {format_quotes([s])}" for i, s in enumerate(steps[:MOST_STEPS], 1)]
    left = len(steps) - len(shown)
    rest = f"{phrases.more_steps.format(count=left)}\n" if left else ""
    beginning = phrases.steps_from.format(name=plain_name(" › ".join(steps[0].section)))
    return f"{beginning}\n\n{''.join(shown)}{rest}"


def _has_step(quote: RankedQuote, steps: Sequence[RankedQuote]) -> bool:
    """Whether a quote is one of the steps, or a list with them."""
    return any(letters_of(step.text) in letters_of(quote.text) for step in steps)


def _leads_in(quote: RankedQuote, steps: Sequence[RankedQuote]) -> bool:
    """Whether a quote has the steps and what leads in to them, which may be the answer."""
    rest = letters_of(quote.text)
    length = len(rest)
    for step in steps:
        rest = rest.replace(letters_of(step.text), "")
    return len(rest) < length and len(rest) > len(steps) * LONGEST_NUMBER


def _date(
    request: NoteRequest,  # noqa: ARG001
    ranked: RankedPassages,
    excerpts: Sequence[QuoteSource],  # noqa: ARG001
    phrases: AnswerPhrases,
) -> OfflineAnswer | None:
    """The sentences with a date first, and the date of the note or heading before one without."""
    if not ranked.is_answer:
        return None
    quotes = answering_quotes(ranked, MOST_QUOTES, "")
    dated = [quote for quote in quotes if _DATE.search(quote.text) or _date_above(quote)]
    if not dated:
        return None
    mark = "- " if len(quotes) > 1 else ""
    lines: list[str] = []
    for quote in [*dated, *(quote for quote in quotes if quote not in dated)]:
        day = "" if _DATE.search(quote.text) else _date_above(quote)
        lines.append(f"{mark}{day}{': ' if day else ''}{format_quotes([quote])}")
    return OfflineAnswer(f"{phrases.from_notes}\n\n{''.join(lines)}", "answer")


def _date_above(quote: RankedQuote) -> str:
    """The date that a heading above a quote, or the title of its note, begins with."""
    for name in (
        *reversed(quote.passage.headings),
        quote.excerpt.heading or "",
        quote.excerpt.title,
    ):
        if found := _LEADING_DATE.match(name):
            return found[0].replace("_", "-")
    return ""


_IS_FOUND: dict[RequestKind | None, Callable[[str, Sequence[QuoteSource]], bool]] = {
    "definition": _has_definition,
    "how_to": _has_steps,
}
_REFINEMENTS: dict[RequestKind | None, Refinement] = {
    "definition": _define,
    "how_to": _give_steps,
    "when": _date,
}
