"""What recall finds in long dialogues, and how its two weights are chosen: `python
tests/bench/recall.py DATA.json [--budget 4000] [--words]`.

DATA is a file in LoCoMo's format (Maharana et al., *Evaluating Very Long-Term Conversational Memory
of LLM Agents*, 2024), which is not part of zkchat. For each question a prompt is built as for the
next message, and its text is compared with the answer and with the turns that have the evidence:

    answer   at least 80 % of the answer's words are in the text
    one      one evidence turn is there: 70 % of its words are in one line
    all      all evidence turns are

Weights are chosen without one dialogue and judged on that one, each in turn. "BM25 ±1" is the
floor: the best messages by words, each with the one before and the one after, until the budget is
full, below their days.
"""

import argparse
import json
import sys
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from functools import lru_cache, partial
from itertools import groupby, product
from pathlib import Path
from typing import Any, NamedTuple

sys.path.insert(0, str(Path(__file__).parent.parent))

import numpy as np
from factories import COUNTER, make_history, message
from numpy.typing import NDArray

from zkchat_cli.config.schema import ContextSettings
from zkchat_cli.context import strategies
from zkchat_cli.context.budget import Budget
from zkchat_cli.context.passages import RecallPassage
from zkchat_cli.context.prompt_assembly import assemble_prompt
from zkchat_cli.context.prompt_inputs import PromptInputs
from zkchat_cli.context.recall import USUAL_WEIGHTS, RecallIndex, RecallWeights, no_cosines
from zkchat_cli.context.turns import Turn, TurnHistory
from zkchat_cli.llm.base import EmbedderConfig
from zkchat_cli.llm.embedders import builtin
from zkchat_cli.models.messages import ZkChatMessage
from zkchat_cli.text.bm25 import Bm25, rarity
from zkchat_cli.text.words import content_stems
from zkchat_cli.vault.search.embedder import compute_vectors

MEANINGS = (0.15, 0.25, 0.4)
NEIGHBOURS = (0.2, 0.25, 1 / 3, 0.5)
# The window in which messages have the budget
MESSAGE_SHARE = 0.6
# Questions without an answer in the dialogue
UNANSWERABLE = 5
MOST_SESSIONS = 60
ANSWER_SHARE = 0.8
EVIDENCE_SHARE = 0.7
MEASURES = ("answer", "one", "all")

Figures = NDArray[np.float64]
"""A share of questions for each of `MEASURES`."""
Recall = Callable[[str], str]
"""The text that a question brings back."""


class Question(NamedTuple):
    """A question with the words of its answer, and those of each turn that is evidence for it."""

    text: str
    answer: frozenset[str]
    evidence: tuple[frozenset[str], ...]


@lru_cache(maxsize=200_000)
def words(text: str) -> frozenset[str]:
    """The stems of the words that say something."""
    return frozenset(content_stems(text))


@dataclass
class Dialogue:
    """A dialogue with its questions, and the vectors of its passages."""

    name: str
    history: TurnHistory
    questions: tuple[Question, ...]
    by_meaning: bool
    _vectors: dict[str, "NDArray[np.float32]"] = field(default_factory=dict)

    def cosines(self, question: str, passages: Sequence[RecallPassage]) -> Figures | None:
        """How near the passages are to a question in meaning."""
        if not self.by_meaning:
            return no_cosines(question, passages)
        if not self._vectors:
            texts = list({passage.text for passage in passages})
            vectors = compute_vectors(_embedder(), texts, "document")
            self._vectors.update(zip(texts, vectors, strict=True))
        [vector] = _query_vectors(question)
        return np.array([self._vectors[passage.text] @ vector for passage in passages], np.float64)

    def measure(self, recall: Recall) -> Figures:
        """The figures of a way to recall."""
        found = [_judge(recall(question.text), question) for question in self.questions]
        return np.array(found, np.float64).mean(axis=0)


@lru_cache
def _embedder() -> Any:
    return builtin.make_embedder(EmbedderConfig())


@lru_cache(maxsize=10_000)
def _query_vectors(question: str) -> Any:
    return compute_vectors(_embedder(), [question.strip()], "query")


def _judge(text: str, question: Question) -> tuple[bool, bool, bool]:
    lines = [words(line) for line in text.split("\n")]
    there = frozenset().union(*lines)
    found = []
    for turn in question.evidence:
        enough = EVIDENCE_SHARE * len(turn)
        found.append(any(len(turn & line) >= enough for line in lines))
    has_answer = len(question.answer & there) >= ANSWER_SHARE * len(question.answer)
    return has_answer, any(found), all(found)


def read_dialogues(file: Path, *, by_meaning: bool) -> Iterator[Dialogue]:
    """The dialogues of a file in LoCoMo's format."""
    for number, sample in enumerate(json.loads(file.read_text(encoding="utf-8")), 1):
        said = tuple(_read_messages(sample["conversation"]))
        texts = {each.id: each.content.partition(": ")[2] for each in said}
        yield Dialogue(
            name=sample.get("sample_id") or str(number),
            history=make_history(said, COUNTER),
            questions=tuple(_read_questions(sample["qa"], texts)),
            by_meaning=by_meaning,
        )


