"""Conversations of an editor, which speaks with `zkchat acp` over real pipes."""

import json
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from acp_client import EVERYTHING, PATIENCE, Refused, editor
from conftest import Program
from model_server import ModelServer

from zkchat_cli.acp.connection import Params
from zkchat_cli.acp.prompt_blocks import read_prompt
from zkchat_cli.acp.updates import code_block
from zkchat_cli.models.conversations import Conversation
from zkchat_cli.store.sqlite.chat_session_store import ChatSessionStore

Script = Callable[..., str]
CREATE = {
    "tool_calls": [
        {"name": "create_note", "arguments": {"path": "Draft.md", "content": "Hel\u200blo\b"}}
    ]
}
SEARCH = {"tool_calls": [{"name": "find_excerpts", "arguments": {"query": "filter"}}]}
SLOW = {"deltas": ["It is ", *["slow "] * 200], "delay_ms": 100}


def option(options: list[dict[str, Any]], id_: str) -> dict[str, Any]:
    [found] = [each for each in options if each["id"] == id_]
    return found


def values(found: dict[str, Any]) -> list[str]:
    return [each["value"] for each in found["options"]]


def test_a_conversation_begun_in_an_editor_goes_on_in_the_terminal_and_back(
    zkchat: Program,
) -> None:
    with editor(zkchat, "--unsafe") as client:
        id_ = client.new_session(zkchat.vault)
        assert client.ask(id_, "What is a filter?") == "end_turn"
        assert "Sources" in client.said()
        [commands] = client.of_kind("available_commands_update")
        assert "context" in [command["name"] for command in commands["availableCommands"]]
        assert client.ask(id_, "/tokens") == "end_turn"
        assert "--unsafe has no effect" in client.said("agent_thought_chunk")
        client.ask(id_, "/copy")
        assert "The next prompt uses" in client.said()
        assert client.said().endswith("The editor has its own way to do that.")
    assert "What is a filter?" in zkchat("sessions", "show", id_).out
    assert zkchat("ask", "--cid", id_, "And a limit?").exit_status == 0
    with editor(zkchat) as client:
        listed = client.call("session/list", cwd=str(zkchat.vault))["sessions"]
        assert [each["sessionId"] for each in listed] == [id_]
        client.call("session/load", sessionId=id_, cwd=str(zkchat.vault), mcpServers=[])
        assert client.said("user_message_chunk") == "What is a filter?And a limit?"


def test_an_editor_learns_what_the_agent_can_do_and_the_version_that_it_speaks(
    zkchat: Program,
) -> None:
    with editor(zkchat) as client:
        for wanted in (2, 0, "1"):
            told = client.call("initialize", protocolVersion=wanted, clientCapabilities={})
            assert told["protocolVersion"] == 1
        assert [each["id"] for each in told["authMethods"]] == ["settings"]
        sessions = told["agentCapabilities"]["sessionCapabilities"]
        assert sorted(sessions) == ["close", "delete", "list", "resume"]
        told = client.call("initialize", protocolVersion=1, clientCapabilities=EVERYTHING)
        logins = {each["id"]: each.get("args") for each in told["authMethods"]}
        assert logins["key-openai"] == ["--set-key", "openai"]


def test_a_login_stores_a_key_and_says_what_is_missing(zkchat: Program) -> None:
    with editor(zkchat) as client:
        assert client.call("authenticate", methodId="settings") == {}
        with pytest.raises(Refused, match="there is no login magic"):
            client.call("authenticate", methodId="magic")
    with editor(zkchat, "--model", "openai/gpt-6") as client:
        with pytest.raises(Refused, match="zkchat keys set openai") as e:
            client.call("authenticate", methodId="settings")
        assert e.value.code == -32000
    stored = zkchat("acp", "--set-key", "openai", stdin="sk-of-a-test\n")
    assert "Stored the key for openai" in stored.out
    assert "test" in zkchat("keys", "list").out


def test_after_each_call_the_editor_is_told_the_figures_of_the_terminal(
    zkchat: Program, script: Script
) -> None:
    zkchat.env["ZKCHAT_LLM__PRICES"] = "scripted/* = 4/20"
    usage = {"prompt_tokens": 1_000_000, "completion_tokens": 100_000}
    model = script({**SEARCH, "usage": usage}, {"text": "It is a filter [1].", "usage": usage})
    with editor(zkchat, "--model", model) as client:
        id_ = client.new_session(zkchat.vault)
        client.ask(id_, "What is a filter?")
        told = [(each["used"], each.get("cost")) for each in client.of_kind("usage_update")]
    once = {"amount": 6.0, "currency": "USD"}
    twice = {"amount": 12.0, "currency": "USD"}
    assert [cost for _, cost in told] == [None, None, once, twice]
    stats = zkchat("context", "stats", id_, "--model", model, "--json").json
    assert told[-1] == (stats["total_tokens"], stats["conversation_cost"])


