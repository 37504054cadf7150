"""Notes that say how far they can be trusted: the Open Knowledge Format, stamps, and what is shown
of both.
"""

import re
from datetime import UTC, datetime
from pathlib import Path

import open_knowledge_format
import pytest
import yaml
from conftest import Program
from factories import AppFixture, report_of
from hypothesis import example, given
from hypothesis import strategies as st
from slash_results import slash_output

from zkchat_cli.citations.verify_text import verify_text
from zkchat_cli.errors import VaultError
from zkchat_cli.text.words import normalize_line_ends
from zkchat_cli.vault.edit.note_stamps import NoteStamps
from zkchat_cli.vault.edit.stamp_writer import write_stamp
from zkchat_cli.vault.knowledge_format import (
    Stamp,
    StampedSource,
    describe_outdated,
    read_trust_fields,
    text_digest,
)
from zkchat_cli.vault.vault import Vault
from zkchat_cli.vault.yaml_tree import parse_yaml

STAMP = Stamp("2026-11-30T12:00:00+00:00", 2, "ab" * 8, (StampedSource("a: b.md", "cd" * 8),))


def now() -> datetime:
    return datetime(2026, 11, 30, 12, tzinfo=UTC)


OURS = "{ by: process:zkchat, at: 2026-01-01T00:00:00Z }"
OTHERS = "{ by: process:nightly, at: 2026-01-01T00:00:00Z }"
HEAP = "needs air, water and patience"


# writing a stamp


def stamps_and_others(verified: object) -> tuple[list[object], list[object]]:
    """The entries of `verified`, which may be one without a list."""
    events = [verified] if isinstance(verified, dict) else verified or []
    assert isinstance(events, list)
    stamps = [each for each in events if each["by"] == "process:zkchat"]
    return stamps, [each for each in events if each not in stamps]


@pytest.mark.parametrize(
    "verified",
    [
        "",
        "verified:\n",
        "verified: # not yet\n",
        "verified: []\n",
        "verified: { by: human:ann, at: 2026-06-25T09:00:00Z } # by phone\n",
        "verified: [{ by: human:ann, at: 2026-06-25T09:00:00Z }, ]\n",
        "verified:\n  by: human:ann\n# by phone\n  at: 2026-06-25T09:00:00Z\n",
        "verified:\n- by: human:ann\n  at: 2026-06-25T09:00:00Z\n\n",
        "verified:\n    - { by: human:ann, at: 2026-06-25T09:00:00Z }\n    # and soon Bob\n",
        f"verified:\n  -\n    by: process:zkchat\n    at: 2026\n  - {OTHERS}\n",
        f"verified: {OURS}\n",
        f"verified: [{{ by: human:ann, at: 2026-06-25T09:00:00Z }}, {OURS}]\n",
        "verified:\n  by: process:zkchat\n  at: 2026-01-01T00:00:00Z\n",
    ],
)
@pytest.mark.parametrize("after", ["", "notes: |\n  two\n  lines\ntags: [a,\n  b]\n"])
def test_a_stamp_is_added_and_everything_else_stays(verified: str, after: str) -> None:
    before = yaml.safe_load(f"title: x\n{verified}{after}")
    text = f"---\ntitle: x\n{verified}{after}---\n# Body\r\nmixed\n"
    stamped = write_stamp("n.md", text, STAMP)
    front, body = stamped.removeprefix("---\n").split("---\n", 1)
    assert body == "# Body\r\nmixed\n"
    fields = yaml.safe_load(front)
    stamps, others = stamps_and_others(fields.pop("verified"))
    assert others == stamps_and_others(before.pop("verified", None))[1]
    assert fields == before
    assert len(stamps) == 1
    assert read_trust_fields(stamped).stamp == STAMP
    # Comments stay, too
    assert re.findall("#.*", stamped) == re.findall("#.*", text)


@pytest.mark.parametrize(
    "front",
    [
        "a: [",
        "{ a: b }",
        "verified: yes",
        "a: b\nverified: []\nverified: []",
    ],
)
def test_front_matter_in_another_form_is_refused(front: str) -> None:
    with pytest.raises(VaultError, match=r"n\.md is not stamped"):
        write_stamp("n.md", f"---\n{front}\n---\nText\n", STAMP)


@example("---\na: 1\n---\n")
@given(st.text(alphabet="ab:-{}[] \n\r#'\"&*|>\x85", max_size=60))
def test_whatever_a_note_is_only_its_front_matter_gets_longer(text: str) -> None:
    try:
        stamped = write_stamp("n.md", text, STAMP)
    except VaultError:
        return
    read = normalize_line_ends(stamped)
    assert text_digest(read) == text_digest(normalize_line_ends(text))
    assert read_trust_fields(read).stamp == STAMP


