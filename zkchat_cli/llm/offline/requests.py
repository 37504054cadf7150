"""What kind of request a message is: a look-up, or a list of notes, a comparison, a count. Pure.

The patterns are in `list_patterns` and `question_patterns`. The polite frame of a message is taken
off, the first pattern that fits decides, and `note_scope` reads the rest. A message that fits none
is tried once more with mistyped words of the frame corrected; then it is a look-up.
"""

import re
import unicodedata
from collections.abc import Mapping

from zkchat_cli.llm.offline import (
    amount_patterns,
    date_patterns,
    extreme_patterns,
    kind_patterns,
    link_patterns,
    list_patterns,
    question_patterns,
    task_patterns,
    timeline_patterns,
    unable_patterns,
    version_patterns,
)
from zkchat_cli.llm.offline.amount_units import complete_amount
from zkchat_cli.llm.offline.choices import read_choice
from zkchat_cli.llm.offline.clauses import read_clause, suits_noun
from zkchat_cli.llm.offline.compared_aspects import read_aspect
from zkchat_cli.llm.offline.list_orders import take_order
from zkchat_cli.llm.offline.message_frame import (
    spell_out,
    without_frame,
    without_instruction,
    without_thanks,
)
from zkchat_cli.llm.offline.note_request import NoteRequest
from zkchat_cli.llm.offline.note_scope import (
    NAMED_NOTE,
    PUNCTUATION,
    clean_subject,
    has_date,
    is_due_date,
    read_dates,
    read_scope,
)
from zkchat_cli.llm.offline.note_states import DONE
from zkchat_cli.llm.offline.one_note import is_for_one
from zkchat_cli.llm.offline.request_slots import (
    NUMBERS,
    PRONOUN,
    RequestPattern,
    bare_text,
    trigger_words,
    written_groups,
)
from zkchat_cli.llm.offline.row_orders import take_column_order
from zkchat_cli.llm.offline.typos import COMMON_WORDS, correct_frame
from zkchat_cli.text.patterns import lazy_pattern

# A longer message is a pasted text
LONGEST_REQUEST = 300
# Words of a subject: notes "in my journal that count as planned for that day" are none
LONGEST_SUBJECT = 6
# Words that may name a subject without "about" before it
LONGEST_NAME = 2

FAMILIES = (
    *unable_patterns.UNABLE,
    version_patterns.SINCE_VERSION,
    question_patterns.MORE,
    *extreme_patterns.EXTREMES,
    *amount_patterns.AMOUNTS,
    *kind_patterns.DUE,
    kind_patterns.OVERDUE,
    *task_patterns.TO_DO,
    timeline_patterns.TIMELINE,
    *date_patterns.UPCOMING_BIRTHDAYS,
    date_patterns.BIRTHDAYS,
    date_patterns.ALL_BIRTHDAYS,
    kind_patterns.LATEST,
    kind_patterns.ATTENDED,
    kind_patterns.LATEST_ASKED,
    list_patterns.TABLE,
    link_patterns.COUNTED_ISOLATED,
    link_patterns.COUNTED_ORPHANS,
    list_patterns.COUNT,
    link_patterns.ISOLATED,
    link_patterns.ORPHANS,
    link_patterns.DEAD_ENDS,
    link_patterns.BROKEN,
    link_patterns.COUNTED_BROKEN,
    list_patterns.LINKS_BETWEEN,
    list_patterns.MENTIONED,
    list_patterns.LINKS,
    list_patterns.LINKS_FROM,
    list_patterns.WRITTEN_IN_JOURNAL,
    list_patterns.WRITTEN,
    kind_patterns.NOTES_WITH_COLUMNS,
    *list_patterns.LISTS,
    *task_patterns.COUNTED_FAMILIES,
    kind_patterns.COUNTED_KINDS,
    kind_patterns.COMPARED_KINDS,
    *question_patterns.COMPARISONS,
    question_patterns.KEY_POINTS,
    question_patterns.OUTLINE,
    question_patterns.WHAT_A_NOTE_SAYS,
    question_patterns.WHEN,
    *question_patterns.HOW_TOS,
    *question_patterns.DEFINITIONS,
    kind_patterns.KINDS_WITH_COLUMNS,
    list_patterns.LIKELY_TABLE,
    *kind_patterns.KINDS,
    *task_patterns.ABOUT,
    list_patterns.LISTED_WITH,
    list_patterns.LIKELY_LIST,
    kind_patterns.COUNTED_KINDS_ABOUT,
    kind_patterns.KINDS_ABOUT,
    kind_patterns.SHOWN,
    kind_patterns.LATEST_NAMED,
)
"""The first pattern that fits decides, so that "how many notes" is no "how to"."""


def parse_request(message: str) -> NoteRequest:
    """The request of one message, whatever was said before it."""
    # The bare form of a text has as many characters only if each letter is one
    text = unicodedata.normalize("NFC", " ".join(message.split()))
    if not text or len(text) > LONGEST_REQUEST:
        return NoteRequest(about=text)
    written = spell_out(text)
    found = _match_sorted(written) or _match_frames(written)
    words = trigger_words(bare_text(written))
    if any(family.suits(words) for family in question_patterns.COMPARISONS):
        found = read_aspect(written, found, _match_frames) or found
    if found is None:
        corrected = correct_frame(written)
        found = _match_frames(corrected) if corrected != written else None
    return found or read_choice(written) or as_look_up(text)