def test_a_tool_call_has_its_name_and_the_places_that_it_found_before_the_answer(
    zkchat: Program, script: Script
) -> None:
    with editor(zkchat, "--model", script(SEARCH, {"text": "A filter [1]."})) as client:
        client.ask(client.new_session(zkchat.vault), "What is a filter?")
        [started] = client.of_kind("tool_call")
        [done] = client.of_kind("tool_call_update")
        kinds = [each["sessionUpdate"] for each in client.updates]
    assert (started["name"], started["kind"]) == ("find_excerpts", "search")
    assert (done["toolCallId"], done["status"]) == (started["toolCallId"], "completed")
    assert Path(done["locations"][0]["path"]).is_file()
    assert done["locations"][0]["line"] >= 1
    assert kinds.index("tool_call_update") < kinds.index("agent_message_chunk")


def test_each_reply_is_a_message_with_an_id_that_a_loaded_conversation_has_again(
    zkchat: Program, script: Script
) -> None:
    model = script({"text": "I search.", **SEARCH}, {"deltas": ["A ", "filter."]}, {"text": "No."})
    with editor(zkchat, "--model", model) as client:
        id_ = client.new_session(zkchat.vault)
        client.ask(id_, "What is a filter?")
        client.ask(id_, "Why?")
        live = client.of_kind("agent_message_chunk")
    with editor(zkchat) as client:
        client.call("session/load", sessionId=id_, cwd=str(zkchat.vault), mcpServers=[])
        replayed = client.of_kind("agent_message_chunk")
        questions = client.of_kind("user_message_chunk")
    assert list(dict.fromkeys(each["messageId"] for each in live)) == [
        each["messageId"] for each in replayed
    ]
    assert len({each["messageId"] for each in (*replayed, *questions)}) == 5


def test_a_session_is_resumed_in_another_process_without_its_messages(
    zkchat: Program, script: Script
) -> None:
    model = script({"echo": True})
    with editor(zkchat, "--model", model) as client:
        id_ = client.new_session(zkchat.vault)
        client.ask(id_, "/agent researcher")
        client.ask(id_, "My cat is Momo.")
    with editor(zkchat, "--model", model) as client:
        folder = str(zkchat.vault)
        resumed = client.call("session/resume", sessionId=id_, cwd=folder)
        assert resumed["modes"]["currentModeId"] == "researcher"
        assert client.of_kind("user_message_chunk") == []
        client.ask(id_, "Who is it?")
        assert "My cat is Momo." in client.said()
        client.call("session/resume", sessionId=id_, cwd=folder, replayFrom={"type": "start"})
        assert client.said("user_message_chunk") == "My cat is Momo.Who is it?"
        # One without a message is not stored, but open
        empty = client.new_session(zkchat.vault)
        client.call("session/resume", sessionId=empty, cwd=folder)
        assert client.ask(empty, "/tokens") == "end_turn"
        with pytest.raises(Refused, match="there is no session 123") as e:
            client.call("session/resume", sessionId="123", cwd=folder)
        assert e.value.code == -32002
        # Only whole ids
        with pytest.raises(Refused, match="there is no session"):
            client.call("session/load", sessionId=id_[:6], cwd=folder, mcpServers=[])


def test_a_session_that_runs_is_closed_and_its_answer_is_kept(
    zkchat: Program, script: Script
) -> None:
    with editor(zkchat, "--model", script(SLOW)) as client:
        id_ = client.new_session(zkchat.vault)
        turn = client.start_prompt(id_, "How fast is it?")
        assert client.heard.wait(PATIENCE)
        assert client.call("session/close", sessionId=id_) == {}
        assert turn.result(PATIENCE) == {"stopReason": "cancelled"}
        for method in ("session/close", "session/prompt"):
            with pytest.raises(Refused, match="no open session") as e:
                client.call(method, sessionId=id_, prompt=[])
            assert e.value.code == -32002
        client.call("session/resume", sessionId=id_, cwd=str(zkchat.vault))
        assert client.ask(id_, "/tokens") == "end_turn"
    shown = zkchat("sessions", "show", id_, "--json").json
    assert [message["status"] for message in shown["history"]] == ["complete", "unfinished"]


