"""A conversation as it stands: its branch of the log, its summaries, its numbered chunks, and what its next prompt would be.

Everything here can be asked without a model being called; `session.py` adds the turns. What a long conversation needs for each prompt (its
messages cut into turns and rendered) is kept and only added to.
"""

import json
import threading
from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from typing import Any

from zkchat_cli.chat.active_model import ActiveModel
from zkchat_cli.chat.runtime import Runtime
from zkchat_cli.config.schema import Config
from zkchat_cli.context.branch_tree import BranchTree
from zkchat_cli.context.budget import history_budget
from zkchat_cli.context.prompt_assembly import PromptInputs, assemble_prompt, count_uncompacted_tokens
from zkchat_cli.context.recall.index import RecallIndex
from zkchat_cli.context.tool_result_masking import mask_messages
from zkchat_cli.context.turn_history import TurnHistory, long_lived_allocation
from zkchat_cli.context.turns import Turn, split_into_turns
from zkchat_cli.errors import PromptTooLarge, VaultError
from zkchat_cli.llm.base import Request, request_body
from zkchat_cli.memory.memory import Memory
from zkchat_cli.memory.project import MemoryItem
from zkchat_cli.models import (
    Compaction,
    ContentChunk,
    ContextUsage,
    Conversation,
    Prompt,
    Role,
    ThinkingBlocks,
    ToolCall,
    ZkChatMessage,
    branch_to,
)
from zkchat_cli.references.chunk_format import chunk_tokens
from zkchat_cli.references.document_summaries import DocumentSummaryService
from zkchat_cli.references.file_imports import ImportRoots
from zkchat_cli.references.injection import Injection, InjectionBudget, describe_documents, inject
from zkchat_cli.references.manager import ReferenceManager
from zkchat_cli.references.mentions import MentionedDocuments, find_mentioned_documents
from zkchat_cli.summarization.extractive.summarizer import ExtractiveSummarizer
from zkchat_cli.text.words import replace_surrogates

RECENT_TURNS = 2
"""Turns before this one whose notes are still in play."""
DEEPEST = 50
"""Levels of what comes from a model as JSON: a store and servers read not many more. No tool's arguments have more than one."""


@dataclass(frozen=True, slots=True)
class UserMessage:
    """A message of the user, not stored yet, and what to tell about the documents it names: the problem, and the way out."""

    message: ZkChatMessage
    told: tuple[tuple[str, str], ...]