def test_yaml_that_is_nested_too_deep_is_refused() -> None:
    with pytest.raises(ValueError, match="more than 20"):
        parse_yaml("a: " + "[" * 50_000)


def stamps_of(notes: Vault) -> NoteStamps:
    return NoteStamps.of(notes)


@pytest.mark.parametrize(
    "written",
    [
        b"A heap \xe2\x80\x9cneeds air\xe2\x80\x9d.",
        b"\xef\xbb\xbf---\r\nverified: { by: human:ann, at: 2026-06-25 }\r\n---\r\nText\n",
        b"---\ntags: a\n...\nText\r\nmixed\n",
    ],
)
def test_a_stamp_is_taken_back_to_the_byte(notes: Vault, written: bytes) -> None:
    file = notes.root / "Draft.md"
    file.write_bytes(written)
    notes.refresh()
    stamps = stamps_of(notes)
    for time in ("2026-11-30T12:00:00Z", "2026-12-01T12:00:00Z"):
        stamps.stamp("Draft.md", file.read_bytes(), 1, ["Garden/Compost.md"], time)
    text = notes.reader.read("Draft.md")
    assert read_trust_fields(text).stamp is not None
    assert describe_outdated(text, notes.reader.read_if_there, now) is None
    stamps.undo("Draft.md")
    assert b"2026-11-30T12:00:00Z" in file.read_bytes()
    # The text may have been edited in the meantime
    file.write_bytes(file.read_bytes() + b"More.\n")
    stamps_of(notes).undo("Draft.md")
    assert file.read_bytes() == written + b"More.\n"
    with pytest.raises(VaultError, match="no stamp"):
        stamps.undo("Draft.md")


def test_a_stamp_in_edited_front_matter_is_left_alone(notes: Vault) -> None:
    file = notes.root / "Draft.md"
    file.write_text("Text\n")
    notes.refresh()
    stamps_of(notes).stamp("Draft.md", b"Text\n", 1, [], "2026-11-30T12:00:00Z")
    edited = file.read_text().replace("quotations: 1", "quotations: 2")
    file.write_text(edited)
    with pytest.raises(VaultError, match="has changed since it was stamped"):
        stamps_of(notes).undo("Draft.md")
    assert file.read_text() == edited


# what a note says of itself


@pytest.mark.parametrize(
    ("front", "reason"),
    [
        ("stale_after: 2026-11-30", "stale since 2026-11-30"),
        ("stale_after: 2026-11-30T12:00:00Z", "stale since 2026-11-30"),
        ("stale_after: 2026-11-30T12:00:00-01:00", None),
        ("stale_after: soon", None),
        ("status: deprecated", "deprecated"),
        ("status: draft", None),
        (
            "generated: { by: human:a, at: 2026-02-02 }\nverified: { by: human:a, at: 2026-01-01 }",
            "changed since it was verified on 2026-01-01",
        ),
        (
            "generated: { by: human:a, at: 2026-01-01 }\nverified: { by: human:a, at: 2026-02-02 }",
            None,
        ),
        ("verified: [[[stale_after", None),
    ],
)
def test_what_a_note_says_of_itself(front: str, reason: str | None) -> None:
    assert describe_outdated(f"---\n{front}\n---\nText\n", lambda _: None, now) == reason


def test_a_changed_text_and_a_changed_source_are_told() -> None:
    source = StampedSource("S.md", text_digest("Source"))
    stamp = Stamp("2026-11-01T12:00:00Z", 1, text_digest("Text\n"), (source,))
    note = write_stamp("n.md", "Text\n", stamp)
    assert describe_outdated(note, lambda _: "---\nnew: field\n---\nSource", now) is None
    changed = "its source S.md changed since it was verified on 2026-11-01"
    assert describe_outdated(note, lambda _: "Other", now) == changed
    assert describe_outdated(note, lambda _: None, now) == changed
    assert describe_outdated(f"{note}More", lambda _: "Source", now) == (
        "changed since it was verified on 2026-11-01"
    )


# the format


