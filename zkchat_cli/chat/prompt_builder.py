"""Builds the prompt of a model call from the conversation's state and a Runtime: the same for a
call and for `context show`.

Nothing here calls a model. The caches that keep a prompt cheap in a conversation of 10,000 turns
are here: masked turns, the recall index, the last prompt, memory.
"""

import threading
from collections.abc import Sequence
from contextlib import suppress

from zkchat_cli.agents.loader import Agent
from zkchat_cli.chat.message_vectors import MessageVectors
from zkchat_cli.chat.runtime import Runtime, SessionServices
from zkchat_cli.chat.state import ConversationState
from zkchat_cli.config.schema import Config
from zkchat_cli.context.masks import mask_messages
from zkchat_cli.context.prompt_assembly import assemble_prompt, count_uncompacted_tokens
from zkchat_cli.context.prompt_inputs import PromptInputs
from zkchat_cli.context.recall import RecallIndex
from zkchat_cli.context.turns import Turn, TurnHistory
from zkchat_cli.errors import PromptTooLarge
from zkchat_cli.memory.memory import Memory
from zkchat_cli.models.compaction import Compaction
from zkchat_cli.models.messages import ZkChatMessage
from zkchat_cli.models.prompts import Prompt
from zkchat_cli.references.document_summaries import DocumentSummaryService

# Turns before this one whose notes still choose the folders whose memory is read
TURNS_FOR_FOLDERS = 2


