"""Stored conversations as lists, code as one copies it, prompts as one reads them, and settings of
one session.
"""

import time

import pytest
from factories import AppFixture, exchanges, message, resume

from zkchat_cli.errors import ConfigError, StoreError, UsageError
from zkchat_cli.llm.base import Window
from zkchat_cli.markdown.blocks import code_blocks
from zkchat_cli.models.conversations import Conversation
from zkchat_cli.store.sqlite.chat_session_store import ChatSessionStore
from zkchat_cli.views import stored_items
from zkchat_cli.views.text import plain_text

# code


@pytest.mark.parametrize(
    ("text", "blocks"),
    [
        ("No code.", []),
        ("```\na\n\nb\n```", ["a\n\nb"]),
        ("a\n```py\nx = 1\n```\nb\n~~~\ny\n~~~", ["x = 1", "y"]),
        ("- item\n  ```\n  if x:\n      y\n z\n  ```", ["if x:\n    y\nz"]),
        ("> ```\n> quoted\n> ```", ["quoted"]),
        ("````\n```\ninner\n```\n````", ["```\ninner\n```"]),
        ("```\nopen\n\n", ["open"]),
        ("```\n``` no end\nx\n```", ["``` no end\nx"]),
        ("``` a ` b ```\nprose", []),
    ],
)
def test_blocks_of_code_come_without_their_fences(text: str, blocks: list[str]) -> None:
    assert code_blocks(text) == blocks


@pytest.mark.untraced
def test_hundreds_of_kilobytes_of_hostile_fences_takes_no_time() -> None:
    assert len(code_blocks("```\n" * 100_000)) == 50_000
    assert code_blocks(("> " * 20_000 + "\n") * 5 + "1) " * 40_000) == []


# lists


def a_conversation(
    store: ChatSessionStore, id_: str, vault: str, day: int, *messages: tuple[str, str]
) -> None:
    at = f"2025-05-{day:02d}T12:00:00+00:00"
    store.start(Conversation(id=id_, vault=vault, created_at=at, updated_at=at))
    parent = None
    for number, (role, content) in enumerate(messages):
        store.add(
            id_,
            message(
                role,
                content,
                f"{id_}-{number}",
                parent_id=parent,
                timestamp=at,
                token_count=10,
                tool_name="find",
            ),
        )
        parent = f"{id_}-{number}"


def test_a_list_shows_message_counts_and_first_questions(app: AppFixture) -> None:
    store = app.store
    a_conversation(
        store,
        "a",
        "/v",
        3,
        ("user", "\n First line \nsecond"),
        ("assistant", ""),
        ("tool", "{}"),
        ("assistant", "So."),
    )
    a_conversation(store, "b", "/v", 5, ("assistant", "Imported."))
    a_conversation(store, "c", "/w", 4, ("user", " \n "))
    a_conversation(store, "d", "/v", 1)
    listed = store.conversations("/v")
    assert [(each.id, each.messages, each.first_line, each.tokens) for each in listed] == [
        ("b", 1, None, 10),
        ("a", 2, "First line", 40),
        ("d", 0, None, 0),
    ]
    assert store.conversation("a") == listed[1]
    with pytest.raises(StoreError):
        store.conversation("nobody")
    assert plain_text(stored_items.conversation_lines(listed, "a")).splitlines() == [
        "  b  untitled   2025-05-05 12:00, 1 message, 10 tokens",
        "→ a  First line   2025-05-03 12:00, 2 messages, 40 tokens",
        "  d  untitled   2025-05-01 12:00, no messages",
    ]


def test_search_covers_one_vault_or_all(app: AppFixture) -> None:
    a_conversation(app.store, "a", "/v", 3, ("user", "Where is the whale?"), ("tool", "a whale"))
    a_conversation(app.store, "b", "/w", 3, ("user", "A whale!"))
    found = app.store.search(None, "whale")
    assert {each.conversation_id for each in found} == {"a", "b"}
    assert {each.conversation_id for each in app.store.search("/v", "whale")} == {"a"}
    assert [each.message.content for each in found].count("a whale") == 1
    assert [each.message.role for each in app.store.search(None, "whale", tool_results=False)] == [
        "user",
        "user",
    ]


def test_a_conversation_is_shown_in_order(app: AppFixture) -> None:
    history = (
        message("user", "First\nand more", "q"),
        message("tool", "{}", "t", tool_name="find"),
        message("assistant", "A\tb\n", "w", status="unfinished"),
        message("user", "Then?", "r", status="failed"),
    )
    a_conversation(app.store, "a", "/v", 3, ("user", "First"))
    assert plain_text(
        stored_items.transcript_lines(app.store.conversation("a"), history, 5)
    ).splitlines() == [
        "First   a, 2025-05-03 12:00, 1 message",
        "",
        "you › First",
        "      and more",
        "",
        "A   b",
        "  (stopped)",
        "",
        "you › Then?",
        "  (no answer)",
    ]


# titles, other conversations


def test_a_conversation_of_another_vault_is_not_continued(app: AppFixture) -> None:
    a_conversation(app.store, "elsewhere", "/w", 3, ("user", "First."))
    with pytest.raises(UsageError, match="other notes") as e:
        app.session().open_conversation("else")
    assert "--vault '/w' --resume elsewhere" in e.value.hint


# settings of one session


def test_settings_change_what_the_session_does_from_now_on(app: AppFixture) -> None:
    session = resume(app, exchanges(("What is one?", "1")))
    assert session.runtimes.override_setting("context.max_tokens", "4000") == 4000
    assert session.runtime.window == Window(4000, "context.max_tokens, /config")
    assert session.runtimes.override_setting("llm.temperature", "0.5") == 0.5
    assert session.runtime.options.temperature == 0.5
    session.runtimes.override_setting("context.strategy", "discard")
    assert session.runtime.strategy.name == session.runtime.settings.context.strategy == "discard"
    session.runtimes.override_setting("memory.project_file", "Filters.md")
    assert "which tasks you want to see" in "".join(item.content for item in session.memory_items())


@pytest.mark.parametrize(
    ("key", "value", "error"),
    [
        ("context.max_tokens", "many", ConfigError),
        ("context.max_tokens", "1", ConfigError),
        ("context.nothing", "1", ConfigError),
        ("context.strategy", "best", ConfigError),
        ("context.message_budget_ratio", "0.9", ConfigError),
        ("vault.ignore", "a", UsageError),
        ("context.memory_integration", "false", UsageError),
        ("model", "big/one", UsageError),
    ],
)
def test_what_cannot_be_set_changes_nothing(
    app: AppFixture, key: str, value: str, error: type[Exception]
) -> None:
    session = app.session()
    before = session.runtime
    with pytest.raises(error) as e:
        session.runtimes.override_setting(key, value)
    assert getattr(e.value, "hint", "")
    assert session.runtime == before


@pytest.mark.parametrize(
    ("zone", "shown"),
    [
        ("UTC", "2025-05-08 01:30"),
        ("America/New_York", "2025-05-07 21:30"),
        ("Asia/Kathmandu", "2025-05-08 07:15"),
    ],
)
def test_times_are_those_of_the_readers_clock(
    monkeypatch: pytest.MonkeyPatch, zone: str, shown: str
) -> None:
    monkeypatch.setenv("TZ", zone)
    time.tzset()
    told = [
        stored_items.format_time(said)
        for said in ("2025-05-08T01:30:00.123+00:00", "2025-05-08T01:30:00", "long ago")
    ]
    monkeypatch.undo()
    time.tzset()
    assert told == [shown, "2025-05-08 01:30", "long ago"]
