"""Finds a stored conversation that says what an imported one says.

Requests and lists of messages have no ids, so ids cannot say that a conversation is here already.
"""

from collections.abc import Iterable, Iterator, Sequence

from zkchat_cli.importers.base import is_added
from zkchat_cli.models.archive import ConversationArchive
from zkchat_cli.models.conversations import Conversation
from zkchat_cli.models.messages import ZkChatMessage
from zkchat_cli.store.port import ConversationLog

# Conversations that are compared with the imported one
MOST_COMPARED = 20
# Characters of the question by which they are searched
MAX_SEARCHED = 300


def find_stored_copy(store: ConversationLog, archive: ConversationArchive) -> Conversation | None:
    """The stored conversation of the same vault that has all questions and answers of an archive,
    in the same order. None without an answer: two people may ask the same.
    """
    said = list(_said(archive.messages))
    roles = {message.role for message in archive.messages}
    questions = [each.content for each in archive.messages if each.role == "user"]
    asked = [text for text in questions if not is_added(text)]
    if not asked or "assistant" not in roles:
        return None
    searched = max(asked, key=len)[:MAX_SEARCHED]
    found = store.search(archive.conversation.vault, searched, limit=MOST_COMPARED)
    for id_ in dict.fromkeys(each.conversation_id for each in found):
        if _contains(_said(store.history(id_)), said):
            return store.find(id_, None)
    return None


def _said(messages: Sequence[ZkChatMessage]) -> Iterator[tuple[str, str]]:
    """The role and the text of each question and answer."""
    for message in messages:
        text = message.prompt_text.strip()
        if message.role in ("user", "assistant") and text and not is_added(text):
            yield message.role, text


def _contains(stored: Iterable[tuple[str, str]], said: Iterable[tuple[str, str]]) -> bool:
    """Whether all that was said is stored, in the same order."""
    rest = iter(stored)
    return all(each in rest for each in said)
