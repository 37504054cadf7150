"""Answers to requests for a summary: the outline of a note, or of the best few, with key lines."""

from collections.abc import Sequence

from zkchat_cli.llm.offline.answer import EXCERPTS, OfflineAnswer, WantedCall, format_quotes
from zkchat_cli.llm.offline.asked_turn import READ_TOOL, SEARCH_TOOL, AskedTurn
from zkchat_cli.llm.offline.note_lists import LIST, answer_with_list, next_list_calls
from zkchat_cli.llm.offline.note_request import NoteRequest
from zkchat_cli.llm.offline.passage_languages import is_foreign
from zkchat_cli.llm.offline.quotes import QuoteSource, comparable_words, have_any_word
from zkchat_cli.llm.offline.request_handler import RequestHandler, plain_name
from zkchat_cli.llm.offline.summary import summarize_excerpts
from zkchat_cli.models.notes import Similarities
from zkchat_cli.text import words
from zkchat_cli.text.answer_phrases import PHRASES, language_for
from zkchat_cli.text.case_folder import fold
from zkchat_cli.text.note_phrases import NotePhrases, note_phrases
from zkchat_cli.text.patterns import lazy_pattern
from zkchat_cli.text.request_phrases import request_phrases

# Notes of a subject, and headings of one note; of each of several notes
MOST_NOTES = 3
MOST_HEADINGS = 7
# Words of a subject that together name one note
FEWEST_IN_TITLE = 2
MOST_HEADINGS_OF_SEVERAL = 3
# Key lines of a note without headings
MOST_LINES = 5
LONGEST_LINE = 220
_TITLE = lazy_pattern(r"(?m)^# (.+)$")
_PROPERTY = lazy_pattern(r"\s*|---|[\w -]+:(?: .*)?|\s*- .*")


def next_outline_calls(request: NoteRequest, turn: AskedTurn) -> list[WantedCall]:
    """A search for the notes, and the whole of the best ones; the notes of a time, a folder or with
    a tag are listed.
    """
    if turn.documents:
        return _read_named(turn)
    if _is_of_list(request):
        return next_list_calls(request._replace(kind="list"), turn)
    reads = turn.calls_of(READ_TOOL)
    if any(not call.error for call in reads):
        return []
    if request.note and not reads:
        return [WantedCall(READ_TOOL, {"relative_path": request.note})]
    # A note with that name does not exist
    named = "" if request.is_guess and not request.about else request.note
    return _search_notes(request.about or named, turn)


def _is_of_list(request: NoteRequest) -> bool:
    """Whether a summary of notes is wanted that have no subject in common: "of last week"."""
    is_chosen = request.dates or request.folder or request.tag or request.property
    return bool(is_chosen) and not (request.about or request.note)


def _search_notes(subject: str, turn: AskedTurn) -> list[WantedCall]:
    """A search for the notes about a subject, then the reading of the best ones."""
    if not subject:
        return []
    searches = turn.calls_of(SEARCH_TOOL)
    if not searches:
        return [WantedCall(SEARCH_TOOL, {"query": subject, "limit": EXCERPTS})]
    paths = _best_notes(subject, searches[-1].excerpts) or _nearest_note(subject, turn)
    tried = {call.arguments.get("relative_path") for call in turn.calls_of(READ_TOOL)}
    return [WantedCall(READ_TOOL, {"relative_path": path}) for path in paths if path not in tried]


def _read_named(turn: AskedTurn) -> list[WantedCall]:
    """The named documents that the prompt does not have."""
    known = {excerpt.path for excerpt in turn.named_excerpts}
    if known or turn.calls_of(READ_TOOL):
        return []
    paths = [path for message in turn.documents for path in message.source_ids]
    return [WantedCall(READ_TOOL, {"relative_path": path}) for path in paths[:MOST_NOTES]]


def _best_notes(subject: str, excerpts: Sequence[QuoteSource]) -> list[str]:
    """The notes that have the words of the subject; one alone if it is named so. Without any, a
    look-up says how near the others are.
    """
    wanted = [word for word in words.content_terms(subject) if word not in words.STOPWORDS]
    fitting = [each for each in excerpts if _fits(each, wanted)]
    paths = list(dict.fromkeys(excerpt.path for excerpt in fitting))
    named = [each.path for each in fitting if fold(each.title) == fold(subject)]
    titled = {each.path for each in fitting if _is_in_title(wanted, each.title)}
    if not named and len(wanted) >= FEWEST_IN_TITLE and len(titled) == 1:
        return list(titled)
    return named[:1] or paths[:MOST_NOTES]


def _is_in_title(wanted: Sequence[str], title: str) -> bool:
    """Whether a title has all of the words, in any form."""
    languages = words.detect_languages((title, " ".join(wanted)))
    return comparable_words(" ".join(wanted), languages) <= comparable_words(title, languages)


def _nearest_note(subject: str, turn: AskedTurn) -> list[str]:
    """The first note that a search has found, if the notes are in another language and have other
    words for the subject.
    """
    found = [excerpt for call in turn.calls_of(SEARCH_TOOL) for excerpt in call.excerpts]
    is_across = is_foreign(turn.question, found) or is_foreign(subject, found)
    return [excerpt.path for excerpt in found[:1]] if is_across else []


def _fits(excerpt: QuoteSource, wanted: Sequence[str]) -> bool:
    """Whether an excerpt has most of the words, in any form."""
    count = sum(have_any_word([excerpt], [word]) for word in wanted)
    return 2 * count > len(wanted)


def answer_with_outline(
    request: NoteRequest,
    turn: AskedTurn,
    similarities: Similarities | None = None,  # noqa: ARG001
) -> OfflineAnswer | None:
    """The headings with the sentences that cover most of the text below them, or a list."""
    if _is_of_list(request) and not turn.documents:
        return answer_with_list(request._replace(kind="list"), turn)
    return _answer_with_headings(request, turn)


