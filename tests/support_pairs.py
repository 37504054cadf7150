"""Claims and notes with the verdict of a careful reader, written before the code that judges them.

`support_pairs_aside.txt` is for reports only: nothing was chosen by it. `support_pairs_later.txt`
was written to find mistakes of the finished code, with longer notes.
"""

from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import NamedTuple

from factories import chunk

from zkchat_cli.citations.support import Evidence, judge_support
from zkchat_cli.models.citations import Support

SAMPLES = Path(__file__).parent / "samples"
PAIRS = SAMPLES / "support_pairs.txt"
PAIRS_LATER = SAMPLES / "support_pairs_later.txt"
PAIRS_ASIDE = SAMPLES / "support_pairs_aside.txt"
LABELS: dict[str, Support] = {"S": "supports", "N": "does_not_support", "U": "unclear"}


class SupportPair(NamedTuple):
    """A claim that cites a note, and whether the note says it. `kind` is what they differ in."""

    language: str
    kind: str
    label: Support
    claim: str
    note: str


class JudgedPair(NamedTuple):
    pair: SupportPair
    verdict: Support


class VerdictFigures(NamedTuple):
    """How often a verdict is right, and how many of the pairs with this label have it."""

    precision: float
    recall: float


def read_pairs(path: Path) -> list[SupportPair]:
    """The pairs of a file: `# language`, `NOTE text`, and lines `label kind | claim`."""
    return list(_pairs(path.read_text(encoding="utf-8").splitlines()))


def _pairs(lines: Iterable[str]) -> Iterator[SupportPair]:
    language = ""
    note = ""
    for line in lines:
        first, _, rest = line.partition(" ")
        if first == "#":
            language = rest
        elif first == "NOTE":
            note = rest
        else:
            kind, _, claim = rest.partition(" | ")
            yield SupportPair(language, kind, LABELS[first], claim, note)


def judge_pairs(pairs: Iterable[SupportPair]) -> list[JudgedPair]:
    """The pairs with the verdict of zkchat."""
    judged: list[JudgedPair] = []
    for pair in pairs:
        evidence = Evidence(chunk(1, pair.note, relative_path="Note.md"))
        judged.append(JudgedPair(pair, judge_support(pair.claim, [evidence])))
    return judged


def figures_of(verdict: Support, judged: Iterable[JudgedPair]) -> VerdictFigures:
    """Precision and recall of a verdict."""
    has_verdict = 0
    has_label = 0
    right = 0
    for pair, given in judged:
        has_verdict += given == verdict
        has_label += pair.label == verdict
        right += given == verdict == pair.label
    return VerdictFigures(right / max(1, has_verdict), right / max(1, has_label))
