"""Builds the prompt of a model call from the conversation's state and a Runtime: the same for a
call and for `context show`.

Nothing here calls a model. The caches that keep a prompt cheap in a conversation of 10,000 turns
are here: masked turns, the recall index, the last prompt, memory.
"""

import threading
from collections.abc import Sequence
from contextlib import suppress
from functools import partial
from typing import NamedTuple

from zkchat_cli.agents.loader import Agent
from zkchat_cli.chat.message_vectors import MessageVectors
from zkchat_cli.chat.runtime import Runtime, SessionServices
from zkchat_cli.chat.state import ConversationState
from zkchat_cli.config.schema import Config
from zkchat_cli.context.masks import SHORT_MASK, find_maskable, mask_messages, mask_size
from zkchat_cli.context.prompt_assembly import (
    assemble_prompt,
    count_uncompacted_tokens,
    room_for_documents,
)
from zkchat_cli.context.prompt_images import leave_out_images
from zkchat_cli.context.prompt_inputs import PromptInputs
from zkchat_cli.context.recall import Cosines, RecallIndex, no_cosines
from zkchat_cli.context.turns import Turn, TurnHistory
from zkchat_cli.errors import PromptTooLarge, StoreError
from zkchat_cli.memory.memory import Memory
from zkchat_cli.memory.project import MemoryItem
from zkchat_cli.models.compaction import Compaction
from zkchat_cli.models.images import Image
from zkchat_cli.models.messages import ZkChatMessage
from zkchat_cli.models.prompts import Prompt
from zkchat_cli.references.document_summaries import DocumentSummaryService
from zkchat_cli.references.image_files import ImageFiles
from zkchat_cli.references.injection import DocumentRoom

# Share of the messages' budget up to which the last turn keeps its results: those of five such
# turns fill it
LARGEST_WHOLE_SHARE = 0.2
# Turns before this one that also choose the folders for project memory, by their notes
TURNS_FOR_FOLDERS = 2


class _OfferedTools(NamedTuple):
    """The tools that the turn of a question offered last."""

    question_id: str
    names: frozenset[str]


class _CachedPrompt(NamedTuple):
    """A prompt and all inputs that determine it."""

    made_from: tuple[object, ...]
    prompt: Prompt


class _CachedMemory(NamedTuple):
    """Memory for certain settings and a certain agent."""

    settings: Config
    agent: Agent | None
    memory: Memory


class _MemoryItems(NamedTuple):
    """The memory at the front of a prompt, and the memory for its question."""

    fixed: tuple[MemoryItem, ...] = ()
    contextual: tuple[MemoryItem, ...] = ()


