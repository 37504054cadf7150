"""Summaries of notes by a model: `references.summaries = "model"`."""

import re
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from conftest import Program, write_notes
from factories import AppFixture, DeltaModel, reply, report_of
from model_server import ModelServer, Reply, openai_text
from terminal_screen import Chat

from zkchat_cli.chat.document_summarizer import DocumentSummarizer, parse_summary
from zkchat_cli.config.schema import Config, ReferenceSettings
from zkchat_cli.errors import ProviderError
from zkchat_cli.llm.base import Delta, Model, Request, StreamFailed
from zkchat_cli.models.messages import TokenUsage
from zkchat_cli.references.document_summaries import DocumentSummaryService
from zkchat_cli.references.summary_cache import MOST_RECORDS, SummaryCache, WrittenSummary

REQUEST = "What is the note below about?"
BY_MODEL = Config(references=ReferenceSettings(summaries="model"))
ROOF = "# Roof\n\nOn Monday we met. " + "The slates of the roof are from 1911. " * 10
FIRST_LINE = "On Monday we met. The slates of the roof are from 1911."
SENTENCE = "Age of the slates on the roof."
DESCRIBED = f"---\ndescription: All about the roof.\n---\n{ROOF}"


def wait_until(holds: Callable[[], bool]) -> None:
    deadline = time.monotonic() + 20
    while not holds():
        assert time.monotonic() < deadline
        time.sleep(0.005)


def finish_threads() -> None:
    for thread in threading.enumerate():
        if thread.name == "summaries of notes":
            thread.join(20)


class Writing:
    """A summarizer, its service and its cache, with a model."""

    def __init__(
        self, app: AppFixture, model: Model, settings: Config = BY_MODEL, file: Path | None = None
    ) -> None:
        write_notes(app.vault.root, {"Roof.md": ROOF})
        self.model = model
        self.cache = SummaryCache(file)
        self.services = app.services(summary_cache=self.cache)
        self.runtime = app.runtime(model, settings=settings)
        self.service = DocumentSummaryService(app.vault, self.cache)
        self.summarizer = DocumentSummarizer(self.services, idle_seconds=0)

    def summary(self, path: str = "Roof.md") -> str | None:
        """The summary after a pause in which the model could write."""
        self.service.summary(path)
        self.summarizer.resume(self.runtime, self.service)
        finish_threads()
        return self.service.summary(path)


@pytest.fixture
def model() -> DeltaModel:
    return DeltaModel(calls=[reply(f'"{SENTENCE}"\n\nI hope this helps.')])


def test_the_model_writes_a_sentence_that_another_process_finds(
    app: AppFixture, model: DeltaModel, tmp_path: Path
) -> None:
    file = tmp_path / "new" / "summaries.jsonl"
    writing = Writing(app, model, file=file)
    before = writing.service.summary("Roof.md")
    assert before is not None and before.startswith("On Monday we met.")
    assert writing.summary() == SENTENCE
    [request] = model.requests
    assert "The slates of the roof" in request.messages[0].content
    assert DocumentSummaryService(app.vault, SummaryCache(file)).summary("Roof.md") == SENTENCE
    assert SummaryCache(file).cost.calls == 1
    assert file.stat().st_mode & 0o777 == 0o600
    write_notes(app.vault.root, {"Roof.md": ROOF + "More."})
    changed = DocumentSummaryService(app.vault, SummaryCache(file)).summary("Roof.md")
    assert changed == before


@pytest.mark.parametrize(
    "text",
    [DESCRIBED, ROOF.replace("\n\n", "\n\nSummary: About slates.\n\n", 1), "# Roof\n\nIt leaks."],
    ids=["described", "with a line of summary", "short"],
)
def test_no_call_is_made_for_a_note_that_says_what_it_is_about(
    app: AppFixture, model: DeltaModel, text: str
) -> None:
    writing = Writing(app, model)
    write_notes(app.vault.root, {"Other.md": text})
    assert writing.summary("Other.md") is not None
    assert model.requests == []


def test_no_call_is_made_unless_the_setting_wants_it(app: AppFixture, model: DeltaModel) -> None:
    assert Writing(app, model, Config()).summary() != SENTENCE
    assert model.requests == []


def test_a_useless_answer_is_asked_for_twice_and_counted(app: AppFixture) -> None:
    model = DeltaModel(calls=[reply("A roof of 1999.")])
    writing = Writing(app, model)
    for _ in range(4):
        writing.service.forget("Roof.md")
        assert writing.summary() != "A roof of 1999."
    assert len(model.requests) == 2
    calls, usage = writing.cache.cost
    assert calls == 2
    assert usage.prompt_tokens > 200
    assert usage.estimated


def test_a_turn_stops_the_call_and_the_next_pause_makes_it_again(app: AppFixture) -> None:
    called = threading.Event()
    go_on = threading.Event()

    def answer(_: Request) -> list[Delta]:
        if not called.is_set():
            called.set()
            go_on.wait(20)
            raise KeyboardInterrupt
        return reply(SENTENCE)

    writing = Writing(app, DeltaModel(answer=answer))
    writing.service.summary("Roof.md")
    writing.summarizer.resume(writing.runtime, writing.service)
    called.wait(20)
    writing.summarizer.pause()
    go_on.set()
    finish_threads()
    assert writing.cache.cost.calls == 1
    assert writing.summary() == SENTENCE
    assert writing.cache.cost.calls == 2


