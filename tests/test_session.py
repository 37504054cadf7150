"""A session: one turn after the other, and what becomes of a turn that goes wrong."""

import shutil
from collections.abc import Iterator
from typing import Any

import pytest
from conftest import write_notes
from factories import (
    NOON,
    AppFixture,
    DeltaModel,
    failure_of,
    find_call,
    prompt_texts,
    reply,
    report_of,
    run_turn,
    run_until,
    stored_log,
    tool_reply,
)

from zkchat_cli import slash
from zkchat_cli.errors import ProviderError, UsageError
from zkchat_cli.events import (
    MessageStored,
    Notice,
    PromptBuilt,
    ReasoningDelta,
    TextDelta,
    ToolCallFinished,
    ToolCallStarted,
    TurnCompleted,
)
from zkchat_cli.llm.base import Delta, Request, StreamFailed, StreamFinished
from zkchat_cli.models.messages import FinishReason, ThinkingBlocks, TokenUsage, ToolCall
from zkchat_cli.tokens.counter import MESSAGE_OVERHEAD

TIMEOUT = StreamFailed(ProviderError("timeout", "too slow", "Again."))
COMPOST = tool_reply(find_call("compost heap"))


# a turn


def test_a_turn_yields_its_events_in_order(app: AppFixture) -> None:
    events, _ = run_turn(
        app.session(DeltaModel([COMPOST, reply("It needs ", "air [1].")])).send(
            "What does compost need?"
        )
    )
    assert [type(event) for event in events] == [
        MessageStored,
        PromptBuilt,
        ToolCallStarted,
        ToolCallFinished,
        PromptBuilt,
        TextDelta,
        TextDelta,
        TurnCompleted,
    ]


def test_a_finished_turn_is_stored_completely(app: AppFixture) -> None:
    session = app.session(DeltaModel([COMPOST, reply("Air [1].")]))
    report = report_of(session.send("What does compost need?"))
    assert [(role, status) for role, status, _ in stored_log(session)] == [
        ("user", "complete"),
        ("assistant", "complete"),
        ("tool", "complete"),
        ("assistant", "complete"),
    ]
    answer = session.history[-1]
    assert answer.id == report.message_id
    assert answer.citations == report.citations
    assert [r.relative_path for r in answer.references] == ["Garden/Compost.md"]
    assert app.store.history(session.conversation.id) == tuple(session.history)


def test_the_default_title_is_the_first_question(app: AppFixture) -> None:
    session = app.session(DeltaModel([reply("Yes.")]))
    report_of(session.send("Is it\nso? " + "x" * 100))
    report_of(session.send("And again?"))
    title = app.store.conversation(session.conversation.id).title
    assert title is not None
    assert title.startswith("Is it so?")
    assert len(title) <= 60


def test_a_message_is_stored_before_the_model_is_called(app: AppFixture) -> None:
    seen: list[tuple[str, str, str]] = []

    def look(_: Request) -> list[Delta]:
        seen.extend(stored_log(session))
        return reply("Yes.")

    session = app.session(DeltaModel(answer=look))
    report_of(session.send("Is it so?"))
    assert seen == [("user", "pending", "Is it so?")]


def test_timings_leave_out_the_consumers_time(app: AppFixture) -> None:
    session = app.session(DeltaModel([COMPOST, reply("Air [1].")]))
    last = None
    for event in session.send("What does compost need?"):
        app.clock.advance(60)
        last = event
    assert isinstance(last, TurnCompleted)
    times = last.report.timings_ms
    assert min(times.values()) > 0
    assert times["overhead"] == pytest.approx(times["prepare"] + times["store"])
    assert times["overhead"] + times["model"] + times["tools"] < 1000


@pytest.mark.parametrize("text", ["", "  \n\t ", "\u3000"])
def test_a_message_without_text_is_refused(app: AppFixture, text: str) -> None:
    with pytest.raises(UsageError, match="nothing to ask"):
        list(app.session().send(text))
    assert app.store.conversations() == []


def test_reasoning_is_sent_back_as_it_is_stored(app: AppFixture) -> None:
    thinking = ThinkingBlocks(
        provider="openai", blocks=({"message": {"text": "a\ud800b", "sure": float("nan")}},)
    )
    model = DeltaModel([[COMPOST[0]._replace(thinking=thinking)], reply("Yes.")])
    session = app.session(model)
    report_of(session.send("how?"))
    sent = model.requests[1].messages
    assert sent[-2].thinking == ThinkingBlocks(
        provider="openai", blocks=({"message": {"text": "a\ufffdb", "sure": None}},)
    )
    assert app.store.prompts.sent_for(session.history[0].id)[1].prompt.messages == tuple(
        m.as_stored() for m in sent
    )