def test_a_session_that_is_open_and_runs_is_deleted_for_good(
    zkchat: Program, script: Script
) -> None:
    with editor(zkchat, "--model", script(SLOW)) as client:
        id_ = client.new_session(zkchat.vault)
        turn = client.start_prompt(id_, "How fast is it?")
        assert client.heard.wait(PATIENCE)
        assert client.call("session/delete", sessionId=id_) == {}
        assert turn.result(PATIENCE) == {"stopReason": "cancelled"}
        assert client.call("session/list", cwd=str(zkchat.vault))["sessions"] == []
        with pytest.raises(Refused, match="no open session"):
            client.ask(id_, "And now?")
        # The protocol wants no error for one that is not there, nor for the beginning of an id
        other = client.new_session(zkchat.vault)
        client.ask(other, "/remember the rent is 950 euros")
        for gone in (id_, "never", other[:6], ""):
            assert client.call("session/delete", sessionId=gone) == {}
        assert client.ask(other, "/tokens") == "end_turn"
    assert zkchat("sessions", "list", "--json").json == []


def test_the_list_has_pages_and_only_conversations_of_the_folder(
    zkchat: Program, tmp_path: Path
) -> None:
    (zkchat.home / "data").mkdir(parents=True)
    with closing(ChatSessionStore.open(zkchat.home / "data" / "conversations.db")) as store:
        for number in range(120):
            then = f"2026-11-{1 + number // 10:02}T10:{number % 10:02}:00+00:00"
            store.start(
                Conversation(
                    id=f"{number:012x}",
                    vault=str(zkchat.vault),
                    title=f"Talk {number}",
                    created_at=then,
                    updated_at=then,
                )
            )
    other = tmp_path / "other"
    other.mkdir()
    (other / "Note.md").write_text("# Other\n")
    assert zkchat("ask", "--vault", other, "What is other?").exit_status == 0
    with editor(zkchat) as client:
        pages = []
        cursor: dict[str, str] = {}
        while True:
            page = client.call("session/list", cwd=str(zkchat.vault), **cursor)
            pages.append([each["sessionId"] for each in page["sessions"]])
            if "nextCursor" not in page:
                break
            # One that is deleted meanwhile makes the next page skip nothing
            client.call("session/delete", sessionId=pages[0][len(pages)])
            cursor = {"cursor": page["nextCursor"]}
        assert [len(page) for page in pages] == [50, 50, 20]
        assert [id_ for page in pages for id_ in page] == [f"{n:012x}" for n in range(120)][::-1]
        [single] = client.call("session/list", cwd=str(other))["sessions"]
        assert single["cwd"] == str(other)
        for cursor_text in ("x", "-1 a", "9" * 5_000):
            with pytest.raises(Refused, match="not from an earlier page"):
                client.call("session/list", cwd=str(zkchat.vault), cursor=cursor_text)
        with pytest.raises(Refused, match="cwd must be an absolute path"):
            client.call("session/list", cwd="notes")


def test_model_agent_and_strategy_are_options_in_step_with_modes_and_commands(
    zkchat: Program, script: Script
) -> None:
    model = script({"text": "Yes."})
    with editor(zkchat, "--model", model) as client:
        created = client.call("session/new", cwd=str(zkchat.vault), mcpServers=[])
        id_ = created["sessionId"]
        options = created["configOptions"]
        assert [(each["id"], each["currentValue"]) for each in options] == [
            ("model", model),
            ("agent", "none"),
            ("strategy", "hybrid"),
        ]
        assert values(option(options, "model")) == [model, "offline"]
        assert "researcher" in values(option(options, "agent"))

        def choose(option_id: str, value: object) -> list[dict[str, Any]]:
            told = client.call(
                "session/set_config_option", sessionId=id_, configId=option_id, value=value
            )
            found: list[dict[str, Any]] = told["configOptions"]
            return found

        assert option(choose("model", "offline"), "model")["currentValue"] == "offline"
        assert option(choose("strategy", "discard"), "strategy")["currentValue"] == "discard"
        assert option(choose("agent", "researcher"), "agent")["currentValue"] == "researcher"
        client.ask(id_, "/strategy hybrid")
        assert client.of_kind("current_mode_update")[-1]["currentModeId"] == "researcher"
        told = client.of_kind("config_option_update")[-1]["configOptions"]
        assert option(told, "strategy")["currentValue"] == "hybrid"
        client.ask(id_, "/agent none")
        assert client.of_kind("current_mode_update")[-1]["currentModeId"] == "none"
        client.call("session/set_mode", sessionId=id_, modeId="researcher")
        client.ask(id_, "/tokens")
        told = client.of_kind("config_option_update")[-1]["configOptions"]
        assert option(told, "agent")["currentValue"] == "researcher"
        for option_id, value, problem in (
            ("agent", "nobody", "there is no agent 'nobody'"),
            ("strategy", "magic", "hybrid"),
            ("model", "magic/one", "magic"),
            ("colour", "red", "there is no option colour; there are model, agent, strategy"),
            ("model", True, "value must be a text"),
        ):
            with pytest.raises(Refused, match=problem) as e:
                choose(option_id, value)
            assert e.value.code == -32602
        assert option(choose("strategy", "hybrid"), "agent")["currentValue"] == "researcher"
        with pytest.raises(Refused, match="there is no agent 'nobody'"):
            client.call("session/set_mode", sessionId=id_, modeId="nobody")


