"""ConversationState: the branch and its turns, compactions, call ids."""

from factories import COUNTER, AppFixture, DeltaModel, exchanges, find_call, make_compaction, reply, report_of, tool_reply

from zkchat_cli.chat.state import ConversationState
from zkchat_cli.models import ZkChatMessage

FIRST = exchanges(("Why?", "So."), prefix="a")
SECOND = exchanges(("Who?", "She."), prefix="b")


def make_state(app: AppFixture, *turns: tuple[ZkChatMessage, ...]) -> ConversationState:
    state = ConversationState(app.services())
    for turn in turns:
        state.append(turn)
    return state


def test_appended_turns_extend_the_cached_ones(app: AppFixture) -> None:
    state = make_state(app, FIRST)
    before = state.turns(COUNTER)
    state.append(SECOND)
    after = state.turns(COUNTER)
    assert after.extends(before) and after[0] is before[0]
    assert [turn.number for turn in after] == [1, 2]


def test_a_compaction_of_another_branch_is_not_in_use(app: AppFixture) -> None:
    state = make_state(app, FIRST)
    state.add_compaction(make_compaction("They spoke.", "elsewhere"))
    assert state.compaction is None
    state.add_compaction(make_compaction("They asked why.", FIRST[-1].id))
    assert state.compaction is not None and state.compaction.summary == "They asked why."


def test_a_masking_keeps_the_summary_before_it(app: AppFixture) -> None:
    state = make_state(app, FIRST, SECOND)
    state.add_compaction(make_compaction("They asked why.", FIRST[-1].id))
    state.add_compaction(make_compaction(None, SECOND[-1].id, mode="masked", masked=(SECOND[-1].id,)))
    compaction = state.compaction
    assert compaction is not None
    assert (compaction.summary, compaction.last_id, compaction.masked) == ("They asked why.", FIRST[-1].id, (SECOND[-1].id,))


def test_call_ids_are_unique_in_a_conversation(app: AppFixture) -> None:
    state = make_state(app)
    ids = [state.make_call_id_unique(given) for given in ("call-1", "call-1", "", "")]
    assert ids[0] == "call-1" and len(set(ids)) == 4


def test_a_long_chat_reads_turns_that_it_no_longer_sends_from_the_store(app: AppFixture) -> None:
    app.max_context = 4000
    session = app.session(DeltaModel([tool_reply(find_call("filters tasks")), *[reply("It is so [1]. " * 60)] * 40]))
    for number in range(24):
        report_of(session.send(f"What about filter {number}?"))
    unloaded = [exchange.loaded is None for exchange in session.history.exchanges()]
    assert sum(unloaded) > 4 and unloaded == sorted(unloaded, reverse=True)
    id_ = session.conversation.id
    assert session.history == app.store.history(id_)
    first = session.references.chunk(1)
    assert first is not None and first == app.reopen(session).references.chunk(1)
    app.store.delete(id_)  # by another program
    assert (session.history[0].status, session.references.chunk(1)) == ("damaged", None)
    report_of(session.send("And now?"))
    assert session.history[-1].content.startswith("It is so")
