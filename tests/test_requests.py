"""What kind of request a message is, and what it says about notes.

tests/requests has at least sixty messages of each kind in five languages and mixed, as
`message => field=value; field=value`; those of lookup.txt only look like another kind.
"""

from pathlib import Path
from time import process_time
from unicodedata import normalize

import pytest

from zkchat_cli.llm.offline.note_request import NoteRequest
from zkchat_cli.llm.offline.request_slots import bare_text, trigger_words
from zkchat_cli.llm.offline.requests import FAMILIES, parse_request
from zkchat_cli.llm.offline.typos import is_typo
from zkchat_cli.text import words

FOLDER = Path(__file__).parent / "requests"
KINDS = sorted(file.stem for file in FOLDER.glob("*.txt"))
LANGUAGES = ("english", "german", "french", "spanish", "portuguese")
STOPWORDS = frozenset(
    bare_text(word) for language in LANGUAGES for word in words.stopwords(language)
)
IN_WORDS = ("about", "dates", "left", "right", "aspect", "note", "other", "columns")


def content(text: str) -> set[str]:
    """The words of a subject that must be there, whatever articles are."""
    plain = bare_text(text).replace("'", " ").replace("’", " ")
    return {term for term in words.terms(plain) if term not in STOPWORDS and len(term) > 1}


def misread(request: NoteRequest, kind: str, fields: str) -> str:
    """What a request has wrong; empty if it is as expected."""
    expected = {"kind": None if kind == "unable" else kind}
    for pair in filter(None, fields.split("; ")):
        name, _, value = pair.partition("=")
        expected[name] = value
    wrong = []
    for name, value in expected.items():
        found = getattr(request, name)
        if name in IN_WORDS:
            is_right = content(found) == content(str(value))
        else:
            is_right = str(found) == str(value)
        if not is_right:
            wrong.append(f"{name} is {found!r}, not {value!r}")
    return ", ".join(wrong)


@pytest.mark.parametrize("kind", KINDS)
def test_requests_of_a_kind_are_recognized_in_five_languages(kind: str) -> None:
    wrong: dict[str, str] = {}
    lines = (FOLDER / f"{kind}.txt").read_text("utf-8").splitlines()
    for line in lines:
        message, _, fields = line.partition(" => ")
        if problem := misread(parse_request(message), kind, fields.strip()):
            wrong[message] = problem
    assert len(lines) >= 60
    assert wrong == {}


@pytest.mark.parametrize(
    "message",
    [
        "how often do I change the impeller?",
        "phone number of the harbour master",
        "berth cost in Ramsgate",
        "where is the wifi password?",
        "what is the excess of the insurance?",
        "what did the dentist charge for the crown?",
        "does the apple tree need a pollinator?",
        "Nora's shoe size",
    ],
)
def test_look_up_tries_few_patterns(message: str) -> None:
    words = trigger_words(bare_text(message))
    tried = [pattern for family in FAMILIES if family.suits(words) for pattern in family.patterns]
    assert len(tried) <= 25


@pytest.mark.parametrize(
    ("message", "about"),
    [
        ("explain snowflake ids", "snowflake ids"),
        ("Could you please explain the outbox pattern?", "the outbox pattern"),
        ("tell me about sourdough", "sourdough"),
        ("what do my notes say about bees?", "bees"),
        ("Erkläre mir Quorum", "Quorum"),
        ("explain plan for slow queries", "explain plan for slow queries"),
        ("list comprehension syntax", "list comprehension syntax"),
        ("what did I write about bees", "bees"),
        ("was hab ich zu Bienen notiert?", "Bienen"),
        ("o que eu anotei sobre sono", "sono"),
    ],
)
def test_instruction_is_not_searched(message: str, about: str) -> None:
    request = parse_request(message)
    assert request.kind == "lookup"
    assert request.about.rstrip("?") == about


@pytest.mark.parametrize(
    "message", ["what is it?", "who is she", "summarize that", "compare them", "", "?", "x" * 500]
)
def test_message_that_only_points_to_another_is_a_look_up(message: str) -> None:
    assert parse_request(message).kind == "lookup"


@pytest.mark.parametrize(
    "message",
    [
        "compara el café con el té en cuanto al precio",
        "différence de prix entre thé et café",
        "notes sur l'été, les plus récentes d'abord",
    ],
)
def test_accents_may_be_characters_of_their_own(message: str) -> None:
    assert parse_request(normalize("NFD", message)) == parse_request(message)


@pytest.mark.parametrize("word", ["a", "da", "das", "de", "of", "all", "show me"])
@pytest.mark.parametrize("request_word", ["average", "notes", "table", "tasks", "birthdays"])
def test_stuttered_request_is_read_without_delay(request_word: str, word: str) -> None:
    stuttered = f"{word} " * 30
    began = process_time()
    # Some of these once took twice as long with each further word
    for message in (f"{request_word} {stuttered}", f"{stuttered}{request_word}"):
        parse_request(message)
    assert process_time() - began < 2


@pytest.mark.parametrize(
    "message", ["now or never?", "to be or not to be?", "yes or no?", "sooner or later"]
)
def test_idiom_is_no_comparison(message: str) -> None:
    assert parse_request(message).kind == "lookup"


@pytest.mark.parametrize(
    "message",
    [
        "show all open tasks in my notes",
        "offene Aufgaben in meinen Notizen",
        "tâches ouvertes dans mes notes",
        "tareas pendientes en mis notas",
        "tarefas abertas nas minhas notas",
    ],
)
def test_ones_own_notes_are_all_notes(message: str) -> None:
    request = parse_request(message)
    assert (request.what, request.about, request.folder) == ("open tasks", "", "")


@pytest.mark.parametrize("message", ["cuánto cuesta la bicicleta", "quanto custa o aluguel?"])
def test_common_word_is_no_slip_of_the_fingers(message: str) -> None:
    assert parse_request(message).kind == "lookup"


@pytest.mark.parametrize(
    ("typed", "known", "slip"),
    [
        ("lsit", "list", True),
        ("sumarize", "summarize", True),
        ("comapre", "compare", True),
        ("outlined", "outline", False),
        ("lost", "list", False),
        ("listen", "liste", False),
    ],
)
def test_slip_of_the_fingers(typed: str, known: str, slip: bool) -> None:
    assert is_typo(typed, known) == slip
