"""A file of the tokenizer is missing or damaged: tokens are estimated, and the program works."""

from pathlib import Path
from shutil import copy2, copytree

import pytest
from conftest import Program
from factories import AppFixture, DeltaModel, report_of

import zkchat_cli
from zkchat_cli.errors import TokenizerError
from zkchat_cli.events import TextDelta
from zkchat_cli.llm.base import StreamFinished
from zkchat_cli.models.messages import TokenUsage
from zkchat_cli.tokens.counter import TokenCounter, estimate_tokens
from zkchat_cli.tokens.encodings import Encoder, vocabulary_file

PACKAGE = Path(zkchat_cli.__file__).parent
VOCABULARY = vocabulary_file("o200k_base").relative_to(PACKAGE)
TABLE = VOCABULARY.with_name("o200k_base.table")
WARNING = "zkchat: tokens are estimated by characters (~): the vocabulary of o200k_base cannot be"


def link_file(source: str, target: str) -> None:
    """Link a file into a copy of the package, where a test may replace it."""
    if source.endswith(".py"):
        copy2(source, target)
    else:
        Path(target).symlink_to(source)


def run_copy(zkchat: Program, folder: Path) -> Path:
    """Let the program be a copy of the package; returns the package's folder."""
    copytree(PACKAGE, folder / "zkchat_cli", copy_function=link_file)
    zkchat.env["PYTHONPATH"] = str(folder)
    return folder / "zkchat_cli"


def replace_file(file: Path, data: bytes) -> None:
    file.unlink()
    file.write_bytes(data)


def test_every_command_works_without_a_vocabulary(zkchat: Program, tmp_path: Path) -> None:
    (run_copy(zkchat, tmp_path / "copy") / VOCABULARY).unlink()

    counted = zkchat("tokens", stdin="hello world")
    assert (counted.exit_status, counted.out.strip()) == (0, "~4")
    asked = zkchat("ask", "what is a filter?")
    assert (asked.exit_status, "Filters" in asked.out) == (0, True)
    chatted = zkchat("chat", "-c", stdin="what is a filter?\nwhat is a filter?\n")
    assert (chatted.exit_status, chatted.out.count("Sources")) == (0, 2)
    stats = zkchat("context", "stats")
    assert (stats.exit_status, stats.out.count("~ estimated by characters")) == (0, 1)
    for done in (counted, asked, chatted, stats):
        assert [done.err.count(WARNING), done.err.count("Install zkchat again")] == [1, 1]

    doctor = zkchat("doctor", "--json")
    [check] = [each for each in doctor.json["checks"] if each["name"] == "vocabulary"]
    assert (doctor.exit_status, check["ok"]) == (1, False)
    assert (
        check["detail"] == "the vocabulary of o200k_base cannot be read: no such file or directory"
    )
    assert check["next_step"].startswith("Install zkchat again")


def test_a_damaged_vocabulary_is_noticed_by_the_first_long_text(
    zkchat: Program, tmp_path: Path
) -> None:
    file = run_copy(zkchat, tmp_path / "copy") / VOCABULARY
    data = file.read_bytes()
    replace_file(file, data[:1000] + b"A" + data[1001:])
    short = zkchat("tokens", stdin="hello world")
    assert (short.out.strip(), short.err) == ("2", "")
    text = "hello " * 10_000
    long = zkchat("tokens", stdin=text)
    assert (long.out.strip(), WARNING in long.err) == (f"~{estimate_tokens(text)}", True)


def test_without_its_table_the_vocabulary_counts(zkchat: Program, tmp_path: Path) -> None:
    file = run_copy(zkchat, tmp_path / "copy") / TABLE
    data = file.read_bytes()
    replace_file(file, data[:1000] + b"A" + data[1001:])
    done = zkchat("tokens", stdin="hello world")
    assert (done.exit_status, done.out.strip(), done.err) == (0, "2", "")
    [check] = [e for e in zkchat("doctor", "--json").json["checks"] if e["name"] == "vocabulary"]
    assert check["detail"] == "the token table of o200k_base cannot be read: it is damaged"


def cannot_load(encoding: str) -> Encoder:
    raise TokenizerError(f"the vocabulary of {encoding} cannot be read", "Install zkchat again.")


def test_an_estimate_is_not_stored_as_a_count(app: AppFixture) -> None:
    counter = TokenCounter(load=cannot_load)
    session = app.session(counter=counter)
    assert report_of(session.send("what is a filter?")).context.by_characters
    again = app.reopen(session)
    assert [message.token_count for message in again.history] == [None] * len(again.history)
    usage = again.usage
    assert (usage.by_characters, usage.estimated) == (False, False)


@pytest.mark.parametrize("exact", [True, False])
def test_a_report_of_the_provider_does_not_calibrate_estimates(
    app: AppFixture, exact: bool
) -> None:
    usage = TokenUsage(prompt_tokens=3000, completion_tokens=5, estimated=False)
    model = DeltaModel([[TextDelta("Yes."), StreamFinished("stop", usage=usage)]], exact=exact)
    session = app.session(model, counter=TokenCounter(load=cannot_load))
    report_of(session.send("filters " * 100))
    assert app.store.prompts.calibration("deltas").calls == 0
    assert session.usage.calibration == 1
    # The same counter goes on, so nothing is counted again
    assert (
        session.runtime.counter
        is session.runtime.calibrated(app.store.prompts.calibration("deltas")).counter
    )
