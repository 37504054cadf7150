"""Unexpected errors: what only accompanies a turn never ends it, and what ends a turn ends no
chat.
"""

from dataclasses import replace
from pathlib import Path
from typing import Any, NamedTuple

import pytest
from conftest import Program
from factories import (
    AppFixture,
    DeltaModel,
    reply,
    run_turn,
    stored_log,
)
from terminal_screen import Chat
from test_tokenizer_files import replace_file, run_copy

from zkchat_cli.chat.fault_guard import FaultGuard
from zkchat_cli.chat.session import ZkChatSession
from zkchat_cli.context import strategies
from zkchat_cli.context.strategies.base import HistoryWindow, Selection
from zkchat_cli.errors import PromptTooLarge, StoreError
from zkchat_cli.events import Notice, TurnCompleted
from zkchat_cli.logging_setup import LOG_NAME

BOOM = "unexpected RuntimeError: boom"


class Faulty:
    """A service of which some methods raise, and the rest works: `Faulty(vault, "search")`, or
    `Faulty(vault, "reader.parse")` for a method of a part of it.
    """

    def __init__(self, real: object, *broken: str) -> None:
        self._real = real
        self._broken = broken

    def __getattr__(self, name: str) -> Any:
        if name in self._broken:
            return self._fail
        deeper = [each.partition(".")[2] for each in self._broken if each.startswith(f"{name}.")]
        value = getattr(self._real, name)
        return Faulty(value, *deeper) if deeper else value

    def _fail(self, *_: object, **__: object) -> Any:
        raise RuntimeError("boom")


class FaultCase(NamedTuple):
    """A service with a broken method, a question that needs it, and what the user is told."""

    service: str
    broken: str
    question: str
    told: str
    retrieval: str = "tools"


CASES = [
    FaultCase("vault", "refresh", "And?", "the notes are searched as they were before"),
    FaultCase("vault", "resolve_links", "[[Filters]]?", "message is sent without its documents"),
    FaultCase("vault", "reader.parse", "[[Filters]]?", "documents are listed without a summary"),
    FaultCase("vault", "search", "filters?", "without passages of your notes", "before"),
    FaultCase("vault", "link_name", "filters?", "documents of the answer are not", "before"),
    FaultCase("store", "facts.current", "And?", "the prompt has no memory"),
    FaultCase("store", "prompts.calibration", "And?", "token counts are not corrected"),
    FaultCase("store", "prompts.sent_for", "And?", "the tools are chosen anew"),
    FaultCase("external", "tools", "And?", "the tools of other programs are not offered"),
]


def notices_of(turn: Any) -> list[Notice]:
    events, last = run_turn(turn)
    assert isinstance(last, TurnCompleted), last
    return [event for event in events if isinstance(event, Notice)]


@pytest.mark.parametrize("case", CASES, ids=lambda case: f"{case.service}.{case.broken}")
def test_a_fault_in_what_accompanies_a_turn_is_told_once(
    app: AppFixture, case: FaultCase, tmp_path: Path
) -> None:
    real = {"vault": app.vault, "store": app.store, "external": object()}[case.service]
    log = tmp_path / "zkchat.log"
    services: dict[str, Any] = {
        case.service: Faulty(real, case.broken),
        "faults": FaultGuard(lambda: log),
    }
    if case.service == "external":
        services["external"] = Faulty(real, "tools", "take_notices")
    model = DeltaModel([reply("Yes.")])
    earlier = app.session(model)
    assert notices_of(earlier.send("Hello there.")) == []
    conversation = app.store.conversation(earlier.conversation.id)
    session = app.session(model, conversation, retrieval=case.retrieval, **services)

    first = notices_of(session.send(case.question))
    told = [notice for notice in first if case.told in notice.message]
    assert [notice.message.endswith(BOOM) for notice in told] == [True]
    assert told[0].hint.startswith("The chat continues.") and str(log) in told[0].hint
    again = notices_of(session.send(case.question))
    assert not [notice for notice in again if BOOM in notice.message]
    assert [status for _, status, _ in stored_log(session)] == ["complete"] * 6
    assert [text for role, _, text in stored_log(session) if role == "assistant"] == ["Yes."] * 3


def test_a_turn_is_answered_without_a_compaction_that_fails(app: AppFixture) -> None:
    model = DeltaModel([reply("Indeed, it is. " * 60)])
    store: Any = Faulty(app.store, "compact")
    session = app.session(model, store=store, max_context=3000)
    told: list[Notice] = []
    for turn in range(12):
        told += notices_of(session.send(f"Chatter number {turn}. " * 20))
    consequence = "the oldest turns may be left out of the prompt"
    assert [notice.message for notice in told] == [f"{consequence}: {BOOM}"]


def recalls_badly(window: HistoryWindow) -> Selection:
    """A choice of turns that fails as soon as it recalls."""
    if window.index_turns is not None:
        raise RuntimeError("boom")
    return strategies.strategy("discard").choose(window)


