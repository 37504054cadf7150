"""What one process has prepared for later (previews, summaries and the turns they quote, counts of
tokens, tools on offer), another process uses as the same process would.

For vectors see test_recall_by_meaning.py and test_builtin_embedder.py, for the index
test_vault_processes.py, for turns that are not stored yet test_turn_recorder.py.
"""

import json
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pytest
from conftest import Program
from factories import make_compaction
from model_server import ModelServer, Reply, openai_calls, openai_text, running_server

from zkchat_cli.chat.compaction_preview import made_fields
from zkchat_cli.models.compaction import Compaction
from zkchat_cli.summarization.prompt import INSTRUCTIONS

MODEL = ("--model", "openai/m")
SUMMARY = "The user moves things between shelves."
TURNS = 6


def use_server(zkchat: Program, server: ModelServer) -> None:
    """Let the program call the model of this server."""
    zkchat.env |= {"OPENAI_BASE_URL": f"{server.address}/v1", "OPENAI_API_KEY": "k"}


def is_for_summary(body: dict[str, Any]) -> bool:
    first, *_ = body["messages"]
    return bool(first["content"].startswith(INSTRUCTIONS))


def summaries_asked(server: ModelServer) -> int:
    """How many summaries the model was asked for."""
    return sum(map(is_for_summary, server.bodies))


