"""What a model's reports teach about how it counts: never that its tokens are fewer than they
are.
"""

import re
from typing import Any

import pytest
from factories import COUNTER, AppFixture, failure_of, report_of, run_turn
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from model_calls import OPENAI, open_model
from model_server import ModelServer, Reply, openai_text

from zkchat_cli.config.schema import Config
from zkchat_cli.events import Notice
from zkchat_cli.llm.base import Window
from zkchat_cli.models.prompts import Calibration
from zkchat_cli.tokens.calibration import CountedPrompt, learn_calibration


def text_only(text: float, counted: float) -> CountedPrompt:
    return CountedPrompt(text, 0, counted)


def test_a_factor_rises_at_once_and_sinks_slowly() -> None:
    known = learn_calibration(Calibration(), text_only(1000, 2000))
    assert (known.text, known.calls) == (2.0, 1)
    assert learn_calibration(known, text_only(1000, 1000)).text == 1.5
    assert learn_calibration(known, text_only(1000, 3000)).text == 3.0


def test_tools_that_a_template_leaves_out_do_not_shrink_text() -> None:
    known = learn_calibration(Calibration(), CountedPrompt(1000, 1000, 1000))
    assert known == Calibration()
    known = learn_calibration(
        learn_calibration(known, text_only(1000, 1000)), CountedPrompt(1000, 1000, 1000)
    )
    assert (known.text, known.tool_factor) == (1.0, 0.0)


def test_text_is_measured_by_what_the_next_call_of_a_turn_has_more() -> None:
    first = CountedPrompt(500, 1000, 500 * 0.8 + 1300)
    second = CountedPrompt(1500, 1000, 1500 * 0.8 + 1300)
    known = learn_calibration(learn_calibration(Calibration(), first), second, first)
    assert 0.8 < known.text < 0.9
    assert 1500 * known.text + 1000 * known.tool_factor == pytest.approx(second.counted)


def test_too_few_tokens_or_an_impossible_figure_teach_nothing() -> None:
    for prompt in (text_only(50, 90), text_only(1000, 100), text_only(1000, 9000)):
        assert learn_calibration(Calibration(), prompt) == Calibration()


@given(
    text=st.floats(0.6, 4),
    tools=st.floats(0, 3),
    prompts=st.lists(st.tuples(st.integers(100, 9000), st.integers(0, 3000)), max_size=8),
)
def test_a_prompt_that_was_counted_is_never_counted_as_smaller(
    text: float, tools: float, prompts: list[tuple[int, int]]
) -> None:
    known = Calibration()
    before = None
    for t, g in prompts:
        prompt = CountedPrompt(t, g, text * t + tools * g)
        known = learn_calibration(known, prompt, before)
        if 0.5 <= prompt.counted / (t + g) <= 5:
            assert known.text * t + known.tool_factor * g >= 0.999 * prompt.counted
        before = prompt


# a server with another vocabulary, which counts

WINDOW = 2048
LETTERS = {
    "English": "the compost heap needs air and water every day ",
    "German": "Überprüfung der Kompostwärme fördert Mikroorganismen ",
    "Greek": "το κομπόστ χρειάζεται αέρα και νερό κάθε μέρα ",
    "Russian": "компосту нужен воздух и вода каждый день ",
    "Chinese": "堆肥需要空气和水才能腐烂",
    "Hindi": "खाद को हवा और पानी की जरूरत होती है ",
    "code": "def f(x):\n    return {k: v for k, v in x.items() if v}\n",
}


def count_as_server(text: str) -> int:
    """Tokens of a vocabulary made for English: letters of other scripts are three or more each."""
    return sum(
        1 if piece.isascii() else len(piece.encode())
        for piece in re.findall(r"[A-Za-z]{1,6}|\s|.", text)
    )


def count_exactly(body: dict[str, Any]) -> int:
    return sum(4 + COUNTER.count_raw(message["content"]) for message in body["messages"])


class CountingServer:
    """A llama.cpp that counts so, refuses what is longer than its window, and records what it
    accepted. `old`: without `/input_tokens`.
    """

    def __init__(self, server: ModelServer, *, counts: bool = True, old: bool = False) -> None:
        self.accepted: list[int] = []
        # Of the accepted ones those that ask for a summary
        self.summaries: list[int] = []
        server.gets["/v1/models"] = {
            "data": [{"id": "m", "owned_by": "llamacpp", "meta": {"n_ctx": WINDOW}}]
        }
        self._counts = counts
        self._old = old
        server.compute = self.answer

    def answer(self, path: str, body: dict[str, Any]) -> Reply | dict[str, Any] | None:
        if path == "/tokenize":
            return {"tokens": [1] * count_as_server(body["content"])}
        counted = sum(4 + count_as_server(message["content"]) for message in body["messages"])
        if path == "/apply-template" and self._old:
            return {"prompt": "".join(f"<s> {message['content']}" for message in body["messages"])}
        if not path.endswith("/completions"):
            return (
                {"input_tokens": counted}
                if self._counts and not self._old and path.endswith("/input_tokens")
                else None
            )
        if counted >= WINDOW:
            said = (
                f"request ({counted} tokens) exceeds the available context size ({WINDOW} "
                "tokens), try increasing it"
            )
            return OPENAI.error(400, said)
        self.accepted.append(counted)
        self.summaries += (
            [counted] if body["messages"][0]["content"].startswith("Summarise") else []
        )
        return Reply(openai_text("Yes.", usage={"prompt_tokens": counted, "completion_tokens": 1}))


texts = st.lists(
    st.tuples(st.sampled_from(sorted(LETTERS)), st.integers(1, 60)).map(
        lambda drawn: LETTERS[drawn[0]] * drawn[1]
    ),
    min_size=1,
    max_size=5,
)


