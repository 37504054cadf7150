"""One conversation: `send(text)` runs a turn and yields what happens. A facade of verbs and
read-only properties over the engine.

Synchronous, and never prints: the screen, the one-shot command, JSON lines and tests consume the
same events.
"""

from collections.abc import Generator
from contextlib import closing
from typing import TYPE_CHECKING, Any, NamedTuple

from zkchat_cli import events
from zkchat_cli.chat.document_summarizer import DocumentSummarizer
from zkchat_cli.chat.other_programs import OtherPrograms
from zkchat_cli.chat.prompt_builder import PromptBuilder
from zkchat_cli.chat.runtime import Runtime, SessionServices
from zkchat_cli.chat.runtime_choice import RuntimeChoice
from zkchat_cli.chat.state import ConversationState
from zkchat_cli.chat.turn import PhaseTimer, TurnInProgress
from zkchat_cli.chat.turn_recorder import TurnRecorder
from zkchat_cli.chat.user_input import UserInput
from zkchat_cli.chat.user_message import TypedTokens, UserMessageBuilder
from zkchat_cli.context.dropped_items import named_documents
from zkchat_cli.errors import (
    ConfigError,
    ProviderError,
    StoreError,
    UsageError,
    VaultError,
)
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
from zkchat_cli.text.words import replace_surrogates
from zkchat_cli.vault.vault import SCAN_SECONDS

if TYPE_CHECKING:
    from zkchat_cli.context.compaction_plan import CompactionRequest

# How long a scan counts as current while a message is typed, instead of SCAN_SECONDS: saving a note
# elsewhere, coming back and pressing Enter takes longer.
LOOK_AHEAD_SECONDS = 0.5


class _NextMessage(NamedTuple):
    """A message that might be sent, and the runtime that would answer it."""

    runtime: Runtime
    current: tuple[ZkChatMessage, ...]


