"""Questions that only name two things: "tea or coffee?". Pure."""

from zkchat_cli.llm.offline.note_request import NoteRequest
from zkchat_cli.llm.offline.note_scope import clean_subject
from zkchat_cli.llm.offline.request_slots import PRONOUN, bare_text, compile_filled
from zkchat_cli.llm.offline.typos import COMMON_WORDS
from zkchat_cli.text.patterns import lazy_pattern

_HINT_OF_CHOICE = lazy_pattern(r" (?:or|oder|ou|o|u) ")
_CHOICE = compile_filled(
    r"¿?(?P<left>(?:{the} )?[^\s,?]+(?: [^\s,?]+)?) (?P<joint>or|oder|ou)"
    r" (?P<right>(?:{the} )?[^\s,?]+(?: [^\s,?]+)?) ?\?+"
    r"|¿?(?P<left2>(?:{the} )?[^\s,?]+) (?P<joint2>[ou]) (?P<right2>(?:{the} )?[^\s,?]+) ?\?+"
    r"|(?P<left3>[^\s,?#]+) (?P<joint3>or|oder|ou|o) (?P<right3>[^\s,?#]+)"
)
_WORDS_OF_IDIOMS = frozenset(
    "sooner later more less mehr weniger fruher spater tot tard plus moins tarde temprano mas menos"
    " mais cedo".split()
)


def read_choice(text: str) -> NoteRequest | None:
    """A question that only names two things, "tea or coffee?", as a comparison."""
    bare = bare_text(text)
    choice = _CHOICE.fullmatch(bare) if _HINT_OF_CHOICE.search(bare) else None
    if choice is None:
        return None
    spans = {
        name.rstrip("23"): choice.span(name) for name, value in choice.groupdict().items() if value
    }
    groups = {name: text[begin:end] for name, (begin, end) in spans.items()}
    cleaned = [clean_subject(groups[name]) for name in ("left", "right")]
    # "thé" is a word of its own, "the" is not
    if any(
        PRONOUN.fullmatch(bare_text(each))
        or each.lower() in COMMON_WORDS
        or bare_text(each) in _WORDS_OF_IDIOMS
        for each in cleaned
    ):
        return None
    left, right = cleaned
    # "o" is an article in Portuguese: "chegou o pacote?", and without a mark it may be a subject
    may_be_lookup = len(groups["joint"]) == 1 or not text.rstrip().endswith("?")
    return NoteRequest("compare", left=left, right=right, may_be_lookup=may_be_lookup)