def test_models_of_servers_are_offered_as_soon_as_they_are_known_and_unknown_ones_refused(
    zkchat: Program, server: ModelServer
) -> None:
    server.gets["/v1/models"] = {"data": [{"id": "local-7b"}, {"id": "local-1b"}]}
    zkchat.env["OPENAI_BASE_URL"] = f"{server.address}/v1"
    with editor(zkchat) as client:
        id_ = client.new_session(zkchat.vault)
        assert client.told_models.wait(PATIENCE)
        offered = values(option(client.updates[-1]["configOptions"], "model"))
        assert offered == ["offline", "openai/local-1b", "openai/local-7b"]
        with pytest.raises(Refused, match="has no model nothing"):
            client.call(
                "session/set_config_option",
                sessionId=id_,
                configId="model",
                value="openai/nothing",
            )
        told = client.call(
            "session/set_config_option", sessionId=id_, configId="model", value="openai/local-7b"
        )
    assert option(told["configOptions"], "model")["currentValue"] == "openai/local-7b"


@pytest.mark.parametrize("capabilities", [EVERYTHING, {}], ids=["cards", "thoughts"])
def test_a_compaction_is_told_and_shown_again_where_it_was(
    zkchat: Program, script: Script, capabilities: dict[str, Any]
) -> None:
    zkchat.env["ZKCHAT_CONTEXT__MAX_TOKENS"] = "4000"
    words = " ".join(f"word{n}" for n in range(400))
    model = script(*[{"text": f"Answer {n}: {words}."} for n in range(9)])
    with editor(zkchat, "--model", model, capabilities=capabilities) as client:
        id_ = client.new_session(zkchat.vault)
        for number in range(8):
            client.ask(id_, f"Question {number}?")
        told = client.of_kind("compaction_update")
        thoughts = client.said("agent_thought_chunk")
    if not capabilities:
        assert told == []
        assert "Compacting: " in thoughts and "Summarized" in thoughts
        return
    assert [each["status"] for each in told[:2]] == ["in_progress", "completed"]
    assert told[0]["compactionId"] == told[1]["compactionId"]
    assert told[1]["summary"][0]["text"]
    with editor(zkchat, "--model", model, capabilities=capabilities) as client:
        client.call("session/load", sessionId=id_, cwd=str(zkchat.vault), mcpServers=[])
        kinds = [each["sessionUpdate"] for each in client.updates]
        assert kinds.index("user_message_chunk") < kinds.index("compaction_update")
        before = len(client.of_kind("compaction_update"))
        client.ask(id_, "/compact")
        assert [each["status"] for each in client.of_kind("compaction_update")[before:]] == [
            "in_progress",
            "completed",
        ]


def test_warnings_are_notices_for_an_editor_that_shows_them(zkchat: Program) -> None:
    with editor(zkchat, "--unsafe", capabilities=EVERYTHING) as client:
        client.ask(client.new_session(zkchat.vault), "What is a filter?")
        [told] = client.of_kind("notice")
        assert client.of_kind("agent_thought_chunk") == []
    assert told["title"].startswith("--unsafe has no effect")
    assert (told["severity"], told["description"]) == ("warning", "choose another model or agent")