class PromptBuilder:
    """Builds the prompts of one conversation, and caches what makes the next one cheap."""

    def __init__(self, services: SessionServices, state: ConversationState) -> None:
        self._services = services
        self._state = state
        semantic = services.semantic
        conversation = state.conversation.id
        self._cosines: Cosines = no_cosines
        if semantic:
            vectors = MessageVectors(services.store, semantic, conversation, services.faults)
            self._cosines = vectors.cosines
        self._recall = RecallIndex(self._cosines)
        # The tools that the last question's turn offered last
        self._offered_tools = _OfferedTools("", frozenset())
        self._last_prompt: _CachedPrompt | None = None
        # A thread that looks ahead may build a prompt at the same time
        self._prompt_lock = threading.Lock()
        # Memory for the current settings and agent, and for the previous ones
        self._memories: list[_CachedMemory] = []
        self._memory_lock = threading.Lock()
        # The service for each value of `references.summaries`
        self._summaries: dict[str, DocumentSummaryService] = {}
        # The files of the pictures that messages have sent
        self.images = ImageFiles(services.vault.root, services.working_folder)

    def summaries(self, runtime: Runtime) -> DocumentSummaryService:
        """One line about each note, by its author or by a model, as the settings say."""
        wanted = runtime.settings.references.summaries
        if wanted not in self._summaries:
            written = self._services.summary_cache if wanted == "model" else None
            self._summaries[wanted] = DocumentSummaryService(self._services.vault, written)
        return self._summaries[wanted]

    def summary(self, runtime: Runtime, relative_path: str) -> str | None:
        """One line about a note; None if it has no words, or if that fails."""
        with self._services.faults.contain("document summaries"):
            return self.summaries(runtime).summary(relative_path)
        return None

    def build(
        self,
        runtime: Runtime,
        current: tuple[ZkChatMessage, ...] = (),
        *,
        compacts_first: bool = False,
    ) -> Prompt:
        """The prompt of the next call; `current` are the turn's messages so far.

        With `compacts_first`, a compaction that is due would run before the call. Raises
        PromptTooLarge.
        """
        inputs = self.inputs(runtime, current, self._state.compaction)
        return self.assemble(runtime, inputs._replace(compacts_first=compacts_first))

    def remember_tools(self, question_id: str, prompt: Prompt) -> None:
        """Note the tools of a prompt that is sent, so that the next prompt offers them too.

        A prompt without tools keeps those of the turn's earlier call.
        """
        if prompt.tools or question_id != self._offered_tools.question_id:
            names = frozenset(tool.name for tool in prompt.tools)
            self._offered_tools = _OfferedTools(question_id, names)

    def explain(
        self, runtime: Runtime, current: tuple[ZkChatMessage, ...], *, compacts_first: bool
    ) -> Prompt:
        """The same prompt for a reader.

        It also names the messages that are left out, the documents in it, and documents that were
        deleted since.
        """
        inputs = self.inputs(runtime, current, self._state.compaction)
        prompt = self.assemble(
            runtime, inputs._replace(compacts_first=compacts_first), explain=True
        )
        vault = self._services.vault
        paths = dict.fromkeys(filter(None, (each.relative_path for each in prompt.documents)))
        deleted = [path for path in paths if not vault.has_file(path)]
        return prompt.model_copy(update={"deleted": tuple(deleted)}) if deleted else prompt

    def room_for_documents(self, runtime: Runtime, question: ZkChatMessage) -> DocumentRoom:
        """Tokens for documents in the prompt of a question. Raises PromptTooLarge."""
        inputs = self.inputs(runtime, (question,), self._state.compaction)
        with self._prompt_lock:
            return room_for_documents(inputs, runtime.budget, runtime.strategy, runtime.counter)

    def inputs(
        self, runtime: Runtime, current: tuple[ZkChatMessage, ...], compaction: Compaction | None
    ) -> PromptInputs:
        """All values that a prompt under this compaction is assembled from."""
        history = self.masked_turns(runtime, compaction)
        memory = self._memory_items(runtime, history, current)
        return PromptInputs(
            instructions=runtime.instructions,
            history=history,
            current=current,
            memory=memory.fixed,
            contextual_memory=memory.contextual,
            compaction=compaction,
            tool_descriptors=runtime.tool_descriptors,
            retrieval=runtime.retrieval,
            index_turns=self._index_turns,
            core_tools=frozenset(tool.name for tool in runtime.tools if tool.core),
            filter_tools=runtime.settings.context.tool_filter == "auto",
            previous_tools=self._previous_tools(current),
        )

    def _memory_items(
        self, runtime: Runtime, history: TurnHistory, current: tuple[ZkChatMessage, ...]
    ) -> _MemoryItems:
        """The memory for a prompt; none if it cannot be read."""
        budget = runtime.budget.messages
        counter = runtime.counter
        recent: list[ZkChatMessage] = []
        for turn in history.all_turns[-TURNS_FOR_FOLDERS:]:
            recent += turn.messages
        with self._services.faults.contain("memory"):
            memory = self.memory(runtime)
            contextual: tuple[MemoryItem, ...] = ()
            if current:
                contextual = memory.contextual_items(current, recent, budget, counter)
            return _MemoryItems(memory.fixed_items(budget, counter), contextual)
        return _MemoryItems()

    def _index_turns(self, turns: Sequence[Turn]) -> RecallIndex:
        """The recall index of these turns. From prompt to prompt it is only extended."""
        self._recall.update(turns)
        return self._recall

    def _previous_tools(self, current: Sequence[ZkChatMessage]) -> frozenset[str]:
        """The tools that the last turn on this branch offered, from memory or from the store."""
        known = self._offered_tools
        question = self._state.last_question
        last = question.id if question is not None else ""
        is_current = bool(current) and current[0].id == known.question_id
        if known.question_id != last and not is_current:
            self._offered_tools = _OfferedTools(last, self._stored_tools(last))
        return self._offered_tools.names

    def _stored_tools(self, question_id: str) -> frozenset[str]:
        """The tools of the last call of a stored turn that offered any."""
        with self._services.faults.contain("earlier tools"):
            for sent in reversed(self._services.store.prompts.sent_for(question_id)):
                if sent.prompt.tools:
                    return frozenset(tool.name for tool in sent.prompt.tools)
        return frozenset()

    def assemble(self, runtime: Runtime, inputs: PromptInputs, *, explain: bool = False) -> Prompt:
        """The assembled prompt.

        If nothing has changed, as between the check for compaction and the call itself, it is the
        last prompt again.
        """
        compaction = inputs.compaction
        summarized: tuple[object, ...] | None = None
        # Compare without the compaction's figures: they are known only after the prompt is
        # assembled
        if compaction is not None:
            summarized = (compaction.id, compaction.summary, compaction.last_id)
        made_from = (
            inputs._replace(compaction=None),
            summarized,
            runtime.budget,
            runtime.strategy,
            runtime.counter,
            explain,
        )
        with self._prompt_lock:
            last = self._last_prompt
            if last is None or last.made_from != made_from:
                last = _CachedPrompt(made_from, self._assembled(runtime, inputs, explain=explain))
                self._last_prompt = last
        return self._with_sendable_images(runtime, last.prompt)

    def _with_sendable_images(self, runtime: Runtime, prompt: Prompt) -> Prompt:
        """The prompt without pictures of earlier messages that cannot be sent now."""
        model = runtime.model

        def why_not(image: Image) -> str:
            if model.takes_images is False:
                return f"{model.name} takes no pictures"
            return "" if self.images.has(image) else "its file is gone, or it has changed"

        if not any(message.images for message in prompt.messages):
            return prompt
        return leave_out_images(prompt, why_not, runtime.budget, runtime.counter)

    def _assembled(self, runtime: Runtime, inputs: PromptInputs, *, explain: bool) -> Prompt:
        """The prompt; if recall fails, the one that recalls nothing."""
        assemble = partial(
            assemble_prompt,
            budget=runtime.budget,
            strategy=runtime.strategy,
            counter=runtime.counter,
            explain=explain,
        )
        with self._services.faults.contain("recall"):
            return assemble(inputs)
        # The index may be incomplete
        self._recall = RecallIndex(self._cosines)
        return assemble(inputs._replace(index_turns=None))

    def warm_up(self, runtime: Runtime) -> None:
        """Prepare what the next question would wait for.

        Cuts the conversation into turns and indexes them for recall: that takes a second for 10,000
        turns, and 1 ms for the last one. Call it in a second thread; a turn that starts meanwhile
        waits only for the rest.
        """
        question = self._services.new_message("user", "…")
        inputs = self.inputs(runtime, (), self._state.compaction)._replace(current=(question,))
        # The question itself will report this
        with suppress(PromptTooLarge):
            self.assemble(runtime, inputs)

    def masked_turns(self, runtime: Runtime, compaction: Compaction | None) -> TurnHistory:
        """The branch's turns as a prompt under this compaction has them: with old tool results
        masked.
        """
        turns = self._state.turns(runtime.counter)
        if compaction is None or not runtime.strategy.summarizes:
            return turns
        ids = self.masked_ids(runtime, compaction)
        return mask_messages(turns, ids, runtime.counter, mask_size(compaction))

    def masked_ids(self, runtime: Runtime, compaction: Compaction) -> tuple[str, ...]:
        """The messages that have lost their middles in a prompt under this compaction.

        Where later turns are masked, too, the last one stays whole unless it would fill the room
        of several.
        """
        if not compaction.masks_later:
            return compaction.masked
        counter = runtime.counter
        later = self._state.turns(counter).starting_with(compaction.made_after)
        if later and later[-1].tokens <= LARGEST_WHOLE_SHARE * runtime.budget.messages:
            later = later[:-1]
        ids = (*compaction.masked, *find_maskable(later, counter, SHORT_MASK))
        return tuple(dict.fromkeys(ids))

    def uncompacted_tokens(
        self, runtime: Runtime, compaction: Compaction | None, inputs: PromptInputs
    ) -> int:
        """Tokens of the prompt with all turns that no summary covers; the other inputs stay."""
        inputs = inputs._replace(
            history=self.masked_turns(runtime, compaction), compaction=compaction
        )
        return count_uncompacted_tokens(inputs, runtime.budget, runtime.strategy, runtime.counter)

    def memory(self, runtime: Runtime) -> Memory:
        """The memory for a runtime's settings and agent.

        What it has read is cached for the last two such pairs.
        """
        with self._memory_lock:
            for cached in self._memories:
                if cached.settings is runtime.settings and cached.agent is runtime.agent:
                    return cached.memory
            memory = self._open_memory(runtime)
            newest = self._memories[-1:]
            self._memories = [*newest, _CachedMemory(runtime.settings, runtime.agent, memory)]
            return memory

    def _open_memory(self, runtime: Runtime) -> Memory:
        services = self._services
        conversation = self._state.conversation.id if self._state.is_stored else None
        memory = Memory(
            services.vault,
            services.store,
            runtime.settings,
            services.now,
            about=partial(self.summary, runtime),
            agent=runtime.agent,
            agents_folder=services.agents_folder,
            semantic=services.semantic,
            conversation_id=conversation,
        )
        # For completion, which reads no store
        with services.faults.contain("memory"), suppress(StoreError):
            memory.facts()
        return memory

    def forget_summaries(self) -> None:
        """Forget the cached lines about documents, because notes have changed."""
        self._summaries = {}
