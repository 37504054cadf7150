"""A message of the user before it is stored: the documents that it names and the passages that are
found for it, with their text for the prompt.
"""

import difflib
import re
from collections.abc import Sequence
from contextlib import suppress
from functools import partial
from typing import NamedTuple

from zkchat_cli.chat.passage_search import MOST_PASSAGES, PassageSearch
from zkchat_cli.chat.prompt_builder import PromptBuilder
from zkchat_cli.chat.retrieval import SMALL_WINDOW, RetrievalPolicy
from zkchat_cli.chat.runtime import Runtime, SessionServices
from zkchat_cli.chat.state import ConversationState
from zkchat_cli.chat.user_input import UserInput, without_mention
from zkchat_cli.errors import PromptTooLarge, VaultError, nearest_names
from zkchat_cli.events import Notice
from zkchat_cli.markdown.inline import WIKILINK
from zkchat_cli.models.messages import RetrievalMode, ZkChatMessage
from zkchat_cli.models.notes import ContentChunk
from zkchat_cli.references.added_documents import AddedDocuments
from zkchat_cli.references.chunk_budget import reduce_to_fit
from zkchat_cli.references.document_list import describe_documents
from zkchat_cli.references.excerpts import chunk_text_tokens, chunk_tokens
from zkchat_cli.references.file_imports import ImportRoots
from zkchat_cli.references.image_selection import ImageLimits, select_images
from zkchat_cli.references.injection import DocumentRoom, InjectionLimits, inject
from zkchat_cli.references.manager import QUESTION, ReferenceManager
from zkchat_cli.references.mentions import MentionedDocument, Mentions, find_mentions
from zkchat_cli.summarization.learning_points import find_learning_points
from zkchat_cli.tokens.counter import MESSAGE_OVERHEAD, estimate_tokens

# Similarity with an agent's name from which a word counts as a misspelling of it: people are
# addressed by `@name` too
SIMILAR = 0.7
# Most unknown names to tell the user about: a pasted text may have many
MOST_NAMED = 3
# Longest message, in characters, that is counted at each key, in under 2 ms; longer ones are
# estimated
MAX_COUNTED = 20_000
_WRITTEN_NAME = re.compile(rf"{WIKILINK}|(?<!\w)@[^\s]+")


class MessageWithDocuments(NamedTuple):
    """A message, and the problems with its documents."""

    message: ZkChatMessage
    notices: list[Notice]


class TypedTokens(NamedTuple):
    """Tokens of a message that is being typed, and whether they are estimated."""

    tokens: int
    estimated: bool


class _UntypedMessage(NamedTuple):
    """The message with only the added documents, for certain files and settings."""

    made_from: tuple[object, ...]
    message: ZkChatMessage


class _NamedTokens(NamedTuple):
    """The tokens of the documents that a text names, for one state of the conversation."""

    version: tuple[str | None, str | None] | None
    names: list[str]
    tokens: int


