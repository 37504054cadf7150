"""Rehearsing a turn. The first time that a connection stores a turn and searches, the server reads
its catalog and plans the statements, which takes longer than the turn itself.
"""

from uuid import uuid4

from zkchat_cli.models.conversations import Conversation
from zkchat_cli.models.messages import ZkChatMessage
from zkchat_cli.store.postgres import conversations, message_search, messages, sent_prompts
from zkchat_cli.store.postgres.conversations import ConversationRow
from zkchat_cli.store.postgres.postgres_connection import PostgresConnection, PostgresDatabase

_TIME = "2026-01-01T00:00:00Z"
_TEXT = "rehearsal"


def rehearse(connection: PostgresConnection) -> None:
    """Store a turn of a conversation that never was, and search; all of it is taken back, and
    nobody sees it. Raises StoreError.
    """
    with connection.rehearsing("be prepared for a turn") as db:
        _store_turn(db)
        message_search.search(db, None, _TEXT)


def _store_turn(db: PostgresDatabase) -> None:
    id_ = f"{_TEXT}-{uuid4().hex}"
    conversations.insert(db, Conversation(id=id_, vault=_TEXT, created_at=_TIME, updated_at=_TIME))
    question = ZkChatMessage(
        id=f"{id_}-question", role="user", content=_TEXT, timestamp=_TIME, status="pending"
    )
    answer = ZkChatMessage(
        id=f"{id_}-answer",
        parent_id=question.id,
        role="assistant",
        content=_TEXT,
        timestamp=_TIME,
        references=(),
    )
    messages.append(db, id_, question)
    row: ConversationRow = conversations.lock(db, id_).row
    messages.update(db, row, question.model_copy(update={"status": "complete"}), with_status=True)
    messages.insert(db, row, [answer], head=answer.id, updated_at=_TIME, title=_TEXT)
    sent_prompts.rehearse(db, id_, row, question.id)
