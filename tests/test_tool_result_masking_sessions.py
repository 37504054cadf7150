"""Masking of old tool results in sessions, the first step of a compaction."""

from factories import AppFixture, report_of, resume
from summary_models import SummaryModel, check_prompt, find_compaction, search_turns, summary_reply

from zkchat_cli.chat.session import ZkChatSession
from zkchat_cli.events import PromptBuilt


def prompt(session: ZkChatSession) -> str:
    return session.prompt().model_dump_json()


def test_old_results_are_masked_before_anything_is_folded(app: AppFixture) -> None:
    app.max_context = 8000
    model = SummaryModel([summary_reply()])
    session = resume(app, search_turns(12), model=model)
    done = find_compaction(list(session.send("And now?")))
    assert (done.mode, done.messages_folded, done.summary, done.model_calls) == (
        "masked",
        0,
        None,
        0,
    )
    assert done.results_masked == len(done.masked) > 5
    assert done.tokens_after < done.tokens_before
    assert model.asked == []
    assert session.last_prompt is not None
    shown = {
        m.source_ids[0]: m.content for m in session.last_prompt.messages if m.kind == "tool_results"
    }
    assert shown["r1"].startswith("Found: thing1.")
    assert shown["r1"].endswith("The end of 1.")
    assert "left out" in shown["r1"]
    assert "left out" not in shown["r12"]
    assert not session.usage.compaction.due
    check_prompt(session.prompt())


def test_the_front_of_the_prompt_stays_the_same_between_compactions(app: AppFixture) -> None:
    app.max_context = 8000
    session = resume(app, search_turns(12), model=SummaryModel())
    list(session.send("And now?"))
    before = session.prompt().messages
    for _ in range(3):
        assert report_of(session.send("And now?")).compaction is None
        after = session.prompt().messages
        assert after[: len(before)] == before
        before = after


def test_masked_results_stay_masked_in_another_process_and_come_back_with_undo(
    app: AppFixture,
) -> None:
    app.max_context = 8000
    session = resume(app, search_turns(12), model=SummaryModel())
    before = session.stored_state().turns(session.runtime.counter).turns
    list(session.send("And now?"))
    assert prompt(app.reopen(session)) == prompt(session)
    assert "left out" not in prompt(app.reopen(session, strategy="discard"))
    undone = session.stored_state().undo_compaction()
    assert undone is not None
    assert undone.mode == "masked"
    assert session.state.compaction is None
    assert session.stored_state().turns(session.runtime.counter).turns[: len(before)] == before


def test_what_masking_reports_is_the_prompt_that_is_then_sent_with_the_earlier_summary(
    app: AppFixture,
) -> None:
    app.max_context = 6000
    session = resume(app, search_turns(12), model=SummaryModel([summary_reply(), summary_reply()]))
    assert session.compact(keep=36).mode == "full"
    events = list(session.send("And now?"))
    done = find_compaction(events)
    [sent] = [event.usage for event in events if isinstance(event, PromptBuilt)]
    assert (done.mode, done.summary) == ("masked", None)
    assert sent.message_breakdown["summary"] > 0
    assert done.tokens_after == sent.total_tokens
