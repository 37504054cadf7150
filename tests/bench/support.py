"""How often the verdict on support is right.

`python tests/bench/support.py` judges the pairs of tests/samples; `--wrong` prints those that are
judged wrong, `--aside` takes the pairs that nothing was chosen by. `--wice FILE` takes claims with
evidence in the form of WiCE (`{"label", "claim", "evidence"}` a line) and prints how well the
verdict and the score separate supported claims from others, for the first and the second half of
the articles.
"""

import argparse
import sys
from collections import Counter
from collections.abc import Sequence
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1]))

from support_pairs import PAIRS, PAIRS_ASIDE, JudgedPair, figures_of, judge_pairs, read_pairs


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


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--wrong", action="store_true")
    parser.add_argument("--aside", action="store_true")
    parser.add_argument("--wice", type=Path)
    options = parser.parse_args()
    print_pairs(PAIRS_ASIDE if options.aside else PAIRS, wrong=options.wrong)


if __name__ == "__main__":
    main()
