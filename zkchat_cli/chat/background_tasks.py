"""Between turns: the model is asked for a title of the conversation, once, and for one sentence about each document of the last turn that
says nothing of itself.

The title can be switched off (`chat.model_titles`), the sentences are off by default (`references.model_summaries`). Whoever has the
user's attention starts it when a turn is over and stops it when the next one begins; in between it is the only one who uses the model.
"""

from contextlib import suppress

from zkchat_cli.chat.state import ConversationState
from zkchat_cli.errors import StoreError
from zkchat_cli.llm.base import Request
from zkchat_cli.llm.tasks.describe_note import describe_note
from zkchat_cli.llm.tasks.title import suggest_title
from zkchat_cli.references.document_summaries import needs_model_summary
from zkchat_cli.references.summary_queue import SummaryQueue, Wanted
from zkchat_cli.text.truncate import truncate

TITLE = "\0title"
"""What is worked on beside documents, which have no such path."""
TITLE_LENGTH = 60


def made_of(question: str) -> str:
    """The title that a conversation has by itself."""
    return truncate(question, TITLE_LENGTH)


class NoteDescriber:
    """What a conversation has described in the background."""

    def __init__(self, standing: ConversationState) -> None:
        self._standing = standing
        self._summariser = SummaryQueue(self._describe)
        self._title: str | None = None

    def start(self) -> None:
        """Have the conversation and the documents of the last turn described, as far as that is wanted and the model can do it."""
        parts = self._standing.parts
        if not parts.describes(parts.model.name):
            return
        wanting = [TITLE] if parts.settings.chat.model_titles and self._is_wanting_title() else []
        wanting += self._wanting() if parts.settings.references.model_summaries else []
        if wanting:
            self._summariser.start(wanting)

    def stop(self, seconds: float = 0.0) -> None:
        """End it at once; wait so many seconds at most for the model to be left. A title that has come meanwhile is taken."""
        self._summariser.stop(seconds)
        title, self._title = self._title, None
        if title:
            with suppress(StoreError):  # a title is not worth an error
                if self._is_wanting_title():
                    self._standing.rename(title)

    def _is_wanting_title(self) -> bool:
        """Whether the conversation has been answered, and is called what it is called by itself."""
        history = self._standing.history
        if not history or not any(message.role == "assistant" and message.content.strip() for message in history):
            return False
        try:
            stored = self._standing.parts.store.conversation(self._standing.conversation.id)
        except StoreError:  # deleted meanwhile, by another zkchat
            return False
        return stored.title == made_of(next((message.goal or message.content for message in history if message.role == "user"), ""))

    def _wanting(self) -> list[str]:
        """The documents of the last turn that have neither a description nor a real paragraph, nor a model's sentence yet."""
        paths: list[str] = []
        for message in reversed(self._standing.history):
            paths += [reference.relative_path for reference in message.references if reference.relative_path]
            if message.role == "user":
                break
        return [path for path in paths if needs_model_summary(self._standing.summaries.of(path))]

    def _describe(self, path: str, wanted: Wanted) -> None:
        parts = self._standing.parts
        if path == TITLE:
            history = self._standing.history
            question = next(message.content for message in history if message.role == "user")
            answer = next(message.content for message in history if message.role == "assistant" and message.content.strip())
            request = Request((), options=parts.options, window=self._standing.window.tokens, wanted=wanted)
            self._title = suggest_title(parts.model, question, answer, request)
            return
        note = parts.vault.summaries.read_opening(path)
        if note is None or not note.text.strip():
            return
        request = Request((), options=parts.options, window=self._standing.window.tokens, wanted=wanted)
        said = describe_note(parts.model, note.title, note.text, request)
        if said and wanted():
            self._standing.summaries.learn(path, said, parts.model.name)