def _answer_with_headings(request: NoteRequest, turn: AskedTurn) -> OfflineAnswer | None:
    """The outlines of the notes that were read; None without any."""
    excerpts = _without_properties(_excerpts_of_notes(request, turn))
    paths = list(dict.fromkeys(excerpt.path for excerpt in excerpts))[:MOST_NOTES]
    texts = [excerpt.text for excerpt in excerpts]
    phrases = request_phrases(turn.asked, texts)
    of_notes = note_phrases(turn.asked, texts)
    most = MOST_HEADINGS if len(paths) == 1 else MOST_HEADINGS_OF_SEVERAL
    outlines: list[str] = []
    for path in paths:
        note = [excerpt for excerpt in excerpts if excerpt.path == path]
        outline = _outline(note, most, of_notes)
        if outline:
            title = plain_name(note[0].title)
            outlines.append(f"{phrases.outline.format(name=title)}\n\n{outline}")
    if not outlines:
        return None
    subject = plain_name(request.about or request.note)
    if len(outlines) > 1 and subject:
        head = phrases.outlines.format(notes=of_notes.notes(len(outlines)), name=subject)
        outlines.insert(0, f"{head}\n")
    if turn.calls_of(SEARCH_TOOL) and _nearest_note(subject, turn):
        not_sure = PHRASES[language_for(turn.asked, texts)].not_sure
        return OfflineAnswer("\n\n".join([not_sure, *outlines]), "most_likely")
    return OfflineAnswer("\n".join(outlines), "answer")


def _excerpts_of_notes(request: NoteRequest, turn: AskedTurn) -> list[QuoteSource]:
    """What was read of the notes, else what the prompt has of them."""
    read = [excerpt for call in turn.calls_of(READ_TOOL) for excerpt in call.excerpts]
    return read or turn.named_excerpts or _found_excerpts(request, turn)


def _found_excerpts(request: NoteRequest, turn: AskedTurn) -> list[QuoteSource]:
    """What a search has of the best notes, where there was no room to read them."""
    found = [excerpt for call in turn.calls_of(SEARCH_TOOL) for excerpt in call.excerpts]
    best = _best_notes(request.about or request.note, found)
    return [excerpt for excerpt in found if excerpt.path in best]


def _without_properties(excerpts: Sequence[QuoteSource]) -> list[QuoteSource]:
    """The excerpts that are more than the properties above a note."""
    return [excerpt for excerpt in excerpts if not _has_only_properties(excerpt.text.split("\n"))]


def _has_only_properties(lines: Sequence[str]) -> bool:
    """Whether lines are properties; a note of an outliner has items, but no property before."""
    is_item = [line.lstrip().startswith("- ") for line in lines]
    return not all(is_item) and all(_PROPERTY.fullmatch(line) for line in lines)


def _outline(note: Sequence[QuoteSource], most: int, phrases: NotePhrases) -> str:
    """The headings of a note, each with a key line below it; without headings the key lines."""
    sections: dict[str, list[QuoteSource]] = {}
    for excerpt in note:
        for heading, text in _split_at_headings(excerpt):
            sections.setdefault(heading, []).append(excerpt._replace(text=text, heading=heading))
    if len(sections) <= 1:
        return format_quotes(summarize_excerpts(note, MOST_LINES))
    title = fold(note[0].title)
    first = fold(_first_title(note))
    lines: list[str] = []
    for heading, parts in sections.items():
        if fold(heading) == first and not any(part.text.strip() for part in parts):
            # The title above a note that is called otherwise
            continue
        name = "" if fold(heading) in ("", title) else plain_name(heading)
        if line := _section_line(name, parts):
            lines.append(f"- {line}")
    left = len(lines) - most
    if left > 0 and most == MOST_HEADINGS:
        lines[most:] = [f"- {phrases.and_more_sections.format(count=left)}\n"]
    return "".join(lines[: most + 1] if most == MOST_HEADINGS else lines[:most])


def _first_title(note: Sequence[QuoteSource]) -> str:
    """The heading of the first level that a note begins with; empty without one."""
    found = (_TITLE.search(excerpt.text) for excerpt in note)
    return next((match[1].strip() for match in found if match), "")


def _section_line(name: str, parts: Sequence[QuoteSource]) -> str:
    """The heading of a section with its key line; empty for text without a heading or sentence."""
    quotes = summarize_excerpts(parts, 1)
    if quotes and len(quotes[0].text) <= LONGEST_LINE:
        label = f"{name}: " if name else ""
        return f"{label}{format_quotes(quotes)}"
    return f"{name} [{parts[0].source}]\n" if name else ""


def _split_at_headings(excerpt: QuoteSource) -> list[tuple[str, str]]:
    """The parts of an excerpt below each heading in it, with the heading."""
    parts: list[tuple[str, list[str]]] = [(excerpt.heading or "", [])]
    fenced = bool(excerpt.as_code)
    for line in excerpt.text.split("\n"):
        fenced ^= line.lstrip().startswith(("```", "~~~"))
        marks = len(line) - len(line.lstrip("#"))
        if not fenced and 1 <= marks <= 6 and line[marks : marks + 1] == " ":
            parts.append((line[marks:].strip().rstrip("#").strip(), []))
        else:
            parts[-1][1].append(line)
    return [(heading, "\n".join(lines)) for heading, lines in parts if heading or any(lines)]


OUTLINE = RequestHandler(
    LIST.tools | {READ_TOOL, SEARCH_TOOL}, next_outline_calls, answer_with_outline
)