def test_a_server_that_fails_is_told_once(app: AppFixture) -> None:
    refusal = ProviderError("connection", "the server is down", "Start it.")
    model = DeltaModel(calls=[[StreamFailed(refusal)], [StreamFailed(refusal)], reply(SENTENCE)])
    writing = Writing(app, model)
    assert writing.summary() != SENTENCE
    [notice] = writing.services.faults.take_notices()
    assert "no model summarizes notes now" in notice.message
    assert "the server is down" in notice.message
    writing.summary()
    assert writing.services.faults.take_notices() == []
    assert writing.summary() == SENTENCE
    assert writing.cache.cost.calls == 1


@pytest.mark.parametrize(
    ("answer", "summary"),
    [
        ("\n\n**Age** of the [slates](x.md).\nAnd more.", "Age of the slates."),
        ("“Age of the slates.”", "Age of the slates."),
        ("word " * 100, "word " * 19 + "word…"),
        ("***", ""),
    ],
)
def test_a_summary_is_one_short_line(answer: str, summary: str) -> None:
    assert parse_summary(answer) == summary


@pytest.mark.untraced
def test_the_file_is_bounded_and_forgets_no_cost(tmp_path: Path) -> None:
    file = tmp_path / "summaries.jsonl"
    cache = SummaryCache(file)
    usage = TokenUsage(prompt_tokens=2, completion_tokens=1)
    written = int(MOST_RECORDS * 1.1) + 1
    for number in range(written):
        cache.add(WrittenSummary(str(number), f"Text {number}", usage=usage))
    reloaded = SummaryCache(file)
    assert len(file.read_text().splitlines()) == MOST_RECORDS + 1
    assert reloaded.find("0") is None
    assert reloaded.find(str(written - 1)) == f"Text {written - 1}"
    assert reloaded.cost.calls == written
    assert reloaded.cost.usage.prompt_tokens == 2 * written


def test_a_damaged_line_costs_only_itself(tmp_path: Path) -> None:
    file = tmp_path / "summaries.jsonl"
    SummaryCache(file).add(WrittenSummary("a", "Text of a"))
    with file.open("ab") as out:
        out.write(b'{"key": 5}\n\xff\n[]\n{"key": "b", "te')
    assert SummaryCache(file).find("a") == "Text of a"
    other = SummaryCache(file)
    SummaryCache(file).add(WrittenSummary("c", "\nText of c"))
    assert other.find("a") == "Text of a"


# as a user meets it


def test_a_chat_summarizes_in_a_pause_and_the_next_program_shows_it(
    zkchat: Program, server: ModelServer
) -> None:
    write_notes(zkchat.vault, {"Roof.md": ROOF})
    zkchat.env |= {
        "OPENAI_BASE_URL": f"{server.address}/v1",
        "OPENAI_API_KEY": "key",
        "ZKCHAT_REFERENCES__SUMMARIES": "model",
    }
    model = ("--model", "openai/gpt-4.1-nano")

    def answer(_: str, body: dict[str, Any]) -> Reply:
        asked = body["messages"][-1]["content"]
        return Reply(openai_text(SENTENCE if asked.startswith(REQUEST) else "It is old."))

    server.compute = answer
    done = zkchat("ask", "How old is [[Roof]]?", "--json", *model).json
    assert done["references"][0]["summary"].startswith("On Monday we met.")
    assert len(server.asked) == 1, "a single question makes no further call"
    with Chat(zkchat, *model) as chat:
        chat.ask("How old is [[Roof]]?", "It is old.")
        wait_until(lambda: len(server.asked) == 3)
        chat.wait_until(lambda: "1 call" in zkchat("context", "stats", *model).out, "the cost")
        chat.ask("/refs", SENTENCE)
    done = zkchat("ask", "And [[Roof]]?", "--json", *model).json
    assert done["references"][0]["summary"] == SENTENCE
    assert SENTENCE in server.asked[-1][1]["messages"][1]["content"]
    stats = zkchat("context", "stats", *model)
    assert re.search(r"Summaries of notes by the model: 1 call \(~\d+ tokens in", stats.out)
    assert zkchat("context", "stats", "--json", *model).json["document_summaries"]["calls"] == 1
    zkchat.env["ZKCHAT_REFERENCES__SUMMARIES"] = "author"
    assert "Summaries of notes" not in zkchat("context", "stats", *model).out
    assert "document_summaries" not in zkchat("context", "stats", "--json", *model).json


def test_a_session_lets_its_turns_notes_be_summarized(app: AppFixture, model: DeltaModel) -> None:
    write_notes(app.vault.root, {"Roof.md": ROOF})
    app.vault.refresh()
    session = app.session(model, settings=BY_MODEL)
    report_of(session.send("How old is [[Roof]]?"))
    wait_until(lambda: len(model.requests) == 2)
    finish_threads()
    assert session.summaries.summary("Roof.md") == SENTENCE
    report_of(session.send("And [[Roof]]?"))
    assert session.history[2].references[0].summary == SENTENCE
