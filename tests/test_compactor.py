"""Compaction in sessions: masking, the model's summary, and the extractive one when that fails."""

from dataclasses import replace

import pytest
from conftest import write_notes
from factories import (
    COUNTER,
    AppFixture,
    DeltaModel,
    exchanges,
    find_call,
    reply,
    report_of,
    resume,
    tool_reply,
)
from slash_results import slash_output
from summary_models import (
    SUMMARY,
    SummaryModel,
    check_prompt,
    failing_reply,
    find_compaction,
    numbered_exchanges,
    overfull_session,
    search_turns,
    summary_reply,
)

from zkchat_cli import slash
from zkchat_cli.chat.session import ZkChatSession
from zkchat_cli.config.schema import Config
from zkchat_cli.events import CompactionStarted, Event, Notice, ReasoningDelta, TextDelta, Waiting
from zkchat_cli.events import Waiting as Wait
from zkchat_cli.llm.base import Delta, StreamFinished
from zkchat_cli.models.messages import TokenUsage
from zkchat_cli.views.turn_steps import describe_compaction


def prompt(session: ZkChatSession) -> str:
    return session.prompt().model_dump_json()


# the model's summary


def test_the_models_summary_replaces_the_turns_it_covers(app: AppFixture) -> None:
    model = SummaryModel([summary_reply()])
    session = overfull_session(app, model)
    events = list(session.send("And now?"))
    done = find_compaction(events)
    assert any(isinstance(e, CompactionStarted) and "tokens" in e.reason for e in events)
    assert (done.mode, done.summary, done.model_calls, done.problem) == ("full", SUMMARY, 1, None)
    assert (
        done.usage
        and (done.usage.prompt_tokens, done.summary_tokens) == (50, COUNTER.count(SUMMARY))
        and done.messages_folded > 0
    )
    assert report_of(iter(events)).compaction == done
    (message,) = (m for m in session.prompt().messages if m.kind == "summary")
    assert message.content == f"<conversation-summary>\n{SUMMARY}\n</conversation-summary>"
    check_prompt(session.prompt())
    assert "summary" not in slash_output("/tokens", session)


def test_a_summary_request_has_temperature_zero_and_stays_within_the_limit(app: AppFixture) -> None:
    model = SummaryModel([summary_reply()])
    session = overfull_session(app, model)
    session.compact(instructions="keep what concerns thing3")
    (request,) = model.asked
    assert (
        request.options.temperature == 0
        and request.options.max_output_tokens is not None
        and request.tools == ()
    )
    tokens = sum(m.tokens for m in request.messages)
    assert tokens <= session.runtime.budget.effective_limit
    assert tokens + request.options.max_output_tokens <= 4000
    assert "On day 1 I moved thing1 to shelf 7." in request.messages[-1].content
    assert (
        "The user wants of this summary: keep what concerns thing3" in request.messages[-1].content
    )


def test_the_next_summary_merges_the_previous_one_with_new_turns(app: AppFixture) -> None:
    model = SummaryModel([summary_reply("First."), summary_reply("First and second.")])
    session = resume(app, exchanges(*numbered_exchanges(12)), model=model)
    session.compact(keep=12)
    session.compact(keep=4)
    asked = model.asked[1].messages[-1].content
    assert "<earlier-summary>\nFirst.\n</earlier-summary>" in asked
    assert "thing1 " not in asked
    assert "thing7 " in asked
    assert session.state.compaction and session.state.compaction.summary == "First and second."


@pytest.mark.parametrize("turns", [30, 200])
def test_older_turns_that_do_not_fit_into_a_request_are_summarized_extractively_first(
    app: AppFixture, turns: int
) -> None:
    app.max_context = 3000
    model = SummaryModel([summary_reply()])
    session = resume(app, exchanges(*numbered_exchanges(turns, 6)), model=model)
    done = session.compact(keep=2)
    assert (done.mode, done.model_calls, len(model.asked)) == ("full", 1, 1)
    assert sum(m.tokens for m in model.asked[0].messages) <= session.runtime.budget.effective_limit
    sent = model.asked[0].messages[-1].content
    assert sent.startswith("<conversation>\n- 2 May 2025, ")
    newest = f"Noted: thing{turns - 1} is on shelf {7 * (turns - 1)} now, since day {turns - 1}. "
    assert newest * 6 in sent and f"thing{turns} " not in sent


