"""The interactive chat as a person at a terminal meets it: a turn, its sources, stopping it,
leaving, commands, going on.
"""

import re
import signal
import time

import pytest
from conftest import Program
from terminal_screen import CTRL_C, CTRL_D, ENDLESS, ENTER, Chat, Script, stored_conversations

# a turn


def test_a_question_is_answered_once_and_its_sources_are_listed(zkchat: Program) -> None:
    with Chat(zkchat) as chat:
        chat.ask("which filter finds tasks due today? see [[Filters]]", "Sources")
        seen = chat.everything()
        assert seen.count("which filter finds tasks due today? see [[Filters]]") == 1
        assert seen.count("“The filter `due today` finds tasks that are due today.” [") == 1
        assert re.search(r"\[1\] ✓ \[\[Filters\]\].*   Filters.md:11", seen)
        assert seen.count("How to say which tasks you want to see.") == 1
        assert len(chat.toolbars()) == 1


def test_the_toolbar_counts_the_line_while_it_is_typed(zkchat: Program) -> None:
    with Chat(zkchat, columns=100) as chat:
        chat.wait_for("%")
        chat.paste("hello world " * 200)
        complete = re.compile(
            r"offline │ notes │ █░+ \d+% │ [\d.]+k? / 29.5k │ next message: 4\d\d$"
        )
        chat.wait_until(
            lambda: any(complete.search(toolbar) for toolbar in chat.toolbars()),
            "the figures of the line",
        )


# stopping and leaving


def test_ctrl_c_stops_an_answer_and_keeps_what_came(zkchat: Program, script: Script) -> None:
    with Chat(zkchat, "--model", script(ENDLESS, {"text": "Still here."})) as chat:
        chat.say("talk for a minute")
        chat.wait_for("then word 1,")
        pressed = time.monotonic()
        chat.type(CTRL_C * 3)  # an impatient second one loses nothing
        chat.wait_for("stopped; the partial answer is kept: /continue or /retry")
        assert time.monotonic() - pressed < 10, "the whole answer takes 40 seconds"
        chat.ask("are you there?", "Still here.")
        assert "^C" not in chat.everything()
    asked, answer, *_ = stored_conversations(zkchat)
    assert (asked["content"], asked["status"]) == ("talk for a minute", "complete")
    assert answer["content"].startswith("First words came, then word 0,")
    assert (answer["status"], answer["finish_reason"]) == ("unfinished", "cancelled")


def test_ctrl_c_clears_a_typed_line_and_only_hints_on_an_empty_one(zkchat: Program) -> None:
    with Chat(zkchat, "--model=offline") as chat:
        chat.wait_for_prompt()
        chat.type("something I regret")
        chat.wait_for("something I regret")
        chat.type(CTRL_C)
        chat.wait_until(lambda: "something I regret" not in chat.screen_text(), "an empty line")
        chat.type(CTRL_C)
        chat.wait_for("press Ctrl-C again to quit")
        chat.wait_until(
            lambda: "press Ctrl-C again to quit" not in chat.screen_text(),
            "the toolbar to come back",
        )
        chat.type(CTRL_C)
        chat.wait_for("press Ctrl-C again to quit")
        chat.type("/refs" + ENTER)
        chat.wait_for("No documents have been named or found yet.\n\nyou ›")


def test_the_hint_to_quit_is_shown_in_full_after_an_earlier_one(zkchat: Program) -> None:
    with Chat(zkchat, "--model=offline") as chat:
        chat.wait_for_prompt()
        chat.type(CTRL_C)
        chat.wait_for("press Ctrl-C again to quit")
        time.sleep(1.2)
        chat.type("x")
        chat.wait_until(
            lambda: "press Ctrl-C again to quit" not in chat.screen_text(),
            "the toolbar to come back",
        )
        chat.type("\x7f" + CTRL_C)
        chat.wait_for("press Ctrl-C again to quit")
        time.sleep(1.2)  # the first hint would have ended
        chat.type(CTRL_C)
        assert chat.wait_for_end() == 0


@pytest.mark.parametrize("keys", [CTRL_D, CTRL_C + CTRL_C])
def test_ctrl_d_or_two_ctrl_c_on_an_empty_line_leave(zkchat: Program, keys: str) -> None:
    with Chat(zkchat) as chat:
        chat.wait_for_prompt()
        chat.type(keys)
        assert chat.wait_for_end() == 0


@pytest.mark.parametrize("how", [signal.SIGTERM, signal.SIGHUP])
def test_an_end_from_outside_in_mid_answer_keeps_what_came(
    zkchat: Program, script: Script, how: signal.Signals
) -> None:
    with Chat(zkchat, "--model", script(ENDLESS)) as chat:
        chat.say("talk for a minute")
        chat.wait_for("then word 1,")
        chat.end_from_outside(how)
    asked, answer = stored_conversations(zkchat)
    assert asked["content"] == "talk for a minute"
    assert answer["content"].startswith("First words came, then word 0,")
    assert answer["status"] == "unfinished"


# going on


def test_a_conversation_is_continued(zkchat: Program, script: Script) -> None:
    model = script({"text": "Noted."})
    with Chat(zkchat, "--model", model) as chat:
        chat.ask("remember the milk", "Noted.")
    first = zkchat("context", "export", "--format", "json").json["conversation"]["id"]
    for i, arguments in enumerate((["-c"], ["--resume"], ["--resume", first[:6]])):
        with Chat(zkchat, "--model", model, *arguments) as chat:
            chat.wait_for(f"resumed “remember the milk” ({2 + 2 * i} messages)")
            chat.say(f"and more {i}")
            chat.wait_for("Noted.")
            chat.wait_for_prompt()


def test_a_setting_takes_the_figures_out_of_the_toolbar(zkchat: Program) -> None:
    with Chat(zkchat, ZKCHAT_CONTEXT__SHOW_TOKEN_COUNT="false") as chat:
        chat.wait_for("offline │ notes")
        chat.wait_until(
            lambda: chat.screen_text().endswith("offline │ notes"), "the end of the background work"
        )
        chat.type(CTRL_C)
        chat.wait_for("press Ctrl-C again to quit")


class ServerByHand(Chat):
    name = "mcp"


def test_ctrl_c_ends_an_mcp_server_that_was_started_by_hand(zkchat: Program) -> None:
    with ServerByHand(zkchat) as server:
        server.wait_for("Ctrl-C ends it.")
        server.type(CTRL_C)
        assert server.wait_for_end() in (-signal.SIGINT, 128 + signal.SIGINT)
