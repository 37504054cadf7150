"""Which agent answers: an agent's instructions, tools, strategy, budget and memory reach the
prompt; the log says who led.
"""

import json
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import pytest
from factories import report_of, run_turn
from slash_results import slash_error, slash_output

from zkchat_cli import slash
from zkchat_cli.app import factory
from zkchat_cli.app.factory import App
from zkchat_cli.app.settings import StartupOptions
from zkchat_cli.chat.session import ZkChatSession
from zkchat_cli.errors import ConfigError, UsageError
from zkchat_cli.events import Notice, PromptBuilt
from zkchat_cli.models.reports import TurnReport

CRITIC = (
    'system_prompt = "Find faults."\ntools = ["find_excerpts"]\nstrategy = "discard"\n'
    "temperature = 0.5\n[context]\nmax_tokens = 5000"
)


class Installation:
    """zkchat in this process, with settings and agents of its own, such as the critic."""

    def __init__(self, vault: Path, home: Path, model: str, stack: ExitStack) -> None:
        self.agents = home / "config" / "agents"
        self.agents.mkdir(parents=True)
        self.vault = vault
        self.model = model
        self.env = {
            "ZKCHAT_HOME": str(home),
            "ZKCHAT_CONTEXT__AUTO_SUMMARIZE": "false",
            "ZKCHAT_RETRIEVAL__MODE": "tools",
        }
        # Where nobody listens, also where an Ollama runs
        self.env["OLLAMA_HOST"] = "127.0.0.1:9"
        (home / "config" / "config.toml").write_text(f"model = {json.dumps(model)}")
        self._stack = stack
        self.agent("critic", CRITIC)

    def agent(self, name: str, text: str, memory: str = "") -> None:
        (self.agents / f"{name}.toml").write_text(text, encoding="utf-8")
        if memory:
            (self.agents / f"{name}.md").write_text(memory, encoding="utf-8")

    def open_app(self, **choices: Any) -> App:
        opened = factory.open_app(StartupOptions(vault=self.vault, **choices), self.env, self.vault)
        self._stack.callback(opened.close)
        opened.vault.refresh()
        return opened

    def session(self, **choices: Any) -> ZkChatSession:
        return self.open_app(**choices).session()

    def reopen(self, session: ZkChatSession, **choices: Any) -> ZkChatSession:
        opened = self.open_app(**choices)
        return opened.session(opened.store.conversation(session.conversation.id))


@pytest.fixture
def installation(
    vault: Path, tmp_path: Path, script: Callable[..., str], monkeypatch: pytest.MonkeyPatch
) -> Iterator[Installation]:
    """Its model answers with the prompt it got."""
    (tmp_path / "empty").mkdir()
    monkeypatch.chdir(tmp_path / "empty")
    with ExitStack() as stack:
        yield Installation(vault, tmp_path / "home", script({"echo": True}), stack)


def sent(report: TurnReport) -> tuple[str, list[str], str]:
    """The system prompt, the names of the tools, and the last message that the model got."""
    prompt = json.loads(report.answer)
    return (
        prompt["messages"][0]["content"],
        [t["function"]["name"] for t in prompt["tools"]],
        prompt["messages"][-1]["content"],
    )


def ask(session: ZkChatSession, text: str) -> tuple[TurnReport, list[str]]:
    events, last = run_turn(session.send(text))
    return last.report, [event.message for event in events if isinstance(event, Notice)]  # type: ignore[union-attr]


def test_an_agent_changes_instructions_tools_strategy_budget_and_temperature(
    installation: Installation,
) -> None:
    session = installation.session(agent="critic")
    report, _ = ask(session, "Is the heap sound?")
    system, tools, last = sent(report)
    assert system.startswith("You answer questions about the user's own Markdown notes")
    assert system.endswith("\n\nFind faults.")
    assert tools == ["find_excerpts"]
    assert last == "Is the heap sound?"
    assert (report.strategy, report.context.max_context, report.agent) == (
        "discard",
        5000,
        "critic",
    )
    assert session.runtime.options.temperature == 0.5
    assert (
        session.runtime.window.source
        == f"context.max_tokens, {installation.agents / 'critic.toml'}"
    )


def test_an_agent_without_memory_has_no_memory_tools(installation: Installation) -> None:
    installation.agent("critic", "memory = false", memory="Remember me.")
    (installation.vault / "ZKCHAT.md").write_text("Answer briefly.")
    session = installation.session(agent="critic")
    assert session.memory_items() == ()
    assert "store_in_smart_memory" not in [tool.name for tool in session.runtime.tools]


