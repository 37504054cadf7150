"""The priority of a message: by its kind in several languages, or set by the user; what it decides
of prompts, summaries and recall, and where it is shown.
"""

import json
from collections.abc import Sequence

import pytest
from conftest import Program
from factories import (
    COUNTER,
    AppFixture,
    DeltaModel,
    exchanges,
    make_compaction,
    message,
    prompt_of,
    reply,
    resume,
)
from factories import split_into_turns as split
from history_strategies import EXAMPLES
from hypothesis import given, settings
from hypothesis import strategies as st
from slash_results import slash_error, slash_output

from zkchat_cli.context.fixed_messages import is_fixed
from zkchat_cli.context.important_messages import IMPORTANT_SHARE
from zkchat_cli.context.message_priority import IMPORTANT, message_priority
from zkchat_cli.context.prompt_messages import FIXED_TAG
from zkchat_cli.context.recall import RecallIndex
from zkchat_cli.exporters import exporter
from zkchat_cli.models.messages import ToolCall, ZkChatMessage
from zkchat_cli.models.prompts import Prompt
from zkchat_cli.summarization.extractive import summarize
from zkchat_cli.views.priorities import prompt_document
from zkchat_cli.views.stored_items import transcript_lines
from zkchat_cli.views.text import plain_text
from zkchat_cli.views.token_usage import usage_lines

ASKED = "And the anvil?"
CHATTER = [(f"Is number {i} there? " * 20, "Indeed. " * 20) for i in range(20)]


def with_priorities(
    history: Sequence[ZkChatMessage], priorities: dict[str, int]
) -> tuple[ZkChatMessage, ...]:
    return tuple(
        m.model_copy(update={"priority": priorities[m.id]}) if m.id in priorities else m
        for m in history
    )


def kept(prompt: Prompt) -> list[str]:
    """The ids of the messages that are sent without their turns."""
    return [m.source_ids[0] for m in prompt.messages if m.content.startswith(f"<{FIXED_TAG}")]


# by the kind


@pytest.mark.parametrize(
    ("content", "priority"),
    [
        ("From now on, answer in German.", 10),
        ("We decided to use the oak shelf.", 9),
        ("Decision: oak.", 9),
        ("Wir haben uns für Eiche entschieden.", 9),
        ("Nous avons décidé de prendre le train.", 9),
        ("Hemos acordado pagar 300 euros.", 9),
        ("我们决定用橡木。", 9),
        ("No, it was on Tuesday.", 7),
        ("The rent is now 950 euros.", 7),
        ("Nein, das war am Dienstag.", 7),
        ("Non, c'était mardi.", 7),
        ("No, fue el martes.", 7),
        ("不对，是星期二。", 7),
        ("Where is the anvil?", 5),
        ("Did we decide that?", 5),
        ("The anvil stands on shelf seven.", 5),
        ("Ada: We decided to use the oak shelf.", 5),
        ("(1:56 pm on 8 May) Ada: Thanks!", 5),
        ("We decided. " + "A long text. " * 200, 5),
        ("Thanks!", 2),
        ("Danke dir!", 2),
        ("Merci beaucoup", 2),
        ("Hola", 2),
        ("谢谢！", 2),
    ],
)
def test_the_kind_of_a_users_message_decides(content: str, priority: int) -> None:
    assert message_priority(message("user", content, "u")) == priority


def test_the_role_of_other_messages_decides() -> None:
    call = ToolCall(id="1", name="find_excerpts")
    assert message_priority(message("assistant", "We decided.", "a")) == 5
    assert message_priority(message("assistant", "", "a", tool_calls=(call,))) == 3
    assert message_priority(message("tool", "[]", "t")) == 3
    assert message_priority(message("system", "They spoke.", "s")) == 9


def test_what_the_user_sets_wins() -> None:
    assert message_priority(message("user", "Thanks!", "u", priority=8)) == 8
    rule = message("user", "Always answer in German.", "u", priority=3)
    assert message_priority(rule) == 3
    assert not is_fixed(rule)
    assert message_priority(message("user", "So?", "u", pinned=True)) == 10


@given(st.text(max_size=300))
def test_any_text_has_a_priority(content: str) -> None:
    assert 1 <= message_priority(message("user", content, "u")) <= 10


# what leaves the prompt last

texts = st.sampled_from(
    ["We decided to use oak.", "No, on Tuesday.", "Thanks!", "anvil " * 30, "x " * 200, "So?"]
)


