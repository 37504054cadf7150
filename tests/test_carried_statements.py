"""What a summary states of the user's decisions and of numbers with their names, the following
summaries state too, whoever writes them and whatever they leave out.
"""

import json
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from conftest import Program
from factories import (
    COUNTER,
    AppFixture,
    CountingIds,
    exchanges,
    make_app,
    report_of,
    resume,
    split_into_turns,
)
from hypothesis import given, settings
from hypothesis import strategies as st
from summary_models import SummaryModel, check_prompt, failing_reply, summary_reply
from terminal_screen import Script

from zkchat_cli import slash
from zkchat_cli.chat.session import ZkChatSession
from zkchat_cli.llm.base import Delta, StreamFinished
from zkchat_cli.models.carried_statement import CarriedStatement
from zkchat_cli.models.compaction import Compaction
from zkchat_cli.store.sqlite.chat_session_store import ChatSessionStore
from zkchat_cli.summarization.carried_statements import (
    DECISIONS_SHARE,
    RequiredStatements,
    add_statements,
    carry_statements,
    find_missing,
    select_statements,
)

BOUGHT = "We decided to buy dehumidifiers for 378 euros."
CHANGED = "We decided to buy dehumidifiers for 410 euros instead."


def carried(*said: str, summary: str = "", before: Sequence[str] = ()) -> list[str]:
    """The lines that are carried after these messages, and an earlier summary of others."""
    previous = None
    if summary or before:
        statements = carry_statements(None, turns_of(*before))
        previous = compaction(summary, statements)
    return [each.line for each in carry_statements(previous, turns_of(*said))]


def turns_of(*said: str) -> tuple[Any, ...]:
    return split_into_turns(exchanges(*((text, "Noted.") for text in said)), COUNTER)


def compaction(summary: str, statements: Sequence[CarriedStatement] = ()) -> Compaction:
    return Compaction(
        id="c1",
        created_at="2026-01-01T00:00:00+00:00",
        tokens_before=900,
        tokens_after=90,
        messages_folded=8,
        mode="full",
        summary=summary,
        carried=tuple(statements),
    )


# what is carried


@pytest.mark.parametrize(
    ("said", "is_carried"),
    [
        (BOUGHT, True),
        ("We decided to paint the kitchen in a dark blue.", True),
        ("Let's take the oak table.", True),
        ("Wir haben uns für die Wärmepumpe entschieden.", True),
        ("我们决定买除湿机。", True),
        ("We decided that it is fine.", False),
        ("Did we decide to buy dehumidifiers for 378 euros?", False),
        ("It rained on 3 days.", False),
    ],
)
def test_decisions_of_the_user_are_carried(said: str, is_carried: bool) -> None:
    assert carried(said) == ([f"- user: {said}"] if is_carried else [])


@pytest.mark.parametrize(
    ("stated", "is_carried"),
    [
        ("The desk is 160 cm wide.", True),
        ("- **Rent**: 1,250 euros to Mrs Lindqvist", True),
        ("- 3 March 2026, user: The permit has the number 4471.", True),
        ("The garden has 3 trees.", False),
        ("The user likes trees.", False),
        ("Is the desk 160 cm wide?", False),
    ],
)
def test_numbers_with_their_names_in_a_summary_are_carried(stated: str, is_carried: bool) -> None:
    assert bool(carried(summary=f"The user moves house.\n{stated}")) == is_carried


def test_a_summary_that_states_what_is_carried_adds_nothing() -> None:
    assert carried(summary="Dehumidifiers were bought for 378 euros.", before=[BOUGHT]) == [
        f"- user: {BOUGHT}"
    ]


@pytest.mark.parametrize(
    ("said", "lines"),
    [
        (
            [BOUGHT, CHANGED],
            ["- user: We decided to buy dehumidifiers for 410 euros instead (was 378, now 410)"],
        ),
        (
            [BOUGHT, CHANGED, "Actually the dehumidifiers cost 450 euros."],
            ["- user: Actually the dehumidifiers cost 450 euros (was 378, 410, now 450)"],
        ),
        (
            ["We agreed on a rent of 900 euros.", "We agreed on a rent deposit of 1800 euros now."],
            [
                "- user: We agreed on a rent of 900 euros.",
                "- user: We agreed on a rent deposit of 1800 euros now.",
            ],
        ),
        (
            ["We decided to put thing1 on shelf 71.", "We now decided to put thing2 on shelf 72."],
            [
                "- user: We decided to put thing1 on shelf 71.",
                "- user: We now decided to put thing2 on shelf 72.",
            ],
        ),
    ],
)
def test_a_new_number_says_what_it_replaces_and_in_doubt_both_stay(
    said: list[str], lines: list[str]
) -> None:
    assert carried(*said) == lines


