"""The tool loop: whatever a model does, a turn ends once, its history is well-formed, and the next
turn goes on from there.
"""

from collections.abc import Iterator, Sequence
from contextlib import closing
from typing import Any, get_args

import pytest
from conftest import NOTES, write_notes
from factories import (
    AppFixture,
    DeltaModel,
    failure_of,
    find_call,
    make_app,
    reply,
    report_of,
    run_turn,
    tool_reply,
)
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from summary_models import check_prompt

from zkchat_cli import events, slash
from zkchat_cli.config.schema import Config, LlmSettings
from zkchat_cli.errors import ProviderError, ProviderErrorKind, UsageError
from zkchat_cli.events import (
    ReasoningDelta,
    TextDelta,
    ToolCallFinished,
    ToolCallStarted,
    TurnCompleted,
    TurnFailed,
)
from zkchat_cli.llm.base import Delta, Request, StreamFailed, StreamFinished
from zkchat_cli.models.messages import (
    CONTINUE_PROMPT,
    FinishReason,
    ThinkingBlocks,
    TokenUsage,
    ToolCall,
    ZkChatMessage,
)
from zkchat_cli.models.prompts import PromptMessage
from zkchat_cli.tools.base import Tool, ToolOutput
from zkchat_cli.vault.vault import Vault


class Counting:
    """A tool that notes what it was called with, and answers with it."""

    def __init__(self) -> None:
        self.ran: list[Any] = []
        self.tool = Tool(
            "count",
            "counts",
            {"properties": {"n": {"type": "integer"}}, "required": ["n"]},
            self._run,
        )

    def _run(self, _: Vault, n: int) -> ToolOutput:
        self.ran.append(n)
        if n < 0:
            raise RuntimeError("there is less than nothing")
        return ToolOutput(data={"n": n})


def count(n: Any, id_: str = "") -> ToolCall:
    return ToolCall(id=id_ or f"c{n}", name="count", arguments={"n": n})


def results(messages: Sequence[ZkChatMessage | PromptMessage]) -> list[tuple[str | None, str]]:
    return [(m.tool_call_id, m.content) for m in messages if m.role == "tool"]


def well_formed(messages: Sequence[ZkChatMessage | PromptMessage]) -> bool:
    """Each call has its result right behind it, in order; there is no other result, and no id
    stands for two calls.
    """
    waiting: list[str] = []
    seen: set[str] = set()
    for message in messages:
        if message.role == "tool":
            if not waiting or waiting.pop(0) != message.tool_call_id:
                return False
            continue
        ids = [call.id for call in message.tool_calls]
        if waiting or seen & set(ids) or len(set(ids)) < len(ids) or not all(ids):
            return False
        seen |= set(ids)
        waiting = ids
    return not waiting


# one call and another


def test_calls_of_one_reply_run_in_order(app: AppFixture) -> None:
    counting = Counting()
    session = app.session(
        DeltaModel([tool_reply(count(3), count(1), count(2)), reply("Done.")]),
        tools=(counting.tool,),
    )
    events, _ = run_turn(session.send("Count."))
    assert counting.ran == [3, 1, 2]
    assert [event.call.id for event in events if isinstance(event, ToolCallStarted)] == [
        "c3",
        "c1",
        "c2",
    ]
    assert [event.call.id for event in events if isinstance(event, ToolCallFinished)] == [
        "c3",
        "c1",
        "c2",
    ]
    assert [id_ for id_, _ in results(session.history)] == ["c3", "c1", "c2"]


def test_a_reply_of_more_than_50_calls_runs_the_first(app: AppFixture) -> None:
    counting = Counting()
    session = app.session(
        DeltaModel([tool_reply(*map(count, range(60))), reply("Done.")]), tools=(counting.tool,)
    )
    assert report_of(session.send("Count.")).answer == "Done."
    assert counting.ran == [*range(50)]
    answered = results(session.history)
    assert len(answered) == 60
    assert all("a reply may have 50 calls" in text for _, text in answered[50:])


def test_more_calls_than_the_window_holds_fail_the_turn_only(app: AppFixture) -> None:
    many = [find_call(f"filter {n}", f"c{n}") for n in range(300)]
    app.max_context = 8000
    session = app.session(DeltaModel([tool_reply(*many), reply("A filter.")]))
    error = failure_of(session.send("What is a filter?")).error
    assert error.code == "prompt_too_large"
    assert "ask for less at once" in error.hint.lower()
    assert report_of(session.send("And now?")).answer == "A filter."


