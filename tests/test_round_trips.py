"""Out and in again: whatever was said, the export of what was imported is the same to the byte, and so is the next prompt."""

import json
from collections.abc import Sequence

import pytest
from factories import NOON, AppFixture, CountingIds, make_app, make_compaction
from history_strategies import STRATEGIES, histories
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from zkchat_cli.exporters import exporter
from zkchat_cli.importers.conversation_file import read_conversations
from zkchat_cli.models import Conversation, ConversationArchive, Prompt, ZkChatMessage
from zkchat_cli.store.chat_session_store import ChatSessionStore

pytestmark = pytest.mark.untraced


@pytest.fixture(scope="module")
def app(tmp_path_factory: pytest.TempPathFactory) -> AppFixture:
    notes = tmp_path_factory.mktemp("notes")
    (notes / "Filters.md").write_text("# Filters\n\nA filter says which tasks you see.\n")
    return make_app(notes, tmp_path_factory.mktemp("cache"))


def build_archive(app: AppFixture, history: Sequence[ZkChatMessage], head: int, summary: str | None) -> ConversationArchive:
    """The history as a chain with a fork at its end, with the head anywhere."""
    chained: list[ZkChatMessage] = []
    for message in history:
        chained.append(message.model_copy(update={"parent_id": chained[-1].id if chained else None}))
    talk = Conversation(id="c1", vault=str(app.vault.root), title="Anvils", created_at=NOON, updated_at=NOON)
    if not chained:
        return ConversationArchive(conversation=talk, messages=())
    at = chained[head % len(chained)].id
    fork = chained[0].model_copy(update={"id": "fork", "parent_id": at, "content": "another branch"})
    compactions = (make_compaction(summary, at),) if summary is not None else ()
    return ConversationArchive(conversation=talk.model_copy(update={"head_id": at}), messages=(*chained, fork), compactions=compactions)


def import_into_new_app(app: AppFixture, text: str) -> tuple[AppFixture, str]:
    """An app with only this conversation in its store, and the id."""
    read = read_conversations(text.encode(), vault="/elsewhere", new_id=CountingIds("x"), now=NOON)
    there = AppFixture(app.vault, ChatSessionStore.open(None))
    return there, there.store.restore_all(read.archives, CountingIds("y"))[0].id


def prompt_of(app: AppFixture, id_: str, question: str, strategy: str) -> Prompt:
    return app.session(conversation=app.store.conversation(id_), strategy=strategy).prompt(question)


def message_values(prompt: Prompt) -> list[tuple[str, str, str, int]]:
    """What of a prompt does not depend on the ids of its messages."""
    return [(message.role, message.content, message.kind, message.tokens) for message in prompt.messages]


@settings(max_examples=10, deadline=None, suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large])
@given(
    history=histories(),
    head=st.integers(0, 40),
    summary=st.none() | st.just("They spoke of the anvil."),
    question=st.sampled_from(["anvil?", "see [[Filters]]"]),
    strategy=st.sampled_from(STRATEGIES),
)
def test_any_history_comes_back_as_it_was_and_makes_the_same_prompt(
    app: AppFixture, history: tuple[ZkChatMessage, ...], head: int, summary: str | None, question: str, strategy: str
) -> None:
    archive = build_archive(app, history, head, summary)
    here = AppFixture(app.vault, ChatSessionStore.open(None))
    here.store.restore(archive, CountingIds("never"))
    text = exporter("json").export(here.store.archive("c1"))
    there, id_ = import_into_new_app(app, text)
    assert exporter("json").export(there.store.archive(id_)) == text
    before = prompt_of(here, "c1", question, strategy)
    assert message_values(prompt_of(there, id_, question, strategy)) == message_values(before)

    # once more into the same store: a copy under new ids, which says the same
    [copy] = there.store.restore_all(
        read_conversations(text.encode(), vault="/elsewhere", new_id=CountingIds("x"), now=NOON).archives, CountingIds("z")
    )
    assert copy.id != id_
    assert message_values(prompt_of(there, copy.id, question, strategy)) == message_values(before)
    here.store.close()
    there.store.close()


@settings(max_examples=20, deadline=None)
@given(
    entries=st.lists(
        st.fixed_dictionaries(
            {"role": st.sampled_from(["user", "assistant", "system"]), "content": st.text(max_size=30)},
            optional={"timestamp": st.just(NOON), "token_count": st.integers(0, 99)},
        ),
        min_size=1,
        max_size=6,
    ),
    encoding=st.sampled_from(["utf-8", "utf-8-sig", "utf-16", "utf-32", "utf-16-le"]),
)
def test_messages_are_read_alike_in_every_unicode_encoding(entries: list[dict[str, str]], encoding: str) -> None:
    text = json.dumps(entries, ensure_ascii=encoding == "utf-8")
    [archive] = read_conversations(text.encode(encoding, "surrogatepass"), vault="/notes", new_id=CountingIds(), now=NOON).archives
    expected = [(entry["role"], entry["content"]) for entry in entries]
    assert [(message.role, message.content) for message in archive.messages] == expected
