"""What a program knows of a conversation that a server keeps, so it can continue without it."""

from dataclasses import dataclass, field

from zkchat_cli.models.archive import ConversationArchive
from zkchat_cli.models.compaction import Compaction
from zkchat_cli.models.conversations import Conversation
from zkchat_cli.models.messages import ZkChatMessage
from zkchat_cli.store.port import SessionStore


@dataclass
class KnownConversation:
    """A conversation as the server has it, as far as this program knows."""

    conversation: Conversation
    messages: dict[str, ZkChatMessage] = field(default_factory=dict)
    compactions: tuple[Compaction, ...] = ()
    # What the outbox had delivered last when this was read
    delivered: ConversationArchive | None = None

    @classmethod
    def read(
        cls, server: SessionStore, conversation_id: str, delivered: ConversationArchive | None
    ) -> "KnownConversation":
        """Read all of it from the server."""
        known = cls(server.conversation(conversation_id), delivered=delivered)
        known.messages = {message.id: message for message in server.log(conversation_id)}
        known.compactions = server.compactions(conversation_id)
        return known

    def archive(self) -> ConversationArchive:
        """The conversation as an outbox takes it."""
        values = self.conversation.model_dump(include={*Conversation.model_fields})
        return ConversationArchive(
            conversation=Conversation(**values),
            messages=tuple(self.messages.values()),
            compactions=self.compactions,
        )

    def move(self, head: str | None) -> None:
        """Note the conversation's new head."""
        self.conversation = self.conversation.model_copy(update={"head_id": head})