def test_one_turn_larger_than_the_request_loses_the_middles_of_its_messages(
    app: AppFixture,
) -> None:
    app.max_context = 3000
    model = SummaryModel([summary_reply()])
    done = resume(app, exchanges(("begin " + "word " * 4000 + "end", "So.")), model=model).compact(
        keep=0
    )
    assert (done.mode, done.model_calls) == ("full", 1)
    assert (
        "user: begin word" in model.asked[0].messages[-1].content
        and "word end\nassistant: So." in model.asked[0].messages[-1].content
    )


def test_after_a_failure_the_model_gets_one_simpler_request(app: AppFixture) -> None:
    model = SummaryModel([failing_reply("server"), summary_reply()])
    session = overfull_session(app, model)
    done = find_compaction(list(session.send("And now?")))
    assert (done.mode, done.summary, done.model_calls, done.problem) == (
        "simple",
        SUMMARY,
        2,
        "it failed: server",
    )
    first, second = model.asked
    assert [m.role for m in first.messages] == ["system", "user"] and [
        m.role for m in second.messages
    ] == ["user"]
    assert second.messages[0].tokens < sum(m.tokens for m in first.messages)
    assert "by the model, in a simpler request" in describe_compaction(done)
    assert "; the first request failed: it failed: server" in describe_compaction(done)


def test_a_window_without_room_for_a_request_is_not_asked(app: AppFixture) -> None:
    app.max_context = 400
    model = SummaryModel([summary_reply()])
    done = resume(app, exchanges(*numbered_exchanges(20)), model=model).compact(keep=2)
    assert (done.mode, model.asked) == ("extractive", [])
    assert "window is too small" in (done.problem or "")


def test_the_summarizer_gets_masked_results_as_the_prompt_had_them(app: AppFixture) -> None:
    app.max_context = 8000
    model = SummaryModel([summary_reply()])
    session = resume(app, search_turns(12), model=model)
    list(session.send("And now?"))
    session.compact(keep=2)
    asked = model.asked[0].messages[-1].content
    assert all(part in asked for part in ("Found: thing1.", "left out", "→ find_excerpts"))


# what can go wrong

LONG_WINDED = "So many words, and none of them says a thing. " * 200
FAULTS: dict[str, list[Delta]] = {
    "a time-out": failing_reply("timeout"),
    "a stream that is cut": failing_reply("cut", TextDelta("<conversation-summary>It was")),
    "a stream without an end": [TextDelta("<conversation-summary>It was")],
    "an answer of nothing": [StreamFinished("stop")],
    "only reasoning": [ReasoningDelta("Hm."), StreamFinished("stop")],
    "a summary of nothing": summary_reply("…"),
    "an answer that is no summary": reply("I cannot do that."),
    "a summary twice too large": summary_reply(LONG_WINDED),
    "a summary that its length cuts": [
        TextDelta("<conversation-summary>It was"),
        StreamFinished("length"),
    ],
    "a summary without end": [
        TextDelta("<conversation-summary>"),
        *[TextDelta(LONG_WINDED)] * 60,
        StreamFinished("stop"),
    ],
    "a call of a tool": tool_reply(find_call("x")),
}


@pytest.mark.parametrize("fault", FAULTS)
def test_after_a_failure_the_summary_is_extractive(app: AppFixture, fault: str) -> None:
    model = SummaryModel([FAULTS[fault]])
    session = overfull_session(app, model)
    report = report_of(session.send("And now?"))
    done = report.compaction
    assert done is not None
    assert (done.mode, done.model_calls, len(model.asked)) == ("extractive", 2, 2)
    assert done.problem
    assert done.tokens_after < done.tokens_before
    assert 0 < done.summary_tokens <= session.runtime.largest_summary
    assert report.answer == "Noted."
    check_prompt(session.prompt())
    assert prompt(app.reopen(session)) == prompt(session)


