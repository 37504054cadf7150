"""The chat without a terminal: one message per line, plain output, an exit code."""

import os
import signal
import subprocess
import sys

import pytest
from conftest import Program
from terminal_screen import ENDLESS, HOSTILE, Script, stored_conversations


def test_in_a_pipe_each_line_is_a_message_and_nothing_is_an_escape(
    zkchat: Program, script: Script
) -> None:
    model = script({"text": f"One {HOSTILE}"}, {"text": "Two"})
    done = zkchat("chat", "--model", model, stdin="first\n\n/he\nsecond\n")
    assert done.exit_status == 0
    assert "\x1b" not in done.out + done.err
    assert done.out.index("One") < done.out.index("/help") < done.out.index("Two")
    assert [m["content"] for m in stored_conversations(zkchat) if m["role"] == "user"] == [
        "first",
        "second",
    ]


def test_in_a_pipe_verbose_details_go_to_stderr(zkchat: Program, script: Script) -> None:
    done = zkchat(
        "chat", "--model", script({"text": "One"}), stdin="/verbose\nfirst\n/verbose\nsecond\n"
    )
    assert done.out.count("One") == 2
    assert done.err.count(" tokens in, ") == done.err.count("; prompt: ") == 1


def test_in_a_pipe_the_first_failure_decides_the_exit_code(zkchat: Program, script: Script) -> None:
    model = script({"text": "", "error": "auth"}, {"text": "Two"})
    done = zkchat("chat", "--model", model, stdin="first\n/nonsense\nsecond\n")
    assert done.exit_status == 4
    assert "the call failed (auth)" in done.err and "unknown command /nonsense" in done.err
    assert "Two" in done.out


def test_piped_bytes_that_are_no_text_are_replaced(zkchat: Program, script: Script) -> None:
    done = zkchat(
        "chat",
        "--model",
        script({"text": "Noted."}),
        stdin=b"\xef\xbb\xbfcaf\xe9\r\n/quit\nnever\n",
    )
    assert (done.exit_status, done.out.strip()) == (0, "Noted.")
    assert stored_conversations(zkchat)[0]["content"] == "caf\ufffd"


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_a_piped_chat_stopped_in_mid_answer_keeps_what_came(
    zkchat: Program, script: Script, number: signal.Signals
) -> None:
    command = [sys.executable, "-m", "zkchat_cli", "chat", "--model", script(ENDLESS)]
    with subprocess.Popen(
        command, stdin=-1, stdout=-1, stderr=-1, env=zkchat.environment, cwd=zkchat.vault
    ) as process:
        assert process.stdin and process.stdout
        process.stdin.write(b"talk\n")
        process.stdin.flush()
        assert os.read(process.stdout.fileno(), 5) == b"First"
        process.send_signal(number)
        process.communicate()
    assert process.returncode == {signal.SIGTERM: 143, signal.SIGINT: 130}[number]
    assert stored_conversations(zkchat)[1]["content"].startswith("First words came,")