class UserMessageBuilder:
    """Makes the user's messages of one conversation."""

    def __init__(
        self, services: SessionServices, state: ConversationState, prompts: PromptBuilder
    ) -> None:
        self._services = services
        self._state = state
        self._prompts = prompts
        self._search = PassageSearch(services, state)
        self._retrieval = RetrievalPolicy(state, self._search)
        # The message of the next prompt before anything is typed
        self._untyped: _UntypedMessage | None = None
        # The documents that the message being typed names
        self._named = _NamedTokens(None, [], 0)

    def build_untyped(self, runtime: Runtime) -> tuple[ZkChatMessage, ...]:
        """A message without words, with the documents that each message gets; nothing without
        such documents. It is made anew when they, or the conversation, have changed.
        """
        names = self._state.conversation.documents
        if not names:
            return ()
        added = AddedDocuments.of(names, self._services.vault, self._services.store)
        made_from = (
            names,
            added.stamps(),
            self._state.version,
            runtime.budget,
            runtime.counter,
            runtime.settings,
            runtime.retrieval,
        )
        known = self._untyped
        if known is None or known.made_from != made_from:
            user_input = UserInput("")
            complete = self.add_documents(
                runtime,
                self.build_bare(runtime, user_input),
                user_input,
                self._state.references.snapshot(),
                search=False,
            )
            known = _UntypedMessage(made_from, complete.message)
            self._untyped = known
        return (known.message,)

    def build_bare(self, runtime: Runtime, user_input: UserInput) -> ZkChatMessage:
        """The message without documents, which can be stored before the model's window is known."""
        bare = self._services.new_message(
            "user",
            user_input.text,
            self._state.head,
            status="pending",
            agent=runtime.agent.name if runtime.agent is not None else None,
            addressed=user_input.mention,
        )
        tokens = runtime.counter.count_raw(bare.prompt_text)
        points = user_input.learning_points
        if points is None:
            points = ()
            with self._services.faults.contain("learning points"):
                typed = _typed_text(bare, user_input) or bare.prompt_text
                points = find_learning_points(without_mention(typed, self._services.agent_names()))
        return bare.model_copy(
            update={
                "token_count": runtime.counter.count_to_store(bare.prompt_text),
                "augmented_token_count": tokens,
                "learning_points": points,
            }
        )

    def add_documents(
        self,
        runtime: Runtime,
        bare: ZkChatMessage,
        user_input: UserInput,
        references: ReferenceManager,
        *,
        search: bool = True,
    ) -> MessageWithDocuments:
        """The message with the documents that it names and the passages found for it.

        `references` numbers the text that goes into the prompt, in place of what an earlier attempt
        with this message chose. `augmented_token_count` includes it. Without `search`, neither
        passages nor similar names of files are looked for.
        """
        mode = runtime.retrieval.mode if runtime.retrieval else None
        plain = runtime.model.plain_excerpts and runtime.window.tokens <= SMALL_WINDOW
        bare = bare.model_copy(update={"retrieval": mode, "plain_excerpts": plain})
        references.replace_chunks_of_tool(bare.id, ())
        contain = self._services.faults.contain
        mentions, names = self._find_mentions(runtime, bare, user_input, compare=search)
        if self._services.vault.main_semantic and mentions:
            paths = [each.reference.relative_path for each in mentions]
            self._services.vault.main_semantic.note_named(filter(None, paths))
        added = self._read_added(runtime)
        passages: list[ContentChunk] = []
        if search and mode in ("before", "both"):
            passages = self._find_passages(user_input.searched or bare.prompt_text, mentions)
        unknown = [self._unknown_name_notice(name) for name in names[:MOST_NAMED]]
        documents = _with_added(mentions, added)
        if not documents and not passages:
            return MessageWithDocuments(bare, unknown)
        room = DocumentRoom(0, 0)
        with suppress(PromptTooLarge):
            room = self._prompts.room_for_documents(runtime, bare)
        complete = MessageWithDocuments(bare, [])
        with contain("references"):
            complete = _inject(runtime, bare, documents, passages, room, references)
        return MessageWithDocuments(complete.message, [*unknown, *complete.notices])

    def _find_passages(
        self, wanted: str, mentions: Sequence[MentionedDocument]
    ) -> list[ContentChunk]:
        names_documents = any(each.reference.relative_path for each in mentions)
        with self._services.faults.contain("passages"):
            return self._search.find(wanted, about_named=names_documents)
        return []

    def _find_mentions(
        self, runtime: Runtime, bare: ZkChatMessage, user_input: UserInput, *, compare: bool
    ) -> Mentions:
        """The documents that the message names; none if they cannot be looked up."""
        # Where the vault is gone, the scan has reported that, and the message matters more than its
        # links
        with self._services.faults.contain("references"), suppress(VaultError):
            return find_mentions(
                bare.prompt_text,
                ImportRoots(self._services.vault, self._services.working_folder),
                partial(self._prompts.summary, runtime),
                _typed_text(bare, user_input),
                with_links=runtime.settings.references.enabled,
                compare=compare,
            )
        return Mentions((), ())

    def _read_added(self, runtime: Runtime) -> list[MentionedDocument]:
        """The documents that the user has added to the conversation."""
        names = self._state.conversation.documents
        if not names:
            return []
        added = AddedDocuments.of(names, self._services.vault, self._services.store)
        with self._services.faults.contain("references"):
            return added.read(partial(self._prompts.summary, runtime))
        return []

    def count_typed(self, runtime: Runtime, text: str, *, with_documents: bool) -> TypedTokens:
        """Tokens of a message that is being typed, including the documents that it names."""
        if len(text) > MAX_COUNTED:
            return TypedTokens(estimate_tokens(text), estimated=True)
        if with_documents:
            self._count_named(runtime, text)
        tokens = runtime.counter.count(text)
        if with_documents:
            tokens += self._named.tokens
        return TypedTokens(tokens, estimated=bool(text) and runtime.counter.estimated)

    def _count_named(self, runtime: Runtime, text: str) -> None:
        """Count the documents that a text names, unless it named the same ones at the last key."""
        version = self._state.version
        names = _WRITTEN_NAME.findall(text)
        if version == self._named.version and names == self._named.names:
            return
        tokens: int | None = None
        if names:
            bare = self._services.new_message("user", text)
            named = self.add_documents(
                self.with_retrieval(runtime),
                bare,
                UserInput(text),
                self._state.references.snapshot(),
                search=False,
            )
            tokens = named.message.augmented_token_count
        counted = runtime.counter.scale(tokens) + MESSAGE_OVERHEAD if tokens else 0
        self._named = _NamedTokens(version, names, counted)

    def _unknown_name_notice(self, name: str) -> Notice:
        """A notice about an `@name` that is not a file; it may be meant for an agent."""
        similar = difflib.get_close_matches(
            name[1:].lower(), self._services.agent_names(), n=1, cutoff=SIMILAR
        )
        return Notice(
            f"no agent and no file is called {name}; the message is sent as it is",
            nearest_names(f"@{agent}" for agent in similar),
        )

    def warm_up(self) -> None:
        """Load in advance what the first search for a question needs."""
        self._search.warm_up()

    def with_retrieval(self, runtime: Runtime, wanted: RetrievalMode | None = None) -> Runtime:
        """The runtime with the mode of its next turn: `wanted`, or else the mode of the
        settings.
        """
        with self._services.faults.contain("passages"):
            return self._retrieval.apply(runtime, wanted)
        return runtime