def answer(_path: str, body: dict[str, Any]) -> Reply:
    """A model that notes what it is told, and counts its prompts as another tokenizer would."""
    text = "Noted. Is there anything else that I should keep in mind for you?"
    if is_for_summary(body):
        text = f"<conversation-summary>{SUMMARY}</conversation-summary>"
    counts = {"prompt_tokens": len(json.dumps(body)) // 3, "completion_tokens": 12}
    return Reply(openai_text(text, usage=counts))


def statement(number: int) -> str:
    reason = "the carpenter wants it to be within reach of the bench by the window"
    return f"On day {number} I moved thing{number} to shelf {number * 7}, because {reason}."


@pytest.fixture
def talk(zkchat: Program, server: ModelServer) -> str:
    """A conversation of some turns with the server's model; its id."""
    server.compute = answer
    use_server(zkchat, server)
    said = "\n".join(statement(number) for number in range(1, TURNS + 1))
    assert zkchat("chat", *MODEL, stdin=said).exit_status == 0
    [stored] = zkchat("sessions", "list", "--json").json
    conversation: str = stored["id"]
    return conversation


def preview_by_command(zkchat: Program, talk: str) -> str:
    summary: str = zkchat("context", "compact", talk, "--preview", "--json", *MODEL).json["summary"]
    return summary


def preview_in_chat(zkchat: Program, talk: str) -> str:
    done = zkchat("chat", "--resume", talk, *MODEL, stdin="/compact preview\n")
    assert "Would summarize" in done.out
    return SUMMARY


def compact_by_command(zkchat: Program, talk: str) -> str:
    return zkchat("context", "compact", talk, *MODEL).out


def compact_in_chat(zkchat: Program, talk: str) -> str:
    return zkchat("chat", "--resume", talk, *MODEL, stdin="/compact\n").out


@pytest.mark.parametrize(
    ("preview", "compact"),
    [(preview_by_command, compact_in_chat), (preview_in_chat, compact_by_command)],
)
def test_a_compaction_after_the_preview_of_another_process_is_stored(
    zkchat: Program,
    server: ModelServer,
    talk: str,
    preview: Callable[[Program, str], str],
    compact: Callable[[Program, str], str],
) -> None:
    before = zkchat("context", "show", talk, "--json", *MODEL).json
    assert preview(zkchat, talk).startswith(SUMMARY)
    # A preview changes nothing
    assert zkchat("context", "show", talk, "--json", *MODEL).json == before
    assert zkchat("context", "summary", talk, "--json").json == []
    out = compact(zkchat, talk)
    assert "Summarized " in out
    assert "no further call" in out
    assert summaries_asked(server) == 1
    [stored] = zkchat("context", "summary", talk, "--json").json
    assert stored["summary"].startswith(SUMMARY)
    assert not stored["undone"]
    assert not stored["preview"]
    after = zkchat("context", "show", talk, "--json", *MODEL).json
    assert after["usage"]["total_tokens"] == stored["tokens_after"]
    assert stored["tokens_after"] < before["usage"]["total_tokens"] == stored["tokens_before"]
    [exported] = zkchat("context", "export", talk, "--format", "json").json["compactions"]
    assert not exported["undone"]
    assert zkchat("context", "compact", "--undo", talk, *MODEL).exit_status == 0
    assert zkchat("context", "show", talk, "--json", *MODEL).json == before


def test_a_preview_in_the_chat_shows_the_summary(zkchat: Program, talk: str) -> None:
    done = zkchat("chat", "--resume", talk, *MODEL, stdin="/compact preview\n")
    assert SUMMARY in done.out


def test_a_preview_is_not_used_after_another_turn(
    zkchat: Program, server: ModelServer, talk: str
) -> None:
    preview_by_command(zkchat, talk)
    zkchat("ask", "--cid", talk, statement(TURNS + 1), *MODEL)
    assert "no further call" not in compact_by_command(zkchat, talk)
    assert summaries_asked(server) == 2
    assert len(zkchat("context", "summary", talk, "--json").json) == 1


def test_a_compaction_from_a_preview_has_the_figures_of_its_own_moment(
    zkchat: Program, talk: str
) -> None:
    preview_by_command(zkchat, talk)
    # Project memory is in each prompt, but no summary depends on it
    (zkchat.vault / "ZKCHAT.md").write_text("The shelves are numbered from the left.\n" * 20)
    compact_by_command(zkchat, talk)
    [stored] = zkchat("context", "summary", talk, "--json").json
    usage = zkchat("context", "stats", talk, "--json", *MODEL).json
    assert stored["tokens_after"] == usage["total_tokens"]


def test_each_field_of_a_compaction_is_taken_from_its_preview_or_its_own() -> None:
    own = (
        *("id", "created_at", "made_after", "tokens_before", "tokens_after", "instructions"),
        *("preview", "previewed", "requested", "state", "undone"),
    )
    made = make_compaction("So far", "a1")
    assert {*made_fields(made), *own} == {*Compaction.model_fields}


# one process or many


def searching_answer(path: str, body: dict[str, Any]) -> Reply:
    """A model that first looks for something in each turn."""
    *_, last = body["messages"]
    if body.get("tools") and last["role"] == "user" and "thing" in last["content"]:
        number = len(body["messages"])
        call = (f"call-{number}", "find_excerpts", json.dumps({"query": "tasks to see"}))
        return Reply(openai_calls(call))
    return answer(path, body)


def failing_summary(path: str, body: dict[str, Any]) -> Reply:
    """A model that writes no summaries, so that zkchat extracts them."""
    if is_for_summary(body) or "conversation-summary" in body["messages"][0]["content"]:
        return Reply(openai_text("I would rather not."))
    return answer(path, body)


LONG = 10


def requests_of(
    program: Program, compute: Callable[[str, dict[str, Any]], Reply], *runs: Sequence[str]
) -> list[dict[str, Any]]:
    """What a new conversation sends to a model, the messages of each run in a process of its
    own.
    """
    program.env["ZKCHAT_CONTEXT__MAX_TOKENS"] = "2200"
    with running_server() as server:
        server.compute = compute
        use_server(program, server)
        for number, run in enumerate(runs):
            resumed = ["--continue"] if number else []
            done = program("chat", *resumed, *MODEL, stdin="\n".join(run))
            assert done.exit_status == 0, done.err
        return server.bodies


@pytest.mark.parametrize("compute", [searching_answer, failing_summary])
def test_many_processes_send_what_one_process_sends(
    zkchat: Program, tmp_path: Path, compute: Callable[[str, dict[str, Any]], Reply]
) -> None:
    said = [f"{statement(number)} [[Filters]]" for number in range(1, LONG + 1)]
    by_one = requests_of(zkchat, compute, said)
    other = Program(zkchat.vault, tmp_path / "other home")
    by_many = requests_of(other, compute, *([each] for each in said))
    assert sum(map(is_for_summary, by_one)) > 1
    for one, many in zip(by_one, by_many, strict=True):
        assert one == many
