"""What kind of request a message is: a look-up, or a list of notes, a comparison, a count. Pure.

The patterns are in `list_patterns` and `question_patterns`. The polite frame of a message is taken
off, the first pattern that fits decides, and `note_scope` reads the rest. A message that fits none
is tried once more with mistyped words of the frame corrected; then it is a look-up.
"""

import re
import unicodedata
from typing import Literal, NamedTuple

from zkchat_cli.llm.offline import list_patterns, question_patterns
from zkchat_cli.llm.offline.note_scope import (
    NAMED_NOTE,
    PUNCTUATION,
    bare_text,
    clean_subject,
    read_scope,
)
from zkchat_cli.llm.offline.request_slots import (
    FRAME_VOCABULARY,
    NUMBERS,
    RequestPattern,
    compile_filled,
)
from zkchat_cli.models.reports import RequestKind
from zkchat_cli.text.patterns import lazy_pattern

# A longer message is a pasted text
LONGEST_REQUEST = 300
# Words of a subject: notes "in my journal that count as planned for that day" are none
LONGEST_SUBJECT = 6
# Words at the beginning that may be mistyped words of a frame
FRAME_WORDS = 6
# Shorter words have too many neighbours to be corrected
SHORTEST_TYPO = 4
# In a shorter one only two swapped letters count
SHORTEST_SWAPPED = 3
Direction = Literal["to", "from", "between", ""]


class NoteRequest(NamedTuple):
    """A message as a request. `kind` is None for what no search can do; `task` says what that is.

    `about` is what to search for, without the words of the instruction; `dates` and `columns` are
    as the user wrote them.
    """

    kind: RequestKind | None = "lookup"
    about: str = ""
    note: str = ""
    other: str = ""
    direction: Direction = ""
    left: str = ""
    right: str = ""
    tag: str = ""
    folder: str = ""
    property: str = ""
    dates: str = ""
    columns: str = ""
    what: str = ""
    task: str = ""
    limit: int = 0
    newest: bool = False
    # Whether the folder may as well be a subject ("notes in German"), and the note nothing at all
    # ("summarize all")
    is_guess: bool = False


