"""One conversation: `send(text)` runs a turn and yields what happens. A facade of verbs and
read-only properties over the engine.

Synchronous, and never prints: the screen, the one-shot command, JSON lines and tests consume the
same events.
"""

from collections.abc import Generator
from contextlib import closing
from dataclasses import replace
from typing import Any

from zkchat_cli import events
from zkchat_cli.chat.prompt_builder import PromptBuilder
from zkchat_cli.chat.runtime import AvailableModels, Runtime, SessionServices, prepare_model
from zkchat_cli.chat.state import ConversationState
from zkchat_cli.chat.turn import PhaseTimer, TurnInProgress
from zkchat_cli.chat.turn_recorder import TurnRecorder
from zkchat_cli.chat.user_input import UserInput, parse_agent_mention
from zkchat_cli.chat.user_message import UserMessageBuilder
from zkchat_cli.config import loader
from zkchat_cli.context.compaction_plan import CompactionRequest
from zkchat_cli.errors import ConfigError, ProviderError, UsageError, VaultError
from zkchat_cli.llm.base import Request
from zkchat_cli.memory.memory import Memory
from zkchat_cli.memory.project import MemoryItem
from zkchat_cli.models.archive import ConversationArchive
from zkchat_cli.models.compaction import Compaction
from zkchat_cli.models.conversations import Conversation
from zkchat_cli.models.messages import CONTINUE_PROMPT, RetrievalMode, ZkChatMessage
from zkchat_cli.models.notes import IndexReport
from zkchat_cli.models.prompts import ContextUsage, Prompt
from zkchat_cli.references.document_summaries import DocumentSummaryService
from zkchat_cli.references.manager import ReferenceManager
from zkchat_cli.text.words import replace_surrogates
from zkchat_cli.vault.vault import SCAN_SECONDS

# For how long a list of the servers' models counts as current
MODEL_LIST_SECONDS = 60.0
LOOK_AHEAD_SECONDS = 0.5
"""SCAN_SECONDS while a message is typed, from its beginning: to save a note elsewhere and come back
to press Enter takes longer.
"""