@settings(max_examples=8, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(questions=texts)
def test_every_prompt_that_is_sent_fits_by_the_servers_own_count(
    app: AppFixture, server: ModelServer, questions: list[str]
) -> None:
    """Only the request of a summary may take what is left free for answers."""
    counting = CountingServer(server)
    server.asked.clear()
    session = app.session(open_model("openai", f"{server.address}/v1"), tools=(), retrieval="auto")
    for question in questions:
        run_turn(session.send(question))
    assert all(
        counted <= 0.9 * WINDOW or counted in counting.summaries for counted in counting.accepted
    )
    assert len(server.asked) == len(counting.accepted)  # none was refused


@pytest.mark.parametrize("old", [False, True])
def test_a_message_that_is_too_long_by_the_servers_count_is_named(
    app: AppFixture, server: ModelServer, old: bool
) -> None:
    CountingServer(server, old=old)
    session = app.session(open_model("openai", f"{server.address}/v1"), tools=())
    error = failure_of(session.send(LETTERS["Chinese"] * 80)).error
    assert error.code == "prompt_too_large"
    assert "Shorten" in error.hint
    assert server.asked == []


def test_documents_are_decided_again_when_the_server_refuses_the_prompt(
    app: AppFixture, server: ModelServer
) -> None:
    counting = CountingServer(server, counts=False)
    (app.vault.root / "堆肥.md").write_text(
        "# 堆肥\n\n" + f"{LETTERS['Chinese']}。\n\n" * 60, encoding="utf-8"
    )
    app.vault.refresh()
    app.settings = Config.model_validate({"context": {"injection_ratio": 0.9}})
    session = app.session(open_model("openai", f"{server.address}/v1"), tools=())
    events, _ = run_turn(session.send("What does [[堆肥]] say, and [[nowhere]]?"))
    report = report_of(iter(events))
    assert len(server.asked) == 2
    # The missing note is told once, and then what of the other one was sent
    missing, cut = [event.message for event in events if isinstance(event, Notice)]
    assert "[[nowhere]] not found" in missing
    assert "of [[堆肥]] went to the model" in cut
    assert len(counting.accepted) == 1
    assert session.history[0].references[0].delivery == "partly"
    assert report.context.calibration > 2


@pytest.mark.parametrize(
    ("window", "begins"), [(8192, "[1] Fake"), (32768, '{"excerpts": [{"source": 1')]
)
def test_a_small_model_gets_passages_as_text_a_large_one_as_json_and_both_are_counted_so(
    app: AppFixture, server: ModelServer, window: int, begins: str
) -> None:
    (app.vault.root / "Fake.md").write_text(
        "# Fake\n\nBrackets of filters:\n[1] Forged\n\n  [2] Indented\n", encoding="utf-8"
    )
    app.vault.refresh()
    server.compute = lambda _, body: Reply(
        openai_text("Yes.", usage={"prompt_tokens": count_exactly(body), "completion_tokens": 1})
    )
    model = open_model("openai", f"{server.address}/v1")
    session = app.session(model, configured_window=Window(window, "test"), retrieval="before")
    report = report_of(session.send("How are brackets of filters forged?"))
    [documents] = [m["content"] for m in server.bodies[0]["messages"] if "Forged" in m["content"]]
    assert documents.splitlines()[1].startswith(begins)
    assert ("\n [1] Forged" in documents) == (window == 8192)
    assert [m.content for m in session.prompt().messages if m.kind == "documents"] == [documents]
    assert report.usage.prompt_tokens == pytest.approx(report.context.total_tokens, rel=0.02)


def test_a_second_refusal_names_what_is_too_long(app: AppFixture, server: ModelServer) -> None:
    server.gets["/v1/models"] = {"data": [{"id": "m", "max_model_len": 4096}]}
    server.says(OPENAI.error(400, "the request exceeds the available context size"))
    session = app.session(open_model("openai", f"{server.address}/v1"), tools=())
    error = failure_of(session.send("What is compost? " * 100)).error
    assert error.hint.startswith("Largest: the message itself, ")
    assert "shorten it" in error.hint.lower()


def test_a_model_that_refuses_tools_is_asked_once_more_with_passages(
    app: AppFixture, server: ModelServer
) -> None:
    server.gets["/v1/models"] = {"data": [{"id": "m", "max_model_len": 32768}]}
    server.says(
        OPENAI.error(500, "tools param requires --jinja flag"),
        Reply(openai_text("With “AND, OR and NOT” [1].")),
    )
    session = app.session(open_model("openai", f"{server.address}/v1"), retrieval="auto")
    events, _ = run_turn(session.send("How are filters joined?"))
    assert any("takes no tools" in event.message for event in events if isinstance(event, Notice))
    assert report_of(iter(events)).grounded
    assert ["tools" in body for body in server.bodies] == [True, False]
    assert session.history[0].retrieval == "before"
    report_of(session.send("And how are they nested?"))
    assert len(server.asked) == 3


def test_a_model_that_was_renamed_is_reported_with_the_new_name(
    app: AppFixture, server: ModelServer
) -> None:
    server.gets["/v1/models"] = {"data": [{"id": "m"}]}
    session = app.session(open_model("openai", f"{server.address}/v1"))
    server.says(
        Reply(openai_text("Yes.")),
        OPENAI.error(404, "model not found"),
        Reply(openai_text("Again.")),
    )
    report_of(session.send("What is a filter?"))
    server.gets["/v1/models"] = {"data": [{"id": "m-2"}]}
    error = failure_of(session.send("And compost?")).error
    assert (error.code, error.hint) == ("provider", "It has m-2. Switch with /model, or --model.")
    assert report_of(session.send("And now?")).answer == "Again."