def test_an_answer_is_stored_without_reasoning_that_cannot_be_stored(app: AppFixture) -> None:
    nested: dict[str, Any] = {}
    for _ in range(300):
        nested = {"in": nested}
    thinking = ThinkingBlocks(provider="openai", blocks=(nested,))
    session = app.session(DeltaModel([[COMPOST[0]._replace(thinking=thinking)], reply("Yes.")]))
    assert report_of(session.send("how?")).answer == "Yes."
    assert prompt_texts(app.reopen(session))[-1] == "Yes."


# tools


def test_only_chunks_of_the_prompt_can_be_cited(app: AppFixture) -> None:
    session = app.session(
        DeltaModel([COMPOST, reply("Air [1]."), reply("Still air [1], and more [9].")])
    )
    report_of(session.send("What does compost need?"))
    assert [c.valid for c in report_of(session.send("And still?")).citations] == [True, False]
    session.compact(keep=0)
    assert [c.valid for c in report_of(session.send("And now?")).citations] == [False, False]


def test_a_quotation_from_a_folded_passage_is_looked_up_in_the_note(app: AppFixture) -> None:
    quoting = reply("“needs air, water and patience” [1], “needs no air at all” [1], and so [1].")
    session = app.session(DeltaModel([COMPOST, reply("Air [1]."), quoting]))
    report_of(session.send("What does compost need?"))
    session.compact(keep=0)
    assert [c.verdict for c in report_of(session.send("And now?")).citations] == [
        "verified",
        "missing",
        "missing",
    ]
    write_notes(app.vault.root, {"Garden/Compost.md": "Compost is old now."})
    assert [c.verdict for c in report_of(session.send("And after an edit?")).citations] == [
        "missing"
    ] * 3


# a turn that fails


@pytest.mark.parametrize(
    ("deltas", "kind", "partial"),
    [
        ([TIMEOUT], "timeout", ""),
        ([TextDelta("Half an "), TextDelta("answer"), TIMEOUT], "timeout", "Half an answer"),
        ([TextDelta("Half")], "cut", "Half"),
    ],
)
def test_a_failed_turn_is_stored_and_marked_with_the_text_so_far(
    app: AppFixture, deltas: list[Delta], kind: str, partial: str
) -> None:
    session = app.session(DeltaModel([deltas]))
    last = failure_of(session.send("Is it so?"))
    assert isinstance(last.error, ProviderError)
    assert (last.error.kind, last.partial) == (kind, partial)
    assert (
        stored_log(session)
        == [("user", "failed", "Is it so?"), ("assistant", "failed", partial)][
            : 2 if partial else 1
        ]
    )


def broken_model(error: type[BaseException]) -> DeltaModel:
    def answer(_: Request) -> Iterator[Delta]:
        yield TextDelta("Half")
        raise error("lost")

    return DeltaModel(answer=answer)


def test_an_interrupt_in_the_model_call_is_raised_and_the_turn_stored(app: AppFixture) -> None:
    session = app.session(broken_model(KeyboardInterrupt))
    with pytest.raises(KeyboardInterrupt):
        list(session.send("Is it so?"))
    log = [("user", "complete", "Is it so?"), ("assistant", "unfinished", "Half")]
    assert stored_log(session) == log


def test_an_unexpected_error_in_the_model_call_ends_the_turn_only(app: AppFixture) -> None:
    session = app.session(broken_model(RuntimeError))
    failed = failure_of(session.send("Is it so?"))
    assert (failed.error.message, failed.partial) == ("unexpected RuntimeError: lost", "Half")
    log = [("user", "failed", "Is it so?"), ("assistant", "failed", "Half")]
    assert stored_log(session) == log
    failure_of(session.send("And now?"))
    assert len(stored_log(session)) == 2 * len(log)


@pytest.mark.parametrize(
    ("reason", "kind", "told"),
    [
        ("stop", "empty", "deltas sent an empty answer"),
        ("length", "empty", "deltas reached its length limit before it answered"),
        ("content_filter", "content_filter", "deltas: a content filter blocked the answer"),
    ],
)
def test_the_error_says_why_an_answer_is_empty(
    app: AppFixture, reason: FinishReason, kind: str, told: str
) -> None:
    error = failure_of(app.session(DeltaModel([[StreamFinished(reason)]])).send("Is it so?")).error
    assert isinstance(error, ProviderError)
    assert (error.kind, error.message) == (kind, told)