FAMILIES = (
    *question_patterns.UNABLE,
    question_patterns.MORE,
    list_patterns.TABLE,
    list_patterns.COUNT,
    list_patterns.LINKS_BETWEEN,
    list_patterns.LINKS,
    list_patterns.LINKS_FROM,
    list_patterns.WRITTEN,
    list_patterns.LIST,
    question_patterns.COMPARE,
    question_patterns.OUTLINE,
    question_patterns.WHEN,
    question_patterns.HOW_TO,
    question_patterns.DEFINITION,
)
"""The first pattern that fits decides, so that "how many notes" is no "how to"."""
_FRAME_BEGIN = compile_filled(
    r"(?:(?:hi|hello|hey|hallo|bonjour|hola|ola|oi|ok|okay|so|now|then|well|pls|plz|please|bitte"
    r"|kindly|s['’ ]?il (?:te|vous) plait|svp|stp|por favor|und|also|actually"
    r"|(?:can|could|would|will|won['’]t) you(?: please| kindly)?"
    r"|(?:i ?(?:['’]d| would) like|i want|i need|i wish)(?: you)?(?: to(?: (?:see|know|get"
    r"|have))?)?"
    r"|let me(?: (?:see|know))?|(?:kannst|konntest|wurdest|konnen|konnten) (?:du|sie)(?: bitte)?"
    r"(?: mal)?(?: mir)?|ich (?:mochte|will|hatte gern(?:e)?|brauche)(?: bitte)?(?: mal)?"
    r"|(?:peux|pourrais|pouvez|pourriez)[- ](?:tu|vous)|est[- ]ce que tu (?:peux|pourrais)"
    r"|je (?:voudrais|veux|souhaite)(?: voir| savoir)?"
    r"|(?:me )?(?:puedes|podrias|puede|podria)|quiero(?: ver| saber)?|quisiera(?: ver| saber)?"
    r"|(?:voce )?(?:pode|poderia|consegue)|quero(?: ver| saber)?|gostaria de(?: ver| saber)?"
    r"|i wonder|(?:tell|show|give) me(?= (?:how many|which|what|who|when|how|where))|do you know"
    r"|sabes|wei(?:ss|ß)t du"
    r"|sais[- ]tu)[,:!.]?\s+)+"
)
_FRAME_END = compile_filled(
    r"(?:[\s,]+(?:please|pls|plz|bitte|mal|s['’ ]?il (?:te|vous) plait|svp|stp|por favor|thanks"
    r"|thank you|thx|danke|merci|gracias|obrigad[oa]|for me|fur mich|zeigen|auflisten|nennen"
    r"|anzeigen|machen|erstellen|geben|erklaren"
    r"|sagen|finden|erzahlen|in my (?:notes|vault)"
    r"|in meinen notizen|dans mes notes|en mis notas|nas minhas notas))+"
)
_INSTRUCTION = compile_filled(
    r"(?:(?:explain|describe|elaborate on|clarify|discuss|expand on)(?: to me| me| us)?(?! plan\b)"
    r"|(?:tell|remind) me (?:something |everything |all )?(?:about|of)"
    r"|what (?:do|does|did) (?:my|the|our) notes? (?:say|tell(?: me)?|have|know) (?:about|on)"
    r"|what do i (?:know|have)(?: noted| written)? (?:about|on)"
    r"|(?:list|show|display)(?: me| us)?(?= (?:{all}|{the}) )|(?:show|give|get|find) me"
    r"|zeige?(?: mir| uns)?(?= (?:{all}|{the}) )"
    r"|(?:erklare?|beschreibe?|erlautere?)(?: mir| uns)?|erzahle?(?: mir)? (?:et?was )?(?:uber|von)"
    r"|was (?:sagen|wissen|steht in) meine[n]? notizen (?:uber|zu)|was weiss ich (?:uber|von)"
    r"|(?:explique|decris)(?:[- ]moi)?|parle[- ]moi d(?:e|u)|que disent mes notes (?:sur|de)"
    r"|(?:explica|explicame|describe|descreva|explique)(?: me)?|hablame (?:de|sobre)"
    r"|que dicen mis notas (?:sobre|de)|(?:me )?fale(?: me)? (?:de|sobre)"
    r"|o que (?:dizem )?minhas notas(?: dizem)? sobre) "
)


def parse_request(message: str) -> NoteRequest:
    """The request of one message, whatever was said before it."""
    text = " ".join(message.split())
    if not text or len(text) > LONGEST_REQUEST:
        return NoteRequest(about=text)
    found = _match_frames(text)
    if found is None:
        corrected = _correct_frame(text)
        found = _match_frames(corrected) if corrected != text else None
    return found or NoteRequest(about=_without_instruction(text))


def _match_frames(text: str) -> NoteRequest | None:
    """The request of a text that fits a pattern, with or without its polite frame."""
    text = unicodedata.normalize("NFC", text).strip(PUNCTUATION)
    framed = _without_frame(text)
    for each in dict.fromkeys((text, framed)):
        bare = bare_text(each)
        words = re.findall(r"[\w#]+", bare)
        for family in FAMILIES:
            if not any(word.startswith(family.triggers) for word in words):
                continue
            for pattern in family.patterns:
                match = pattern.pattern.fullmatch(bare)
                request = match and _read_match(pattern, match, each)
                if request:
                    return request
    return None


def _without_instruction(text: str) -> str:
    """A question without "explain" or "tell me about", which are no words to search for."""
    framed = _without_frame(text)
    instruction = _INSTRUCTION.match(bare_text(framed))
    return framed[instruction.end() :] if instruction else text


def _without_frame(text: str) -> str:
    """A message without "could you please" and "thanks"."""
    bare = bare_text(text)
    begin = _FRAME_BEGIN.match(bare)
    start = begin.end() if begin else 0
    end = len(text)
    for match in _FRAME_END.finditer(bare, start):
        if match.end() == len(bare):
            end = match.start()
    return text[start:end].strip(PUNCTUATION) or text


