"""Whether a request names one note, as "the latest note" does, or several. Pure."""

import re

from zkchat_cli.text.patterns import lazy_pattern

_ENGLISH_ORDER = lazy_pattern("newest|latest|most recent|recent|last|oldest|earliest|first written")
_ONE_NOTE = lazy_pattern(
    r" (?:[\w-]+ )??(?!people)[\w-]*[^\Ws](?=$|,| (?:about|on|in|from|with|without|of|for|tagged"
    r"|that|i|\#))"
)
_GERMAN_ORDER = lazy_pattern(r"\w+ste[nrms]?|letzte[nrms]?")
_GERMAN_ARTICLE = lazy_pattern(r"\b(?:die|der|das|den|meine?[nrs]?|unsere?[nrs]?) $")
_GERMAN_NOTE = lazy_pattern(r" (?:notiz|zettel|seite|eintrag|dokument|tagebucheintrag)\b")


def is_for_one(match: re.Match[str]) -> bool:
    """Whether a match names one note: "the latest note", but not "the latest notes". Adjectives
    tell that in most languages, and the noun in English.
    """
    groups = match.groupdict()
    name = "newest" if groups.get("newest") else "oldest"
    adjective = groups.get(name)
    if not adjective or groups.get("limit"):
        return False
    before = match.string[: match.start(name)]
    after = match.string[match.end(name) :]
    if _ENGLISH_ORDER.fullmatch(adjective):
        return bool(_ONE_NOTE.match(after))
    if _GERMAN_ORDER.fullmatch(adjective):
        if adjective.endswith(("r", "s")):
            return True
        is_named = _GERMAN_ARTICLE.search(before) or _GERMAN_NOTE.match(after)
        return bool(is_named) and not adjective.endswith("n")
    return not adjective.endswith(("s", "x"))