def test_turns_that_cannot_be_summarized_are_dropped_with_a_notice(app: AppFixture) -> None:
    app.max_context = 4000
    session = resume(
        app,
        exchanges(*[("…? " * 80, "!? " * 80)] * 20),
        model=SummaryModel([failing_reply("timeout")]),
    )
    done = find_compaction(list(session.send("And now?")))
    assert (
        done.mode == "truncated"
        and f"[{done.messages_folded} earlier messages are left out" in (done.summary or "")
    )
    assert done.tokens_after < done.tokens_before
    assert "Dropped 38 messages" in describe_compaction(done)
    check_prompt(session.prompt())


def test_a_manual_compaction_never_drops_turns(app: AppFixture) -> None:
    session = resume(app, exchanges(*[("…? " * 40, "!? " * 40)] * 12))
    assert session.compact(keep=2).mode == "none"


def test_a_prompt_that_cannot_be_reduced_is_an_error_that_names_the_largest_items(
    app: AppFixture,
) -> None:
    app.max_context = 2000
    write_notes(app.vault.root, {"ZKCHAT.md": "Mind this. " * 20})
    session = resume(app, exchanges(*numbered_exchanges(6)), model=SummaryModel([summary_reply()]))
    events = list(session.send("word " * 3000))
    error = events[-1].error  # type: ignore[union-attr]
    assert "the limit is 1,800" in error.message
    assert error.hint.startswith("Largest: the message itself, ")
    assert report_of(session.send("And now?")).answer == "Noted."


def test_a_summary_that_does_not_shrink_the_prompt_is_rejected(app: AppFixture) -> None:
    session = resume(
        app,
        exchanges(("Hm, where is it?", "So it is there.")),
        model=SummaryModel([summary_reply("a b c d e f g h i j k l m n o")]),
    )
    done = session.compact(keep=0)
    assert (done.mode, done.model_calls, done.problem) == (
        "none",
        1,
        "it would not make the prompt smaller",
    )


# stopped


@pytest.mark.parametrize("after", [0, 1])
def test_stopping_in_the_middle_of_a_summary_loses_nothing(app: AppFixture, after: int) -> None:
    session = overfull_session(
        app, SummaryModel([[Wait(1.0, "busy"), Wait(0.5, "busy"), *summary_reply()]])
    )
    turn = session.send("And now?")
    seen = 0
    for event in turn:
        seen += isinstance(event, Waiting)
        if seen > after:
            turn.close()
    assert seen == after + 1 and session.state.compaction is None
    assert app.store.compactions(session.conversation.id) == ()
    assert session.history[-1].content == "And now?"
    again = app.reopen(session, SummaryModel([summary_reply()]))
    assert find_compaction(list(again.send("And now?"))).mode == "full"


def test_a_compaction_that_cannot_be_stored_is_reported_and_the_turn_continues(
    app: AppFixture,
) -> None:
    session = overfull_session(app, model := SummaryModel([summary_reply()]))
    app.store.connection.db.execute("PRAGMA query_only = ON")
    report_of(session.send("And now?"))
    assert model.asked == []
    app.store.connection.db.execute("PRAGMA query_only = OFF")
    turn = session.send("And now?")
    next(turn)
    app.store.connection.db.execute(
        "CREATE TRIGGER full BEFORE INSERT ON compaction BEGIN SELECT RAISE(ABORT, 'the "
        "disk is full'); END"
    )
    events = list(turn)
    assert any(
        isinstance(event, Notice) and "cannot store a summary" in event.message for event in events
    )
    assert report_of(iter(events)).answer == "Noted."
    assert session.state.compaction is None


# what is asked, and how often


def test_wrong_facts_are_corrected_by_one_further_call(app: AppFixture) -> None:
    right = "thing1 is on shelf 7."
    model = SummaryModel([summary_reply("thing1 went to Oslo in 1987."), summary_reply(right)])
    done = overfull_session(app, model).compact()
    assert (done.mode, done.summary, done.model_calls) == ("full", right, 2)
    assert "The conversation does not have: Oslo, 1987." in model.asked[1].messages[-1].content