class ConversationState(ActiveModel):
    """State of one conversation, and what can be said of it. A new one is stored with its first message, not before."""

    def __init__(self, parts: Runtime, conversation: Conversation | None = None) -> None:
        super().__init__(parts)
        self._stored: bool = conversation is not None
        self.conversation = conversation or Conversation(
            id=parts.new_id(), vault=str(parts.vault.root), created_at=parts.now(), updated_at=parts.now()
        )
        self._cut: TurnHistory | None = None
        self._shown: tuple[TurnHistory, tuple[str, ...], TurnHistory] | None = None
        self._recall = RecallIndex()
        self.extraction = ExtractiveSummarizer()
        """What summaries without a model know of this branch."""
        self._known: Sequence[Turn] = ()
        self._offered: frozenset[str] = frozenset()
        self._last: tuple[tuple[object, ...], Prompt] | None = None
        self._assembling = threading.Lock()
        self.left: list[str] = []
        """The heads that were left by going back, the last one last; until something new is said."""
        self.calibrate()
        self._summaries = self._summarised()
        self.memory = self.remembering()
        self._load()

    def settle(self, settings: Config, **parts: Any) -> None:
        """Go on with other settings, and with what else of the parts follows from them."""
        self.parts = replace(self.parts, settings=settings, **parts)
        self._summaries = self._summarised()
        self.memory = self.remembering()

    def rename(self, title: str) -> None:
        """Give the conversation a title. Raises StoreError."""
        if self._stored:
            self.parts.store.rename(self.conversation.id, title)
        self.conversation = self.conversation.model_copy(update={"title": title})

    def _load(self) -> None:
        store, id_ = self.parts.store, self.conversation.id
        head = store.conversation(id_).head_id if self._stored else None
        with long_lived_allocation():
            log = self.log()
            self.history = _settled(branch_to(log, head))  # reading a long one a second time takes a second
            self.compactions = store.compactions(id_) if self._stored else ()
            self.references = ReferenceManager.from_log(log, self.history)
            self._call_ids = {call.id for message in log for call in message.tool_calls}

    def log(self) -> tuple[ZkChatMessage, ...]:
        """Every stored message of every branch, in the order of writing."""
        return self.parts.store.log(self.conversation.id) if self._stored else ()

    def move(self, head: str | None) -> None:
        """Go on from another message of the log (None: from the empty beginning), from now on and in the store. Raises StoreError."""
        if self._stored:
            self.parts.store.move_head(self.conversation.id, head)
            self._load()

    def _stand_at(self, head: str | None) -> None:
        """Go on from there in this session alone, until something said there is stored."""
        log = self.log()
        self.history = BranchTree(log).branch(head)
        self.references = ReferenceManager.from_log(log, self.history)

    @property
    def history(self) -> tuple[ZkChatMessage, ...]:
        """The messages of the branch in use, oldest first."""
        return self._history

    @history.setter
    def history(self, messages: tuple[ZkChatMessage, ...]) -> None:
        if self._cut is not None:
            self._known = self._cut
        self._history, self._cut = messages, None
        self.extraction = ExtractiveSummarizer()

    def _add(self, turn: tuple[ZkChatMessage, ...]) -> None:
        """A finished turn at the end of the branch: what is known of the others stays."""
        cut = self.turns.with_turns(split_into_turns(turn, self.parts.counter, first=self.turns[-1].number + 1 if self.turns else None))
        self._history, self._cut = self._history + turn, cut  # at once: a Ctrl-C must not find one without the other

    def remembering(self) -> Memory:
        """Memory as these parts, and this agent, have it."""
        parts = self.parts
        keeper = Memory(
            parts.vault, parts.store, parts.settings, parts.now, about=lambda path: self._summaries.summary(path), agent=parts.agent
        )
        keeper.conversation_id = self.conversation.id if self._stored else None
        return keeper

    def calibrate(self) -> bool:
        changed = super().calibrate()
        if changed:
            self._cut, self._known = None, ()
        return changed

    # the prompt

    def prompt(self, next_text: str | None = None, *, addressed: str | None = None) -> Prompt:
        """What the next model call would send: with `next_text` as the user's message, or for the conversation as it stands."""
        current = (
            (self._user_message(replace_surrogates(next_text), self.references.copy(), addressed=addressed).message,) if next_text else ()
        )
        return self._assembled(self.material(current, self.compaction), explain=True)

    def request(self, next_text: str | None = None) -> dict[str, Any]:
        """`prompt` as the model's server would get it: the body of the call, without the key."""
        prompt, parts = self.prompt(next_text), self.parts
        return request_body(parts.model, Request(prompt.messages, prompt.tools, parts.options, self.window.tokens))

    @property
    def usage(self) -> ContextUsage:
        """The figures of `prompt()`, for who needs nothing else of it."""
        return self.assembled(()).usage

    @property
    def summaries(self) -> DocumentSummaryService:
        """What each document is about, as the vault is now."""
        return self._summaries

    def notes_changed(self) -> None:
        """Take in that notes are not what they were."""
        self._summaries = self._summarised()

    def _summarised(self) -> DocumentSummaryService:
        return DocumentSummaryService(self.parts.vault, by_model=self.parts.settings.references.model_summaries)

    @property
    def pinned_memory(self) -> tuple[MemoryItem, ...]:
        """The memory files that go into each prompt, in the order they do."""
        return self.memory.fixed_items(self.budget.messages, self.parts.counter)

    def memory_beside(self, current: Sequence[ZkChatMessage]) -> tuple[MemoryItem, ...]:
        """The memory that goes into the prompt with the messages of this turn alone."""
        recent = [message for turn in self.turns[-RECENT_TURNS:] for message in turn.messages]
        return self.memory.contextual_items(current, recent, self.budget.messages, self.parts.counter) if current else ()

    def mark(self, changed: Sequence[ZkChatMessage]) -> None:
        """Take in messages of this branch whose marks (pin, priority) were changed; what they say is as it was. Raises StoreError."""
        self.parts.store.mark(self.conversation.id, changed)
        instead = {message.id: message for message in changed}
        self.history = tuple(instead.get(message.id, message) for message in self.history)

    @property
    def compaction(self) -> Compaction | None:
        """The compaction that holds on this branch, the newest one; one that only masks goes on with the summary that held before it."""
        newest: Compaction | None = None
        for compaction in self._holding():
            newest = newest or compaction
            if compaction.summary:
                kept = {name: getattr(compaction, name) for name in ("summary", "summary_tokens", "last_id")}
                return newest if newest is compaction else newest.model_copy(update=kept)
        return newest

    def _holding(self) -> Iterator[Compaction]:
        """The compactions that hold on this branch, the newest first."""
        for compaction in reversed(self.compactions):
            if compaction.mode != "none" and self.turns.count_through(compaction.last_id):
                yield compaction

    # compaction

    def take(self, compaction: Compaction) -> None:
        """Store a compaction; from now on it holds. Raises StoreError."""
        if self._stored:
            self.parts.store.compact(self.conversation.id, compaction)
        self.compactions += (compaction,)

    def undo_compaction(self) -> Compaction | None:
        """Take back the last compaction that holds on this branch: the prompt is what it was before. None when there is none."""
        last = next(self._holding(), None)
        if last is None:
            return None
        undone = self.parts.store.undo_compaction(self.conversation.id, last.id)
        self.compactions = self.parts.store.compactions(self.conversation.id)
        return undone

    @property
    def largest_summary(self) -> int:
        """Tokens that a summary may take."""
        return int(self.parts.settings.context.summary_ratio * self.budget.effective_limit)

    @property
    def turns(self) -> TurnHistory:
        """The branch cut into turns, every word of them, which is done once: rendering and counting is what a long conversation costs.
        After a change of the branch, turns that are still the same are taken over."""
        if self._cut is None:
            with long_lived_allocation():
                self._cut, self._known = TurnHistory(split_into_turns(self.history, self.parts.counter, self._known)), ()
        return self._cut

    def shown(self, compaction: Compaction | None) -> TurnHistory:
        """The branch's turns as a prompt has them under this compaction: with old results masked."""
        turns = self.turns
        if compaction is None or not compaction.masked or not self.parts.strategy.summarizes:
            return turns
        known = self._shown
        if known is not None and known[1] == compaction.masked and turns.extends(known[0]):
            shown = known[2].with_turns(turns[len(known[0]) :])  # what is masked stands further up
        else:
            shown = mask_messages(turns, compaction.masked, self.parts.counter)
        self._shown = turns, compaction.masked, shown
        return shown

    def whole(self, compaction: Compaction | None, beside: PromptInputs) -> int:
        """Tokens of the prompt with all turns that no summary covers, and what else this material has."""
        material = replace(beside, history=self.shown(compaction), compaction=compaction)
        return count_uncompacted_tokens(material, self.budget, self.parts.strategy, self.parts.counter)

    def always(self, current: tuple[ZkChatMessage, ...]) -> ContextUsage:
        """The figures of a prompt without any history. Raises PromptTooLarge."""
        return self._assembled(replace(self.material(current, None), history=())).usage

    # making values

    def assembled(self, current: tuple[ZkChatMessage, ...], *, offer_tools: bool = True) -> Prompt:
        """The prompt of the next call in a turn whose messages so far are `current`."""
        prompt = self._assembled(self.material(current, self.compaction, offer_tools=offer_tools))
        if current and offer_tools:
            self._offered = frozenset(tool.name for tool in prompt.tools)
        return prompt

    def _assembled(self, material: PromptInputs, *, explain: bool = False) -> Prompt:
        """The prompt of this material; the last one again when nothing has changed, as between looking whether compaction is due and the
        call itself."""
        made_of = (material, self.budget, self.parts.strategy, self.parts.counter, explain)
        with self._assembling:
            last = self._last
            if last is None or last[0] != made_of:
                with long_lived_allocation():
                    last = self._last = (
                        made_of,
                        assemble_prompt(material, self.budget, self.parts.strategy, self.parts.counter, explain=explain),
                    )
        return last[1]

    def warm_up(self) -> None:
        """Work out what the first question of a long conversation would wait for: its turns, and the index of what was said (a second for
        10 000 turns). For another thread than that of the turns, which then only wait for the rest of it."""
        asking = replace(self.material((), self.compaction), current=(self.message("user", "…"),))
        with suppress(PromptTooLarge):  # the question will say so
            self._assembled(asking)

    def distinct(self, call: ToolCall) -> ToolCall:
        """The call under an id that no other call of this conversation has: some models number theirs afresh in every process, or turn,
        some give two of them one id, and some none at all."""
        given = replace_surrogates(call.id)
        id_ = given if given and given not in self._call_ids else f"{given}-{self.parts.new_id()}".lstrip("-")
        self._call_ids.add(id_)
        malformed = None if call.malformed is None else replace_surrogates(call.malformed)
        if _is_deeper(call.arguments, DEEPEST):
            return ToolCall(id=id_, name=replace_surrogates(call.name), malformed="nested too deeply")
        return ToolCall(id=id_, name=replace_surrogates(call.name), arguments=_plain(call.arguments), malformed=malformed)

    def material(self, current: tuple[ZkChatMessage, ...], compaction: Compaction | None, *, offer_tools: bool = True) -> PromptInputs:
        """What a prompt is made of under this compaction, `current` being the messages of the turn in progress."""
        return PromptInputs(
            instructions=self.parts.instructions,
            history=self.shown(compaction),
            current=current,
            memory=self.pinned_memory,
            contextual_memory=self.memory_beside(current),
            compaction=compaction,
            tool_descriptors=tuple(tool.descriptor for tool in self.parts.tools) if offer_tools else (),
            recall_index=self._recall,
            filter_tools=self.parts.settings.context.tool_filter == "auto",
            previous_tools=self._offered,
        )

    def message(self, role: Role, content: str, parent: str | None = None, **fields: object) -> ZkChatMessage:
        """A new message of this conversation, not yet in it."""
        values = {"id": self.parts.new_id(), "parent_id": parent, "role": role, "content": content, "timestamp": self.parts.now()}
        return ZkChatMessage.model_validate({**values, **fields})

    def _user_message(
        self, text: str, manager: ReferenceManager, typed: str | None = None, *, documents: bool = True, **fields: object
    ) -> "UserMessage":
        """The user's message with the documents it names, the text of those that go into the prompt numbered by `manager`, and what the
        user should be told of them. `augmented_token_count` includes what the model gets of the documents."""
        parts, count = self.parts, self.parts.counter.count_raw
        parent = self.history[-1].id if self.history else None
        agent = parts.agent.name if parts.agent is not None else None
        bare = self.message("user", text, parent, status="pending", agent=agent, **fields)
        tokens, text = count(bare.prompt_text), bare.prompt_text
        typed = bare.model_copy(update={"content": typed}).prompt_text if typed is not None else None
        bare = bare.model_copy(update={"token_count": tokens, "augmented_token_count": tokens})
        try:
            named = find_mentioned_documents(text, self.places, self._summaries.summary, typed) if documents else MentionedDocuments()
            delivered = inject(named, text, self._means(bare)) if named.references else Injection(warnings=tuple(named.warnings))
        except VaultError:  # gone: `_refresh` has said so, and the message counts for more than its links
            return UserMessage(bare, ())
        chunks = manager.extract_referenceable_chunks(bare.id, delivered.chunks)
        references = delivered.number_references(chunks)
        update = {
            "references": references,
            "chunks": chunks,
            "augmented_token_count": tokens + count(describe_documents(references, chunks)),
        }
        return UserMessage(bare.model_copy(update=update), delivered.warnings)

    @property
    def places(self) -> ImportRoots:
        """Where a message may import files from."""
        return ImportRoots(self.parts.vault, self.parts.folder, 1024 * self.parts.settings.references.import_max_kilobytes)

    def _means(self, message: ZkChatMessage) -> InjectionBudget:
        """What there is for the documents that a message names: so much of the messages' budget as it leaves without them."""
        there: dict[str, ContentChunk] = {}
        try:
            prompt = self.assembled((message,))
            left = history_budget(prompt.usage, self.budget)
            there = self._there(prompt)
        except PromptTooLarge:
            left = 0
        return InjectionBudget(
            left=left,
            ratio=self.parts.settings.context.injection_ratio,
            cost=lambda chunk: chunk_tokens(chunk, self.parts.counter.count),
            text=self._text,
            summary=self._summaries.summary,
            in_prompt=there,
        )

    def _there(self, prompt: Prompt) -> dict[str, ContentChunk]:
        """The numbered chunks that stand in a prompt from earlier messages, by id; not of those that are shortened."""
        shortened = self.compaction.masked if self.compaction else ()
        sent = (m.source_ids[0] for m in prompt.messages if m.kind in ("tool_results", "documents") and m.source_ids)
        found = (self.turns.find_message(id_) for id_ in sent if id_ not in shortened)
        return {chunk.id: chunk for message in found if message for chunk in message.chunks}

    def _text(self, path: str) -> Sequence[ContentChunk]:
        """The chunks of a note; none of one that is gone or cannot be read."""
        try:
            return self.parts.vault.chunks(path)
        except VaultError:
            return ()


def _settled(history: tuple[ZkChatMessage, ...]) -> tuple[ZkChatMessage, ...]:
    """A branch that ends with a question whose turn was never stored: the process was killed, and the question is unfinished."""
    if not history or history[-1].status != "pending":
        return history
    return (*history[:-1], history[-1].model_copy(update={"status": "unfinished"}))


def storable_thinking(thinking: ThinkingBlocks) -> ThinkingBlocks | None:
    """Reasoning as a store holds it, and so as it is sent back; None if none could."""
    return None if _is_deeper([*thinking.blocks], DEEPEST) else thinking.model_copy(update={"blocks": tuple(_plain([*thinking.blocks]))})


def _plain(value: Any) -> Any:
    """The same without what Python reads and JSON does not have ("NaN", "Infinity", halves of characters): no provider would take it."""
    return json.loads(replace_surrogates(json.dumps(value, ensure_ascii=False)), parse_constant=lambda _: None)


def _is_deeper(value: object, levels: int) -> bool:
    inner = value.values() if isinstance(value, dict) else value if isinstance(value, list) else None
    return inner is not None and (levels == 0 or any(_is_deeper(each, levels - 1) for each in inner))
