"""Runtime: a frozen value; another agent, model, setting or calibration is another value."""

import pytest
from factories import COUNTER, AppFixture, DeltaModel, reply

from zkchat_cli.chat.runtime import OpenedModel, Runtime
from zkchat_cli.llm.base import Window
from zkchat_cli.models.prompts import Calibration

OTHER = DeltaModel([reply("Yes.")], name="other", window=Window(5000, "a test"))


def test_another_model_is_another_runtime(app: AppFixture) -> None:
    before = app.runtime(
        open_model=lambda _: OpenedModel(OTHER, ()), rejected_window=Window(900, "a refusal")
    )
    after = before.with_model("other")
    assert (after.model, after.tools, after.window) == (OTHER, (), OTHER.window)
    assert after.overrides == {"model": "other"}
    assert before.model is not OTHER and before.overrides == {}


def test_overrides_and_calibration_stay_with_another_agent(app: AppFixture) -> None:
    opened: list[tuple[object, object]] = []

    def open_agent(name: str | None, overrides: object) -> Runtime:
        opened.append((name, overrides))
        return app.runtime(strategy="discard")

    before = (
        app.runtime(open_agent=open_agent)
        .with_setting("context.summary_ratio", "0.2")
        .calibrated(Calibration(text=2.0))
    )
    after = before.with_agent("critic")
    assert (after.strategy.name, after.counter, after.overrides) == (
        "discard",
        before.counter,
        before.overrides,
    )
    before.with_agent("none")
    assert opened == [
        ("critic", {"context.summary_ratio": 0.2}),
        (None, {"context.summary_ratio": 0.2}),
    ]


@pytest.mark.parametrize(
    ("configured", "reported", "rejected", "used"),
    [
        (None, None, None, 32768),
        (None, 8000, None, 8000),
        (4000, 8000, None, 4000),
        (4000, 8000, 3000, 3000),
        (4000, 8000, 9000, 4000),
    ],
)
def test_the_window_is_the_configured_or_the_reported_one_and_never_above_a_rejected_one(
    app: AppFixture, configured: int | None, reported: int | None, rejected: int | None, used: int
) -> None:
    windows = [tokens and Window(tokens, "a test") for tokens in (configured, reported, rejected)]
    model = DeltaModel([], window=windows[1])
    assert (
        app.runtime(model, configured_window=windows[0], rejected_window=windows[2]).window.tokens
        == used
    )


def test_a_small_change_of_the_calibration_is_ignored_and_every_process_counts_alike(
    app: AppFixture,
) -> None:
    runtime, changed = (
        app.runtime().calibrated(Calibration(text=factor)) for factor in (1.5, 1.515)
    )
    assert runtime.counter.count("a word") == 3 == -(-COUNTER.count("a word") * 3 // 2)
    assert runtime.calibrated(Calibration(text=1.505)) is runtime
    assert (
        runtime.calibrated(Calibration(text=1.515)).counter.factor == changed.counter.factor == 1.52
    )


def test_what_a_turn_found_out_is_learned_for_the_same_model_only(app: AppFixture) -> None:
    used = app.runtime(rejected_window=Window(900, "a refusal")).calibrated(Calibration(text=2.0))
    learned = app.runtime().learn_from(used)
    assert (learned.window.tokens, learned.counter) == (900, used.counter)
    other = app.runtime(OTHER)
    assert other.learn_from(used) is other
