"""Between turns: the model is asked for one sentence about each document of the last turn that says nothing of itself.

Off by default (`references.model_summaries`). Whoever has the user's attention starts it when a turn is over and stops it when the next one
begins; in between it is the only one who uses the model.
"""

from zkchat_cli.llm import Request
from zkchat_cli.llm.describing import describe
from zkchat_cli.references.summaries import is_wanting
from zkchat_cli.references.summariser import Summariser, Wanted
from zkchat_cli.standing import Standing


class Describing:
    """What a conversation has described in the background."""

    def __init__(self, standing: Standing) -> None:
        self._standing = standing
        self._summariser = Summariser(self._describe)

    def start(self) -> None:
        """Have the documents of the last turn described, if that is wanted and the model can do it."""
        parts = self._standing.parts
        if parts.settings.references.model_summaries and parts.describes(parts.model.name):
            self._summariser.start(self._wanting())

    def stop(self, seconds: float = 0.0) -> None:
        """End it at once; wait so many seconds at most for the model to be left."""
        self._summariser.stop(seconds)

    def _wanting(self) -> list[str]:
        """The documents of the last turn that have neither a description nor a real paragraph, nor a model's sentence yet."""
        paths: list[str] = []
        for message in reversed(self._standing.history):
            paths += [reference.relative_path for reference in message.references if reference.relative_path]
            if message.role == "user":
                break
        return [path for path in paths if is_wanting(self._standing.summaries.of(path))]

    def _describe(self, path: str, wanted: Wanted) -> None:
        parts = self._standing.parts
        note = parts.vault.summaries.opening(path)
        if note is None or not note.text.strip():
            return
        request = Request((), options=parts.options, window=self._standing.window.tokens, wanted=wanted)
        said = describe(parts.model, note.title, note.text, request)
        if said and wanted():
            self._standing.summaries.learn(path, said, parts.model.name)
