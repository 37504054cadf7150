"""The order at the end of a request for a list: "notes about bees, newest first". Pure."""

from typing import NamedTuple

from zkchat_cli.llm.offline.request_slots import bare_text, compile_filled
from zkchat_cli.text.patterns import lazy_pattern

_SORTED = r"(?:sort(?:ed)?|order(?:ed)?|sortiert|triee?s?|ordenad[oa]s?|geordnet)"
_DATE = r"(?:(?:the|dem|der|la|el|le) )?(?:dates?|datum|fecha|data)"
_FIRST = r"(?:first|zuerst|d['’]abord|en premier|primero|primeiro)"
_OLD = r"(?:{oldest}|old|alt)"
_NEW = r"(?:{newest}|new|neu)"
_FROM = r"(?:from|von|du|de|des|del|da|do) (?:{the} )*"
_TO = r"(?:to|nach|bis|zum|zur|zu|aux?|al?|ao|para) (?:{the} )*"
_IN_TURN = (
    r"(?:in chronological order|chronologically|chronologisch|in chronologischer reihenfolge"
    r"|(?:par|dans l['’]) ?ordre chronologique|chronologiquement|(?:en|por) orden cronologico"
    r"|cronologicamente|(?:em|por) ordem cronologica)"
)
_REVERSED = (
    r"(?:in reverse chronological order|umgekehrt chronologisch|in umgekehrter reihenfolge"
    r"|(?:par|dans l['’]) ?ordre chronologique inverse|(?:en|por) orden cronologico inverso"
    r"|(?:em|por) ordem cronologica inversa)"
)
_BY_DATE = rf"(?:and )?(?:{_SORTED} )?(?:by|nach|par|por) {_DATE}(?: (?:sortiert|geordnet))?"
_ORDER = compile_filled(
    rf"[ ,]+(?:(?:{_BY_DATE},? )?(?:{{the}} )*"
    rf"(?:(?:{{newest}}|(?P<oldest>{{oldest}})) {_FIRST}"
    rf"|{_FIRST} (?:{{the}} )*(?:{{newest}}|(?P<oldest2>{{oldest}})))"
    rf"|{_SORTED} (?:by|nach|par|por) (?:{{the}} )*(?:{{newest}}|(?P<oldest3>{{oldest}}))"
    rf"(?: {_FIRST})?"
    rf"|(?:{_SORTED} )?(?:{_FROM}{_NEW} {_TO}{_OLD}|(?P<oldest4>{_FROM}{_OLD} {_TO}{_NEW}))"
    rf"|(?:{_SORTED} )?(?:{_REVERSED}|(?P<oldest5>{_IN_TURN}))(?: {_SORTED})?"
    rf"|(?:and )?{_SORTED} (?:by|nach|par|por) {_DATE}|nach datum (?:sortiert|geordnet))[ .!?]*$"
)
# What each order has, which compiles in no time
_HINT = lazy_pattern(
    r"first|zuerst|abord|prem|prim|sort|order|orden|trie|geord|crono|chrono|umgek|dat[aeu]|fecha"
    r"|old|alt|earl|fru|ancien|vie|antig|velh"
)


class OrderedText(NamedTuple):
    """A request without its order at the end, and whether that is the oldest first."""

    text: str
    is_oldest: bool


def take_order(text: str) -> OrderedText | None:
    """The order at the end of a request; None without one."""
    bare = bare_text(text)
    found = _ORDER.search(bare) if _HINT.search(bare) else None
    if found is None:
        return None
    return OrderedText(text[: found.start()], any(found.groupdict().values()))