class ZkChatSession:
    def __init__(
        self, services: SessionServices, runtime: Runtime, conversation: Conversation | None = None
    ) -> None:
        """A conversation continues with the agent that its last message was for; one that is gone
        is reported with the next message.
        """
        self.services = services
        self.vault = services.vault
        self.store = services.store
        self.agent_names = services.agent_names
        # What the next turn works with, unless its message mentions an agent
        self.runtime = self._calibrated(runtime)
        self._state = ConversationState(services, conversation)
        self._prompts = PromptBuilder(services, self._state)
        self._recorder = TurnRecorder(services.store, self._state, services.now)
        self._messages = UserMessageBuilder(services, self._state, self._prompts)
        # The last one, or the one in progress
        self._turn: TurnInProgress | None = None
        self._last_usage: tuple[object, ContextUsage | None] = (), None
        """The state's version, and the figures of the last prompt that was sent before it."""
        # Until when the last scan of the vault counts as current
        self._scan_valid_until = float("-inf")
        self._rebuild_reason: str | None = None
        self._models: tuple[float, tuple[AvailableModels, ...]] | None = None
        last = next(
            (m for m in reversed(self.history) if m.role == "user" and not m.addressed), None
        )
        name = last.agent if last is not None else None
        if conversation is not None and name != (runtime.agent.name if runtime.agent else None):
            try:
                self.use_agent(name)
            except (ConfigError, ProviderError) as e:
                self.memory.notify(
                    f"this conversation used the agent {name} and continues without it: "
                    f"{e.message}",
                    e.hint,
                )

    def use_agent(self, name: str | None) -> None:
        """Switch to another agent; None or "none": to no agent. Raises ConfigError and
        ProviderError, and then nothing changes.
        """
        self.runtime = self._calibrated(self.runtime.with_agent(name))

    def use_model(self, name: str) -> None:
        """Switch to another model. Raises ConfigError and ProviderError, and then nothing
        changes.
        """
        self.runtime = self._calibrated(self.runtime.with_model(name))

    def override_setting(self, key: str, value: str) -> Any:
        """Change a setting for this session, and return its checked value. Raises as `use_model`
        does, and UsageError.
        """
        self.runtime = self._calibrated(self.runtime.with_setting(key, value))
        return loader.flatten(self.runtime.settings)[key]

    def list_models(self) -> tuple[AvailableModels, ...]:
        """The models that could be used instead; asked for again after a minute."""
        now = self.services.clock()
        if self._models is None or now - self._models[0] > MODEL_LIST_SECONDS:
            self._models = now, self.runtime.list_models()
        return self._models[1]

    def prepare(self, seconds: float | None = None) -> None:
        """Wait (so many seconds at most) until the model is loaded, and count as it does."""
        prepare_model(self.runtime.model, seconds)
        self.runtime = self._calibrated(self.runtime)

    def _calibrated(self, runtime: Runtime) -> Runtime:
        return runtime.calibrated(self.store.prompts.calibration(runtime.model.name))

    def _with_external(self, runtime: Runtime) -> Runtime:
        """The runtime with the tools of other programs that can be called now, beside zkchat's
        own.
        """
        external = self.services.external
        if external is None or not runtime.takes_external:
            return runtime
        return replace(
            runtime,
            tools=(*(tool for tool in runtime.tools if tool.scope != "server"), *external.tools()),
        )

    def send(self, text: str, *, typed: str | None = None) -> Generator[events.Event, None, None]:
        """Run one turn and yield its events, the last one TurnCompleted or TurnFailed (see
        events.py). Closing it stops the turn.

        `typed` is what the user typed of a text of which a part came through a pipe. Raises
        UsageError for a message without text.
        """
        return self._run_turn(UserInput.parse(text, typed))

    def _run_turn(
        self, user_input: UserInput, retry_of: ZkChatMessage | None = None
    ) -> Generator[events.Event, None, None]:
        """`send`; the retry of a question begins a new branch before it."""
        if not user_input.text.strip():
            raise UsageError(
                "there is nothing to ask", "Give a question as an argument or on standard input."
            )
        own = self.runtime = self._with_external(self.runtime)
        runtime, user_input, notices = self._resolve_mention(user_input)
        if self.services.external is not None:
            notices += [events.Notice(*notice) for notice in self.services.external.take_notices()]
        # 40 ms, for which the budget bar does not wait
        from zkchat_cli.chat.turn_runner import TurnRunner

        self._turn = turn = TurnInProgress(runtime, PhaseTimer(self.services.clock))
        runner = TurnRunner(
            self.services,
            self._state,
            self._prompts,
            self._recorder,
            self._messages,
            turn,
            user_input,
        )
        try:
            with turn.timer("prepare"):
                # Else that was done a moment ago
                if self.services.clock() >= self._scan_valid_until:
                    try:
                        self.apply_scan(self.vault.refresh())
                    except VaultError as e:
                        # The vault is gone, and the conversation continues
                        self._scan_valid_until = self.services.clock() + SCAN_SECONDS
                        notices.append(events.Notice(e.message, e.hint))
                if self._rebuild_reason is not None:
                    notices.append(events.Notice(f"the index was rebuilt: {self._rebuild_reason}"))
                    self._rebuild_reason = None
                if retry_of is not None:
                    self._state.branch_off(retry_of.parent_id)
            yield from runner.run(notices)
        finally:
            if self.runtime is own:
                self.runtime = self._calibrated(own.learn_from(turn.runtime))

    def _resolve_mention(
        self, user_input: UserInput
    ) -> tuple[Runtime, UserInput, list[events.Notice]]:
        """The runtime of the agent that a message mentions by `@name`, or the session's own. Raises
        UsageError.
        """
        mention = user_input.mention
        name = mention[1:].lower() if mention is not None else ""
        if mention is None or name not in self.agent_names():
            return self.runtime, user_input._replace(mention=None), []
        if not user_input.text.partition(mention)[2].strip(" \t\n,:"):
            hint = (
                f"{mention} QUESTION asks it once; --agent {name}, or /agent in the chat, "
                "switches to it."
            )
            raise UsageError(f"there is no question for the agent {name}", hint)
        runtime = self._with_external(self._calibrated(self.runtime.with_agent(name)))
        return runtime, user_input, [events.Notice(f"the agent {name} answers this message")]

    def continue_answer(self) -> Generator[events.Event, None, None]:
        """A turn that continues an answer that was cut by its length or stopped. Raises UsageError
        when the last one was not.
        """
        last = self.history[-1] if self.history else None
        if (
            last is None
            or last.role != "assistant"
            or not last.content
            or (last.finish_reason != "length" and last.status != "unfinished")
        ):
            raise UsageError(
                "the last answer was not cut",
                "There is nothing to continue; ask for more in your own words.",
            )
        return self.send(CONTINUE_PROMPT)

    def ask_again(
        self,
        question: ZkChatMessage,
        text: str | None = None,
        *,
        retrieval: RetrievalMode | None = None,
    ) -> Generator[events.Event, None, None]:
        """A turn that asks a question of this branch again, or `text` instead of it, on a new
        branch. Only files that the question named when it was typed are imported again, and the
        agent that it mentioned answers again. Raises as `send` does.
        """
        self._recorder.store_pending()
        imports = " ".join(
            each.wikilink for each in question.references if each.reference_type == "import"
        )
        mention = parse_agent_mention(question.content) if question.addressed else None
        same = UserInput(
            question.content, imports, mention, learning_points=question.learning_points
        )
        again = same if text is None else UserInput.parse(text)
        with closing(self._run_turn(again._replace(retrieval=retrieval), question)) as turn:
            yield from turn

    def flush(self) -> None:
        """Store what could not be stored before, at the end of a conversation. Raises StoreError
        that says how much would be lost.
        """
        self._recorder.flush()

    def prompt(self, next_text: str | None = None) -> Prompt:
        """What the next model call would send: with `next_text` as the user's message, or without
        one. A mentioned agent gets its own.
        """
        return self._next_prompt(next_text)[1]

    def request(self, next_text: str | None = None) -> dict[str, Any]:
        """`prompt` as the body of the call to the model's server, without the key."""
        runtime, prompt = self._next_prompt(next_text)
        return runtime.model.body(
            Request(prompt.messages, prompt.tools, runtime.options, runtime.window.tokens)
        )

    @property
    def usage(self) -> ContextUsage:
        """The figures of `prompt()`, at a lower cost."""
        return self._prompts.build(self._messages.with_retrieval(self.runtime)).usage

    @property
    def last_usage(self) -> ContextUsage:
        """The figures of the last prompt that was sent, also by another process; of the next one,
        if the conversation, its compaction or the window has changed since.
        """
        state = self._state
        turn = self._turn
        if self._last_usage[0] != state.version:
            question = next(
                (message.id for message in reversed(self.history) if message.role == "user"), ""
            )
            sent = (
                turn.sent
                if turn is not None and turn.closed and turn.user.id == question
                else self.store.prompts.sent_for(question)
            )
            compacted_since = (
                state.compaction is not None and state.compaction.made_after == state.head
            )
            self._last_usage = (
                state.version,
                sent[-1].prompt.usage if sent and not compacted_since else None,
            )
        last = self._last_usage[1]
        return (
            last
            if last is not None and last.max_context == self.runtime.window.tokens
            else self.usage
        )

    def count_typed(self, text: str, *, with_documents: bool = True) -> tuple[int, bool]:
        """Tokens of a message that is being typed, with the documents that it names, and whether
        they are estimated.
        """
        return self._messages.count_typed(self.runtime, text, with_documents=with_documents)

    @property
    def last_prompt(self) -> Prompt | None:
        """The prompt of the last model call, also while its answer is being written."""
        return self._turn.prompt if self._turn is not None else None

    def look_ahead(self) -> None:
        """While a message is typed: look for changed notes and prepare the prompt, so that sending
        waits for neither. Raises VaultError.
        """
        begin = self.services.clock()
        self.apply_scan(self.vault.refresh())
        self._scan_valid_until = begin + LOOK_AHEAD_SECONDS
        self.warm_up()

    def warm_up(self) -> None:
        """Do in advance what the next question would wait for; see PromptBuilder."""
        import numpy  # noqa: F401

        import zkchat_cli.chat.turn_runner  # noqa: F401

        self._prompts.warm_up(self.runtime)
        self._messages.warm_up()

    def _next_prompt(self, text: str | None) -> tuple[Runtime, Prompt]:
        self.runtime = self._with_external(self.runtime)
        runtime, current = self._next_message(text)
        return runtime, self._prompts.explain(runtime, current)

    def _next_message(self, text: str | None) -> tuple[Runtime, tuple[ZkChatMessage, ...]]:
        if not text:
            return self._messages.with_retrieval(self.runtime), ()
        runtime, user_input, _ = self._resolve_mention(UserInput.parse(text))
        runtime = self._messages.with_retrieval(runtime)
        bare = self._messages.build_bare(runtime, user_input)
        message, _ = self._messages.add_documents(
            runtime, bare, user_input, self.references.snapshot()
        )
        return runtime, (message,)

    @property
    def conversation(self) -> Conversation:
        return self._state.conversation

    @property
    def history(self) -> tuple[ZkChatMessage, ...]:
        """The messages of the branch in use, oldest first."""
        return self._state.history

    @property
    def is_stored(self) -> bool:
        """Whether the conversation has begun: its log may hold messages that the branch in use does
        not.
        """
        return self._state.is_stored

    @property
    def references(self) -> ReferenceManager:
        return self._state.references

    @property
    def compaction(self) -> Compaction | None:
        return self._state.compaction

    @property
    def summaries(self) -> DocumentSummaryService:
        """One line about each document, for the vault as it is now."""
        return self._prompts.summaries

    def archive(self, *, prompts: bool = False) -> ConversationArchive:
        """`ChatSessionStore.archive` with the turns that are not stored yet, and with the branch in
        use here. Raises StoreError.
        """
        whole = ConversationArchive(conversation=self.conversation, messages=())
        if self.is_stored:
            whole = self.store.archive(self.conversation.id, prompts=prompts)
        messages = {message.id: message for message in (*whole.messages, *self._recorder.unstored)}
        conversation = whole.conversation.model_copy(update={"head_id": self._state.head})
        return whole.model_copy(
            update={"conversation": conversation, "messages": tuple(messages.values())}
        )

    def open_conversation(self, prefix: str | None = None) -> "ZkChatSession":
        """A session on another conversation about these notes, by its id or the beginning of it;
        None: on a new one.

        Raises UsageError, and StoreError also when something of this conversation would be lost.
        """
        self.flush()
        if prefix is None:
            return ZkChatSession(self.services, self.runtime)
        found = self.store.find(prefix, str(self.vault.root))
        if found.vault != replace_surrogates(str(self.vault.root)):
            hint = f"Resume it there: zkchat chat --vault {found.vault!r} --resume {found.id}"
            raise UsageError(f"{found.id} is a conversation about other notes, {found.vault}", hint)
        return ZkChatSession(self.services, self.runtime, found)

    def stored_state(self) -> ConversationState:
        """The state once the store has all of it, for what changes it: undo, pins, branches, a
        title. Raises StoreError.
        """
        self._recorder.store_pending()
        return self._state

    def compact(
        self,
        *,
        instructions: str | None = None,
        target: int | None = None,
        keep: int | None = None,
        preview: bool = False,
    ) -> Compaction:
        """Summarize the older turns and store that; the mode is "none", and nothing is stored, when
        that would gain nothing.

        `target` tokens at most for the summary; the `keep` newest messages stay as they are
        (default: the settings', fewer when they do not fit). `preview` only reports, though it may
        call the model. The figures are of the prompt with all turns that no summary covers.
        """
        running = self.compaction_events(
            CompactionRequest(instructions=instructions, target=target, keep=keep, preview=preview)
        )
        while True:
            try:
                next(running)
            except StopIteration as end:
                compaction: Compaction = end.value
                return compaction

    def compaction_events(
        self, request: CompactionRequest
    ) -> Generator[events.Event, None, Compaction]:
        """`compact` as events; closing it stops the model, and then nothing is stored."""
        if not request.preview:
            self._recorder.store_pending()
        from zkchat_cli.chat.compactor import Compactor  # as in TurnRunner

        runtime = self._messages.with_retrieval(self.runtime)
        timer = PhaseTimer(self.services.clock)
        return Compactor(self.services, self._state, self._prompts, runtime, request, timer).run()

    @property
    def memory(self) -> Memory:
        return self._prompts.memory(self.runtime)

    def memory_items(self, text: str = "") -> tuple[MemoryItem, ...]:
        """All memory in the prompt for `text`, or without one in the prompt for the last
        question.
        """
        last = next((message for message in reversed(self.history) if message.role == "user"), None)
        runtime, current = (
            self._next_message(text) if text else (self.runtime, () if last is None else (last,))
        )
        inputs = self._prompts.inputs(runtime, current, None)
        return (*inputs.memory, *inputs.contextual_memory)

    def apply_scan(self, report: IndexReport) -> None:
        """Take in the report of a scan, whoever started it."""
        self._scan_valid_until = self.services.clock() + SCAN_SECONDS
        if report.added or report.changed or report.removed:
            self._prompts.forget_summaries()
        self._rebuild_reason = report.rebuilt or self._rebuild_reason
