"""Documents that /add keeps in each prompt until /drop takes them out."""

from pathlib import Path

from conftest import Program
from factories import AppFixture, DeltaModel, reply, report_of, run_turn
from slash_results import slash_error, slash_output

from zkchat_cli import slash
from zkchat_cli.events import Notice
from zkchat_cli.models.archive import ConversationArchive
from zkchat_cli.models.prompts import PromptMessage
from zkchat_cli.references.added_documents import AddedDocuments

COMPOST = "A compost heap needs air, water and patience."


def documents_of(model: DeltaModel) -> list[PromptMessage]:
    """The messages with documents in the last request."""
    return [each for each in model.requests[-1].messages if each.kind == "documents"]


def test_an_added_note_is_in_each_prompt_once_and_as_it_is_now(app: AppFixture) -> None:
    model = DeltaModel([reply("Yes.")])
    session = app.session(model)
    assert "Added [[Compost]]: " in slash_output("/add Compost", session)
    assert "is added already" in slash_output("/add [[Compost]]", session)
    compost = app.vault.root / "Garden/Compost.md"
    for number in range(3):
        compost.write_text(f"# Compost\n\n{COMPOST} Version {number}.\n")
        report_of(session.send("And now?"))
        [documents] = documents_of(model)
        assert f"Version {number}." in documents.content
        assert "Garden/Compost.md" in documents.source_ids
    assert slash_output("/drop compost.md", session).startswith("Dropped [[Compost]]")
    report_of(session.send("And now?"))
    assert documents_of(model) == []


def test_it_is_in_the_figures_of_the_next_prompt(app: AppFixture) -> None:
    session = app.session()
    before = session.usage
    slash_output("/add Compost", session)
    assert session.usage.message_breakdown["documents"] > 30
    assert session.usage.total_tokens > before.total_tokens
    assert session.prompt().usage == session.usage
    shown = slash_output("/context", session)
    assert "Added to each prompt" in shown and "[[Compost]]" in shown
    assert session.history == ()


def test_documents_outlast_the_process_and_the_undo_of_turns(app: AppFixture) -> None:
    session = app.session()
    slash_output("/add Compost", session)
    report_of(session.send("What does it need?"))
    slash_output("/add Filters", session)
    slash_output("/undo", session)
    again = app.reopen(session)
    assert again.conversation.documents == ("Garden/Compost.md", "Filters.md")
    assert COMPOST in again.prompt("What now?").messages[-2].content


def test_without_a_model_an_added_document_is_quoted_first_and_notes_are_searched(
    app: AppFixture, tmp_path: Path
) -> None:
    plan = tmp_path / "plan.txt"
    plan.write_text("The heap is ready after three weeks.\n")
    session = app.session()
    slash_output(f"/add {plan}", session)
    report = report_of(session.send("When is the compost heap ready?"))
    assert "three weeks" in report.answer and "nine months" not in report.answer
    assert report.citations[0].verdict == "verified"
    report = report_of(session.send("How many tasks does `limit 10` show?"))
    assert "Queries/Limiting.md" in {each.relative_path for each in report.citations}


def test_a_file_that_is_gone_is_told_and_the_question_is_answered(
    app: AppFixture, tmp_path: Path
) -> None:
    plan = tmp_path / "plan.txt"
    plan.write_text("Three weeks.")
    session = app.session()
    slash_output(f"/add {plan}", session)
    plan.unlink()
    report = report_of(session.send("When is a compost heap ready?"))
    assert "nine months" in report.answer
    assert "plan.txt is gone" in slash_output("/add", session)
    assert slash_output("/drop plan.txt", session).startswith("Dropped ")


def test_a_document_larger_than_the_window_is_sent_in_part(app: AppFixture, tmp_path: Path) -> None:
    large = tmp_path / "large.txt"
    large.write_text("\n\n".join(f"Line {n} is about tulips." for n in range(3000)))
    model = DeltaModel([reply("Yes.")])
    session = app.session(model)
    assert "more than the" in slash_output(f"/add {large}", session)
    events, _ = run_turn(session.send("What are tulips?"))
    told = [each.message for each in events if isinstance(each, Notice)]
    assert "large.txt went to the model" in told[0]
    assert sum(each.tokens for each in model.requests[-1].messages) < 32768
    assert documents_of(model)


def test_what_cannot_be_added_is_told(app: AppFixture, tmp_path: Path) -> None:
    session = app.session()
    assert "no note and no file" in slash_error("/add nothing here", session).message
    assert "no note and no file" in slash_error(f"/add {tmp_path}", session).message
    (tmp_path / "bytes.txt").write_bytes(b"\0\1\2")
    assert "is not a text file" in slash_error(f"/add {tmp_path}/bytes.txt", session).message
    assert session.conversation.documents == ()
    slash_output("/add Compost", session)
    assert "is not added" in slash_error("/drop x", session).message


def test_all_are_dropped_after_a_question(app: AppFixture) -> None:
    session = app.session()
    assert (
        slash_output("/drop", session) == "No document is added; /add FILE or /add NOTE adds one."
    )
    slash_output("/add Compost", session)
    slash_output("/add Filters", session)
    asked = slash.run("/drop", session)
    assert asked.question is not None and asked.question.text == "Drop 2 documents?"
    assert len(session.conversation.documents) == 2
    asked.question.run()
    assert session.conversation.documents == ()


def test_an_imported_conversation_adds_no_file(zkchat: Program, tmp_path: Path) -> None:
    zkchat("ask", "When is a compost heap ready?")
    exported = ConversationArchive.model_validate_json(
        zkchat("context", "export", "--format", "json").out
    )
    secret = tmp_path / "secret.txt"
    secret.write_text("4711")
    changed = exported.conversation.model_copy(update={"id": "c0ffee", "documents": (str(secret),)})
    file = tmp_path / "talk.json"
    file.write_text(exported.model_copy(update={"conversation": changed}).model_dump_json())
    zkchat("context", "import", "--file", file)
    listed = {each["id"]: each for each in zkchat("sessions", "list", "--json").json}
    assert all(each["documents"] == [] for each in listed.values())


def test_a_file_outside_the_notes_is_not_read_for_a_shared_conversation(
    app: AppFixture, tmp_path: Path
) -> None:
    secret = tmp_path / "secret.txt"
    secret.write_text("4711")
    shared = AddedDocuments((str(secret), "Filters.md"), app.vault, takes_outside=False)
    outside, note = shared.read(lambda _: None)
    assert outside.chunks == () and "on a server" in outside.warnings[0].message
    assert note.chunks