def read_long_notes(app: AppFixture, count: int, *after: list[Delta]) -> DeltaModel:
    """A model that reads so many long notes, one in each round, in a window of 4,000 tokens."""
    text = "".join(f"# Part {j}\n\n{f'words of part {j} ' * 12}\n\n" for j in range(18))
    write_notes(app.vault.root, {f"Long {i}.md": text for i in range(count)})
    app.max_context = 4000
    reads = [
        ToolCall(id=str(i), name="read_zk_document", arguments={"relative_path": f"Long {i}.md"})
        for i in range(count)
    ]
    return DeltaModel([*map(tool_reply, reads), *after])


def test_earlier_results_of_a_turn_make_room_for_later_ones(app: AppFixture) -> None:
    model = read_long_notes(app, 7, reply("So [1]."), reply("Yes."))
    session = app.session(model)
    report = report_of(session.send("What do the notes say?"))
    assert [run.tokens > 400 for run in report.tools] == [True] * 7
    sent = results(model.requests[7].messages)
    assert "the middle of this older text is left out" in sent[0][1]
    assert "the middle of this older text is left out" not in sent[-1][1]
    assert all(
        "left out" not in content or "No room" in content
        for _, content in results(session.history)[:2]
    )
    assert session.last_prompt is not None
    check_prompt(session.last_prompt)
    assert report_of(session.send("Sure?")).compaction is not None


def test_the_only_earlier_turn_is_masked_before_it_is_left_out(app: AppFixture) -> None:
    model = read_long_notes(app, 1, reply("So [1]."))
    model.calls = [*model.calls, *model.calls]
    session = app.session(model)
    assert report_of(session.send("What does the note say?")).compaction is None
    app.max_context = 2000
    report = report_of(app.reopen(session).send("And the middle?"))
    assert report.compaction is not None
    assert (report.compaction.mode, report.context.compaction.due) == ("masked", False)
    first, second = results(model.requests[-1].messages)
    assert "the middle of this older text is left out" in first[1]
    assert "left out" not in second[1]


def test_a_reply_that_only_asks_for_tools_is_never_the_last_word(app: AppFixture) -> None:
    app.settings = Config(llm=LlmSettings(max_tool_rounds=1))
    more = tool_reply(count(2), text="Let me look.")
    model = DeltaModel([tool_reply(count(1)), more, reply("There is one.")])
    session = app.session(model, tools=(Counting().tool,))
    report = report_of(session.send("Count."))
    assert report.answer == "There is one."
    assert [bool(request.tools) for request in model.requests] == [True, False, False]
    assert (
        "no more tools in this turn: llm.max_tool_rounds is 1"
        in results(model.requests[-1].messages)[-1][1]
    )
    error = failure_of(
        app.session(DeltaModel([tool_reply(count(1)), more]), tools=(Counting().tool,)).send(
            "Count."
        )
    ).error
    assert "never answered: llm.max_tool_rounds is 1" in error.message


def test_a_turn_that_fills_the_window_fails_with_that_reason(app: AppFixture) -> None:
    many = [find_call(f"filter {n}", f"c{n}") for n in range(3)]
    app.max_context = 1500
    error = failure_of(app.session(DeltaModel([tool_reply(*many)])).send("What is a filter?")).error
    assert isinstance(error, ProviderError)
    assert "never answered: tool results have filled the window of 1,500 tokens" in error.message
    assert "llm.max_tool_rounds" not in error.hint


def test_a_stopped_turn_is_marked_as_interrupted_in_the_prompt(app: AppFixture) -> None:
    model = DeltaModel(
        [
            tool_reply(find_call("filter")),
            [ReasoningDelta("What is it? "), ReasoningDelta("A line.")],
            reply("A filter."),
        ]
    )
    session = app.session(model)
    turn = session.send("What is a filter?")
    next(event for event in turn if isinstance(event, ReasoningDelta))
    turn.close()
    report_of(session.send("And now?"))
    assert [m.role for m in model.requests[-1].messages[-5:]] == [
        "user",
        "assistant",
        "tool",
        "assistant",
        "user",
    ]
    assert model.requests[-1].messages[-2].content == "[interrupted by the user]"


# what a model does wrong


def test_a_tool_that_fails_is_a_short_error(app: AppFixture) -> None:
    session = app.session(
        DeltaModel([tool_reply(count(-1)), reply("It failed.")]), tools=(Counting().tool,)
    )
    report = report_of(session.send("Count."))
    assert [run.ok for run in report.tools] == [False]
    [(_, said)] = results(session.history)
    assert "count failed: RuntimeError: there is less than nothing" in said