@st.composite
def histories(draw: st.DrawFn) -> tuple[ZkChatMessage, ...]:
    messages = []
    for i in range(draw(st.integers(1, 30))):
        role = "user" if i % 2 == 0 else "assistant"
        priority = draw(st.sampled_from([None, None, None, 1, 5, 8, 8, 9, 9, 10]))
        messages.append(message(role, draw(texts) + f" {i}", f"m{i}", priority=priority))
    return tuple(messages)


@pytest.mark.parametrize("strategy", ["discard", "summarize", "hybrid"])
@settings(max_examples=EXAMPLES)
@given(history=histories(), window=st.integers(600, 3000), data=st.data())
def test_none_leaves_before_one_with_a_lower_priority(
    strategy: str, history: tuple[ZkChatMessage, ...], window: int, data: st.DataObject
) -> None:
    # A short window may have no room for the messages that are fixed
    history = tuple(m for m in history if not is_fixed(m))
    compaction = data.draw(
        st.none() | st.sampled_from([make_compaction("They spoke.", m.id) for m in history])
        if history
        else st.none()
    )
    prompt = prompt_of(history, ASKED, window, strategy, compaction=compaction)
    sent = {id_ for m in prompt.messages if m.kind != "recalled" for id_ in m.source_ids}
    room = IMPORTANT_SHARE * 0.6 * window
    turns = split(history, COUNTER)
    left = [
        m
        for turn in turns
        for m in turn.messages
        if m.id not in sent and turn.render_kept(m).tokens <= room
    ]
    stayed = [m for m in history if m.id in kept(prompt)]
    lowest = min((message_priority(m) for m in stayed), default=10)
    assert lowest >= IMPORTANT
    assert all(message_priority(m) <= lowest for m in left)
    assert sum(m.tokens for m in prompt.messages if m.content.startswith(f"<{FIXED_TAG}")) <= room
    whole = [turn for turn in turns if all(m in prompt.messages for m in turn.prompt)]
    assert whole == list(turns[len(turns) - len(whole) :])
    assert prompt.usage.total_tokens <= prompt.usage.effective_limit


def test_among_equals_the_newer_ones_stay() -> None:
    decisions = [(f"We decided to buy oak plank number {i}.", "Good.") for i in range(30)]
    history = with_priorities(exchanges(*decisions, *CHATTER), {"t30-u": 8})
    stayed = kept(prompt_of(history, ASKED, 4000))
    assert len(stayed) > 2
    assert stayed == [f"t{i}-u" for i in range(30 - len(stayed), 30)]


def test_important_messages_give_way_where_there_is_no_room() -> None:
    history = exchanges(("We decided to buy oak.", "Good."), ("So? " * 30, "So."))
    wide = prompt_of(history, ASKED, 260)
    assert kept(wide) == []
    assert wide.messages[-1].content == ASKED


def test_a_kept_message_says_why_it_is_there() -> None:
    history = exchanges(("We decided to buy oak.", "Good."), *CHATTER)
    [sent] = [m for m in prompt_of(history, ASKED, 3000).messages if "<kept-message" in m.content]
    assert 'why="priority 9 of 10"' in sent.content


# what is quoted and recalled first


def test_of_two_equal_messages_the_one_with_the_higher_priority_is_recalled() -> None:
    history = exchanges(("An anvil, black.", "Ah."), *CHATTER, ("An anvil, brown.", "Oh."))
    index = RecallIndex()
    index.update(split(history, COUNTER))
    for low, high in (("t1-u", "t22-u"), ("t22-u", "t1-u")):
        first, *_ = index.search("Which anvil?", 22, {low: 4, high: 6})
        assert index.passages[first].message.id == high


def test_a_priority_that_changes_counts_in_the_next_prompt(app: AppFixture) -> None:
    app.max_context = 2000
    history = exchanges(
        ("An anvil, black. " * 4, "Ah."), ("An anvil, brown. " * 4, "Oh."), *CHATTER
    )
    session = resume(app, history, model=DeltaModel([reply("Yes.")]))
    for turn, color in ((1, "black"), (2, "brown")):
        slash_output(f"/priority {turn} 7", session)
        slash_output(f"/priority {3 - turn} 1", session)
        [recalled] = [m for m in session.prompt("Anvil?").messages if m.kind == "recalled"]
        assert color in recalled.content