def test_a_decision_that_the_model_leaves_out_again_is_added_word_for_word(app: AppFixture) -> None:
    app.max_context = 4000
    decided = "We decided to sell thing3 for 4,200 euros."
    model = SummaryModel([summary_reply("thing1 is on shelf 7.")])
    done = resume(
        app, exchanges((decided, "Noted."), *numbered_exchanges(16, 5)), model=model
    ).compact()
    assert (done.summary, done.model_calls) == (f"thing1 is on shelf 7.\n- user: {decided}", 2)
    assert f"decision of the user: {decided}" in model.asked[1].messages[-1].content


def test_another_model_can_write_the_summaries(app: AppFixture) -> None:
    writer = SummaryModel([summary_reply()], name="writer")
    session = overfull_session(app, SummaryModel())
    own = ZkChatSession(
        session.services, replace(session.runtime, summarizer=writer), session.conversation
    )
    report = report_of(own.send("And now?"))
    assert (len(writer.asked), report.model) == (1, "summariser")
    assert report.compaction is not None
    assert (report.compaction.model, report.compaction.usage) == (
        "writer",
        TokenUsage(prompt_tokens=50, completion_tokens=9),
    )
    assert report.usage.prompt_tokens == 50 + report.context.total_tokens


def test_the_compaction_after_a_preview_is_what_that_showed_without_another_call(
    app: AppFixture,
) -> None:
    model = SummaryModel([summary_reply(), summary_reply("Something else.")])
    session = overfull_session(app, model)
    preview = session.compact(preview=True)
    assert session.compact(preview=True).summary == preview.summary
    again = ZkChatSession(
        session.services, session.runtime, session.store.conversation(session.conversation.id)
    )
    done = again.compact()
    assert (done.summary, done.messages_folded, done.preview) == (
        preview.summary,
        preview.messages_folded,
        False,
    )
    assert len(model.asked) == 1
    assert again.state.compaction == app.reopen(again).state.compaction == done
    assert "\n1 summary: ~50 tokens in, ~9 out." in slash_output("/tokens", again)


def test_a_preview_of_another_request_or_state_is_not_used(app: AppFixture) -> None:
    model = SummaryModel([summary_reply()])
    session = overfull_session(app, model)
    session.compact(preview=True)
    session.compact(preview=True, keep=2)
    assert len(model.asked) == 2
    slash.run("/pin 2", session)
    session.compact(keep=2)
    assert len(model.asked) == 3


# when


def test_a_model_that_cannot_summarize_is_not_asked(app: AppFixture) -> None:
    model = DeltaModel([reply("Noted.")])
    model.summarizes = False
    session = overfull_session(app, model)  # type: ignore[arg-type]
    done = find_compaction(list(session.send("And now?")))
    assert (done.mode, done.model_calls, len(model.requests)) == ("extractive", 0, 1)


@pytest.mark.parametrize("rounds", [2, 10])
def test_tool_results_that_fill_the_window_trigger_compaction(app: AppFixture, rounds: int) -> None:
    app.max_context = 6000
    app.settings = Config.model_validate({"llm": {"max_tool_rounds": rounds}})
    about = {
        f"Thing {i}.md": f"# Thing {i}\n\n" + f"All about the thing of number {i}, at length. " * 40
        for i in range(12)
    }
    write_notes(app.vault.root, about)
    app.vault.refresh()
    model = SummaryModel([summary_reply()])
    model.answer = tool_reply(find_call("thing"))
    session = resume(app, exchanges(*numbered_exchanges(20, 6)), model=model)
    assert not session.usage.compaction.due
    events: list[Event] = []
    for event in session.send("What of the thing?"):
        events.append(event)
        if type(event).__name__ == "ToolCallFinished":
            model.answer = reply("So.")
    names = [type(event).__name__ for event in events]
    assert names.index("CompactionStarted") > names.index("ToolCallFinished")
    done = find_compaction(events)
    report = report_of(iter(events))
    assert (done.mode, done.tokens_after, report.answer) == (
        "full",
        report.context.total_tokens,
        "So.",
    )
    assert (report.context.tool_tokens == 0) == (rounds == 1)
    check_prompt(session.prompt())