def test_a_saved_answer_conforms_to_the_format_and_can_be_verified_again(app: AppFixture) -> None:
    compost = app.vault.root / "Garden/Compost.md"
    stale = f"---\nstale_after: 2030-01-31\n---\n{compost.read_text()}"
    compost.write_text(stale)
    app.vault.refresh()
    session = app.session()
    report_of(session.send("When is a compost heap ready?"))
    assert (
        slash_output("/save --okf --yes Answer", session)
        == "Saved as Answer.md; 2 quotations verified"
    )
    text = app.vault.reader.read("Answer.md")
    assert open_knowledge_format.problems(text) == []
    fields = yaml.safe_load(text.split("---\n")[1])
    [source] = fields["sources"]
    assert (source["id"], source["resource"]) == ("compost", "/Garden/Compost.md")
    assert fields["status"] == "draft"
    assert fields["stale_after"] == "2030-01-31T00:00:00+00:00"
    assert fields["verified"][0]["by"] == "process:zkchat"
    found = verify_text(text, app.vault)
    assert [each.found.verdict for each in found] == ["verified", "verified"]
    assert {each.named for each in found} == {("Garden/Compost.md",)}
    elsewhere = text.replace("/Garden/Compost.md", "/Filters.md")
    assert {each.found.verdict for each in verify_text(elsewhere, app.vault)} == {"misattributed"}
    # Not over the note, and a wrong date is told before anything is asked
    assert slash_output("/save --okf --stale-after=9d --yes Second", session).startswith("Saved")
    second = yaml.safe_load(app.vault.reader.read("Second.md").split("---\n")[1])
    assert second["stale_after"] == "2025-05-17T12:00:00+00:00"


def test_an_exported_conversation_conforms_to_the_format(app: AppFixture) -> None:
    session = app.session()
    report_of(session.send("When is a compost heap ready?"))
    report_of(session.send("What is a filter?"))
    slash_output(f"/export okf {app.vault.root}/talk.md", session)
    text = (app.vault.root / "talk.md").read_text()
    assert open_knowledge_format.problems(text) == []
    fields = yaml.safe_load(text.split("---\n")[1])
    assert [source["id"] for source in fields["sources"]] == ["compost", "filters"]
    assert [event["by"] for event in fields["verified"]] == ["process:zkchat"]
    assert "[^compost]" in text and "[^filters]:" in text


# the chat and the command


def test_a_stale_source_is_told_beside_its_verdict(app: AppFixture) -> None:
    session = app.session()
    compost = app.vault.root / "Garden/Compost.md"
    body = compost.read_text()
    compost.write_text(f"---\nstale_after: 2025-05-08\n---\n{body}")
    report = report_of(session.send("When is a compost heap ready?"))
    assert [each.outdated for each in report.citations] == ["stale since 2025-05-08"]
    assert "✓ [[Compost]] (stale since 2025-05-08)" in slash_output("/sources", session)
    compost.write_text(f"---\nstatus: deprecated\n---\n{body}")
    assert "✓ [[Compost]] (deprecated)" in slash_output("/sources", session)
    [stored] = app.reopen(session).history[-1].citations
    assert stored.outdated == "stale since 2025-05-08"
    # As it was when the answer was given
    for format_ in ("md", "html"):
        file = app.vault.root / f"talk.{format_}"
        slash_output(f"/export {format_} {file}", session)
        assert "(stale since 2025-05-08)" in file.read_text()


def test_the_command_stamps_a_note_and_tells_of_changes_since(zkchat: Program) -> None:
    draft = zkchat.vault / "Draft.md"
    draft.write_text(f"A heap “{HEAP}”.\n")
    done = zkchat("verify", draft, "--stamp", "--json")
    assert (done.exit_status, done.json["stamped"]) == (0, True)
    assert draft.read_text().endswith(f"---\nA heap “{HEAP}”.\n")
    compost = zkchat.vault / "Garden/Compost.md"
    compost.write_text(f"{compost.read_text()}Turn it twice.\n")
    [quotation] = zkchat("verify", draft, "--json").json["quotations"]
    assert quotation["verdict"] == "verified"
    assert quotation["outdated"].startswith("changed since the stamp of 20")
    # What does not hold is not stamped, and the old stamp stays
    compost.write_text("# Compost\n\nA compost heap needs air and patience.\n")
    before = draft.read_bytes()
    failed = zkchat("verify", draft, "--stamp")
    assert (failed.exit_status, draft.read_bytes()) == (1, before)
    assert "Not stamped: not every quotation holds" in failed.out
    assert zkchat("verify", draft, "--undo").exit_status == 0
    assert draft.read_text() == f"A heap “{HEAP}”.\n"


def test_only_a_note_of_the_vault_can_be_stamped(zkchat: Program, tmp_path: Path) -> None:
    outside = tmp_path / "outside.md"
    outside.write_text(f"“{HEAP}”")
    for file in (outside, "-"):
        refused = zkchat("verify", file, "--stamp", stdin=f"“{HEAP}”")
        assert refused.exit_status == 2
        assert "is no note of" in refused.err
    assert outside.read_text() == f"“{HEAP}”"
