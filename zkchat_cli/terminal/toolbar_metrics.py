"""What the toolbar says of the conversation: measured when it changes, never while drawing."""

from collections.abc import Callable
from typing import TYPE_CHECKING

from zkchat_cli.errors import ZkchatError
from zkchat_cli.terminal.input_line import InputLine

if TYPE_CHECKING:
    from zkchat_cli.chat.session import ZkChatSession

COUNTED_WHILE_TYPING = 20_000
"""Characters up to which the line being typed is counted at each key, in under 2 ms; a longer one is estimated."""


class ToolbarMetrics:
    """Measures the session in use for the prompt's toolbar; nothing as long as there is none."""

    def __init__(self, prompt: InputLine, session: "Callable[[], ZkChatSession | None]") -> None:
        self._prompt = prompt
        self._session = session

    def measure_line(self, text: str) -> None:
        """The tokens of the line being typed."""
        session = self._session()
        if session is None:
            return
        counter = session.counter
        if counter.ready and len(text) <= COUNTED_WHILE_TYPING:
            tokens, estimated = counter.count(text), counter.estimated
        else:
            from zkchat_cli.tokens.counter import estimate_tokens  # the session has loaded it

            tokens, estimated = estimate_tokens(text), True
        self._prompt.update(typed=tokens, typed_estimated=bool(text) and estimated)

    def measure_prompt(self) -> None:
        """The model, its window, the documents so far and the next prompt. For a thread of its own, or between two prompts."""
        session = self._session()
        if session is None:
            return
        documents = {reference.relative_path for message in session.history for reference in message.references} - {None}
        current = {"model": session.speaker_label, "limit": session.budget.effective_limit, "references": len(documents)}
        try:
            self._prompt.update(usage=session.usage, **current)
        except ZkchatError:
            self._prompt.update(usage=None, **current)