# a turn that is stopped


def test_closing_a_turn_in_mid_answer_stores_the_part_as_unfinished(app: AppFixture) -> None:
    model = DeltaModel([reply("Half ", "an answer"), reply("Whole.")])
    session = app.session(model)
    turn = session.send("Is it so?")
    run_until(turn, TextDelta)
    turn.close()
    assert model.closed == 1
    assert stored_log(session) == [
        ("user", "complete", "Is it so?"),
        ("assistant", "unfinished", "Half "),
    ]
    assert report_of(session.send("And now?")).answer == "Whole."
    assert prompt_texts(session) == [
        "Is it so?",
        "Half \n[interrupted by the user]",
        "And now?",
        "Whole.",
    ]


def test_closing_a_turn_before_a_word_leaves_the_question_out_of_the_next_prompt(
    app: AppFixture,
) -> None:
    session = app.session(DeltaModel([reply("Yes.")]))
    turn = session.send("Is it so?")
    run_until(turn, MessageStored)
    turn.close()
    assert stored_log(session) == [("user", "unfinished", "Is it so?")]
    assert prompt_texts(session) == []


def test_text_before_a_tool_call_survives_a_stop_while_the_tool_runs(app: AppFixture) -> None:
    session = app.session(DeltaModel([tool_reply(find_call("compost"), text="Let me look it up.")]))
    turn = session.send("What does compost need?")
    run_until(turn, ToolCallStarted)
    turn.close()
    assert stored_log(session)[-1] == ("assistant", "unfinished", "Let me look it up.")


@pytest.mark.parametrize(
    ("event", "answer"), [(ToolCallFinished, []), (TextDelta, [("assistant", "unfinished")])]
)
def test_a_turn_stopped_between_two_calls_keeps_its_tool_results(
    app: AppFixture, event: type, answer: list[tuple[str, str]]
) -> None:
    session = app.session(DeltaModel([COMPOST, reply("Air ", "[1]")]))
    turn = session.send("What does compost need?")
    run_until(turn, event)
    turn.close()
    before_answer = [("user", "complete"), ("assistant", "complete"), ("tool", "complete")]
    assert [(role, status) for role, status, _ in stored_log(session)] == [*before_answer, *answer]
    assert app.reopen(session).prompt() == session.prompt()


def test_an_interrupt_while_the_answer_is_being_stored_loses_nothing(app: AppFixture) -> None:
    interrupts: list[bool] = []

    def now() -> str:
        if interrupts and interrupts.pop():
            raise KeyboardInterrupt
        return NOON

    session = app.session(DeltaModel([reply("Yes."), reply("Again.")]), now=now)
    turn = session.send("Is it so?")
    run_until(turn, TextDelta)
    # The answer's own time is asked for first, then the time of storing
    interrupts += [True, False]
    with pytest.raises(KeyboardInterrupt):
        list(turn)
    assert [content for _, _, content in stored_log(session)] == ["Is it so?", "Yes."]
    report_of(session.send("And again?"))
    assert [content for _, _, content in stored_log(session)] == [
        "Is it so?",
        "Yes.",
        "And again?",
        "Again.",
    ]


# the vault changes or goes


def test_a_note_written_between_two_turns_is_found(app: AppFixture) -> None:
    session = app.session()
    report_of(session.send("What is a xylophone?"))
    write_notes(
        app.vault.root, {"Xylophone.md": "A xylophone is an instrument made of wooden bars."}
    )
    app.clock.advance(5)
    assert "wooden bars" in report_of(session.send("What is a xylophone?")).answer


def test_a_scan_started_elsewhere_counts_for_the_next_turn(app: AppFixture) -> None:
    session = app.session(DeltaModel([reply("Yes."), reply("Yes.")]))
    assert (report_of(session.send("What is [[Compost]]?")).references[0].summary or "").startswith(
        "A compost heap needs air"
    )
    write_notes(app.vault.root, {"Garden/Compost.md": "Compost is old now."})
    session.apply_scan(app.vault.refresh().model_copy(update={"rebuilt": "it was damaged"}))
    app.clock.advance(5)
    events, last = run_turn(session.send("And what is [[Compost]] now?"))
    assert isinstance(last, TurnCompleted)
    assert last.report.references[0].summary == "Compost is old now."
    assert [e.message for e in events if isinstance(e, Notice)] == [
        "the index was rebuilt: it was damaged"
    ]


