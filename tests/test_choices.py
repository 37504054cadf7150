"""Commands without an argument that open a list to choose from."""

from collections.abc import Sequence

import pytest
from conftest import Program
from factories import AppFixture, report_of
from prompt_toolkit.application import create_app_session
from prompt_toolkit.input import create_pipe_input
from prompt_toolkit.output import DummyOutput
from terminal_screen import ENTER, ESCAPE, UP, Chat

from zkchat_cli import slash
from zkchat_cli.slash.base import ChoiceOption, CommandResult, ListQuestion
from zkchat_cli.terminal.choice_picker import ChoiceList, choose
from zkchat_cli.terminal.screen import Screen

DOWN = "\x1b[B"
NAMES = ("Roof and gutters", "Compost", "Roofers in town", "Garden")


def labels(options: Sequence[ChoiceOption]) -> list[str]:
    return [option.label for option in options]


def test_letters_filter_a_list_and_arrows_move_in_it() -> None:
    listed = ChoiceList([ChoiceOption(name, name) for name in NAMES])
    assert labels(listed.matching) == [*NAMES]
    listed.move(-1)
    assert listed.selected is not None and listed.selected.label == NAMES[0]
    listed.filter("rof")
    assert labels(listed.matching) == ["Roofers in town", "Roof and gutters"]
    listed.move(5)
    assert listed.selected is not None and listed.selected.label == "Roof and gutters"
    assert labels(listed.visible(1)) == ["Roof and gutters"]
    listed.filter("zzz")
    listed.move(1)
    assert listed.selected is None


@pytest.mark.parametrize(
    ("keys", "chosen"),
    [
        ("\r", "roof"),
        (f"{DOWN}{DOWN}{UP}{DOWN}\r", "compost"),
        ("cmp\r", "compost"),
        ("zzz\r\x03", None),
        ("\x1b", None),
    ],
)
def test_keys_choose_an_option(keys: str, chosen: str | None) -> None:
    options = [ChoiceOption("roof", "Roof \x1b[2J", "old"), ChoiceOption("compost", "Compost")]
    choice = ListQuestion("Which?", options, lambda _: CommandResult())
    with create_pipe_input() as typed, create_app_session(input=typed, output=DummyOutput()):
        typed.send_text(keys)
        assert choose(choice, Screen.of()) == chosen


@pytest.mark.parametrize("command", ["/resume", "/sessions", "/agent"])
def test_a_choice_has_what_the_list_says(app: AppFixture, command: str) -> None:
    session = app.session(agent_names=lambda: ("researcher",))
    report_of(session.send("When is a compost heap ready?"))
    other = session.open_conversation()
    result = slash.run(command, other)
    assert result.choice is not None and result.choice.options
    shown = "".join(str(line) for line in result.lines)
    assert result.choice.options[0].value in shown


def test_a_conversation_is_chosen_in_a_terminal(zkchat: Program) -> None:
    for question in ("what is a filter?", "when is compost ready?", "how do I limit results?"):
        assert zkchat("ask", question).exit_status == 0
    with Chat(zkchat) as chat:
        chat.wait_for("%")
        chat.type("/resume" + ENTER)
        chat.wait_for("Enter chooses")
        chat.type("compst")
        chat.wait_until(lambda: "how do I limit" not in chat.screen_text(), "a filtered list")
        chat.type(ENTER)
        chat.wait_for("Resumed “when is compost ready?”")
        assert "Enter chooses" not in chat.screen_text()
        chat.type("/sessions" + ENTER)
        chat.wait_for("Enter chooses")
        chat.type(DOWN + UP + ESCAPE)
        chat.wait_for("nothing chosen")
