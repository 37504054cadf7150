"""What the title of a note says about its kind: "Machine - nas" is a machine, and "Standup
2026-03-04" a standup. Pure.
"""

from zkchat_cli.text.case_folder import fold
from zkchat_cli.text.patterns import lazy_pattern

_WORD = lazy_pattern(r"[^\W\d_]+")
_BETWEEN_PARTS = lazy_pattern(
    r"\s+[-–—·/]\s+|\s*[:|()\[\]#,_]+\s*"
    # A number or date is a part of its own
    r"|(?<!\d)[-\s]+(?=\d)|(?<=\d)[-\s]+(?!\d)"
)


def kinds_named_by(title: str) -> frozenset[str]:
    """The folded words of a title that may name the kind of its note: a word that marks separate
    from the rest, and beside a number or date the first and the last word. None for a title that is
    one word or a phrase, such as "Machine learning".
    """
    parts = [part for part in _BETWEEN_PARTS.split(fold(title)) if part]
    found = {part for part in parts if _WORD.fullmatch(part)}
    texts = [words for words in map(_WORD.findall, parts) if words]
    if len(texts) < len(parts):
        found.update(words[0] for words in texts[:1])
        found.update(words[-1] for words in texts[-1:])
    return frozenset(found) if len(parts) > 1 else frozenset()


def written_form(kind: str, title: str) -> str:
    """A folded word as a title has it."""
    return next((word for word in _WORD.findall(title) if fold(word) == kind), kind)
