"""An answer that runs in a circle is stopped and kept; text that only repeats itself is not."""

import json
from typing import Any

import pytest
from conftest import Program
from factories import AppFixture, DeltaModel, reply

from zkchat_cli import events
from zkchat_cli.events import ReasoningDelta, TextDelta
from zkchat_cli.llm.base import StreamFinished
from zkchat_cli.markdown.repetition import RepetitionWatch, find_repetition
from zkchat_cli.tokens.counter import TokenCounter

COUNT = TokenCounter().count
BLOCK = (
    "The filter of the pump has to be cleaned once a month, because the sand of the well blocks "
    "it; otherwise the pressure falls and the motor becomes hot, as it did in the summer of 2023, "
    "when nobody had looked after it for a whole season.\n\n"
)
SENTENCE = "In conclusion, the garden needs water in the morning. "
REFRAIN = (
    "London Bridge is falling down,\nFalling down, falling down,\n"
    "London Bridge is falling down,\nMy fair lady.\n\n"
)
VERSES = ("wood and clay", "bricks and mortar", "iron and steel", "silver and gold", "a pipe")
POEM = "".join(
    f"{REFRAIN}Build it up with {what},\n{what.capitalize()}, {what},\nBuild it up with {what},\n"
    "My fair lady.\n\n"
    for what in VERSES
)
LOG_LINE = "2026-11-{:02} 03:00:00 INFO backup: 0 files changed, 0 bytes sent, 0 errors, done\n"
SAME_LOG_LINE = "INFO backup: nothing changed since the last run, 0 bytes sent, 0 errors, done\n"


def table(row: str, rows: int) -> str:
    return f"| day | task | done |\n|---|---|---|\n{row * rows}"


CIRCLES = {
    "a paragraph": "The pump is old.\n\n" + BLOCK * 4,
    "a paragraph and a half": BLOCK * 4 + BLOCK[:99],
    "a list": "- " + (BLOCK.strip() + "\n- ") * 4,
    "a paragraph with code": (BLOCK + "```sh\npump --clean\n```\n\n") * 4,
    "a table that is written again": ("Here is the plan:\n\n" + table("| Mon | sow |  |\n", 9)) * 4,
    "a sentence": SENTENCE * 100,
    "a word": "very " * 1_200,
    "Chinese": (
        "这个过滤器每个月都要清洗一次，因为井里的沙子会把它堵住，否则水压会下降，电机会发热。"
        "去年夏天就发生过这种情况，整个季节都没有人管它。"
    )
    * 5,
    "other white space": (BLOCK + BLOCK.replace(" ", "\n")) * 2,
}
NO_CIRCLES = {
    "three times": BLOCK * 3,
    "a poem with a refrain": POEM,
    "a log with days": "".join(LOG_LINE.format(day) for day in range(1, 29)),
    "a log in a fence": "```text\n" + SAME_LOG_LINE * 60 + "```\n",
    "a log in a fence that is still open": "Here:\n\n~~~\n" + SAME_LOG_LINE * 60,
    "an indented log": "Here:\n\n" + ("    " + SAME_LOG_LINE) * 60,
    "a table": table("| Monday, Tuesday and Wednesday | water the garden | no, not yet |\n", 80),
    "a table without its second row": "| no | no | no | no | no | no | no | no |\n" * 80,
    "a list of boxes": "# November\n\n" + "- [ ] drink water\n" * 30,
    "a sentence as a punishment": "I will not be late again.\n" * 30,
    "a rule": "=" * 400 + "\n",
    "a list of names": "".join(f"- [[Note {n}]]: a note about number {n}\n" for n in range(99)),
    "nothing": "",
}


@pytest.mark.parametrize("text", CIRCLES.values(), ids=CIRCLES)
def test_a_passage_of_forty_tokens_four_times_in_a_row_is_a_circle(text: str) -> None:
    found = find_repetition(text, COUNT)
    assert found is not None
    assert found.passage in " ".join(text.split())


@pytest.mark.parametrize("text", NO_CIRCLES.values(), ids=NO_CIRCLES)
def test_other_repetitive_text_is_none(text: str) -> None:
    watch = RepetitionWatch(COUNT)
    # As it comes in: no beginning of it is a circle either
    assert not any(watch.look(text[:end]) for end in range(0, len(text) + 1, 90))
    assert find_repetition(text, COUNT) is None


def endless(text: str, delta: type = TextDelta) -> list[Any]:
    return [*[delta(text)] * 50, TextDelta("The end."), StreamFinished("stop")]


def test_the_answer_is_stopped_kept_as_unfinished_and_said_so(app: AppFixture) -> None:
    session = app.session(DeltaModel([endless(BLOCK)]))
    sent = [*session.send("How do I clean the pump?")]
    [notice] = [each for each in sent if isinstance(each, events.Notice)]
    assert "repeated a passage of" in notice.message
    assert "llm.stop_repetition" in notice.hint
    assert isinstance(sent[-1], events.TurnCompleted)
    assert sent[-1].report.finish_reason == "cancelled"
    answer = session.history[-1]
    assert (answer.status, answer.content) == ("unfinished", BLOCK * 4)


def test_reasoning_in_a_circle_is_an_error(app: AppFixture) -> None:
    session = app.session(DeltaModel([endless(BLOCK, ReasoningDelta)]))
    *_, last = session.send("How do I clean the pump?")
    assert isinstance(last, events.TurnFailed)
    assert "repeated itself in its reasoning" in last.error.message


def test_the_setting_lets_it_go_on(app: AppFixture) -> None:
    session = app.session(DeltaModel([endless(BLOCK), reply("Yes.")]))
    session.runtimes.override_setting("llm.stop_repetition", "false")
    *_, last = session.send("How do I clean the pump?")
    assert isinstance(last, events.TurnCompleted)
    assert last.report.answer.endswith("The end.")


def test_another_process_sees_the_unfinished_answer(zkchat: Program, tmp_path: Any) -> None:
    script = tmp_path / "script.jsonl"
    script.write_text(json.dumps({"deltas": [BLOCK] * 30}) + "\n")
    done = zkchat("ask", "How do I clean the pump?", "--model", f"scripted/{script}", "--json")
    assert (done.exit_status, done.json["finish_reason"]) == (0, "cancelled")
    assert "so the answer was stopped" in done.err
    exported = zkchat("context", "export", "--format", "json").json["messages"][-1]
    assert (exported["status"], exported["content"]) == ("unfinished", BLOCK * 4)