@pytest.mark.parametrize("how", ["session/cancel", "$/cancel_request"])
def test_a_cancelled_answer_is_stored_as_far_as_it_came(
    zkchat: Program, script: Script, how: str
) -> None:
    with editor(zkchat, "--model", script(SLOW)) as client:
        id_ = client.new_session(zkchat.vault)
        blocks = [{"type": "text", "text": "How fast is it?"}]
        turn = client.start("session/prompt", "a text", sessionId=id_, prompt=blocks)
        assert client.heard.wait(PATIENCE)
        client.notify("$/cancel_request", requestId="another text")
        client.notify(how, sessionId=id_, requestId="a text")
        assert turn.result(PATIENCE) == {"stopReason": "cancelled"}
        assert client.ask(id_, "/tokens") == "end_turn"
    shown = zkchat("sessions", "show", id_, "--json").json
    assert [message["status"] for message in shown["history"]] == ["complete", "unfinished"]


def test_unknown_methods_and_wrong_parameters_are_refused_and_unknown_notifications_ignored(
    zkchat: Program,
) -> None:
    with editor(zkchat) as client:
        client.notify("session/unknown", sessionId="x")
        client.notify("session/cancel")
        client.notify("session/cancel", sessionId="nobody's")
        for method, params, code in (
            ("session/fork", {}, -32601),
            ("session/prompt", {}, -32602),
            ("session/prompt", {"sessionId": 7, "prompt": []}, -32602),
            ("session/new", {"mcpServers": []}, -32602),
            ("session/new", {"cwd": str(zkchat.vault), "mcpServers": "x"}, -32602),
        ):
            with pytest.raises(Refused) as e:
                client.call(method, "a text as id", **params)
            assert e.value.code == code
        id_ = client.new_session(zkchat.vault)
        with pytest.raises(Refused, match="type is missing"):
            client.call("session/prompt", sessionId=id_, prompt=[{"text": "x"}])
        with pytest.raises(Refused, match="there is nothing to ask"):
            client.ask(id_)
        assert client.ask(id_, "What is a filter?") == "end_turn"


def test_servers_that_an_editor_hands_over_are_said_to_be_unsupported(zkchat: Program) -> None:
    with editor(zkchat) as client:
        server = {"name": "wiki", "command": "/bin/false", "args": [], "env": []}
        client.ask(client.new_session(zkchat.vault, mcpServers=[server]), "What is a filter?")
        assert "hands over are not supported: wiki" in client.said("agent_thought_chunk")


@pytest.mark.parametrize("answer", ["yes", "no", "cancelled"])
def test_a_change_is_asked_for_with_its_diff(zkchat: Program, script: Script, answer: str) -> None:
    model = script(CREATE, {"text": "It is written."})
    with editor(zkchat, "--unsafe", "--model", model, answer=answer) as client:
        client.ask(client.new_session(zkchat.vault), "Write a draft.")
        [question] = client.questions
        [started] = client.of_kind("tool_call")
        ends = [each["status"] for each in client.of_kind("tool_call_update")]
    assert (question["toolCallId"], question["kind"]) == (started["toolCallId"], "edit")
    [diff] = [part for part in question["content"] if part["type"] == "diff"]
    assert (diff["path"], "oldText" in diff) == (str(zkchat.vault / "Draft.md"), False)
    assert question["locations"] == [{"path": diff["path"]}]
    assert "Hel<U+200B>lo␈" in diff["newText"]
    assert (zkchat.vault / "Draft.md").exists() == (answer == "yes")
    assert ends == ["completed" if answer == "yes" else "failed"]


@pytest.mark.parametrize(
    ("answer", "questions", "made"),
    [("yes", 2, "1\n\ntwo\n\n3\n"), ("all", 1, "1\n\ntwo\n\n3\n"), ("quit", 1, "")],
)
@pytest.mark.parametrize("by_command", [True, False])
def test_each_hunk_of_a_change_is_asked_for(
    zkchat: Program, script: Script, answer: str, questions: int, made: str, by_command: bool
) -> None:
    note = zkchat.vault / "Plan.md"
    text = "# Plan\n\none\n\ntwo\n\nthree\n"
    note.write_text(text)
    new = {"path": "Plan", "heading": "Plan", "new_text": "1\n\ntwo\n\n3"}
    replies = [{"tool_calls": [{"name": "edit_section", "arguments": new}]}, {"text": "Done."}]
    if by_command:
        replies = [{"text": "```md Plan.md\n# Plan\n\n1\n\ntwo\n\n3\n```"}]
    with editor(zkchat, "--unsafe", "--model", script(*replies), answer=answer) as client:
        id_ = client.new_session(zkchat.vault)
        client.ask(id_, "Use digits.")
        if by_command:
            client.ask(id_, "/apply")
        asked = client.questions
    assert len(asked) == questions
    [first] = [part for part in asked[0]["content"] if part["type"] == "diff"]
    assert first["newText"] == text.replace("one", "1")
    assert asked[0]["title"].startswith("(1/2) ")
    assert note.read_text() == (f"# Plan\n\n{made}" if made else text)


