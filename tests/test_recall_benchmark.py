"""The benchmark of recall reads dialogues in LoCoMo's format and judges what is recalled."""

import json
import sys
from pathlib import Path
from typing import Any

import pytest

sys.path.insert(0, str(Path(__file__).with_name("bench")))

import recall as benchmark

from zkchat_cli.context.recall import USUAL_WEIGHTS, RecallWeights


def sample(name: str, thing: str) -> dict[str, Any]:
    said = [
        f"The {thing} is in the cellar.",
        "Which one?",
        "The brown one.",
        *[f"Here is the plan of day {i}, and it is a good and long one." for i in range(40)],
    ]
    speakers = ("Ada", "Ben")
    session = [
        {"speaker": speakers[i % 2], "dia_id": f"D1:{i + 1}", "text": text}
        for i, text in enumerate(said)
    ]
    return {
        "sample_id": name,
        "conversation": {
            "speaker_a": "Ada",
            "session_1_date_time": "1:56 pm on 8 May, 2023",
            "session_1": session,
        },
        "qa": [
            {
                "question": f"Where is the {thing}?",
                "answer": "in the cellar",
                "evidence": ["D1:1"],
                "category": 4,
            },
            {
                "question": f"What {thing} is it?",
                "answer": "brown",
                "evidence": ["D1:1", "D1:3"],
                "category": 1,
            },
            {"question": "Why?", "answer": "unknown", "evidence": ["D1:1"], "category": 5},
        ],
    }


@pytest.fixture
def dialogues(tmp_path: Path) -> list[benchmark.Dialogue]:
    file = tmp_path / "dialogues.json"
    file.write_text(json.dumps([sample("one", "anvil"), sample("two", "lantern")]))
    return list(benchmark.read_dialogues(file, by_meaning=False))


def test_the_report_has_each_dialogue_with_weights_of_the_others(
    dialogues: list[benchmark.Dialogue],
) -> None:
    assert [len(dialogue.questions) for dialogue in dialogues] == [2, 2]
    lines = list(benchmark.report(dialogues, 300))
    assert lines[2].split() == ["the", "usual", "weights", "1.000", "1.000", "1.000"]
    assert [line.split(",")[0].strip() for line in lines if " / " in line] == ["one", "two"]
    assert lines[-1].startswith("chosen on the other dialogues")


def test_what_is_not_recalled_counts_as_missing(dialogues: list[benchmark.Dialogue]) -> None:
    def figures(weights: RecallWeights) -> list[float]:
        recall = benchmark.recall_with(dialogues[0], weights, 200)
        return [float(each) for each in dialogues[0].measure(recall)]

    assert figures(USUAL_WEIGHTS) == [1.0, 1.0, 1.0]
    assert figures(USUAL_WEIGHTS._replace(neighbour=0)) == [0.5, 1.0, 0.5]
