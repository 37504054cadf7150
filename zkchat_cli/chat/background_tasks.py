"""Between turns, the model is asked for a title of the conversation, once, and for a sentence about each document of the last turn that
has neither a description nor a paragraph to quote.

Titles can be switched off (`chat.model_titles`), the sentences are off by default (`references.model_summaries`). The screen starts this
when a turn is over and stops it when the next one begins; in between nothing else uses the model.
"""

from contextlib import suppress

from zkchat_cli.chat.background_queue import BackgroundQueue, Wanted
from zkchat_cli.chat.prompt_builder import PromptBuilder
from zkchat_cli.chat.runtime import Runtime, SessionServices
from zkchat_cli.chat.state import ConversationState
from zkchat_cli.chat.turn_recorder import default_title
from zkchat_cli.errors import StoreError
from zkchat_cli.llm.base import Request
from zkchat_cli.llm.tasks import describe_note, suggest_title
from zkchat_cli.references.document_summaries import needs_model_summary

TITLE = "\0title"
"""Stands for the title in the queue of documents; no path can have this name."""


class BackgroundTasks:
    def __init__(self, services: SessionServices, state: ConversationState, prompts: PromptBuilder) -> None:
        self._services, self._state, self._prompts = services, state, prompts
        self._queue = BackgroundQueue(self._work_on)
        self._runtime: Runtime | None = None
        self._title: str | None = None

    def start(self, runtime: Runtime) -> None:
        """Start on the title and on the documents of the last turn, as far as the settings want that and the model can do it."""
        if not runtime.can_describe:
            return
        tasks = [TITLE] if runtime.settings.chat.model_titles and self._needs_title() else []
        tasks += self._undescribed(runtime) if runtime.settings.references.model_summaries else []
        if tasks:
            self._runtime = runtime
            self._queue.start(tasks)

    def stop(self, seconds: float = 0.0) -> None:
        """Stop at once; wait so many seconds at most for the model's call to end. A title that has arrived is used."""
        self._queue.stop(seconds)
        title, self._title = self._title, None
        if title:
            with suppress(StoreError):  # a title is not worth an error
                if self._needs_title():
                    self._state.rename(title)

    def _needs_title(self) -> bool:
        """Whether the conversation has an answer, and still its default title."""
        history = self._state.history
        if not any(message.role == "assistant" and message.content.strip() for message in history):
            return False
        try:
            stored = self._services.store.conversation(self._state.conversation.id)
        except StoreError:  # deleted meanwhile, by another zkchat
            return False
        return stored.title == default_title(next((message.goal or message.content for message in history if message.role == "user"), ""))

    def _undescribed(self, runtime: Runtime) -> list[str]:
        """The documents of the last turn with no description, no real paragraph and no sentence of a model yet."""
        paths: list[str] = []
        for message in reversed(self._state.history):
            paths += [reference.relative_path for reference in message.references if reference.relative_path]
            if message.role == "user":
                break
        return [path for path in paths if needs_model_summary(self._prompts.summaries(runtime).find_summary(path))]

    def _work_on(self, task: str, wanted: Wanted) -> None:
        runtime = self._runtime
        assert runtime is not None
        request = Request((), options=runtime.options, window=runtime.window.tokens, wanted=wanted)
        if task == TITLE:
            history = self._state.history
            question = next(message.content for message in history if message.role == "user")
            answer = next(message.content for message in history if message.role == "assistant" and message.content.strip())
            self._title = suggest_title(runtime.model, question, answer, request)
            return
        note = self._services.vault.summaries.read_opening(task)
        if note is None or not note.text.strip():
            return
        sentence = describe_note(runtime.model, note.title, note.text, request)
        if sentence and wanted():
            self._prompts.summaries(runtime).learn(task, sentence, runtime.model.name)