# whether a summary states it


@pytest.mark.parametrize(
    ("summary", "is_stated"),
    [
        ("The dehumidifiers cost 378 euros.", True),
        ("Dehumidifiers were chosen. They cost 378 euros.", True),
        ("- Dehumidifiers:\n  - for 378 euros", True),
        ("Dehumidifiers were chosen.", False),
        ("The rent is 378 euros. Dehumidifiers are loud.", False),
        ("They decided not to buy dehumidifiers for 378 euros.", False),
        ("The dehumidifiers cost 387 euros.", False),
    ],
)
def test_a_statement_is_stated_in_one_sentence(summary: str, is_stated: bool) -> None:
    statements = carry_statements(None, turns_of(BOUGHT))
    assert (not find_missing(summary, statements)) == is_stated


def test_a_decision_in_a_pinned_message_is_not_added() -> None:
    statements = carry_statements(None, turns_of(BOUGHT))
    required = RequiredStatements(statements, beside=BOUGHT)
    assert add_statements("It rained.", required, 100, COUNTER) == "It rained."


def test_what_is_added_takes_a_bounded_share_and_the_newest_decisions_come_first() -> None:
    said = [f"We decided to order part number {n} from Miller for {n}0 euros." for n in range(50)]
    statements = carry_statements(None, turns_of(*said))
    limit = 400
    chosen = select_statements(statements, limit, COUNTER)
    assert sum(COUNTER.count(each.line) for each in chosen) <= DECISIONS_SHARE * limit
    assert list(chosen) == list(statements[-len(chosen) :])
    long = "The user orders parts. " * 90
    whole = add_statements(long, RequiredStatements(statements), limit, COUNTER)
    assert COUNTER.count(whole) <= limit
    assert said[-1] in whole
    assert whole.endswith("earlier statements are only in the log")
    assert whole.startswith("The user orders parts.")


# ten rounds


HOSTILE = {
    "leaves all out": "The user talks about a house.",
    "has another number": "The dehumidifiers cost 387 euros, and the pump 99.",
    "denies it": "The user decided not to buy dehumidifiers for 378 euros.",
    "gives the number to something else": "The rent is 378 euros. Dehumidifiers are loud.",
    "fills the room": "The user talks about a house and about a garden. " * 60,
    "invents": "Gunther paid 99,123 euros in Oslo on 4 May 1987.",
}
FAULTS = ("timeout", "empty", "malformed")
hostile_rounds = st.lists(st.sampled_from([*HOSTILE, *FAULTS]), min_size=10, max_size=10)


def hostile_reply(kind: str) -> list[Delta]:
    if kind in HOSTILE:
        return summary_reply(HOSTILE[kind])
    if kind == "timeout":
        return failing_reply("timeout")
    return [StreamFinished("stop")]


def is_in_prompt(session: ZkChatSession, *words: str) -> bool:
    """Whether one line of the next prompt has all these words."""
    texts = "\n".join(message.content for message in session.prompt().messages)
    return any(all(word in line for word in words) for line in texts.split("\n"))


@pytest.fixture(scope="module")
def workspace(tmp_path_factory: pytest.TempPathFactory) -> Iterator[AppFixture]:
    folder = tmp_path_factory.mktemp("statements")
    (folder / "notes").mkdir()
    (folder / "notes" / "Filters.md").write_text("# Filters\n\nThey say which tasks you see.\n")
    with closing(make_app(folder / "notes", folder / "cache")) as made:
        yield made


