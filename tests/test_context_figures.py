"""One figure of tokens everywhere: after each turn of long conversations, with compactions, the
toolbar, `/context`, `context stats` of another process, the window and editors agree, and the next
prompt that is really sent begins with exactly what they have counted.
"""

import json
import os
import re
from collections.abc import Iterator, Sequence
from contextlib import closing
from pathlib import Path
from typing import Any, NamedTuple

import pytest
from conftest import Program

from zkchat_cli import slash
from zkchat_cli.acp.turn_updates import usage_updates
from zkchat_cli.app import factory
from zkchat_cli.app.settings import StartupOptions
from zkchat_cli.chat.session import ZkChatSession
from zkchat_cli.context.prompt_messages import is_masked_text
from zkchat_cli.events import CompactionStarted, Event, PromptBuilt, TurnCompleted
from zkchat_cli.models.prompts import ContextUsage, Prompt
from zkchat_cli.terminal.toolbar import Toolbar, measure_prompt
from zkchat_cli.tokens.counter import MESSAGE_OVERHEAD
from zkchat_cli.views.live_budget import LiveBudget
from zkchat_cli.views.text import BudgetBar, plain_text, short_count

os.environ.setdefault("QT_QPA_PLATFORM", "offscreen")
TURNS = 24
# Turns between two with a look from another process, which takes most of the time
PROCESS_EACH = 5
TOPICS = ("compost", "filters", "limits", "worms", "brackets", "patience", "water")
SEARCH = {"tool_calls": [{"name": "find_excerpts", "arguments": {"query": "compost filters"}}]}
READ = {
    "tool_calls": [{"name": "read_zk_document", "arguments": {"relative_path": "Long.md"}}],
}


class Conversation(NamedTuple):
    """A kind of conversation: its window, whether the model calls tools, words of an answer."""

    window: int
    tools: bool
    words: int
    least_compactions: int


KINDS = [
    Conversation(4_000, tools=False, words=150, least_compactions=2),
    Conversation(4_000, tools=True, words=80, least_compactions=2),
    Conversation(32_000, tools=False, words=1_200, least_compactions=1),
    Conversation(32_000, tools=True, words=900, least_compactions=1),
]


def question_of(number: int) -> str:
    topic = TOPICS[number % len(TOPICS)]
    return f"Question {number}: what do you think about {topic}, " + "and why so? " * (number % 5)


def write_script(file: Path, kind: Conversation) -> str:
    """A model that calls tools in some turns, and gives answers of different lengths."""
    replies: list[dict[str, Any]] = []
    for number in range(TURNS):
        if kind.tools and number % 3 == 1:
            replies.append(SEARCH)
        if kind.tools and number % 7 == 4:
            replies.append(READ)
        words = kind.words * (1 + number % 4) // 2
        answer = f"Answer {number}: " + " ".join(f"word{number}x{n}" for n in range(words))
        replies.append({"text": answer[: 6 * words]})
    file.write_text("".join(json.dumps(reply) + "\n" for reply in replies))
    return f"scripted/{file}"


@pytest.fixture(params=KINDS, ids=lambda kind: f"{kind.window}-{'tools' if kind.tools else 'none'}")
def kind(request: pytest.FixtureRequest) -> Conversation:
    found: Conversation = request.param
    return found


@pytest.fixture
def session(zkchat: Program, tmp_path: Path, kind: Conversation) -> Iterator[ZkChatSession]:
    long = "".join(f"Paragraph {n} is about compost, air and water.\n\n" for n in range(60))
    (zkchat.vault / "Long.md").write_text(f"# Long\n\n{long}")
    (zkchat.vault / "ZKCHAT.md").write_text("Answer in short sentences.")
    zkchat.env |= {
        "ZKCHAT_MODEL": write_script(tmp_path / "replies.jsonl", kind),
        "ZKCHAT_RETRIEVAL__MODE": "tools" if kind.tools else "before",
        "ZKCHAT_CONTEXT__MAX_TOKENS": str(kind.window),
        # A scripted model would answer a request for a summary with its next reply
        "ZKCHAT_CONTEXT__SUMMARY_MODEL": "offline",
    }
    options = StartupOptions(vault=zkchat.vault)
    with closing(factory.open_app(options, zkchat.environment, zkchat.vault)) as app:
        app.vault.refresh()
        yield app.session()


def total_in_table(session: ZkChatSession) -> int:
    shown = plain_text(slash.run("/context", session).lines)
    [row] = re.findall(r"^total +~?([\d,]+)", shown, re.MULTILINE)
    return int(row.replace(",", ""))


def toolbar_of(session: ZkChatSession) -> str:
    return "".join(text for _, text in Toolbar(**measure_prompt(session)).fragments(200))


def total_in_window(usage: ContextUsage) -> tuple[int, str]:
    """The tokens of all components of the window's budget, and the text beside its bar."""
    widgets = pytest.importorskip("PySide6.QtWidgets", exc_type=ImportError)
    from zkchat_cli.gui.budget_label import BudgetLabel

    app = widgets.QApplication.instance() or widgets.QApplication([])
    label = BudgetLabel()
    label.show_usage(usage)
    assert app is not None
    return sum(label.components.values()), re.sub(r"<[^>]*>|&nbsp;", "", label.text())


