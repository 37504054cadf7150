"""What is pinned, and what the user instructed, is in every prompt word for word, whatever is
folded or dropped; `/pin` and its kin.
"""

from collections.abc import Sequence

import pytest
from factories import (
    COUNTER,
    AppFixture,
    DeltaModel,
    chunk,
    exchanges,
    make_compaction,
    make_history,
    message,
    prompt_of,
    reply,
    report_of,
    resume,
)
from factories import split_into_turns as split
from history_strategies import EXAMPLES
from hypothesis import given, settings
from hypothesis import strategies as st
from slash_results import slash_error, slash_output
from summary_models import SummaryModel, summary_reply

from zkchat_cli.context.fixed_messages import is_fixed
from zkchat_cli.context.masks import find_maskable
from zkchat_cli.context.prompt_messages import FIXED_TAG
from zkchat_cli.errors import PromptTooLarge
from zkchat_cli.models.messages import ZkChatMessage
from zkchat_cli.models.prompts import Prompt

ASKED = "And the anvil?"
STRATEGIES = ["discard", "summarize", "hybrid"]
RULE = "From now on, answer in German. Grüße: <b>&amp;\t…"
CHATTER = [(f"Chatter number {i}? " * 20, "Indeed. " * 20) for i in range(20)]


def kept(prompt: Prompt) -> list[str]:
    return [m.content for m in prompt.messages if m.content.startswith(f"<{FIXED_TAG}")]


def pinned(history: Sequence[ZkChatMessage], *ids: str) -> tuple[ZkChatMessage, ...]:
    return tuple(m.model_copy(update={"pinned": True}) if m.id in ids else m for m in history)


# in the prompt


@pytest.mark.parametrize("strategy", STRATEGIES)
def test_an_old_instruction_is_sent_verbatim_before_recent_turns(strategy: str) -> None:
    prompt = prompt_of(exchanges(("Hello", "Hi"), (RULE, "Gern."), *CHATTER), ASKED, 2000, strategy)
    (rule,) = kept(prompt)
    about = 'turn=2 role="user" date="2025-05-03" why="an instruction of the user that still holds"'
    assert rule == f"<kept-message {about}>\n{RULE}\n</kept-message>"
    assert [m.content.startswith("<kept") for m in prompt.messages].index(True) == 1
    assert "t2-u" not in {d.id for d in prompt.dropped}


@pytest.mark.parametrize("strategy", STRATEGIES)
def test_pins_that_do_not_fit_are_an_error_with_unpin_as_a_hint(strategy: str) -> None:
    history = pinned(
        exchanges(("small pin", "So."), ("pin this " * 600, "So."), ("Hello", "Hi")), "t1-u", "t2-u"
    )
    with pytest.raises(PromptTooLarge) as e:
        prompt_of(history, ASKED, 1000, strategy)
    assert "the limit is 900" in e.value.message
    assert e.value.hint.startswith("Largest: pinned messages, 1,")


texts = st.sampled_from(
    [
        RULE,
        "Always use metric units.",
        "Why?",
        "anvil " * 30,
        "x" * 300,
        "Thanks!",
        "从现在开始用中文。",
    ]
)


@st.composite
def histories(draw: st.DrawFn) -> tuple[ZkChatMessage, ...]:
    messages = []
    for i in range(draw(st.integers(1, 30))):
        role = "user" if i % 2 == 0 or draw(st.booleans()) else "assistant"
        marks = {
            "pinned": draw(st.sampled_from([False] * 6 + [True])),
            "status": draw(st.sampled_from(["complete"] * 8 + ["failed"])),
        }
        messages.append(message(role, draw(texts) + f" {i}", f"m{i}", **marks))
    return tuple(messages)


@pytest.mark.parametrize("strategy", STRATEGIES)
@settings(max_examples=EXAMPLES)
@given(history=histories(), window=st.integers(300, 3000), data=st.data())
def test_pinned_messages_are_in_every_prompt_verbatim(
    strategy: str, history: tuple[ZkChatMessage, ...], window: int, data: st.DataObject
) -> None:
    compaction = data.draw(
        st.none() | st.sampled_from([make_compaction("They spoke.", m.id) for m in history])
    )
    turns = make_history(history, COUNTER).all_turns
    fixed = [
        m.content
        for turn in turns
        for m in turn.messages
        if (m.pinned if turn.failure else is_fixed(m))
    ]
    try:
        prompt = prompt_of(history, ASKED, window, strategy, compaction=compaction)
    except PromptTooLarge:
        always = prompt_of((), ASKED, window, strategy).usage.total_tokens
        assert always + sum(turn.fixed_tokens for turn in turns) > 0.9 * window - 1
        return
    sent = [m.content for m in prompt.messages]
    assert all(any(content in text for text in sent) for content in fixed)
    assert prompt.usage.total_tokens <= prompt.usage.effective_limit
    said_once = [
        id_
        for m in prompt.messages
        if not m.content.startswith("<recalled")
        for id_ in m.source_ids
    ]
    assert len(said_once) == len(set(said_once))
    whole_turns = [
        turn
        for turn in turns
        if not turn.failure and all(m in prompt.messages for m in turn.prompt)
    ]
    sendable = [turn for turn in turns if not turn.failure]
    assert whole_turns == sendable[len(sendable) - len(whole_turns) :]