def _read_messages(talk: Mapping[str, Any]) -> Iterator[ZkChatMessage]:
    for number in range(1, MOST_SESSIONS):
        for position, turn in enumerate(talk.get(f"session_{number}") or ()):
            began = datetime.strptime(talk[f"session_{number}_date_time"], "%I:%M %p on %d %B, %Y")
            caption = turn.get("blip_caption")
            text = turn["text"] + (f" [image: {caption}]" if caption else "")
            yield message(
                "user" if turn["speaker"] == talk["speaker_a"] else "assistant",
                f"{turn['speaker']}: {text}",
                turn["dia_id"],
                timestamp=f"{(began + timedelta(minutes=position)).isoformat()}Z",
            )


def _read_questions(
    listed: Sequence[Mapping[str, Any]], texts: Mapping[str, str]
) -> Iterator[Question]:
    for each in listed:
        evidence = [words(texts[id_]) for id_ in each["evidence"] if id_ in texts]
        if each["category"] != UNANSWERABLE and "answer" in each and evidence:
            yield Question(each["question"], words(str(each["answer"])), tuple(evidence))


def recall_with(dialogue: Dialogue, weights: RecallWeights, budget: int) -> Recall:
    """Recall as zkchat does it, with these weights."""
    index = RecallIndex(dialogue.cosines, weights)
    window = Budget.from_settings(ContextSettings(), round(budget / MESSAGE_SHARE))

    def index_turns(turns: Sequence[Turn]) -> RecallIndex:
        index.update(turns)
        return index

    def text(question: str) -> str:
        inputs = PromptInputs(
            instructions="Answer.",
            history=dialogue.history,
            current=(message("user", question, "question"),),
            index_turns=index_turns,
        )
        prompt = assemble_prompt(inputs, window, strategies.strategy("hybrid"), COUNTER)
        return "\n".join(each.content for each in prompt.messages[1:-1])

    return text


def recall_by_bm25(dialogue: Dialogue, budget: int) -> Recall:
    """The best messages by their words, each with its neighbours, until the budget is full."""
    said: list[ZkChatMessage] = []
    for turn in dialogue.history.turns:
        said += turn.messages
    counts = [Counter(content_stems(each.content)) for each in said]
    holders = Counter[str]()
    for each in counts:
        holders.update(each.keys())
    average = sum(each.total() for each in counts) / len(counts)
    formula = Bm25()
    norms = [formula.norm(each.total(), average) for each in counts]

    def text(question: str) -> str:
        rarities = {word: rarity(holders[word], len(said)) for word in words(question)}
        scores = []
        for each, norm in zip(counts, norms, strict=True):
            known = {word: float(each[word]) for word in rarities}
            scores.append(formula.score(known, rarities, norm))
        chosen: dict[int, None] = {}
        left = budget
        for best in sorted(range(len(said)), key=lambda number: -scores[number]):
            for number in range(max(0, best - 1), min(len(said), best + 2)):
                tokens = COUNTER.count(said[number].content) + 1
                if number not in chosen and tokens <= left:
                    chosen[number] = None
                    left -= tokens
        return "\n".join(_with_days(said[number] for number in sorted(chosen)))

    return text


def _with_days(said: Iterable[ZkChatMessage]) -> Iterator[str]:
    """The messages below their days."""
    for day, messages in groupby(said, key=lambda each: each.timestamp[:10]):
        yield f"{datetime.fromisoformat(day):%A, %d %B %Y}"
        for each in messages:
            yield each.content


def report(dialogues: Sequence[Dialogue], budget: int) -> Iterator[str]:
    """The lines of the report."""
    sizes = np.array([len(dialogue.questions) for dialogue in dialogues], np.float64)
    grid = [RecallWeights(*each) for each in product(MEANINGS, NEIGHBOURS)]
    figures: dict[RecallWeights, Figures] = {}
    for weights in dict.fromkeys((USUAL_WEIGHTS, *grid)):
        each = [dialogue.measure(recall_with(dialogue, weights, budget)) for dialogue in dialogues]
        figures[weights] = np.array(each)
    yield f"{'':<34} {' '.join(f'{name:>6}' for name in MEASURES)}"
    floor = np.array([each.measure(recall_by_bm25(each, budget)) for each in dialogues])
    row = partial(_row, sizes=sizes)
    yield row("BM25 ±1", floor)
    yield row("the usual weights", figures[USUAL_WEIGHTS])
    held_out: list[Figures] = []
    for number, dialogue in enumerate(dialogues):
        others = np.arange(len(dialogues)) != number
        best = max(grid, key=lambda each: float(sizes @ (figures[each].sum(axis=1) * others)))
        held_out.append(figures[best][number])
        name = f"{dialogue.name}, {best.meaning:.2f} / {best.neighbour:.2f}"
        yield f"  {name:<32} {_numbers(held_out[-1])}"
        yield f"  {'  with the usual weights':<32} {_numbers(figures[USUAL_WEIGHTS][number])}"
        yield f"  {'  BM25 ±1':<32} {_numbers(floor[number])}"
    yield row("chosen on the other dialogues", np.array(held_out))


def _row(name: str, figures: Figures, sizes: Figures) -> str:
    return f"{name:<34} {_numbers(sizes @ figures / sizes.sum())}"


def _numbers(figures: Figures) -> str:
    return " ".join(f"{figure:6.3f}" for figure in figures)


def main() -> None:
    """Print the report."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n\n")[0])
    parser.add_argument("data", type=Path)
    parser.add_argument("--budget", type=int, default=4000, help="tokens of messages")
    parser.add_argument("--words", action="store_true", help="compare by words only")
    options = parser.parse_args()
    dialogues = list(read_dialogues(options.data, by_meaning=not options.words))
    for line in report(dialogues, options.budget):
        print(line, flush=True)


if __name__ == "__main__":
    main()