def _match_sorted(text: str) -> NoteRequest | None:
    """The request of a list with its order at the end: "notes about bees, newest first"."""
    ordered = take_order(text)
    if ordered is None:
        return _match_sorted_table(text)
    found = _match_frames(ordered.text)
    if found is None and len(ordered.text.split()) <= LONGEST_NAME:
        # "Meetings, oldest first"
        found = _match_frames(f"list {ordered.text}")
    if found is None or found.kind not in ("list", "table"):
        return None
    return found._replace(newest=not ordered.is_oldest, oldest=ordered.is_oldest)


def _match_sorted_table(text: str) -> NoteRequest | None:
    """The request of a table with the column that it is sorted by: "my servers sorted by ram"."""
    sorted_by = take_column_order(text)
    if sorted_by is None:
        return None
    for each in (sorted_by.text, f"table of {sorted_by.text}"):
        found = _match_frames(each)
        if found is not None and found.kind in ("list", "table") and not found.what:
            return found._replace(kind="table", order=sorted_by.column)
    return None


def as_look_up(message: str) -> NoteRequest:
    """A message as a question, without the words of an instruction."""
    return NoteRequest(about=without_instruction(" ".join(message.split())))


def _match_frames(text: str) -> NoteRequest | None:
    """The request of a text that fits a pattern, with or without its polite frame."""
    text = without_thanks(text).strip(PUNCTUATION)
    framed = without_frame(text)
    for each in dict.fromkeys((text, framed)):
        bare = bare_text(each)
        words = trigger_words(bare)
        for family in FAMILIES:
            if not family.suits(words):
                continue
            for pattern in family.patterns:
                match = pattern.pattern.fullmatch(bare)
                request = match and _read_match(pattern, match, each)
                if request:
                    return request
    return None


def _read_match(pattern: RequestPattern, match: re.Match[str], text: str) -> NoteRequest | None:
    """The request of a match in the bare form of `text`; None if it is no request."""
    fields = _read_fields(pattern, written_groups(match, text))
    if fields is None or _lacks_subject(pattern, fields):
        return None
    kind = pattern.kind
    if kind == "list" and is_for_one(match) and "what" not in fields:
        kind = "outline"
        fields |= {"pick": 1, "may_be_lookup": "noun" in fields}
    elif pattern in _FOR_ONE:
        return None
    elif kind == "count" and fields.get("is_guess") and _PAGES.search(bare_text(text)):
        # A book has pages, too: "how many pages are in Dune?"
        fields |= {"may_be_lookup": True}
    elif kind == "links" and "[[" in text:
        fields |= {"may_be_lookup": False}
    elif pattern in kind_patterns.LATEST_ASKED.patterns:
        if has_date(text):
            return None
        groups = written_groups(match, text)
        fields |= {"pick": 1, "question": groups["asked"] + groups.get("verb", "")}
    return NoteRequest(kind, **fields)  # type: ignore[arg-type]


def _read_fields(pattern: RequestPattern, groups: dict[str, str]) -> dict[str, object] | None:
    """What the groups of a match say; None if they do not suit each other, or name no date where
    one is needed.
    """
    fields: dict[str, object] = dict(pattern.values)
    fields |= _read_scopes(pattern, groups)
    clause = read_clause(groups["clause"]) if "clause" in groups else {}
    if clause is None or not _suits_groups(fields | clause, groups):
        return None
    if pattern.kind == "count" and _is_sentence(fields, groups):
        return None
    fields |= clause
    fields |= _read_words(groups)
    is_common = bare_text(str(fields.get("noun", ""))) in COMMON_WORDS
    if "measure" in fields and not complete_amount(fields, groups):
        return None
    if is_common or not suits_noun(fields, groups):
        return None
    return fields | _read_tasks(fields, groups)


def _lacks_subject(pattern: RequestPattern, fields: Mapping[str, object]) -> bool:
    """Whether what a request is about is only a pronoun or a negation."""
    if any(PRONOUN.fullmatch(bare_text(str(fields.get(name, "")))) for name in _SUBJECTS):
        return True
    # "Kannst du Tee" is no side
    if without_frame(left := str(fields.get("left", ""))) != left:
        return True
    if pattern.kind == "compare" and _is_date_alone(fields, "left") != _is_date_alone(
        fields, "right"
    ):
        # "the backlog in March and May" has one subject
        return True
    is_definition = pattern.kind == "definition"
    return is_definition and bool(_NEGATION.match(bare_text(str(fields["about"]))))


def _is_date_alone(fields: Mapping[str, object], name: str) -> bool:
    dated = read_dates(str(fields.get(name, "")))
    return dated is not None and not dated.rest


