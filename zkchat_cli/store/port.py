"""What a store of conversations offers, whatever keeps it: SQLite today.

The engine imports these protocols and no implementation; `app` chooses one. An implementation has
to pass tests/test_store_port.py. Every method raises StoreError with what failed, why and what to
do next; one that changes something raises StoreUnwritable (a StoreError) if nothing can be stored.

Conversations and facts belong to a vault, which is named by the path of its folder.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import NamedTuple, Protocol

from zkchat_cli.errors import StoreError, StoreUnreachable, StoreUnwritable
from zkchat_cli.models.archive import ConversationArchive
from zkchat_cli.models.compaction import Compaction
from zkchat_cli.models.conversations import Conversation, ConversationOverview, FoundMessage
from zkchat_cli.models.facts import Fact
from zkchat_cli.models.messages import ZkChatMessage
from zkchat_cli.models.notes import NoteUsage
from zkchat_cli.models.prompts import Calibration, SentPrompt
from zkchat_cli.text.word_lists import ENGLISH


class StoreChanges(NamedTuple):
    """Figures that change when something is written: `own` by this store, `others`
    by another process, or through another store object of this one.
    """

    own: int
    others: int


class StoredMessageVectors(NamedTuple):
    """The vectors of one message. A larger `row` was stored later; `passages` are vectors of 8-bit
    integers, one after the other.
    """

    row: int
    message_id: str
    passages: bytes


class MessageWithoutVectors(NamedTuple):
    """A question or answer for which vectors can be computed. A larger `row` was stored later."""

    row: int
    message_id: str
    content: str


class ConversationLog(Protocol):
    """Conversations, each with an append-only log of messages that form a tree, and its summaries.

    The head of a conversation is the last message of its current branch. Undo, retry and edit move
    the head; no message is changed or removed.
    """

    def start(self, conversation: Conversation) -> None:
        """Store a new conversation."""
        ...

    def conversation(self, conversation_id: str) -> ConversationOverview:
        """The conversation with exactly this id. Raises StoreError with a hint that lists the most
        recent ones.
        """
        ...

    def find(self, prefix: str | None, vault: str | None) -> ConversationOverview:
        """The conversation with this id or unique prefix of it, in any vault; None: the most
        recently updated one of `vault`. Raises StoreError, also for a prefix of several.
        """
        ...

    def conversations(
        self, vault: str | None = None, limit: int | None = None
    ) -> list[ConversationOverview]:
        """The conversations of `vault` (None: of all vaults), the most recently updated first."""
        ...

    def update(
        self,
        conversation_id: str,
        *,
        title: str | None = None,
        documents: Sequence[str] | None = None,
    ) -> None:
        """Give a conversation another title, or another list of the documents that each of its
        prompts has; what is None stays.
        """
        ...

    def move_head(self, conversation_id: str, message_id: str | None) -> None:
        """Make another message the end of the current branch; None: the conversation's empty
        beginning. Raises StoreError if it is not a message of this conversation.
        """
        ...

    def delete(self, *conversation_ids: str) -> None:
        """Delete conversations for good. Facts stay. If one is not there, none is deleted.

        A store that outlasts the program also deletes what was typed in them from the input history
        (`store/input_history.py`).
        """
        ...

    def add(self, conversation_id: str, message: ZkChatMessage) -> str | None:
        """Append one message and make it the head; returns the head before. A parent that is still
        pending becomes unfinished. Raises StoreError if the parent is not in this conversation.
        """
        ...

    def commit(
        self,
        conversation_id: str,
        user: ZkChatMessage,
        answer: Sequence[ZkChatMessage],
        *,
        updated_at: str,
        title: str | None = None,
        sent: Sequence[SentPrompt] = (),
        calibrations: Mapping[str, Calibration] = {},
        facts_used: Sequence[str] = (),
    ) -> None:
        """End a turn, whole or not at all: the question's status and figures, the new messages, and
        a title if there is none. `calibrations` are by model, `facts_used` are keys.
        """
        ...

    def mark(self, conversation_id: str, changed: Iterable[ZkChatMessage]) -> None:
        """Update fields of stored messages that are not their words, such as a pin. All of them or
        none.
        """
        ...

    def log(self, conversation_id: str) -> tuple[ZkChatMessage, ...]:
        """Every message of every branch, in the order of writing."""
        ...

    def history(self, conversation_id: str, last: int | None = None) -> tuple[ZkChatMessage, ...]:
        """The current branch, from its root to the head, or only so many of its `last` messages."""
        ...

    def search(
        self,
        vault: str | None,
        text: str,
        *,
        conversation_id: str | None = None,
        limit: int = 10,
        languages: tuple[str, ...] = (ENGLISH,),
        tool_results: bool = True,
    ) -> tuple[FoundMessage, ...]:
        """The messages most relevant to `text`, best first: of one conversation, or of all in
        `vault` (None: in any vault).

        Words are found in any form that they have in `languages`. Without `tool_results` only
        questions and answers are: what tools returned is in the notes.
        """
        ...

    def archive(self, conversation_id: str, *, prompts: bool = False) -> ConversationArchive:
        """The messages and the compactions in force, of one moment. With `prompts` also those taken
        back, and what the model was sent.
        """
        ...

    def restore(self, archives: Sequence[ConversationArchive]) -> list[int]:
        """Store conversations, all or none; of one that is here already only what is new, as its
        ids say, and how a turn ended that has no end here. Returns the number of new messages of
        each. Raises StoreError for a conversation
        that is here with other notes.
        """
        ...

    def compact(self, conversation_id: str, compaction: Compaction) -> None:
        """Store a summary that replaces the messages it covers in prompts. A preview of one
        replaces the preview before. Raises StoreError if its last message is not in this
        conversation.
        """
        ...

    def undo_compaction(
        self, conversation_id: str, compaction_id: str | None = None
    ) -> Compaction | None:
        """Take back this compaction, or the last one in force of any branch, and return it; None if
        there is none.
        """
        ...

    def compactions(self, conversation_id: str, *, undone: bool = False) -> tuple[Compaction, ...]:
        """The compactions in force, oldest first; with `undone` also those that were taken back."""
        ...

    def preview(self, conversation_id: str) -> Compaction | None:
        """What the last preview of a compaction showed; None if there is none."""
        ...


class FactStore(Protocol):
    """What the user asked to remember about a vault, and how often its notes were used. One fact
    per key is current.
    """

    def vaults(self) -> tuple[str, ...]:
        """The vaults that have current facts."""
        ...

    def current(self, vault: str) -> tuple[Fact, ...]:
        """The current facts of a vault, newest first, without damaged ones."""
        ...

    def remember(self, vault: str, fact: Fact) -> Fact | None:
        """Make `fact` the current one of its key; returns the one it replaces."""
        ...

    def forget(self, vault: str, key: str) -> Fact | None:
        """Delete the key with its history; returns the fact that was current."""
        ...

    def often_cited(self, vault: str) -> tuple[NoteUsage, ...]:
        """The notes that several conversations with `vault` cited, most conversations first. Old
        citations and a long end of the list may be left out, because each chat begins with it.
        """
        ...

    def most_used_notes(self, vault: str, most: int) -> tuple[NoteUsage, ...]:
        """The `most` notes that answers in `vault`'s conversations used, most answers first."""
        ...