def check_every_view(session: ZkChatSession, zkchat: Program) -> ContextUsage:
    """Compare all views of the figures between two turns, that of another process included."""
    usage = check_own_views(session)
    id_ = session.conversation.id
    stats = zkchat("context", "stats", id_, "--json").json
    # It tells costs, too
    figures = {name: stats[name] for name in ContextUsage.model_fields}
    assert ContextUsage.model_validate(figures) == usage
    return usage


def check_own_views(session: ZkChatSession) -> ContextUsage:
    """Compare the views of the figures that this process shows between two turns."""
    usage = session.usage
    total = usage.total_tokens
    figures = f"{short_count(total)} / {short_count(usage.effective_limit)}"
    toolbar = toolbar_of(session)
    percent = BudgetBar(total, usage.effective_limit).percent
    assert f"{percent} │ {figures}" in toolbar
    assert total_in_table(session) == total
    components, label = total_in_window(usage)
    assert components == total
    assert f"{figures} ({percent})" in label
    [update] = usage_updates(session)
    assert (update["used"], update["size"]) == (total, usage.effective_limit)
    assert session.prompt().usage == usage
    messages = usage.budget_status["messages"]
    assert messages.used == usage.message_tokens
    assert usage.compaction.due == usage.compaction.runs_first == (messages.used > messages.budget)
    assert usage.compaction.tokens == total
    for text in (toolbar, label):
        assert ("compacts with the next message" in text) == usage.compaction.due
    return usage


def answer_and_compare(
    session: ZkChatSession, question: str, before: Prompt
) -> tuple[Sequence[Event], bool]:
    """Run a turn; the prompt of its first call begins with the prompt `before` it. Returns its
    events, and whether it was compacted at its beginning.
    """
    events = list(session.send(question))
    first = next(n for n, event in enumerate(events) if isinstance(event, PromptBuilt))
    compacted = any(isinstance(event, CompactionStarted) for event in events[:first])
    assert session.state.last_question is not None
    [sent, *_] = session.store.prompts.sent_for(session.state.last_question.id)
    if not compacted:
        kept = sent.prompt.messages[: len(before.messages)]
        assert [each.content for each in kept] == [each.content for each in before.messages]
        tokens = sum(each.tokens for each in kept) + before.usage.tool_tokens
        assert tokens == before.usage.total_tokens
    return events, compacted


def had_shortened_results(session: ZkChatSession) -> bool:
    """Whether the last turn had no room for its own results, which are stored whole."""
    assert session.state.last_question is not None
    sent = session.store.prompts.sent_for(session.state.last_question.id)[-1]
    ids = {message.id for message in session.state.exchanges[-1]}
    return any(
        is_masked_text(message.content)
        for message in sent.prompt.messages
        if ids.intersection(message.source_ids)
    )


def check_live_bar(events: Sequence[Event], session: ZkChatSession, usage: ContextUsage) -> None:
    """The bar of the running turn ended where the toolbar is now: exactly by the last measured
    prompt, and nearly by the text that has arrived since. The last call of a turn may have offered
    other tools. After some compactions, the next prompt shortens results of earlier turns.
    """
    live = LiveBudget()
    for event in events:
        live.update(event)
    assert live.usage is not None
    answer = session.history[-1].content
    counted = session.runtime.counter.count(answer) + MESSAGE_OVERHEAD
    tools = usage.tool_tokens - live.usage.tool_tokens
    measured = live.usage.total_tokens + tools + counted
    compaction = session.state.compaction
    if compaction is not None and compaction.masks_later:
        assert measured >= usage.total_tokens
        return
    assert measured == usage.total_tokens
    bar = live.bar()
    assert bar is not None
    assert abs(bar.used + tools - usage.total_tokens) <= counted


@pytest.mark.untraced
def test_every_view_has_the_figure_of_the_next_prompt_after_each_turn(
    session: ZkChatSession, zkchat: Program, kind: Conversation
) -> None:
    budgets: dict[int, int] = {}
    compactions = 0
    for number in range(TURNS):
        before = session.prompt()
        events, compacted = answer_and_compare(session, question_of(number), before)
        assert isinstance(events[-1], TurnCompleted)
        assert before.usage.compaction.due <= compacted
        compactions += compacted
        # After a compaction, another process has to find what this one remembers
        if compacted or number % PROCESS_EACH == 0:
            usage = check_every_view(session, zkchat)
        else:
            usage = check_own_views(session)
        # A constant of window, settings and tools
        assert budgets.setdefault(usage.tool_tokens, usage.message_budget) == usage.message_budget
        if not had_shortened_results(session):
            check_live_bar(events, session, usage)
    assert compactions >= kind.least_compactions
    slash.run("/compact", session)
    check_every_view(session, zkchat)
    slash.run("/undo", session)
    check_every_view(session, zkchat)