@pytest.mark.parametrize(
    ("call", "expected"),
    [
        (count("many"), "count: n must be of type integer"),
        (
            ToolCall(id="g", name="count", malformed='{"n": '),
            "the arguments of count are not a JSON object",
        ),
    ],
)
def test_a_wrong_call_gets_an_error_and_can_be_corrected(
    app: AppFixture, call: ToolCall, expected: str
) -> None:
    counting = Counting()
    session = app.session(
        DeltaModel([tool_reply(call), tool_reply(count(7, "y")), reply("Seven.")]),
        tools=(counting.tool,),
    )
    assert report_of(session.send("Count.")).answer == "Seven."
    assert expected in results(session.history)[0][1]
    assert counting.ran == [7]


@pytest.mark.parametrize("number", [float("nan"), float("inf"), float("-inf")])
def test_non_json_numbers_are_not_sent_back(app: AppFixture, number: float) -> None:
    model = DeltaModel(
        [
            tool_reply(ToolCall(id="x", name="count", arguments={"n": number, "of": [number]})),
            reply("Done."),
        ]
    )
    report_of(app.session(model, tools=(Counting().tool,)).send("Count."))
    [call] = [call for message in model.requests[1].messages for call in message.tool_calls]
    assert call.arguments == {"n": None, "of": [None]}


def test_deeply_nested_arguments_are_refused(app: AppFixture) -> None:
    deep: dict[str, Any] = {}
    for _ in range(300):
        deep = {"n": deep}
    session = app.session(
        DeltaModel([tool_reply(ToolCall(id="x", name="count", arguments=deep)), reply("Done.")]),
        tools=(Counting().tool,),
    )
    assert report_of(session.send("Count.")).answer == "Done."
    assert "not a JSON object: 'nested too deeply'" in results(app.reopen(session).history)[0][1]


def test_a_server_that_refuses_every_prompt_does_not_end_the_conversation(app: AppFixture) -> None:
    refusing = [StreamFailed(ProviderError("context_length", "too long", "Shorter."))]
    session = app.session(DeltaModel([*[refusing] * 8, reply("Here I am.")]))
    for _ in range(4):
        error = failure_of(session.send("Are you there?")).error
        assert isinstance(error, ProviderError)
    while not isinstance(end := run_turn(session.send("Are you there?"))[1], TurnCompleted):
        assert isinstance(end.error, ProviderError)
    assert end.report.answer == "Here I am."


def test_continuing_a_cut_answer(app: AppFixture) -> None:
    cut = [TextDelta("One, two,"), StreamFinished("length")]
    session = app.session(DeltaModel([cut, reply(" three.")]))
    with pytest.raises(UsageError, match="was not cut"):
        session.continue_answer()
    assert report_of(session.send("Count.")).finish_reason == "length"
    assert report_of(session.continue_answer()).answer == " three."
    assert (
        session.history[-2].content == CONTINUE_PROMPT
        and session.history[-2].display_text == "/continue"
    )
    assert "“/continue”" in slash.run("/undo", session).text
    assert "“/continue”" in slash.run("/redo", session).text
    with pytest.raises(UsageError, match="was not cut"):
        session.continue_answer()


# whatever a model does

TEXTS = st.text(max_size=12) | st.sampled_from(["It needs air [1].", "\ud800", "\x1b[2J", " "])
VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | TEXTS,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(TEXTS, inner, max_size=3),
    max_leaves=5,
)
IDS = st.sampled_from(["", "a", "b", "call-1", "\udfff"])
CALLS = (
    st.builds(find_call, st.sampled_from(["compost", "filters", ""]), IDS)
    | st.builds(lambda n, id_: count(n, id_ or "z"), st.integers(-1, 3), IDS)
    | st.builds(ToolCall, id=IDS, name=TEXTS, arguments=st.dictionaries(TEXTS, VALUES, max_size=2))
    | st.builds(ToolCall, id=IDS, name=st.just("count"), malformed=TEXTS)
)
KINDS = st.sampled_from(get_args(ProviderErrorKind))
USAGE = st.none() | st.builds(
    TokenUsage,
    prompt_tokens=st.integers(0, 10**7),
    completion_tokens=st.integers(0, 10**7),
    estimated=st.booleans(),
)
THINKING = st.none() | st.builds(
    lambda text: ThinkingBlocks(provider="p", blocks=({"text": text},)), TEXTS
)
DELTAS: st.SearchStrategy[Delta] = st.one_of(
    st.builds(TextDelta, TEXTS),
    st.builds(ReasoningDelta, TEXTS),
    st.builds(events.Waiting, st.just(0.0), TEXTS),
    st.builds(
        StreamFinished,
        st.sampled_from(get_args(FinishReason)),
        USAGE,
        st.lists(CALLS, max_size=3).map(tuple),
        THINKING,
    ),
    st.builds(
        lambda kind, text: StreamFailed(ProviderError(kind, text or "no", "Again.")), KINDS, TEXTS
    ),
)
REPLIES = st.lists(st.lists(DELTAS, max_size=5), min_size=1, max_size=5)