def _with_added(
    mentions: Sequence[MentionedDocument], added: Sequence[MentionedDocument]
) -> list[MentionedDocument]:
    """The added documents, then those that the message names besides."""
    paths = {each.reference.relative_path for each in added if each.chunks}
    others = [each for each in mentions if each.reference.relative_path not in paths]
    return [*added, *others]


def _typed_text(bare: ZkChatMessage, user_input: UserInput) -> str | None:
    """The part of the message that the user typed, without a mentioned agent; None if all of it
    was.
    """
    if user_input.typed is None:
        return None
    return bare.model_copy(update={"content": user_input.typed}).prompt_text


def _inject(
    runtime: Runtime,
    bare: ZkChatMessage,
    mentions: Sequence[MentionedDocument],
    passages: Sequence[ContentChunk],
    room: DocumentRoom,
    references: ReferenceManager,
) -> MessageWithDocuments:
    """The message with as many of its documents and passages as fit into `room`."""
    images = select_images(mentions, _image_limits(runtime), room.without_turns)
    tokens = chunk_text_tokens if bare.plain_excerpts else chunk_tokens
    limits = InjectionLimits(
        DocumentRoom(*(max(0, size - images.tokens) for size in room)),
        runtime.settings.context.injection_ratio,
        has_tools=bare.retrieval not in ("before", "none"),
        count=runtime.counter.count,
        cost=partial(tokens, count=runtime.counter.count),
    )
    injected = inject(images.others, bare.prompt_text, limits)
    fitting = _choose_passages(passages, injected.chunks, limits, runtime.settings.retrieval.ratio)
    chunks = references.replace_chunks_of_tool(bare.id, (*injected.chunks, *fitting), QUESTION)
    named = images.merge(injected.number_references(chunks))
    text = describe_documents(named, chunks, bare.retrieval, as_text=bool(bare.plain_excerpts))
    tokens_before = bare.augmented_token_count or 0
    update = {
        "references": named,
        "chunks": chunks,
        "augmented_token_count": tokens_before + runtime.counter.count_raw(text) + images.tokens,
    }
    notices = [*injected.warnings, *images.warnings]
    return MessageWithDocuments(bare.model_copy(update=update), notices)


def _choose_passages(
    passages: Sequence[ContentChunk],
    injected: Sequence[ContentChunk],
    limits: InjectionLimits,
    ratio: float,
) -> tuple[ContentChunk, ...]:
    """The passages that are not `injected` and fit into this share of what is left."""
    left = max(0, limits.room.beside_turns - sum(map(limits.cost, injected)))
    ids = {chunk.id for chunk in injected}
    others = [chunk for chunk in passages if chunk.id not in ids]
    [fitting] = reduce_to_fit((others[:MOST_PASSAGES],), int(ratio * left), limits.count)
    return fitting


def _image_limits(runtime: Runtime) -> ImageLimits:
    refused = runtime.model.takes_images is False
    refusal = f"{runtime.model.name} takes no pictures" if refused else ""
    return ImageLimits(refusal, runtime.counter.count_image)