def test_an_agents_memory_follows_the_projects_with_path_and_reason(
    installation: Installation,
) -> None:
    installation.agent("critic", "", memory="The user hates hedging. </agent-memory>")
    (installation.vault / "ZKCHAT.md").write_text("Answer briefly.")
    session = installation.session(agent="critic")
    project, own = session.memory_items()
    assert (project.relative_path, own.kind, own.key, own.relative_path) == (
        "ZKCHAT.md",
        "agent",
        "critic",
        "",
    )
    assert own.reason == f"memory of the agent critic, {installation.agents / 'critic.md'}"
    memory = session.prompt("hello").messages[2]
    assert (memory.kind, memory.role, memory.source_ids) == ("memory", "system", ("agent:critic",))
    assert memory.content.startswith('<agent-memory agent="critic">\nThe user hates hedging.')
    assert memory.content.count("</agent-memory>") == 1
    assert "critic · " in slash_output("/memory", session)
    (installation.agents / "critic.md").write_text("Changed.")
    assert session.memory_items()[1].content == "Changed."


def test_facts_of_an_agent_with_its_own_smart_memory_are_for_itself(
    installation: Installation,
) -> None:
    installation.agent("critic", 'smart_memory = "own"')
    critic = installation.session(agent="critic")
    other = installation.session(agent="researcher")
    other.memory.remember("The roof is of slate", key="roof", source="model")
    own = critic.memory.remember("The roof is a bad idea", key="roof", source="model")[0]
    critic.memory.remember("The roof leaks", key="leak")
    assert (own.key, own.agent) == ("critic-roof", "critic")
    assert {item.key for item in critic.memory_items("the roof?")} == {
        "roof",
        "critic-roof",
        "leak",
    }
    assert {item.key for item in other.memory_items("the roof?")} == {"roof", "leak"}
    assert "noted by the agent critic for itself" in slash_output("/memory", other)
    replaced = critic.memory.remember("The roof is fine", key="critic-roof", source="model")[1]
    assert replaced is not None and replaced.content == own.content


def test_an_agents_memory_is_cut_to_its_share_and_imports_nothing(
    installation: Installation,
) -> None:
    installation.agent(
        "critic", "context.max_tokens = 2000", memory="@style.md\n" + "Words without end.\n" * 1000
    )
    (installation.agents / "style.md").write_text("secret")
    session = installation.session(agent="critic")
    (own,) = session.memory_items()
    assert own.cut
    assert own.tokens <= 0.04 * session.runtime.budget.messages
    assert [message for message, _ in session.memory.pop_notices()] == [
        "memory: critic.md is longer than its share of the context window and is cut"
    ]


# in the chat


def test_switching_agents_changes_the_next_turn(installation: Installation) -> None:
    installation.agent("critic", CRITIC, memory="Be kind.")
    session = installation.session()
    slash.run("/agent critic", session)
    assert sent(ask(session, "Is it sound?")[0])[0].endswith("Find faults.")
    shown = slash_output("/agent", session)
    assert "Be kind" not in shown
    assert "Other agents: editor, researcher." in shown
    assert slash_output("/agent none", session).startswith("No agent is active.")
    report, _ = ask(session, "And now?")
    assert "Find faults" not in sent(report)[0]
    assert (report.agent, report.context.max_context) == (None, 32768)


def test_a_wrong_agent_changes_nothing(installation: Installation) -> None:
    installation.agent("broken", "modell = 1")
    session = installation.session(agent="critic")
    error = slash_error("/agent crtic", session)
    assert ("no agent 'crtic'" in error.message, error.hint.startswith("Nearest: critic")) == (
        True,
        True,
    )
    assert slash_error("/agent broken", session).code == "config"
    assert session.runtime.speaker_label == f"critic · {installation.model}"


def test_settings_overridden_in_the_chat_stay_with_another_agent(
    installation: Installation,
) -> None:
    installation.agent("critic", f"model = {json.dumps(installation.model)}\n{CRITIC}")
    session = installation.session()
    slash.run("/model offline", session)
    slash.run("/config context.injection_ratio 0.5", session)
    slash.run("/strategy summarize", session)
    slash.run("/agent critic", session)
    assert (session.runtime.strategy.name, session.runtime.settings.context.injection_ratio) == (
        "summarize",
        0.5,
    )
    assert session.runtime.model.name == "offline"
    assert session.runtime.settings.context.max_tokens == 5000
    slash.run("/config set llm.temperature 1.5", session)
    assert session.runtime.speaker_label.startswith("critic")
    assert session.prompt().messages[0].content.endswith("Find faults.")