def test_a_prompt_without_recall_is_sent_if_recall_fails(app: AppFixture) -> None:
    runtime = app.runtime(DeltaModel([reply("Yes.")]))
    broken = runtime.strategy._replace(choose=recalls_badly)
    session = ZkChatSession(app.services(), replace(runtime, strategy=broken))
    told = notices_of(session.send("Is it so?"))
    assert [notice.message for notice in told] == [f"no earlier turns are recalled: {BOOM}"]


def test_a_message_that_is_too_large_is_no_fault_of_an_accompanying_step() -> None:
    guard = FaultGuard()
    with pytest.raises(PromptTooLarge), guard.contain("recall"):
        raise PromptTooLarge("the message needs 9 tokens")
    assert guard.take_notices() == []


def test_a_reader_that_is_gone_is_no_fault_of_the_figures() -> None:
    guard = FaultGuard()
    with pytest.raises(BrokenPipeError), guard.contain("figures"):
        raise BrokenPipeError
    assert guard.take_notices() == []


def test_a_known_problem_is_told_in_its_own_words() -> None:
    guard = FaultGuard()
    with guard.contain("calibration"):
        raise StoreError("the store is locked", "Wait.")
    assert guard.take_notices() == [
        Notice("token counts are not corrected: the store is locked", "Wait.")
    ]


# The whole program, with a defect in one of its files


class Defect(NamedTuple):
    """A function of a file that fails, and what the user is told."""

    file: str
    function: str
    told: str


DEFECTS = {
    "before the answer": [
        Defect("references/injection.py", "inject", "the message is sent without its documents"),
        Defect("memory/project.py", "find_active_notes", "the prompt has no memory"),
        Defect(
            "references/document_summaries.py",
            "summarize_document",
            "documents are listed without a summary",
        ),
    ],
    "after it": [
        Defect("references/documents.py", "merge_references", "documents of the answer are not"),
        Defect(
            "summarization/learning_points.py",
            "find_learning_points",
            "no learning points are kept",
        ),
        Defect("citations/verify.py", "verify_citations", "the citations of the answer are not"),
    ],
    "in what finds documents": [
        Defect(
            "references/mentions.py", "find_mentions", "the message is sent without its documents"
        ),
        Defect("views/sources.py", "source_lines", "some figures of the turn are missing"),
    ],
}
"""A start of a program with other files takes long, so each has several."""


@pytest.mark.parametrize("defects", DEFECTS.values(), ids=DEFECTS)
def test_a_chat_goes_on_after_defects(
    zkchat: Program, tmp_path: Path, defects: list[Defect]
) -> None:
    package = run_copy(zkchat, tmp_path / "copy")
    for defect in defects:
        file = package / defect.file
        broken = f"\n\ndef {defect.function}(*_, **__):\n    raise RuntimeError('boom')\n"
        replace_file(file, file.read_bytes() + broken.encode())
    question = "what is a filter in [[Filters]]?\n"

    done = zkchat("chat", stdin=question * 2)
    assert done.exit_status == 0
    assert [done.err.count(defect.told) for defect in defects] == [1] * len(defects), done.err
    assert done.err.count("boom") == len(defects) and "Traceback" not in done.err
    intact = Program(zkchat.vault, zkchat.home)
    stored = intact("context", "export", "--format", "json").json["messages"]
    answers = [each for each in stored if each["role"] == "assistant" and each["content"]]
    assert [each["status"] for each in answers] == ["complete"] * 2
    log = zkchat.home / "data" / LOG_NAME
    assert "RuntimeError: boom" in log.read_text() and str(log) in done.err


def test_a_chat_on_a_screen_goes_on_without_related_notes(zkchat: Program, tmp_path: Path) -> None:
    file = run_copy(zkchat, tmp_path / "copy") / "references/related_notes.py"
    broken = "\n\ndef offer_related(*_):\n    raise RuntimeError('boom')\n"
    replace_file(file, file.read_bytes() + broken.encode())
    with Chat(zkchat) as chat:
        chat.ask("what is a filter in [[Filters]]?", "no related notes are shown: unexpected")
        chat.ask("what does a filter say?", "Sources")
        assert chat.everything().count("boom") == 1


def test_a_defect_in_what_a_turn_needs_ends_it_and_loses_nothing(
    zkchat: Program, tmp_path: Path
) -> None:
    file = run_copy(zkchat, tmp_path / "copy") / "llm/offline/answer.py"
    text = file.read_text()
    replace_file(file, (text + "\n\nraise RuntimeError('boom')\n").encode())
    done = zkchat("ask", "what is a filter?")
    assert (done.exit_status, done.out) == (1, "")
    assert f"zkchat: {BOOM}" in done.err and "The message is stored." in done.err
    [stored] = zkchat("context", "export", "--format", "json").json["messages"]
    assert (stored["content"], stored["status"]) == ("what is a filter?", "failed")