def test_a_summary_quotes_what_has_a_high_priority() -> None:
    facts = [(f"The shelf number {i} in the hall is made of wood number {i}.",) for i in range(12)]
    history = [message("user", text, f"u{i}") for i, (text,) in enumerate(facts)]
    for chosen in ("u3", "u8"):
        some = with_priorities(history, {m.id: 9 if m.id == chosen else 2 for m in history})
        summary = summarize(split(some, COUNTER), 40, COUNTER)
        assert summary is not None
        assert facts[int(chosen[1:])][0] in summary.text


# set by the user


def test_a_priority_is_set_listed_and_reset(app: AppFixture) -> None:
    session = resume(app, exchanges(("So?", "So."), ("Thanks!", "Sure.")))
    assert slash_output("/priority 1 question 9", session) == (
        "Priority 9 of 10 for turn 1, question: it stays word for word as long as there is room, "
        "and is recalled first."
    )
    listed = slash_output("/priority", session).splitlines()
    assert listed[1:] == [
        "   9  turn 1 question, set by you: So?",
        "   5  turn 2 answer: Sure.",
        "   5  turn 1 answer: So.",
        "   2  turn 2 question: Thanks!",
    ]
    assert slash_output("/priority 1 auto", session) == (
        "The kind of the message decides again: turn 1, question 5, answer 5."
    )
    assert [m.priority for m in session.history] == [None] * 4


def test_ten_is_a_pin_and_less_takes_it_back(app: AppFixture) -> None:
    session = resume(app, exchanges(("So?", "So.")))
    slash_output("/priority 1 10", session)
    assert [m.pinned for m in session.history] == [True, True]
    slash_output("/priority 1 4", session)
    assert [(m.pinned, m.priority) for m in session.history] == [(None, 4), (None, 4)]


@pytest.mark.parametrize(
    ("line", "problem"),
    [
        ("/priority 1", "/priority needs a turn and a priority"),
        ("/priority 1 11", "'11' is not a priority"),
        ("/priority 1 0", "'0' is not a priority"),
        ("/priority 1 high", "'high' is not a priority"),
        ("/priority 9 5", "there is no turn 9"),
        ("/priority 1 everything 5", "'1 everything' is not a turn"),
    ],
)
def test_an_invalid_priority_is_refused(app: AppFixture, line: str, problem: str) -> None:
    session = resume(app, exchanges(("So?", "So.")))
    assert problem in slash_error(line, session).message


def test_context_shows_how_many_messages_have_which_priority(app: AppFixture) -> None:
    session = resume(app, exchanges(("We decided to buy oak.", "Good."), ("Thanks!", "Sure.")))
    shown = plain_text(usage_lines(session.prompt(), session.history))
    assert (
        "Priorities of messages: 1 with 9, 2 with 5, 1 with 2; those with the lowest leave first."
    ) in shown
    assert "conversation, priority 9: We decided" in shown


def test_another_process_shows_exports_and_imports_the_priority(zkchat: Program) -> None:
    zkchat("chat", stdin="Where is the anvil?\n/priority 1 question 8\n")
    shown = zkchat("sessions", "show", "--json").json["history"]
    assert [m["priority"] for m in shown] == [8, 3, 3, 5]
    exported = zkchat("context", "export", "--format", "json").out
    document = json.loads(exported)
    assert [m["priority"] for m in document["messages"]] == [8, None, None, None]
    zkchat("sessions", "delete", "--yes", document["conversation"]["id"])
    zkchat("context", "import", "--file", "-", stdin=exported)
    assert zkchat("context", "export", "--format", "json").out == exported


def test_readable_formats_show_a_priority_that_matters(app: AppFixture) -> None:
    history = with_priorities(exchanges(("So?", "So."), ("Thanks!", "Sure.")), {"t1-u": 8})
    archive = resume(app, history).archive()
    for name, shown in (("md", "*priority 8 of 10*"), ("html", '"note">priority 8 of 10<')):
        assert exporter(name).export(archive).count("priority") == 1
        assert shown in exporter(name).export(archive)
    overview = app.store.conversations(None)[0]
    assert "(priority 8 of 10)" in plain_text(transcript_lines(overview, history, 1))


def test_json_of_a_prompt_has_the_priorities_of_its_messages(app: AppFixture) -> None:
    history = exchanges(("We decided to buy oak.", "Good."), ("Thanks!", "Sure."))
    session = resume(app, history)
    document = prompt_document(session.prompt(), session.history)
    assert [m["priority"] for m in document["messages"]] == [None, 9, 5, 2, 5]