# in a session


@pytest.fixture
def app(app: AppFixture) -> AppFixture:
    app.max_context = 8000
    return app


def test_pins_instructions_and_facts_survive_ten_compactions(app: AppFixture) -> None:
    session = app.session(DeltaModel([reply("Noted. " * 40)]))
    report_of(session.send(RULE))
    report_of(session.send("The anvil zq81x stands on shelf seven."))
    slash_output("/pin 2 question", session)
    report_of(session.send("The rent of the mill is due on the ninth."))
    slash_output("/pin 3 question", session)
    for i in range(10):
        for j in range(2):
            report_of(
                session.send(
                    (
                        f"Fact f{i}{j}q: thing {i}{j} weighs {i * 7 + j} pounds, as the scale "
                        f"in hall {i} says. "
                    )
                    * 3
                )
            )
        assert session.compact(keep=0).mode != "none"
    session = app.reopen(session)
    for question in ("Hello?", "Where is it?"):
        sent = [m.content for m in session.prompt(question).messages]
        for said in (
            RULE,
            "The anvil zq81x stands on shelf seven.",
            "The rent of the mill is due on the ninth.",
        ):
            assert any(said in text for text in sent)
    for i in range(10):
        sent = [m.content for m in session.prompt(f"What is f{i}1q?").messages]
        assert any(
            f"Fact f{i}1q:" in text for text in sent if text.startswith("<recalled-conversation>")
        )


def test_pinned_messages_are_not_folded(app: AppFixture) -> None:
    model = SummaryModel([summary_reply("They spoke.")])
    session = resume(
        app,
        pinned(exchanges((RULE, "Gern."), ("pin this " * 200, "So."), *CHATTER), "t2-u"),
        model=model,
    )
    done = session.compact()
    asked = model.asked[0].messages[-1].content
    prompt = session.prompt()
    assert [text in asked for text in (RULE, "pin this", "Chatter number 1?")] == [
        False,
        False,
        True,
    ]
    assert len(kept(prompt)) == 2
    assert done.tokens_after == prompt.usage.total_tokens


def test_the_documents_of_an_instruction_are_not_masked(app: AppFixture) -> None:
    named = {
        "references": ({"wikilink": "[[A]]", "relative_path": "A.md", "reference_type": "direct"},),
        "chunks": (chunk(1, "x " * 900),),
    }
    history = [
        message("user", text, id_, **named)
        for id_, text in (("rule", "Always cite [[A]]."), ("question", "What says [[A]]?"))
    ]
    assert find_maskable(split(history, COUNTER), COUNTER) == ("question",)


def test_an_instruction_can_be_unpinned_and_put_back(app: AppFixture) -> None:
    session = resume(app, exchanges(("Always answer in German.", "Gern."), ("So?", "So.")))
    assert "an instruction" in slash_output("/pin", session)
    assert "Unpinned turn 1, question." in slash_output("/unpin 1", session)
    assert slash_output("/pin", session).startswith("Nothing is pinned")
    slash_output("/pin 1 question", session)
    assert "pinned: Always answer in German." in slash_output("/pin", session)


@pytest.mark.parametrize(
    ("line", "problem"),
    [
        ("/pin 9", "there is no turn 9"),
        ("/pin ²", "'²' is not a turn"),
        ("/pin 1 everything", "'1 everything' is not a turn"),
        ("/pin " + "9" * 5000, "is not a turn"),
        ("/edit what?", "'what?' is not a turn"),
        ("/unpin", "/unpin needs N"),
        ("/retry 1", "/retry takes no argument"),
        ("/unpin 0", "there is no turn 0"),
        ("/pin 2 answer", "turn 2 has no answer"),
    ],
)
def test_invalid_turns_are_refused(app: AppFixture, line: str, problem: str) -> None:
    session = resume(
        app, (*exchanges(("So?", "So.")), message("user", "And?", "u2", parent_id="t1-a"))
    )
    assert problem in slash_error(line, session).message