def test_a_conversation_continues_when_its_vault_is_gone(app: AppFixture) -> None:
    session = app.session()
    report_of(session.send("What is a filter?"))
    shutil.rmtree(app.vault.root)
    app.clock.advance(5)
    events, last = run_turn(session.send("What is [[Compost]]?"))
    assert isinstance(last, TurnCompleted)
    assert any(isinstance(e, Notice) for e in events)
    assert last.report.level == "answer"  # from the index as it was


def test_reasoning_and_cost_of_a_turn_that_failed_while_thinking_are_kept(app: AppFixture) -> None:
    usage = TokenUsage(prompt_tokens=900, completion_tokens=30, estimated=False)
    call = [StreamFinished("tool_calls", usage, (find_call("compost"),))]
    session = app.session(DeltaModel([call, [ReasoningDelta("It may need air."), TIMEOUT]]))
    failure_of(session.send("What does compost need?"))
    kept = app.reopen(session).history[-1]
    assert (kept.content, kept.reasoning, kept.status) == ("", "It may need air.", "failed")
    assert kept.usage and (
        kept.usage.estimated,
        kept.usage.prompt_tokens > 1000,
        kept.usage.completion_tokens,
    ) == (True, True, 30 + 5)
    with pytest.raises(UsageError, match="was not cut"):
        session.continue_answer()


# the figures between turns


def test_between_turns_the_figures_include_the_last_answer(app: AppFixture) -> None:
    session = app.session(DeltaModel([COMPOST, reply("Air [1]." * 50), reply("No.")]))
    report = report_of(session.send("What does compost need?"))
    answer = session.history[-1]
    counter = session.runtime.counter
    sent = report.context.total_tokens
    assert session.usage.total_tokens == sent + counter.count(answer.content) + MESSAGE_OVERHEAD
    assert session.usage == session.prompt().usage == app.reopen(session).usage
    question = session.prompt("Why?").usage.total_tokens - session.usage.total_tokens
    before = session.usage.total_tokens
    assert report_of(session.send("Why?")).context.total_tokens == before + question
    slash.run("/undo", session)
    assert session.usage.total_tokens == before


def test_the_results_of_a_tool_loop_that_filled_the_window_are_shortened_before_the_next_question(
    app: AppFixture,
) -> None:
    write_notes(
        app.vault.root,
        {f"Long {n}.md": f"# Long {n}\n\n" + f"Compost {n} needs air. " * 90 for n in range(8)},
    )
    app.vault.refresh()
    read = [
        ToolCall(id=f"r{n}", name="read_zk_document", arguments={"relative_path": f"Long {n}.md"})
        for n in range(8)
    ]
    model = DeltaModel(
        [
            *map(tool_reply, read),
            reply("Compost 7 needs the most air." + " It has worms." * 99),
            reply("It is wet."),
        ]
    )
    app.max_context = 4096
    session = app.session(model)
    report_of(session.send("Which compost needs the most air?"))
    usage = session.usage
    assert usage == app.reopen(session).usage
    assert usage.compaction.runs_first
    assert usage.total_tokens == usage.compaction.tokens
    assert usage.total_tokens > usage.effective_limit
    assert usage.message_tokens > usage.message_budget
    compaction = report_of(session.send("Why?")).compaction
    assert compaction is not None
    assert (compaction.mode, compaction.results_masked) == ("masked", 8)
    assert any("Compost 7 needs the most air." in m.content for m in model.requests[-1].messages)


def test_the_line_being_typed_counts_the_documents_that_it_names(app: AppFixture) -> None:
    session = app.session(DeltaModel([reply("Yes.")]))

    def count_documents(text: str) -> int:
        return session.count_typed(text)[0] - session.count_typed(text, with_documents=False)[0]

    counted = count_documents("What is in [[Filters]]?")
    assert counted == session.prompt("What is in [[Filters]]?").usage.message_breakdown["documents"]
    run_turn(session.send("What is in [[Filters]]?"))
    more = count_documents("And again in [[Filters]]?")
    assert (
        session.prompt("And again in [[Filters]]?").usage.message_breakdown["documents"]
        == counted + more
    )
    assert more == counted
    assert [count_documents(text) for text in ("What is in [[Filt", "me@here.org", "")] == [0, 0, 0]