class PromptArchive(Protocol):
    """What model calls were sent, word for word, and how each model counts tokens."""

    def sent_for(self, question_id: str) -> tuple[SentPrompt, ...]:
        """What the model calls for a question were sent, in order; empty if none were stored, such
        as for an imported conversation. `prompt.dropped` does not list the messages that were left
        out.
        """
        ...

    def calibration(self, model: str) -> Calibration:
        """How this model counts tokens, by the reports of its server so far."""
        ...


class PassageVectors(Protocol):
    """The vectors of the passages of messages and facts, for recall by meaning. They can be
    computed again, so no export has them. `embedder` names the model that made them.
    """

    def of_messages(
        self, conversation_id: str, embedder: str, after: int
    ) -> list[StoredMessageVectors]:
        """The vectors of a conversation that were stored after row `after`, in this order."""
        ...

    def messages_without(
        self, vault: str, embedder: str, before: int | None, limit: int
    ) -> list[MessageWithoutVectors]:
        """The newest questions and answers about `vault` without vectors, the newest first: those
        before the row `before`, or of all (None).
        """
        ...

    def add_for_messages(self, embedder: str, vectors: Mapping[str, bytes]) -> None:
        """Store the vectors of messages, by their ids, in place of another embedder's. A message
        that is not stored is passed over.
        """
        ...

    def of_facts(self, vault: str, embedder: str) -> dict[str, bytes]:
        """The vectors of the current facts, by their keys; none for a fact in a language that the
        embedder does not know.
        """
        ...

    def facts_without(self, vault: str, embedder: str, limit: int) -> dict[int, str]:
        """The texts of current facts without vectors, newest first, by their rows."""
        ...

    def add_for_facts(self, embedder: str, vectors: Mapping[int, bytes]) -> None:
        """Store the vectors of facts, by their rows, in place of another embedder's. A fact that is
        no longer current is passed over.
        """
        ...


