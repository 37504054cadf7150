"""How sure answers without a model are, against how often they are right: `python
tests/bench/confidence.py VAULT QUESTIONS.jsonl [VAULT QUESTIONS.jsonl …] [--fit]`.

A question is a JSON line: `{"query", "notes": [path], "answer": {"note", "text"}, "kind"}`. `notes`
are those that answer it, none if the vault has no answer; `answer` is optional, and right is then a
quotation of its words; `kind` is optional, too, and groups the questions without an answer:
"missing" (the subject is known, but not what is asked of it), "compare" (one side is unknown),
"version" (a version or number that no note has), "negated". Each question with an answer is asked
once more with these notes taken away, as one of the kind "taken away".

The script prints the curve (the probability that was expected, and the share of questions for which
the answer was quoted) and the false answers of each kind. `python tests/bench/confidence.py docs
tests/samples/docs_questions.jsonl` does it for these documents. `--fit` chooses the weights of
`confidence.py` on every other question, and prints the curve of the others.
"""

import argparse
import json
import sys
import tempfile
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from zkchat_cli.app.factory import App, open_app
from zkchat_cli.app.settings import StartupOptions
from zkchat_cli.llm.offline.answer import EXCERPTS
from zkchat_cli.llm.offline.confidence import WITHIN_A_LANGUAGE, ConfidenceSignals
from zkchat_cli.llm.offline.question import analyze_question
from zkchat_cli.llm.offline.quotes import QuoteSource
from zkchat_cli.llm.offline.ranking import RankedPassages, rank_passages
from zkchat_cli.llm.offline.selection import nearest_quotes
from zkchat_cli.models.prompts import PromptMessage
from zkchat_cli.text.words import terms

BINS = 5
# The share of an answer's words that must be quoted
MOST_OF_ANSWER = 0.6
TAKEN_AWAY = "taken away"
# Weight of large weights, and steps of the method of Newton
PENALTY = 1.0
STEPS = 30


class AskedQuestion(NamedTuple):
    """A question by its number in its file: its signals, whether it is answered for sure, and
    whether the quotes have a note that answers it.
    """

    number: int
    kind: str
    signals: ConfidenceSignals
    is_sure: bool
    is_right: bool


def ask_all(folder: Path, questions: Path, home: Path) -> Iterator[AskedQuestion]:
    """Ask each question on the notes of a folder, all of which are embedded first."""
    options = StartupOptions(vault=folder, model="offline", store=False)
    app = open_app(options, {"ZKCHAT_HOME": str(home)}, home)
    app.vault.refresh()
    app.vault.embed(all_languages=True)
    for number, line in enumerate(questions.read_text(encoding="utf-8").splitlines()):
        row = json.loads(line)
        notes = frozenset(row["notes"])
        kind = "" if notes else row.get("kind", "no answer")
        for taken, name in ((frozenset(), kind), (notes, TAKEN_AWAY)):
            if name != TAKEN_AWAY or notes:
                found = _rank(app, row["query"], taken)
                if found is not None and found.confidence.signals is not None:
                    right = not taken and _quotes_answer(found, row)
                    signals = found.confidence.signals
                    yield AskedQuestion(number, name, signals, found.is_answer, right)
    app.close()


def _rank(app: App, query: str, taken: frozenset[str]) -> RankedPassages | None:
    """The passages of a search without the notes that are taken away."""
    message = PromptMessage(role="user", content=query, kind="conversation", tokens=0)
    question = analyze_question([message], 0)
    found = app.vault.search(question.searches[0], 2 * EXCERPTS)
    kept = [chunk for chunk in found if chunk.relative_path not in taken][:EXCERPTS]
    excerpts = [
        QuoteSource(rank, each.relative_path, each.title, each.heading, each.text, rank)
        for rank, each in enumerate(kept)
    ]
    return rank_passages(question, excerpts, app.vault.similarities) if excerpts else None


def _quotes_answer(found: RankedPassages, row: Mapping[str, Any]) -> bool:
    """Whether a note that answers is quoted, with most words of the answer if that is known."""
    shown = nearest_quotes(found.on_topic or found.all)
    quoted = [quote.text for quote in shown if quote.excerpt.path in row["notes"]]
    answer = row.get("answer")
    if not answer:
        return bool(quoted)
    wanted = Counter(terms(answer["text"]))
    have = Counter(terms(" ".join(quoted)))
    return (wanted & have).total() >= MOST_OF_ANSWER * wanted.total()


def print_curve(asked: Sequence[AskedQuestion], probabilities: Sequence[float]) -> None:
    """The expected probability and the share that was right, by the expected one."""
    print("expected  mean  right  questions")
    for bin_ in range(BINS):
        chosen = [
            (probability, each.is_right)
            for probability, each in zip(probabilities, asked, strict=True)
            if min(int(probability * BINS), BINS - 1) == bin_
        ]
        if chosen:
            expected, right = np.mean(chosen, axis=0)
            name = f"{bin_ / BINS:.1f}–{(bin_ + 1) / BINS:.1f}"
            print(f"{name:8s}  {expected:.2f}  {right:.2f}   {len(chosen)}")


def print_kinds(asked: Sequence[AskedQuestion]) -> None:
    """The share of false answers for each kind of question without an answer."""
    counts = Counter(each.kind for each in asked)
    sure = Counter(each.kind for each in asked if each.is_sure)
    for kind, count in sorted(counts.items()):
        name = f"false answers, {kind}" if kind else "sure of those with an answer"
        print(f"{name:32s} {sure[kind] / count:.3f} of {count}")


def fit(asked: Sequence[AskedQuestion]) -> "np.ndarray[tuple[int], np.dtype[np.float64]]":
    """The intercept and the weights of the signals by logistic regression."""
    values = _matrix(asked)
    right = np.array([each.is_right for each in asked], dtype=float)
    penalty = PENALTY * np.eye(values.shape[1])
    penalty[0, 0] = 0.0
    weights = np.zeros(values.shape[1])
    for _ in range(STEPS):
        expected = 1 / (1 + np.exp(-values @ weights))
        slope = values.T @ (right - expected) - penalty @ weights
        curvature = (values * (expected * (1 - expected))[:, None]).T @ values + penalty
        weights += np.linalg.solve(curvature, slope)
    return weights


def _matrix(asked: Sequence[AskedQuestion]) -> "np.ndarray[tuple[int, int], np.dtype[np.float64]]":
    return np.array([[1.0, *each.signals] for each in asked])


def main() -> None:
    """Print the curve of all questions or, with --fit, of those that chose no weight."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("paths", nargs="+", type=Path, metavar="VAULT QUESTIONS")
    parser.add_argument("--fit", action="store_true")
    parser.add_argument("--home", type=Path, help="keep indexes here for the next run")
    options = parser.parse_args()
    if len(options.paths) % 2:
        parser.error("a vault and a file of questions belong together")
    with tempfile.TemporaryDirectory() as folder:
        home = options.home or Path(folder)
        pairs = zip(options.paths[::2], options.paths[1::2], strict=True)
        asked = [each for vault, questions in pairs for each in ask_all(vault, questions, home)]
    names = ("intercept", *ConfidenceSignals._fields)
    weights = np.array([getattr(WITHIN_A_LANGUAGE, name) for name in names])
    shown = asked
    if options.fit:
        weights = fit([each for each in asked if each.number % 2 == 0])
        shown = [each for each in asked if each.number % 2]
        print(dict(zip(names, weights.round(2), strict=True)))
    print_curve(shown, list(1 / (1 + np.exp(-_matrix(shown) @ weights))))
    print_kinds(shown)


if __name__ == "__main__":
    sys.exit(main())
