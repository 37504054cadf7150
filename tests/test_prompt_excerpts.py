"""The excerpts in a prompt as values, for providers that take them so."""

from factories import AppFixture, DeltaModel, find_call, reply, report_of, tool_reply

from zkchat_cli.models.prompts import PromptMessage


def with_excerpts(messages: tuple[PromptMessage, ...]) -> list[PromptMessage]:
    return [m for m in messages if m.chunks]


def test_a_tool_result_carries_the_excerpts_that_its_text_has(app: AppFixture) -> None:
    model = DeltaModel([tool_reply(find_call("filters")), reply("Filters say which tasks [1].")])
    report_of(app.session(model).send("What do filters say?"))

    [result] = with_excerpts(model.requests[-1].messages)
    assert result.role == "tool"
    assert all(chunk.text.splitlines()[0] in result.content for chunk in result.chunks)
    assert [chunk.number for chunk in result.chunks] == list(range(1, len(result.chunks) + 1))


def test_the_documents_of_a_question_carry_their_excerpts(app: AppFixture) -> None:
    model = DeltaModel([reply("They filter [1].")])
    report_of(app.session(model).send("What does [[Filters]] say?"))

    [documents] = with_excerpts(model.requests[-1].messages)
    assert documents.kind == "documents"
    assert {chunk.title for chunk in documents.chunks} == {"Filters"}


def test_stored_and_shown_prompts_have_their_text_only(app: AppFixture) -> None:
    session = app.session(DeltaModel([reply("They filter [1].")]))
    report_of(session.send("What does [[Filters]] say?"))

    question = session.history[0].id
    assert all(not m.chunks for m in session.store.prompts.sent_for(question)[-1].prompt.messages)
    assert "chunks" not in session.prompt("And [[Filters]]?").model_dump_json()
