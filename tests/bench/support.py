"""How often the verdict on support is right.

`python tests/bench/support.py` judges the pairs of tests/samples; `--wrong` prints those that are
judged wrong, `--aside` takes the pairs that nothing was chosen by, `--later` those
that were written to find mistakes. `--wice FILE` takes claims with
evidence in the form of WiCE (`{"label", "claim", "evidence", "meta"}` a line) and prints how well
the score separates supported claims from others (AUC): in all articles, in the half that its
weights were chosen on, and in the other one.
"""

import argparse
import json
import sys
import zlib
from bisect import bisect_left, bisect_right
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

sys.path.insert(0, str(Path(__file__).parents[1]))

from factories import chunk
from support_pairs import (
    PAIRS,
    PAIRS_ASIDE,
    PAIRS_LATER,
    JudgedPair,
    figures_of,
    judge_pairs,
    read_pairs,
)

from zkchat_cli.citations.support import Evidence, judge_support, score_support


class ScoredClaim(NamedTuple):
    article: str
    label: str
    verdict: str
    score: float


def print_pairs(path: Path, *, wrong: bool) -> None:
    judged = judge_pairs(read_pairs(path))
    if wrong:
        for pair, verdict in judged:
            if pair.label != verdict:
                print(f"{verdict} not {pair.label} | {pair.language} {pair.kind} | {pair.claim}")
    print(f"{path.name}: {len(judged)} pairs")
    print_figures(judged)


def print_figures(judged: Sequence[JudgedPair]) -> None:
    english = [each for each in judged if each.pair.language == "en"]
    other = [each for each in judged if each.pair.language != "en"]
    for name, part in (("all", judged), ("English", english), ("other languages", other)):
        for verdict in ("does_not_support", "supports"):
            precision, recall = figures_of(verdict, part)
            print(f"  {name}: {verdict}: precision {precision:.3f}, recall {recall:.3f}")
    added = Counter(verdict for pair, verdict in judged if pair.kind == "addition")
    print(f"  sentences with an added fact: {dict(added)}")


def print_wice(path: Path) -> None:
    scored: list[ScoredClaim] = []
    for line in path.read_text(encoding="utf-8").splitlines():
        claim = json.loads(line)
        title = claim["meta"]["claim_title"]
        text = "\n\n".join(claim["evidence"])
        evidence = [Evidence(chunk(1, text, title=title, relative_path="Page.md"))]
        verdict = judge_support(claim["claim"], evidence)
        score = score_support(claim["claim"], evidence)
        scored.append(ScoredClaim(claim["meta"]["id"], claim["label"], verdict, score))
    first = [each for each in scored if zlib.crc32(each.article.encode()) % 2 == 0]
    second = [each for each in scored if each not in first]
    for name, part in (("all", scored), ("chosen on", first), ("reported on", second)):
        print(f"{name}: {len(part)} claims, AUC {auc(part):.3f}")
    print(Counter((each.label, each.verdict) for each in scored))


def auc(scored: Sequence[ScoredClaim]) -> float:
    """How often a supported claim has a higher score than another one."""
    others = sorted(each.score for each in scored if each.label != "supported")
    supported = [each.score for each in scored if each.label == "supported"]
    higher = sum(bisect_left(others, score) + bisect_right(others, score) for score in supported)
    return higher / 2 / len(others) / len(supported)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--wrong", action="store_true")
    parser.add_argument("--aside", action="store_true")
    parser.add_argument("--later", action="store_true")
    parser.add_argument("--wice", type=Path)
    options = parser.parse_args()
    if options.wice:
        print_wice(options.wice)
    else:
        chosen = PAIRS_LATER if options.later else PAIRS
        print_pairs(PAIRS_ASIDE if options.aside else chosen, wrong=options.wrong)


if __name__ == "__main__":
    main()