def _read_scopes(pattern: RequestPattern, groups: Mapping[str, str]) -> dict[str, object]:
    """The restrictions to notes that the groups of a match say."""
    fields: dict[str, object] = {}
    for name in ("scope", "dates", "when"):
        if name in groups:
            fields |= read_scope(groups[name], columns=pattern.kind == "table")
    if "item" in groups:
        of_item = read_scope(groups["item"])
        fields |= of_item | {"item": of_item.get("about", "")}
    if "when" in groups and (dated := read_dates(groups["when"])) and not dated.rest:
        fields = {"dates": dated.words}
    if "due" in groups:
        fields["dates"] = groups["due"].strip(PUNCTUATION)
    if pattern.kind == "outline" and "scope" in groups and not fields:
        # Words such as "all" and "notes" restrict nothing, but a note may be called so
        fields = {"note": groups["scope"].strip(PUNCTUATION), "is_guess": True}
    if pattern.values.get("may_be_lookup") and groups.keys().isdisjoint(_PROVED):
        # Notes as such need no proof
        fields["may_be_lookup"] = False
    return fields


def _read_tasks(fields: Mapping[str, object], groups: Mapping[str, str]) -> dict[str, object]:
    """What tasks are wanted, if a message is about tasks: the open ones, unless done ones are
    named.
    """
    if "tasks" not in groups:
        return {}
    if fields.get("what"):
        return {}
    is_done = bare_text(str(fields.get("state", ""))) in DONE and not fields.get("is_negated")
    what = "done tasks" if is_done else "open tasks"
    return {"what": what, "state": "", "is_negated": False, "newest": False, "may_be_lookup": False}


def _suits_groups(fields: Mapping[str, object], groups: Mapping[str, str]) -> bool:
    """Whether what was read of a restriction is what its group is for: a date, or a subject that is
    not long.
    """
    about = str(fields.get("about", ""))
    if "due" in groups and not is_due_date(str(fields["dates"])):
        return False
    if ("dates" in groups or "when" in groups) and "dates" not in fields:
        return False
    # "What did I do on Monday?" wants its notes, "what did I do about the roof on Monday?" does not
    if "when" in groups and about:
        return False
    return "scope" not in groups or len(about.split()) <= LONGEST_SUBJECT


def _is_sentence(fields: Mapping[str, object], groups: Mapping[str, str]) -> bool:
    """Whether what follows "how many notes" restricts them by nothing: "how many pages came out of
    the export" asks for no count of notes.
    """
    about = str(fields.get("about", ""))
    if _HAS_PAGES.match(bare_text(groups.get("scope", ""))):
        return True
    is_as_written = about == groups.get("scope", "").strip(PUNCTUATION)
    return is_as_written and len(about.split()) > LONGEST_NAME


def _read_words(groups: dict[str, str]) -> dict[str, object]:
    """The fields that the groups of a match say by themselves."""
    fields: dict[str, object] = {}
    for name, value in groups.items():
        match name:
            case _ if name in _READ_ELSEWHERE:
                pass
            case "limit":
                fields[name] = _read_number(value)
            case "newest" | "oldest":
                fields[name] = True
            case "after":
                fields["is_later"] = True
            case "known_state":
                fields["state"] = value
            case "what":
                fields[name] = _KINDS_OF_NAMES[bare_text(value)]
            case "note" | "other":
                fields[name] = clean_subject(_name_of_note(value))
            case _:
                fields[name] = clean_subject(value)
    if "without" in groups:
        # As in a search, "-done" excludes a tag; "-" alone excludes all
        fields["tag"] = f"-{fields.get('tag', '')}"
    return fields


def _name_of_note(text: str) -> str:
    """What "the note Habits" names."""
    named = NAMED_NOTE.fullmatch(bare_text(text))
    return text[named.start("note") : named.end("note")] if named else text


_FOR_ONE = (*kind_patterns.LATEST.patterns, *kind_patterns.LATEST_NAMED.patterns)
# Groups that are read in other places, or only say that they are there
_READ_ELSEWHERE = (
    *("scope", "dates", "when", "without", "clause", "tasks", "listed", "far", "due", "asked"),
    "verb",
    "item",
    "dated",
)
_PROVED = ("noun", "scope", "left", "other", "item", "due", "dated")
_SUBJECTS = ("about", "note", "other", "left", "right")
# "what was not approved?" asks for no definition
_NEGATION = lazy_pattern(r"(?:not|never|nicht|nie|pas|no|nunca|nao) ")
_PAGES = lazy_pattern(r"\b(?:pages|seiten|paginas)\b")
# "How many pages does Dune have?"
_HAS_PAGES = lazy_pattern(
    r"(?:does|has|hat|a|tiene|tem) (?!.*\b(?:folder|ordner|dossier|carpeta|pasta|tag|vault)\b)"
    r"[^#]+"
)
_KINDS_OF_NAMES = {
    word: what
    for what, words in {
        "tags": "tags schlagworter etiquettes etiquetas",
        "folders": "folders ordner dossiers carpetas pastas",
    }.items()
    for word in words.split()
}


def _read_number(text: str) -> int:
    bare = bare_text(text)
    return int(bare) if bare.isdigit() else NUMBERS[bare]