@pytest.mark.parametrize("answer", ["yes", "no"])
def test_a_turn_that_costs_more_than_allowed_is_asked_for(
    zkchat: Program, script: Script, answer: str
) -> None:
    zkchat.env |= {
        "ZKCHAT_LLM__PRICES": "scripted/* = 100/500",
        "ZKCHAT_CHAT__MAX_COST": "0.01",
    }
    with editor(zkchat, "--model", script({"text": "Yes."}), answer=answer) as client:
        id_ = client.new_session(zkchat.vault)
        assert client.ask(id_, "Is it so?") == "end_turn"
        [question] = client.questions
        [asked] = client.of_kind("tool_call")
        [decided] = client.of_kind("tool_call_update")
        said = client.said()
        assert client.ask(id_, "/tokens") == "end_turn"
    assert "more than chat.max_cost = 0.01. Send it?" in question["title"]
    assert asked["toolCallId"] == decided["toolCallId"] == question["toolCallId"]
    history = zkchat("sessions", "show", id_, "--json").json["history"]
    if answer == "yes":
        assert (said.startswith("Yes."), decided["status"]) == (True, "completed")
        assert [message["role"] for message in history] == ["user", "assistant"]
    else:
        assert said.startswith("Not sent: this turn costs about $0.")
        assert [message["status"] for message in history] == ["failed"]


def test_the_sources_stand_below_an_answer_that_is_cut_in_a_code_block(
    zkchat: Program, script: Script
) -> None:
    model = script({"text": "Run:\n```sh\nls", "finish_reason": "length"})
    with editor(zkchat, "--model", model) as client:
        id_ = client.new_session(zkchat.vault)
        assert client.ask(id_, "What does [[Filters]] say?") == "max_tokens"
        assert client.said().startswith("Run:\n```sh\nls\n```\n\n```\nSources")


def test_lines_that_are_no_messages_are_answered_with_a_sentence(zkchat: Program) -> None:
    initialize = {
        "jsonrpc": "2.0",
        "id": 1,
        "method": "initialize",
        "params": {"protocolVersion": 1},
    }
    # The editor leaves without waiting
    asked_at_the_end = {"jsonrpc": "2.0", "id": 2, "method": "session/list", "params": {}}
    done = zkchat(
        "acp", stdin=f"no json\n[1]\n{json.dumps(initialize)}\n{json.dumps(asked_at_the_end)}\n"
    )
    first, second, third, fourth = done.lines
    assert (first["error"]["code"], second["error"]["code"]) == (-32700, -32700)
    assert third["result"]["agentInfo"]["name"] == "zkchat"
    assert fourth == {"jsonrpc": "2.0", "id": 2, "result": {"sessions": []}}
    assert done.err == ""


def test_no_line_of_a_result_ends_the_code_block_that_shows_it() -> None:
    assert (code_block("a"), code_block("a\n````sh\nls")) == (
        "```\na\n```",
        "`````\na\n````sh\nls\n`````",
    )


def test_what_the_editor_attaches_becomes_links_and_text(tmp_path: Path) -> None:
    (tmp_path / "My note.md").write_text("x")
    uri = (tmp_path / "My note.md").as_uri()
    blocks = [
        {"type": "text", "text": "Explain"},
        {"type": "resource_link", "name": "My note.md", "uri": uri},
        {"type": "resource_link", "name": "page", "uri": "https://example.org/"},
        {"type": "resource", "resource": {"uri": uri, "text": "some lines with @secrets"}},
        {"type": "image", "data": "", "mimeType": "image/png"},
    ]
    text, typed = read_prompt([Params(each) for each in blocks], tmp_path.resolve())
    assert typed == "Explain [[My note.md]]"
    assert text == (
        f"See page (https://example.org/)\n\nFrom My note.md:\nsome lines with @secrets\n\n{typed}"
    )