def test_a_new_conversation_has_the_agent_of_the_last(installation: Installation) -> None:
    outcome = slash.run("/new", installation.session(agent="critic"))
    assert outcome.session is not None
    assert outcome.session.runtime.agent is not None


# for one message


def test_a_turn_names_the_mentioned_agent_as_the_speaker(installation: Installation) -> None:
    events, _ = run_turn(installation.session().send("@critic: is it sound?"))
    assert [event.speaker for event in events if isinstance(event, PromptBuilt)] == [
        f"critic · {installation.model}"
    ]


def test_a_mentioned_agent_answers_one_message_without_seeing_its_name(
    installation: Installation,
) -> None:
    session = installation.session()
    report, notices = ask(session, "@critic: is [[Compost]] sound?")
    system, tools, last = sent(report)
    assert (system.endswith("Find faults."), tools, last) == (
        True,
        ["find_excerpts"],
        "is [[Compost]] sound?",
    )
    assert notices == ["the agent critic answers this message"]
    assert session.history[0].content == "@critic: is [[Compost]] sound?"
    assert session.runtime.speaker_label == installation.model
    report, _ = ask(session, "And now?")
    assert "Find faults" not in sent(report)[0]
    assert "@critic" not in report.answer
    assert installation.reopen(session).runtime.agent is None


def test_a_misspelled_agent_is_reported(installation: Installation) -> None:
    session = installation.session()
    _, notices = ask(session, "@reseacher is it sound?")
    assert notices == ["no agent and no file is called @reseacher; the message is sent as it is"]
    assert ask(session, "@anna says it is sound")[1] == [
        "no agent and no file is called @anna; the message is sent as it is"
    ]
    assert ask(session, "so @anna says")[1] == [
        "no agent and no file is called @anna; the message is sent as it is"
    ]
    assert len(ask(session, "so @a1 @b2 @c3 @d4 say")[1]) == 3
    for text in ("anna@researcher.org says so", "@Filters says so"):
        assert ask(session, text)[1] == []


@pytest.mark.parametrize(
    ("text", "error", "problem"),
    [
        ("@critic", UsageError, "no question for the agent critic"),
        ("@broken hello", ConfigError, "modell"),
    ],
)
def test_a_mention_that_cannot_be_answered_is_an_error_before_the_turn(
    installation: Installation, text: str, error: type[Exception], problem: str
) -> None:
    installation.agent("broken", "modell = 1")
    session = installation.session()
    with pytest.raises(error, match=problem):
        list(session.send(text))
    assert not session.history


@pytest.mark.parametrize("imported", ["", " @plan.md"])
def test_retry_asks_the_mentioned_agent_again(installation: Installation, imported: str) -> None:
    (installation.vault / "plan.md").write_text("We plan.")
    session = installation.session()
    ask(session, f"@critic is it sound?{imported}")
    outcome = slash.run("/retry", session)
    assert outcome.turn is not None
    system, _, last = sent(report_of(outcome.turn))
    assert system.endswith("Find faults.")
    assert last == f"is it sound?{imported}"
    assert [r.relative_path for r in session.history[0].references] == (
        ["plan.md"] if imported else []
    )
    assert session.runtime.speaker_label == installation.model


# a conversation goes on


def test_a_conversation_is_resumed_with_its_agent(installation: Installation) -> None:
    session = installation.session(agent="critic")
    ask(session, "Is it sound?")
    assert installation.reopen(session).runtime.speaker_label == f"critic · {installation.model}"
    assert installation.reopen(session, agent="none").runtime.speaker_label == installation.model
    assert (
        installation.reopen(session, agent="Editor").runtime.speaker_label
        == f"editor · {installation.model}"
    )
    again = installation.reopen(session, agent="none")
    ask(again, "And without you?")
    assert installation.reopen(session).runtime.speaker_label == installation.model


def test_a_deleted_agent_is_reported_and_the_conversation_continues(
    installation: Installation,
) -> None:
    session = installation.session(agent="critic")
    ask(session, "Is it sound?")
    (installation.agents / "critic.toml").unlink()
    report, notices = ask(installation.reopen(session), "And now?")
    assert report.agent is None
    assert notices == [
        "this conversation used the agent critic and continues without it: there is no "
        "agent 'critic'"
    ]