def _read_match(pattern: RequestPattern, match: re.Match[str], text: str) -> NoteRequest | None:
    """The request of a match in the bare form of `text`; None if what it is about is only a
    pronoun, or if it names no date where one is needed.
    """
    groups = _written_groups(match, text)
    fields: dict[str, object] = dict(pattern.values)
    for name in ("scope", "dates"):
        if name in groups:
            fields |= read_scope(groups[name], columns=pattern.kind == "table")
    if "dates" in groups and "dates" not in fields:
        return None
    if pattern.kind == "outline" and "scope" in groups and fields == pattern.values:
        # Words such as "all" and "notes" restrict nothing, but a note may be called so
        fields |= {"note": groups["scope"].strip(PUNCTUATION), "is_guess": True}
    if "scope" in groups and len(str(fields.get("about", "")).split()) > LONGEST_SUBJECT:
        return None
    fields |= _read_words(groups)
    if any(_PRONOUN.fullmatch(bare_text(str(fields.get(name, "")))) for name in _SUBJECTS):
        return None
    return NoteRequest(pattern.kind, **fields)  # type: ignore[arg-type]


def _written_groups(match: re.Match[str], text: str) -> dict[str, str]:
    """The groups of a match as the user wrote them. A pattern with alternatives has numbered ones:
    `scope2` is another `scope`.
    """
    groups: dict[str, str] = {}
    for name, value in match.groupdict().items():
        if value is not None:
            groups[name.rstrip("0123456789")] = text[match.start(name) : match.end(name)]
    return groups


def _read_words(groups: dict[str, str]) -> dict[str, object]:
    """The fields that the groups of a match say by themselves."""
    fields: dict[str, object] = {}
    for name, value in groups.items():
        match name:
            case "scope" | "dates":
                pass
            case "limit":
                fields[name] = _read_number(value)
            case "newest":
                fields[name] = True
            case "what":
                fields[name] = _KINDS_OF_NAMES[bare_text(value)]
            case "note" | "other":
                fields[name] = clean_subject(_name_of_note(value))
            case _:
                fields[name] = clean_subject(value)
    return fields


def _name_of_note(text: str) -> str:
    """What "the note Habits" names."""
    named = NAMED_NOTE.fullmatch(bare_text(text))
    return text[named.start("note") : named.end("note")] if named else text


_SUBJECTS = ("about", "note", "other", "left", "right")
_PRONOUN = lazy_pattern(
    r"it|its|this|that|these|those|them|they|he|she|him|her|there|here|you|we|i|both|one|so|up"
    r"|(?:the|der|die|das) (?:other|first|second|latter|former|difference)(?: one)?|das|es|er|sie"
    r"|dies|ihn|davon|damit|cela|ca|il|elle|eux|eso|esto|ello|ella|isso|isto|ele|ela"
    r"|wrong|new|next|up|happening|going on|left|missing"
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


def _correct_frame(text: str) -> str:
    """A message with the mistyped words of its frame corrected: "lsit al notes"."""
    words = text.split()
    for position, word in enumerate(words[:FRAME_WORDS]):
        bare = bare_text(word.strip(PUNCTUATION))
        if len(bare) < SHORTEST_SWAPPED or bare in FRAME_VOCABULARY:
            continue
        near = [known for known in FRAME_VOCABULARY if is_typo(bare, known)]
        if near:
            words[position] = near[0]
    return " ".join(words)


def is_typo(typed: str, known: str) -> bool:
    """Whether one slip of the fingers makes a word of another: two letters swapped or, in a word of
    five letters and more, one that is wrong, missing or too many.
    """
    # "outlined" is not "outline" mistyped
    if typed.startswith(known) or known.startswith(typed):
        return False
    start = 0
    while typed[start] == known[start]:
        start += 1
    rest = typed[start:]
    other = known[start:]
    if len(rest) == len(other) and rest[:2] == other[1::-1] and rest[2:] == other[2:]:
        return True
    # The first letter is seldom wrong
    if start == 0 or len(known) <= SHORTEST_TYPO:
        return False
    return rest[1:] == other[1:] or rest[1:] == other or rest == other[1:]
