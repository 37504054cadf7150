"""What an imported conversation may claim: its verdicts are computed again, its control characters
reach no server, and its size is bounded.
"""

import json
from typing import Any

import pytest
from conftest import Program

NOW = "2025-05-08T12:00:00+02:00"
TRUE = "Write `limit 10` to see ten tasks at most."


def conversation(answer: str, **citation: Any) -> str:
    """An export whose author says that a quotation was verified."""
    claimed = {
        "number": 1,
        "relative_path": "Queries/Limiting.md",
        "start_line": 3,
        "end_line": 3,
        "valid": True,
        "verdict": "verified",
        "support": "supports",
        **citation,
    }
    talk = {"id": "c1", "vault": "/elsewhere", "created_at": NOW, "updated_at": NOW}
    question = {"id": "q1", "role": "user", "content": "How many?", "timestamp": NOW}
    told = {
        "id": "a1",
        "parent_id": "q1",
        "role": "assistant",
        "content": answer,
        "timestamp": NOW,
        "citations": [claimed],
    }
    return json.dumps(
        {
            "format": "zkchat-conversation",
            "version": 3,
            "conversation": {**talk, "head_id": "a1"},
            "messages": [question, told],
        }
    )


def imported(zkchat: Program, answer: str, **citation: Any) -> tuple[dict[str, Any], str]:
    """The first citation of the stored answer, and how a terminal lists it."""
    done = zkchat("context", "import", "--file", "-", stdin=conversation(answer, **citation))
    assert done.exit_status == 0, done.err
    stored = zkchat("context", "export", "c1", "--format", "json").json
    return stored["messages"][-1]["citations"][0], zkchat("sessions", "show", "c1").out


def test_a_quotation_that_the_note_has_is_verified(zkchat: Program) -> None:
    citation, shown = imported(zkchat, f'It says "{TRUE}" [1].', quote=TRUE)
    assert (citation["verdict"], citation["start_line"]) == ("verified", 3)
    assert "✓" in shown


def test_a_quotation_that_the_note_does_not_have_is_misquoted(zkchat: Program) -> None:
    words = "Tasks are never limited in this vault."
    citation, shown = imported(zkchat, f'It says "{words}" [1].', quote=words)
    assert citation["verdict"] == "misquoted"
    assert "✓" not in shown


def test_true_words_beside_a_false_answer_verify_nothing(zkchat: Program) -> None:
    _, shown = imported(zkchat, 'It says "Tasks are never limited in this vault." [1].', quote=TRUE)
    assert "✓" not in shown


@pytest.mark.parametrize("path", ["Gone.md", "../home/config.toml", "/etc/hostname"])
def test_a_quotation_of_a_note_that_is_not_here_is_not_checked(zkchat: Program, path: str) -> None:
    citation, shown = imported(zkchat, f'It says "{TRUE}" [1].', quote=TRUE, relative_path=path)
    assert (citation["verdict"], citation["remarks"]) == ("cited", ["not_checked"])
    assert "✓" not in shown and "its quotation was not checked here" in shown
    for format_ in ("md", "html"):
        page = zkchat("context", "export", "c1", "--format", format_).out
        assert "not checked here" in page


def test_control_characters_of_a_log_reach_no_server(zkchat: Program) -> None:
    talk = [
        {"role": "user", "content": "a\0b\x1b[2Jc\nd"},
        {
            "role": "assistant",
            "content": "",
            "tool_calls": [{"id": "1", "name": "x", "arguments": '{"a\\u0000": ["\\u0001"]}'}],
        },
        {"role": "tool", "tool_call_id": "1", "content": "\x07\x9bz"},
        {"role": "assistant", "content": "so\x08"},
    ]
    done = zkchat("context", "import", "--file", "-", "--json", stdin=json.dumps(talk)).json
    export = zkchat("context", "export", done["conversation_id"], "--format", "context").json
    texts = json.dumps(export, ensure_ascii=False)
    for code in ("\\u0000", "\\u0001", "\\u0007", "\\b", "\\u001b", "\x9b"):
        assert code not in texts, code
    assert "a␀b␛[2Jc\\nd" in texts
    # The log itself has what was said
    stored = zkchat("context", "export", done["conversation_id"], "--format", "json").json
    assert stored["messages"][0]["content"] == "a\0b\x1b[2Jc\nd"


def test_a_line_that_is_too_long_is_refused_with_its_size(zkchat: Program, tmp_path: Any) -> None:
    log = tmp_path / "s.jsonl"
    text = '{"type": "user", "uuid": "u", "message": {"content": "' + "a" * 20_000_000 + '"}}'
    log.write_text(text + "\n")
    done = zkchat("context", "import", "--from", "claude-code", log)
    assert done.exit_status == 2
    assert f"line 1 has {len(text):,} bytes" in done.err


def test_a_message_that_is_too_long_is_refused_with_its_size(zkchat: Program) -> None:
    talk = json.dumps([{"role": "user", "content": "a" * 20_000_001}])
    done = zkchat("context", "import", "--file", "-", stdin=talk)
    assert done.exit_status == 2
    assert "a message has 20,000,001 characters" in done.err