class SharedWith(NamedTuple):
    """Somebody who sees a conversation of the user; None is everybody who uses the store."""

    user: str | None
    may_write: bool


class ConversationSharing(Protocol):
    """With whom the user shares conversations, in a store that several people use."""

    def share(
        self, conversation_id: str, user: str | None, *, may_write: bool
    ) -> tuple[SharedWith, ...]:
        """Let somebody (None: everybody) read the conversation, or continue it, too. Returns all
        with whom it is shared then. Raises StoreError if it is somebody else's.
        """
        ...

    def unshare(self, conversation_id: str, user: str | None) -> tuple[SharedWith, ...]:
        """Take that back for a user, or for all (None). Returns with whom it is still shared."""
        ...

    def share_fact(self, vault: str, key: str, *, shared: bool) -> bool:
        """Let everybody read the user's fact with this key, or nobody else any more. Returns
        whether there is one.
        """
        ...

    def shared_with(self, conversation_id: str) -> tuple[SharedWith, ...]:
        """With whom it is shared, as far as the user may know."""
        ...


class ConversationWatch(Protocol):
    """Tells when other programs change a conversation. It belongs to one thread, which waits."""

    def wait(self, seconds: float) -> bool:
        """Whether another program has changed the conversation since the last call, or may have;
        waits for that at most so long, without asking the server. A server that was away is reached
        again if that is possible; otherwise raises StoreError.
        """
        ...

    def close(self) -> None:
        """Watch no longer."""
        ...


class SessionStore(ConversationLog, Protocol):
    """Everything that is stored, as a session uses it. Threads may share it."""

    facts: FactStore
    prompts: PromptArchive
    vectors: PassageVectors
    write_error: StoreUnwritable | None
    """Why nothing can be stored; None if it can."""
    away: StoreUnreachable | None
    """Why the server is not reached; None if it is, or if there is none."""
    refusal: StoreError | None
    """Why a server that answers does not take turns that are kept on this machine."""
    watch: Callable[[str], ConversationWatch] | None
    """Watches a conversation by its id, stored or not. None for a store that is not told what
    others write, such as one in a file.
    """

    @property
    def sharing(self) -> ConversationSharing | None:
        """None for a store of one person."""
        ...

    @property
    def waiting_turns(self) -> int:
        """Turns that are kept on this machine because the server that should have them is away."""
        ...

    @property
    def persistent(self) -> bool:
        """Whether what is stored outlasts the program."""
        ...

    def changes(self) -> StoreChanges:
        """Figures that change whenever anything is written."""
        ...

    def reopen(self) -> "SessionStore":
        """The same store through another connection, for another thread; of a store in memory a
        copy of its current content.
        """
        ...

    def close(self) -> None:
        """Close the store's connection."""
        ...
