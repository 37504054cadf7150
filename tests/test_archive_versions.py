"""JSON exports of every version that zkchat has written are imported, for ever: the fixtures are
exports of the same conversation by the code of those versions.
"""

import itertools
import json
from pathlib import Path
from typing import Any

import pytest
from conftest import Program

from zkchat_cli.errors import UsageError
from zkchat_cli.importers import read_conversations
from zkchat_cli.models.archive import ConversationArchive

FIXTURES = Path(__file__).with_name("fixtures")
VERSIONS = ("v1", "v2", "v3-development", "v3")
WITH_PROMPTS = VERSIONS[1:]
QUESTIONS = (
    "When was the roof repaired?",
    "How often are the gutters of [[Roof]] cleaned?",
    "Is the garden ready?",
    "And the tree?",
)


def fixture_file(version: str) -> Path:
    return FIXTURES / f"conversation-{version}.json"


def read(data: bytes) -> ConversationArchive:
    fresh = itertools.count()
    kind, [archive] = read_conversations(
        data, vault="/notes", new_id=lambda: f"id{next(fresh)}", now="2025-05-08T12:00:00Z"
    )
    assert kind == "an export of zkchat"
    return archive


def changed(version: str, change: dict[str, Any]) -> bytes:
    """The export with other prompts."""
    document = json.loads(fixture_file(version).read_bytes())
    document["prompts"] |= change
    return json.dumps(document).encode()


@pytest.mark.parametrize("version", VERSIONS)
def test_an_export_of_this_version_is_read_whole(version: str) -> None:
    written = json.loads(fixture_file(version).read_bytes())
    archive = read(fixture_file(version).read_bytes())
    assert archive.conversation.title == "The roof and the garden"
    assert archive.conversation.head_id == written["conversation"]["head_id"]
    assert [m.id for m in archive.messages] == [m["id"] for m in written["messages"]]
    assert [m.content for m in archive.messages] == [m["content"] for m in written["messages"]]
    assert tuple(m.content for m in archive.messages if m.role == "user") == QUESTIONS
    [call] = archive.messages[1].tool_calls
    assert (call.name, call.arguments) == ("find_excerpts", {"query": "roof repaired"})
    [citation] = archive.messages[3].citations
    assert (citation.relative_path, citation.verdict, citation.valid) == (
        "Roof.md",
        "verified",
        True,
    )
    assert archive.messages[0].pinned
    [compaction] = archive.compactions
    assert "The roof was repaired in May 2024 by Miller & Sons." in str(compaction.summary)
    assert compaction.last_id in {message.id for message in archive.messages}


@pytest.mark.parametrize("version", VERSIONS)
def test_a_note_that_a_named_note_links_to_is_one_that_the_user_named(version: str) -> None:
    document = json.loads(fixture_file(version).read_bytes())
    [found] = document["messages"][3]["references"]
    found["reference_type"] = "link"
    [reference] = read(json.dumps(document).encode()).messages[3].references
    assert (reference.relative_path, reference.reference_type) == ("Roof.md", "direct")


@pytest.mark.parametrize("version", WITH_PROMPTS)
def test_the_prompts_in_an_export_of_this_version_are_written_out(version: str) -> None:
    archive = read(fixture_file(version).read_bytes())
    assert archive.prompts is not None
    log = {message.id: message.content for message in archive.messages}
    questions = [log[call.question_id] for call in archive.prompts.calls]
    assert questions == [QUESTIONS[0], *QUESTIONS]
    first, second, *_ = archive.prompts.calls
    sent = [archive.prompts.messages[n] for n in second.messages]
    assert [message.role for message in sent] == ["system", "user", "assistant", "tool"]
    assert sent[0].content.startswith("You answer questions about the user's own Markdown notes")
    assert [message.content for message in sent[1:]] == [m.content for m in archive.messages[:3]]
    assert [message.source_ids for message in sent[1:]] == [
        (message.id,) for message in archive.messages[:3]
    ]
    assert "find_excerpts" in {archive.prompts.tools[n].name for n in first.tools}
    assert first.figures.total_tokens > 0 and first.usage is not None


def test_an_export_of_version_1_has_no_prompts() -> None:
    assert read(fixture_file("v1").read_bytes()).prompts is None


@pytest.mark.parametrize("version", VERSIONS)
def test_the_program_imports_it_and_exports_it_as_it_is_now(zkchat: Program, version: str) -> None:
    imported = zkchat("context", "import", "--file", str(fixture_file(version)), "--json").json
    assert imported["messages"] == len(json.loads(fixture_file(version).read_bytes())["messages"])
    id_ = imported["conversation_id"]
    again = zkchat("context", "export", id_, "--format", "json").out.encode()
    archive = read(fixture_file(version).read_bytes())
    assert contents(read(again)) == contents(archive)
    [citation] = read(again).messages[3].citations
    # Its note is not in this vault
    assert (citation.verdict, citation.remarks) == ("cited", ("not_checked",))
    assert "And the tree?" in zkchat("sessions", "show", id_).out


def contents(archive: ConversationArchive) -> Any:
    """All of an archive but the verdicts on its citations, which an import decides anew."""
    return archive.model_dump(
        include={"messages", "compactions", "prompts"},
        exclude={"messages": {"__all__": {"citations"}}},
    )


@pytest.mark.parametrize(
    ("change", "problem"),
    [
        ({"calls": [{"question": 99, "messages": [], "tools": []}]}, "IndexError"),
        ({"calls": [{"question": 0, "messages": [[1, 0, 10**12]], "tools": []}]}, "more than"),
        ({"pieces": [{"sources": [], "content": [[7, 0, 1]]}]}, "IndexError"),
        ({"pieces": 7}, "TypeError"),
    ],
)
def test_prompts_of_version_2_that_contradict_themselves_are_refused(
    change: dict[str, Any], problem: str
) -> None:
    with pytest.raises(UsageError) as e:
        read(changed("v2", change))
    assert e.value.message.startswith("The export of version 2 is inconsistent: ")
    assert problem in e.value.message
    assert "Nothing was imported" in e.value.hint


def test_a_small_export_of_version_2_cannot_ask_for_any_number_of_words() -> None:
    document = json.loads(fixture_file("v2").read_bytes())
    document["messages"][0]["content"] = "x" * 10**6
    document["prompts"]["pieces"] = [{"sources": [0], "content": [[0, 0, 10**6]] * 600}]
    with pytest.raises(UsageError, match="its prompts have more than 500,000,000 characters"):
        read(json.dumps(document).encode())