@given(
    hostile_rounds,
    st.sampled_from([3000, 6000]),
    st.booleans(),
    st.booleans(),
    st.integers(0, 9),
)
def statements_stay_for_ten_rounds(
    workspace: AppFixture,
    rounds: list[str],
    window: int,
    can_summarize: bool,
    automatic: bool,
    changed_in: int,
) -> None:
    workspace.store = ChatSessionStore.open(None)
    workspace.new_id = CountingIds("n")
    workspace.max_context = window
    first = summary_reply("The user has a house, and the permit number 4471.")
    # A correction takes a further call
    later = [reply for kind in rounds for reply in [hostile_reply(kind)] * 2]
    model = SummaryModel([first, *later])
    model.summarizes = can_summarize
    noise = "We looked at the garden, and at the house beside it, for a long time. " * 6
    start = [(f"{BOUGHT} {noise}", "Noted."), *[(noise, "Indeed.")] * 3]
    start[1] = (f"The permit has the number 4471. {noise}", "Noted.")
    session = resume(workspace, exchanges(*start), model=model)
    session.compact(keep=2)
    # In a summary, a number with its name is kept, too
    in_summary = is_in_prompt(session, "permit", "4471")
    assert in_summary or not can_summarize
    for number in range(len(rounds)):
        said = f"{noise} Round {number}."
        if number == changed_in:
            said = f"{CHANGED} {said}"
        report_of(session.send(said))
        if automatic:
            report_of(session.send(noise * 8))
        else:
            report_of(session.send(noise))
            session.compact(keep=2)
        check_prompt(session.prompt())
        assert is_in_prompt(session, "dehumidifiers", "378"), number
        assert not in_summary or is_in_prompt(session, "permit", "4471"), number
        assert number < changed_in or is_in_prompt(session, "dehumidifiers", "410"), number
        done = session.state.compaction
        assert done is None or done.summary_tokens <= session.runtime.largest_summary
        # Another process continues alike
        session = workspace.reopen(session)
    session.compact(keep=0)
    assert is_in_prompt(session, "dehumidifiers", "was 378, now 410")


@pytest.mark.untraced
def test_statements_stay_for_ten_rounds_of_hostile_summaries(workspace: AppFixture) -> None:
    settings(max_examples=4)(statements_stay_for_ten_rounds)(workspace)


def test_a_decision_in_a_message_that_is_no_longer_pinned_comes_into_the_next_summary(
    app: AppFixture,
) -> None:
    model = SummaryModel([summary_reply("The user talks about a house.")])
    noise = "We looked at the garden, and at the house beside it, for a long time. " * 6
    said = [(f"{BOUGHT} {noise}", "Noted."), *[(noise, "Indeed.")] * 5]
    session = resume(app, exchanges(*said), model=model)
    slash.run("/pin 1", session)
    first = session.compact(keep=8)
    assert first.summary == "The user talks about a house."
    assert is_in_prompt(session, "dehumidifiers", "378")
    slash.run("/unpin 1", session)
    session.compact(keep=2)
    assert is_in_prompt(session, "- user:", "dehumidifiers", "378")


# on the command line, each step in a process of its own


@pytest.fixture
def talk(zkchat: Program, tmp_path: Path) -> str:
    """A conversation that begins with a decision; its id."""
    noise = "We looked at the garden, and at the house beside it, for a long time. " * 8
    said = [f"{BOUGHT} {noise}", *[f"{noise} That was day {n}." for n in range(1, 8)]]
    messages: list[dict[str, str]] = []
    for text in said:
        messages.append({"role": "user", "content": text})
        messages.append({"role": "assistant", "content": "Noted."})
    file = tmp_path / "talk.json"
    file.write_text(json.dumps(messages))
    done = zkchat("context", "import", "--file", file, "--json")
    conversation: str = done.json["conversation_id"]
    return conversation


def compact_by_command(zkchat: Program, talk: str, model: str) -> None:
    zkchat("context", "compact", talk, "--keep", 2, "--model", model)


def compact_in_chat(zkchat: Program, talk: str, model: str) -> None:
    zkchat("chat", "--resume", talk, "--model", model, stdin="/compact now\n")


def compact_when_due(zkchat: Program, talk: str, model: str) -> None:
    limit = ("--max-context", 1600)
    zkchat("ask", "--cid", talk, "And the garden? " * 200, *limit, "--model", model)


@pytest.mark.parametrize(
    ("compact", "reply"),
    [
        (compact_by_command, "a summary"),
        (compact_in_chat, "nothing"),
        (compact_when_due, "an extract"),
    ],
)
def test_a_decision_outlasts_the_second_summary(
    zkchat: Program, talk: str, script: Script, compact: Callable[..., None], reply: str
) -> None:
    other = {"text": "<conversation-summary>They talk about a house.</conversation-summary>"}
    model = "offline"
    if reply != "an extract":
        model = script(other if reply == "a summary" else {"text": "I would rather not."})
    zkchat("context", "compact", talk, "--keep", 8, "--model", model)
    [first] = zkchat("context", "summary", talk, "--json").json
    assert "378 euros" in first["summary"]
    for _ in range(2):
        zkchat("ask", "--cid", talk, "It rained on the garden again. " * 20, "--model", model)
        compact(zkchat, talk, model)
    [last] = zkchat("context", "summary", talk, "--json").json
    assert last["covers"]["messages"] > first["covers"]["messages"]
    assert "dehumidifiers for 378 euros" in last["summary"]