class PromptBuilder:
    def __init__(self, services: SessionServices, state: ConversationState) -> None:
        self._services = services
        self._state = state
        semantic = services.semantic
        conversation = state.conversation.id
        self._recall = (
            RecallIndex(MessageVectors(services.store, semantic, conversation).cosines)
            if semantic
            else RecallIndex()
        )
        self._offered_tools: tuple[str, frozenset[str]] = "", frozenset()
        """The id of the last question, and the names of the tools that its turn offered last."""
        self._last_prompt: tuple[tuple[object, ...], Prompt] | None = None
        self._prompt_lock = threading.Lock()
        self._memories: list[tuple[Config, Agent | None, Memory]] = []
        self._memory_lock = threading.Lock()
        self.summaries = DocumentSummaryService(services.vault)

    def build(self, runtime: Runtime, current: tuple[ZkChatMessage, ...] = ()) -> Prompt:
        """The prompt of the next call in a turn whose messages so far are `current`. Raises
        PromptTooLarge.
        """
        return self.assemble(runtime, self.inputs(runtime, current, self._state.compaction))

    def remember_tools(self, question_id: str, prompt: Prompt) -> None:
        """Offer the tools of a prompt that is sent also in the next one; those of the turn's
        earlier call, if it has none.
        """
        if prompt.tools or question_id != self._offered_tools[0]:
            self._offered_tools = question_id, frozenset(tool.name for tool in prompt.tools)

    def explain(self, runtime: Runtime, current: tuple[ZkChatMessage, ...] = ()) -> Prompt:
        """The same prompt for a reader: it names the messages that are left out, the documents that
        are in it and those deleted since.
        """
        prompt = self.assemble(
            runtime, self.inputs(runtime, current, self._state.compaction), explain=True
        )
        paths = dict.fromkeys(
            each.relative_path for each in prompt.documents if each.relative_path is not None
        )
        deleted = tuple(path for path in paths if not self._services.vault.has_file(path))
        return prompt.model_copy(update={"deleted": deleted}) if deleted else prompt

    def inputs(
        self, runtime: Runtime, current: tuple[ZkChatMessage, ...], compaction: Compaction | None
    ) -> PromptInputs:
        """All values that a prompt is assembled from, under this compaction."""
        memory = self.memory(runtime)
        budget = runtime.budget.messages
        counter = runtime.counter
        history = self.masked_turns(runtime, compaction)
        recent = [
            message for turn in history.all_turns[-TURNS_FOR_FOLDERS:] for message in turn.messages
        ]
        return PromptInputs(
            instructions=runtime.instructions,
            history=history,
            current=current,
            memory=memory.fixed_items(budget, counter),
            contextual_memory=memory.contextual_items(current, recent, budget, counter)
            if current
            else (),
            compaction=compaction,
            tool_descriptors=tuple(tool.descriptor for tool in runtime.tools),
            retrieval=runtime.retrieval,
            index_turns=self._index_turns,
            core_tools=frozenset(tool.name for tool in runtime.tools if tool.core),
            filter_tools=runtime.settings.context.tool_filter == "auto",
            previous_tools=self._previous_tools(current),
        )

    def _index_turns(self, turns: Sequence[Turn]) -> RecallIndex:
        """The recall index of these turns, which is only extended from prompt to prompt."""
        self._recall.update(turns)
        return self._recall

    def _previous_tools(self, current: Sequence[ZkChatMessage]) -> frozenset[str]:
        """The tools that the last turn on this branch offered, as remembered or as the store has
        them.
        """
        known, tools = self._offered_tools
        last = next((m.id for m in reversed(self._state.history) if m.role == "user"), "")
        if known != last and not (current and current[0].id == known):
            sent = (
                frozenset(tool.name for tool in each.prompt.tools)
                for each in reversed(self._services.store.prompts.sent_for(last))
            )
            tools = next(filter(None, sent), frozenset())
            self._offered_tools = last, tools
        return tools

    def assemble(self, runtime: Runtime, inputs: PromptInputs, *, explain: bool = False) -> Prompt:
        """The last prompt again when nothing has changed, which is so between the check for
        compaction and the call itself.
        """
        # Its figures are no part of the prompt, and are known only when it is assembled
        compaction = inputs.compaction
        summarized = compaction and (compaction.id, compaction.summary, compaction.last_id)
        key = (
            inputs._replace(compaction=None),
            summarized,
            runtime.budget,
            runtime.strategy,
            runtime.counter,
            explain,
        )
        with self._prompt_lock:
            last = self._last_prompt
            if last is None or last[0] != key:
                prompt = assemble_prompt(
                    inputs, runtime.budget, runtime.strategy, runtime.counter, explain=explain
                )
                last = self._last_prompt = key, prompt
        return last[1]

    def warm_up(self, runtime: Runtime) -> None:
        """Do in advance what the next question would wait for: cutting the conversation into turns
        and indexing them for recall (a second for 10,000 turns, 1 ms for the last one). Meant for
        another thread than that of the turns, which then only waits for the rest.
        """
        inputs = self.inputs(runtime, (), self._state.compaction)._replace(
            current=(self._services.new_message("user", "…"),)
        )
        with suppress(PromptTooLarge):  # the question itself will report it
            self.assemble(runtime, inputs)

    def masked_turns(self, runtime: Runtime, compaction: Compaction | None) -> TurnHistory:
        """The branch's turns as a prompt has them under this compaction: with old tool results
        masked.
        """
        turns = self._state.turns(runtime.counter)
        masked = compaction.masked if compaction is not None and runtime.strategy.summarizes else ()
        return mask_messages(turns, masked, runtime.counter)

    def uncompacted_tokens(
        self, runtime: Runtime, compaction: Compaction | None, inputs: PromptInputs
    ) -> int:
        """Tokens of the prompt with all turns that no summary covers, and the other inputs as they
        are.
        """
        inputs = inputs._replace(
            history=self.masked_turns(runtime, compaction), compaction=compaction
        )
        return count_uncompacted_tokens(inputs, runtime.budget, runtime.strategy, runtime.counter)

    def memory(self, runtime: Runtime) -> Memory:
        """Memory as these settings and this agent have it; the last two are cached."""
        with self._memory_lock:  # another thread may look ahead
            for settings, agent, memory in self._memories:
                if settings is runtime.settings and agent is runtime.agent:
                    return memory
            its = self._services
            memory = Memory(
                its.vault,
                its.store,
                runtime.settings,
                its.now,
                about=lambda path: self.summaries.summary(path),
                agent=runtime.agent,
                agents_folder=its.agents_folder,
                semantic=its.semantic,
            )
            memory.conversation_id = self._state.conversation.id if self._state.is_stored else None
            self._memories = [*self._memories[-1:], (runtime.settings, runtime.agent, memory)]
            return memory

    def forget_summaries(self) -> None:
        """Forget the cached lines about documents, after notes have changed."""
        self.summaries = DocumentSummaryService(self._services.vault)