class ZkChatSession:
    """One conversation about the notes of a vault; see the module."""

    def __init__(
        self, services: SessionServices, runtime: Runtime, conversation: Conversation | None = None
    ) -> None:
        """Open a session. A conversation continues with the agent of its last message; if that no
        longer exists, the user is told with the next message.
        """
        self.services = services
        self.vault = services.vault
        self.store = services.store
        self.agent_names = services.agent_names
        self.runtimes = RuntimeChoice(services, runtime)
        self._state = ConversationState(services, conversation)
        self._prompts = PromptBuilder(services, self._state)
        self._recorder = TurnRecorder(services.store, self._state, services.now)
        self._messages = UserMessageBuilder(services, self._state, self._prompts)
        self._summarizer = DocumentSummarizer(services)
        self.other_programs = OtherPrograms(services.store, self._state)
        # The last turn, or the one in progress
        self._turn: TurnInProgress | None = None
        # The time until which the last scan of the vault counts as current
        self._scan_valid_until = float("-inf")
        # What the next turn tells about scans of the vault
        self._scan_notices: list[events.Notice] = []
        if conversation is not None:
            self._continue_with_agent()

    def _continue_with_agent(self) -> None:
        """Use the agent that the last message was for."""
        questions = (each for each in reversed(self.history) if each.role == "user")
        last = next((each for each in questions if not each.addressed), None)
        name = last.agent if last is not None else None
        agent = self.runtime.agent
        if name == (agent.name if agent is not None else None):
            return
        try:
            self.runtimes.use_agent(name)
        except (ConfigError, ProviderError) as e:
            problem = f"this conversation used the agent {name} and continues without it"
            self.memory.notify(f"{problem}: {e.message}", e.hint)

    @property
    def runtime(self) -> Runtime:
        """The runtime of the next turn, unless its message mentions an agent."""
        return self.runtimes.current

    def send(self, text: str, *, typed: str | None = None) -> Generator[events.Event, None, None]:
        """Run one turn and yield its events, the last one TurnCompleted or TurnFailed (see
        events.py). Closing the generator stops the turn. If part of the text came through a pipe,
        `typed` is the part that the user typed. Raises UsageError for a message without text.
        """
        return self._run_turn(UserInput.parse(text, typed))

    def send_input(self, user_input: UserInput) -> Generator[events.Event, None, None]:
        """`send` for an input that was not typed as it is, such as a step towards a goal."""
        return self._run_turn(user_input)

    def _run_turn(
        self, user_input: UserInput, retry_of: ZkChatMessage | None = None
    ) -> Generator[events.Event, None, None]:
        """`send` for any input; the retry of a question begins a new branch before it."""
        if not user_input.text.strip():
            hint = "Give a question as an argument or on standard input."
            raise UsageError("there is nothing to ask", hint)
        own = self.runtimes.refresh_tools()
        runtime, user_input, notices = self.runtimes.for_message(user_input)
        runtime = runtime.with_instructions(user_input.instructions)
        if self.services.external is not None:
            with self.services.faults.contain("external tools"):
                notices += self.services.external.take_notices()
        # This import takes 40 ms, and the budget bar does not wait for it
        from zkchat_cli.chat.turn_runner import TurnRunner
        from zkchat_cli.chat.turn_warnings import report_warnings

        turn = TurnInProgress(runtime, PhaseTimer(self.services.clock))
        self._turn = turn
        collaborators = (self._state, self._prompts, self._recorder, self._messages)
        told = self._state.remarks.add_to(user_input, runtime.model)
        runner = TurnRunner(self.services, *collaborators, turn, told)
        self._summarizer.pause()
        try:
            with turn.timer("prepare"):
                notices += self._scan_if_due()
                if retry_of is not None:
                    self._state.branch_off(retry_of.parent_id)
            yield from report_warnings(runner.run(notices))
        finally:
            self.runtimes.learn_from(turn.runtime, own)
            self._summarizer.resume(runtime, self._prompts.summaries(runtime))

    def _scan_if_due(self) -> list[events.Notice]:
        """Rescan the vault unless the last scan is recent; returns what to tell the user."""
        notices: list[events.Notice] = []
        if self.services.clock() >= self._scan_valid_until:
            # If the vault is gone, the conversation continues
            self._scan_valid_until = self.services.clock() + SCAN_SECONDS
            with self.services.faults.contain("scan"):
                try:
                    self.apply_scan(self.vault.refresh())
                except VaultError as e:
                    notices.append(events.Notice(e.message, e.hint))
        notices += self._scan_notices
        self._scan_notices = []
        return notices

    def continue_answer(self) -> Generator[events.Event, None, None]:
        """Continue an answer that was stopped or cut by its length; UsageError if it was not."""
        last = self.history[-1] if self.history else None
        if last is None or not last.was_cut:
            hint = "There is nothing to continue; ask for more in your own words."
            raise UsageError("the last answer was not cut", hint)
        return self.send(CONTINUE_PROMPT)

    def ask_again(
        self,
        question: ZkChatMessage,
        text: str | None = None,
        *,
        retrieval: RetrievalMode | None = None,
    ) -> Generator[events.Event, None, None]:
        """Ask a question of this branch again, or `text` instead of it, on a new branch. Imports
        only the files that the question named when it was typed; the agent that it mentioned
        answers again. Raises as `send` does.
        """
        self._recorder.store_pending()
        again = UserInput.parse(text) if text is not None else UserInput.of_question(question)
        with closing(self._run_turn(again._replace(retrieval=retrieval), question)) as turn:
            yield from turn

    def flush(self, *, unless_told: bool = False) -> None:
        """Store, at the end of a conversation, what could not be stored before. Raises StoreError
        that says how much would be lost; `unless_told`: only if no notice has said why.
        """
        try:
            self._recorder.flush()
        except StoreError:
            if not unless_told or self._recorder.problem is None:
                raise

    def prompt(self, next_text: str | None = None) -> Prompt:
        """The prompt of the next model call, with `next_text` as the user's message or without one.
        If a compaction is due with that message, a prompt without one has all turns, even beyond
        the limit. A mentioned agent gets its own prompt.
        """
        self.runtimes.refresh_tools()
        runtime, current = self._next_message(next_text)
        return self._prompts.explain(runtime, current, compacts_first=self._compacts(runtime))

    def _compacts(self, runtime: Runtime) -> bool:
        """Whether a compaction that is due runs with the next message."""
        return runtime.compacts_when_due and self._recorder.problem is None

    def request(self, next_text: str | None = None) -> dict[str, Any]:
        """The body of the request that would send `prompt`, without the key."""
        self.runtimes.refresh_tools()
        runtime, current = self._next_message(next_text)
        # A request that can be sent as it is, even if a compaction is due
        prompt = self._prompts.explain(runtime, current, compacts_first=False)
        return runtime.model.body(
            Request(prompt.messages, prompt.tools, runtime.options, runtime.window.tokens)
        )

    @property
    def usage(self) -> ContextUsage:
        """The figures of `prompt()` between two turns, at a lower cost than building it."""
        runtime, current = self._next_message(None)
        return self._prompts.build(runtime, current, compacts_first=self._compacts(runtime)).usage

    def count_typed(self, text: str, *, with_documents: bool = True) -> TypedTokens:
        """Tokens of a message that is being typed, including the documents that it names, and
        whether they are estimated.
        """
        return self._messages.count_typed(self.runtime, text, with_documents=with_documents)

    @property
    def last_prompt(self) -> Prompt | None:
        """The prompt of the last model call, also while its answer is being written, with the
        documents that its messages name.
        """
        turn = self._turn
        if turn is None or turn.prompt is None:
            return None
        sent: set[str] = set()
        for part in turn.prompt.messages:
            sent.update(part.source_ids)
        messages = [each for each in (*self.history, turn.user) if each.id in sent]
        return turn.prompt.model_copy(update={"documents": named_documents(messages)})

    def look_ahead(self) -> None:
        """Look for changed notes and prepare the prompt while a message is typed, so that sending
        waits for neither. Raises VaultError.
        """
        begin = self.services.clock()
        self.apply_scan(self.vault.refresh())
        self._scan_valid_until = begin + LOOK_AHEAD_SECONDS
        self.warm_up()

    def warm_up(self) -> None:
        """Prepare what the next question would wait for; see PromptBuilder."""
        import numpy  # noqa: F401

        import zkchat_cli.chat.turn_runner  # noqa: F401

        self._prompts.warm_up(self.runtime)
        self._messages.warm_up()

    def _next_message(self, text: str | None) -> _NextMessage:
        """The message that this text would become; none without a text."""
        if not text:
            runtime = self._messages.with_retrieval(self.runtime)
            return _NextMessage(runtime, self._messages.build_untyped(runtime))
        runtime, user_input, _ = self.runtimes.for_message(UserInput.parse(text))
        runtime = self._messages.with_retrieval(runtime)
        bare = self._messages.build_bare(runtime, user_input)
        numbering = self._state.references.snapshot()
        complete = self._messages.add_documents(runtime, bare, user_input, numbering)
        return _NextMessage(runtime, (complete.message,))

    @property
    def state(self) -> ConversationState:
        """The state of the conversation, for reading; see `stored_state`."""
        return self._state

    @property
    def conversation(self) -> Conversation:
        """The conversation with its current title."""
        return self._state.conversation

    @property
    def history(self) -> tuple[ZkChatMessage, ...]:
        """The messages of the current branch, oldest first."""
        return self._state.history

    @property
    def summaries(self) -> DocumentSummaryService:
        """One line about each document of the vault as it is now."""
        return self._prompts.summaries(self.runtime)

    def archive(self, *, prompts: bool = False) -> ConversationArchive:
        """The conversation as `SessionStore.archive` returns it, plus turns that are not stored
        yet. Its head is the branch in use here. Raises StoreError.
        """
        whole = ConversationArchive(conversation=self.conversation, messages=())
        if self._state.is_stored:
            whole = self.store.archive(self.conversation.id, prompts=prompts)
        messages = {message.id: message for message in (*whole.messages, *self._recorder.unstored)}
        conversation = whole.conversation.model_copy(update={"head_id": self._state.head})
        return whole.model_copy(
            update={"conversation": conversation, "messages": tuple(messages.values())}
        )

    def open_conversation(self, prefix: str | None = None) -> "ZkChatSession":
        """A session on another conversation about these notes, found by its id or the beginning of
        its id. None opens a new conversation. Raises UsageError; raises StoreError also if
        something of this conversation would be lost.
        """
        self.flush()
        self._summarizer.pause()
        if prefix is None:
            return ZkChatSession(self.services, self.runtime)
        found = self.store.find(prefix, str(self.vault.root))
        if found.vault != replace_surrogates(str(self.vault.root)):
            hint = f"Resume it there: zkchat chat --vault {found.vault!r} --resume {found.id}"
            raise UsageError(f"{found.id} is a conversation about other notes, {found.vault}", hint)
        return ZkChatSession(self.services, self.runtime, found)

    def stored_state(self) -> ConversationState:
        """The state after storing everything, for verbs that change it: undo, pins, branches, a
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
        # Most conversations are never compacted by command
        from zkchat_cli.context.compaction_plan import CompactionRequest

        request = CompactionRequest(
            instructions=instructions, target=target, keep=keep, preview=preview
        )
        running = self.compaction_events(request)
        while True:
            try:
                next(running)
            except StopIteration as end:
                compaction: Compaction = end.value
                return compaction

    def compaction_events(
        self, request: "CompactionRequest"
    ) -> Generator[events.Event, None, Compaction]:
        """`compact` as events. Closing the generator stops the model; then nothing is stored."""
        if not request.preview:
            self._recorder.store_pending()
        # This import takes 10 ms, and most turns do not need it
        from zkchat_cli.chat.compactor import Compactor

        runtime = self._messages.with_retrieval(self.runtime)
        timer = PhaseTimer(self.services.clock)
        return Compactor(self.services, self._state, self._prompts, runtime, request, timer).run()

    @property
    def memory(self) -> Memory:
        """The memory of the next turn."""
        return self._prompts.memory(self.runtime)

    def memory_items(self, text: str = "") -> tuple[MemoryItem, ...]:
        """All memory in the prompt for `text`, by default for the last question."""
        if text:
            message = self._next_message(text)
        else:
            last = self._state.last_question
            message = _NextMessage(self.runtime, () if last is None else (last,))
        inputs = self._prompts.inputs(message.runtime, message.current, None)
        return (*inputs.memory, *inputs.contextual_memory)

    def apply_scan(self, report: IndexReport) -> None:
        """Use the report of a scan, whoever started it."""
        self._scan_valid_until = self.services.clock() + SCAN_SECONDS
        if report.added or report.changed or report.removed:
            self._prompts.forget_summaries()
        if report.rebuilt is not None:
            self._scan_notices.append(events.Notice(f"the index was rebuilt: {report.rebuilt}"))
        if report.unfinished is not None:
            self._scan_notices.append(events.Notice(report.unfinished))