@pytest.fixture(scope="module")
def shared_app(tmp_path_factory: pytest.TempPathFactory) -> Iterator[AppFixture]:
    folder = tmp_path_factory.mktemp("runner")
    with closing(make_app(write_notes(folder / "notes", NOTES), folder / "cache")) as app:
        app.settings = Config.model_validate({"llm": {"max_tool_rounds": 3}})
        yield app


def test_a_turn_fails_when_a_refusal_after_reasoning_leaves_no_smaller_prompt(
    app: AppFixture,
) -> None:
    refusal = StreamFailed(ProviderError("context_length", "too long", "Again."))
    session = app.session(DeltaModel([[ReasoningDelta("It needs air."), refusal]]), tools=())
    failed = list(session.send("Question?"))[-1]
    assert isinstance(failed, TurnFailed)
    assert failed.error.kind == "context_length"
    assert [m.status for m in session.history if m.role == "user"] == ["failed"]


def test_a_guessed_window_is_forgotten_when_the_server_accepts_a_larger_prompt(
    app: AppFixture,
) -> None:
    refusal = StreamFailed(ProviderError("context_length", "too long", "Again."))
    usage = TokenUsage(prompt_tokens=20_000, completion_tokens=3, estimated=False)
    accepted = [TextDelta("Yes."), StreamFinished("stop", usage)]
    session = app.session(DeltaModel([[refusal], accepted]), tools=app.session().runtime.tools)
    known = session.runtime.window
    report_of(session.send("First?"))
    assert session.runtime.window == known
    assert report_of(session.send("Second?")).answer == "Yes."


def test_a_guessed_window_is_forgotten_when_the_accepted_prompt_leaves_no_room_for_an_answer(
    app: AppFixture,
) -> None:
    refusal = StreamFailed(ProviderError("context_length", "too long", "Again."))

    def answer(request: Request) -> list[Delta]:
        if len(model.requests) == 1:
            return [refusal]
        assert request.window is not None
        tokens = int(0.95 * request.window)
        usage = TokenUsage(prompt_tokens=tokens, completion_tokens=3, estimated=False)
        return [TextDelta("Yes."), StreamFinished("stop", usage)]

    model = DeltaModel(answer=answer)
    session = app.session(model, tools=app.session().runtime.tools)
    known = session.runtime.window
    report_of(session.send("First?"))
    assert session.runtime.window == known
    assert report_of(session.send("Second?")).answer == "Yes."


@settings(
    max_examples=30,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.function_scoped_fixture],
)
@given(replies=REPLIES, turns=st.integers(1, 3))
def test_any_order_of_deltas_and_faults_ends_a_turn_once(
    shared_app: AppFixture, replies: list[list[Delta]], turns: int
) -> None:
    session = shared_app.session(
        DeltaModel(replies), tools=(*shared_app.session().runtime.tools, Counting().tool)
    )
    for i in range(turns):
        events = list(session.send(f"Question {i}?"))
        assert [isinstance(event, TurnCompleted | TurnFailed) for event in events] == [False] * (
            len(events) - 1
        ) + [True]
    assert well_formed(session.history)
    assert [m.content for m in session.history if m.role == "user"] == [
        f"Question {i}?" for i in range(turns)
    ]
    follower = DeltaModel([reply("Yes.")])
    resumed = shared_app.reopen(session, follower)
    assert well_formed(resumed.history)
    # Counts by what the last answer taught, as the other does
    session.runtimes.prepare()
    assert [m.content for m in resumed.prompt("And?").messages] == [
        m.content for m in session.prompt("And?").messages
    ]
    assert report_of(resumed.send("And?")).answer == "Yes."
    [request] = follower.requests
    assert isinstance(request, Request)
    assert well_formed(request.messages)
    assert request.messages[-1].content == "And?"
