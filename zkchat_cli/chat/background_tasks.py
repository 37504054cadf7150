"""Between turns, the model is asked for a title of the conversation, once, and for a sentence about each document of the last turn that
has neither a description nor a paragraph to quote.

Titles can be switched off (`chat.model_titles`), the sentences are off by default (`references.model_summaries`). The screen starts this
when a turn is over and stops it when the next one begins; in between nothing else uses the model.
"""

import logging
import threading
from collections.abc import Callable, Iterable
from contextlib import suppress

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
MAX_TASKS = 20
"""Tasks of one session; each is a model call."""
_log = logging.getLogger(__name__)

Wanted = Callable[[], bool]
Work = Callable[[str, Wanted], None]
"""Does a task; ends soon when it is not wanted any more."""


class BackgroundQueue:
    """Does tasks until it is stopped, one at a time and each once, at most `most`. Used from one thread; works in another."""

    def __init__(self, work: Work, most: int = MAX_TASKS) -> None:
        self._work = work
        self._left = most
        self._done: set[str] = set()
        self._stopped = threading.Event()
        self._thread: threading.Thread | None = None

    def start(self, tasks: Iterable[str]) -> None:
        """Do these tasks instead of the earlier ones."""
        self.stop()
        todo = [task for task in dict.fromkeys(tasks) if task not in self._done]
        if todo and self._left:
            self._stopped = threading.Event()
            self._thread = threading.Thread(target=self._run, args=(todo, self._stopped, self._thread), name="background", daemon=True)
            self._thread.start()

    def stop(self, seconds: float = 0.0) -> None:
        """Stop; waits up to `seconds` for the current task."""
        self._stopped.set()
        if self._thread is not None:
            self._thread.join(seconds)

    def _run(self, tasks: list[str], stopped: threading.Event, before: threading.Thread | None) -> None:
        if before is not None:
            before.join()  # one at a time, and the earlier one is stopping
        for task in tasks:
            if stopped.is_set() or not self._left:
                return
            self._left -= 1
            try:
                self._work(task, lambda: not stopped.is_set())
            except Exception:  # a defect must not end the chat  # noqa: BLE001
                _log.exception("background task %s failed", task)
            if not stopped.is_set():
                self._done.add(task)


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
        return stored.title == default_title(next((message.content for message in history if message.role == "user"), ""))

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
