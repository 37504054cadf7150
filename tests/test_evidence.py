"""Below an answer without a source, zkchat shows what the notes say."""

import json
from pathlib import Path
from typing import Any

import pytest
from conftest import Program
from factories import AppFixture, DeltaModel, reply

from zkchat_cli import events
from zkchat_cli.acp.updates import sources_text
from zkchat_cli.exporters import html

QUESTION = "How often do I clean the filter of the pump?"
NOTE = (
    "# Pump\n\nThe filter of the pump is cleaned once a month.\n\n"
    "## History\n\nThe pump was bought in 2019, and its sand comes from the well.\n"
)
QUOTE = "The filter of the pump is cleaned once a month."


@pytest.fixture
def pump(zkchat: Program, tmp_path: Path) -> Program:
    """zkchat with a note that answers, and a model that makes answers up."""
    (zkchat.vault / "Garden").mkdir(exist_ok=True)
    (zkchat.vault / "Garden" / "Pump.md").write_text(NOTE)
    script = tmp_path / "script.jsonl"
    script.write_text(json.dumps({"text": "You never have to clean it."}) + "\n")
    zkchat.env |= {"ZKCHAT_MODEL": f"scripted/{script}", "ZKCHAT_RETRIEVAL__MODE": "before"}
    return zkchat


def evidence(zkchat: Program, *arguments: str) -> list[Any]:
    found = zkchat("ask", *arguments, "--json").json["evidence"]
    assert isinstance(found, list)
    return found


def test_the_best_sentences_are_added_stored_exported_and_marked(pump: Program) -> None:
    first, *others = evidence(pump, QUESTION)
    assert (first["quote"], first["relative_path"], first["start_line"]) == (
        QUOTE,
        "Garden/Pump.md",
        3,
    )
    assert (first["verdict"], first["found_by"], first["wikilink"]) == (
        "verified",
        "zkchat",
        "[[Pump]]",
    )
    assert len(others) <= 1
    shown = pump("sessions", "show").out
    assert f"Found by zkchat in your notes:\n  ✓ “{QUOTE}” [[Pump]]" in shown
    assert (
        f"*Found by zkchat in your notes:*\n\n- “{QUOTE}” [[Pump]]" in pump("context", "export").out
    )
    assert f'<q dir="auto">{QUOTE}</q>' in pump("context", "export", "--format", "html").out
    exported = pump("context", "export", "--format", "json").json["messages"][-1]
    assert exported["evidence"][0] == first
    printed = pump("ask", QUESTION).out
    assert printed.index("You never have to clean it.") < printed.index("Found by zkchat")
    assert "Found by zkchat" not in pump("ask", QUESTION, "--answer-only").out


@pytest.mark.parametrize(
    "text", ["hello", "thanks a lot!", "Write a poem about the pump.", "Who won in Berlin?"]
)
def test_small_talk_and_questions_about_other_things_get_none(pump: Program, text: str) -> None:
    assert evidence(pump, text) == []


def test_the_setting_and_the_model_decide(pump: Program, tmp_path: Path) -> None:
    pump.env["ZKCHAT_CHAT__EVIDENCE"] = "false"
    assert evidence(pump, QUESTION) == []
    # A model with tools gets none by default
    pump.env |= {"ZKCHAT_CHAT__EVIDENCE": "auto", "ZKCHAT_RETRIEVAL__MODE": "tools"}
    assert evidence(pump, QUESTION) == []
    pump.env["ZKCHAT_CHAT__EVIDENCE"] = "true"
    assert evidence(pump, QUESTION)[0]["quote"] == QUOTE
    pump.env["ZKCHAT_MODEL"] = "offline"
    assert evidence(pump, QUESTION) == []


def test_an_answer_with_a_source_needs_none(pump: Program, tmp_path: Path) -> None:
    script = tmp_path / "script.jsonl"
    script.write_text(json.dumps({"text": f"“{QUOTE}” [1]"}) + "\n")
    answered = pump("ask", QUESTION, "--json").json
    assert (answered["grounded"], answered["evidence"]) == (True, [])


def test_an_editor_shows_it_and_the_next_prompt_does_not_have_it(app: AppFixture) -> None:
    (app.vault.root / "Pump.md").write_text(NOTE)
    model = DeltaModel([reply("You never have to clean it.")])
    session = app.session(model)
    session.runtimes.override_setting("chat.evidence", "true")
    *_, last = session.send(QUESTION)
    assert isinstance(last, events.TurnCompleted)
    assert f"Found by zkchat in your notes:\n  ✓ “{QUOTE}” [[Pump]]" in sources_text(last.report)
    # As the window draws a turn
    assert f'<q dir="auto">{QUOTE}</q>' in html.turn_html(session.history, 1)
    [*_] = session.send("And an amplifier?")
    assert "Found by zkchat" not in repr(model.requests[-1])
