"""`! COMMAND` in the chat: a shell command of the user, and its output in the next message."""

import pytest
from conftest import Program
from terminal_screen import CTRL_C, ENTER, Chat, Script, stored_conversations

from zkchat_cli.terminal.shell_command import ShellOutput, cut_middle, parse_shell_command


def test_the_output_of_a_command_goes_with_the_next_message_after_a_yes(
    zkchat: Program, script: Script
) -> None:
    with Chat(zkchat, "--model", script({"text": "It says hello."})) as chat:
        chat.say("! printf 'hello from\\n@Filters.md the shell\\n'")
        chat.wait_for("Send this output with your next message")
        chat.type("y" + ENTER)
        chat.wait_for("kept for your next message")
        chat.ask("what does it say?", "It says hello.")
    question = stored_conversations(zkchat)[0]
    assert question["content"] == (
        "what does it say?\n\n```console\n"
        "$ printf 'hello from\\n@Filters.md the shell\\n'\nhello from\n@Filters.md the shell\n```"
    )
    # Only what the user types imports files
    assert question["references"] == []


def test_enter_alone_keeps_the_output_out_of_the_conversation(
    zkchat: Program, script: Script
) -> None:
    with Chat(zkchat, "--model", script({"text": "Fine."})) as chat:
        chat.say("! echo secret; exit 3")
        chat.wait_for("exit code 3")
        chat.wait_for("Send this output with your next message")
        chat.enter()
        chat.ask("how are you?", "Fine.")
    assert stored_conversations(zkchat)[0]["content"] == "how are you?"


def test_ctrl_c_stops_a_command_and_the_chat_goes_on(zkchat: Program) -> None:
    with Chat(zkchat, "--model=offline") as chat:
        chat.say("!echo started; sleep 60; echo never")
        chat.wait_for("\nstarted")
        # Python misses a signal that comes just before it waits
        chat.wait_until(lambda: "stopped" in chat.everything(), pressed=CTRL_C)
        chat.wait_for("Send this output")
        chat.enter()
        chat.wait_for_prompt()
        assert "\nnever" not in chat.everything()


def test_without_a_model_the_output_is_no_part_of_the_question(zkchat: Program) -> None:
    with Chat(zkchat, "--model=offline") as chat:
        chat.say("! echo LICENSE")
        chat.wait_for("Send this output")
        chat.type("y" + ENTER)
        chat.wait_for("kept for your next message")
        chat.ask("which filter finds tasks due today?", "From your notes:")


def test_control_sequences_of_an_output_do_not_reach_the_terminal(zkchat: Program) -> None:
    with Chat(zkchat, "--model=offline") as chat:
        chat.say(r"! printf '\033]0;own''ed\007 done\n'")
        chat.wait_for("␛]0;owned␇ done")
        assert chat.title != "owned"


def test_a_pipe_runs_no_commands(zkchat: Program) -> None:
    done = zkchat("chat", "--model=offline", stdin="! touch made-by-a-pipe\n")
    assert done.exit_status == 2
    assert "a piped chat runs no shell commands" in done.err
    assert not (zkchat.vault / "made-by-a-pipe").exists()


@pytest.mark.parametrize(
    "line", ["![[photo.png]] what is this?", "![](photo.png)", "!", "!!", "a!"]
)
def test_pictures_and_marks_are_messages(line: str) -> None:
    assert parse_shell_command(line) is None


def test_the_fence_of_an_output_is_longer_than_any_in_it() -> None:
    written = ShellOutput("cat a.md", "```\ncode\n````", exit_code=0).as_message()
    assert written.endswith("\n````\n`````")


def test_a_failure_is_told_with_its_exit_code() -> None:
    assert ShellOutput("false", "no", exit_code=3).as_message().endswith("\nno\n[exit code 3]\n```")
    assert "[I stopped it]" in ShellOutput("yes", "y", exit_code=None).as_message()


def test_a_long_output_keeps_its_beginning_and_its_end() -> None:
    text = "first " + "middle " * 2000 + "last"
    cut = cut_middle(text, 100, lambda part: len(part.split()))
    assert cut.startswith("first ")
    assert cut.endswith(" last")
    assert "characters left out" in cut
    assert len(cut.split()) <= 100
