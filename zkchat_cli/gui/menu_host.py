"""What the window offers to the actions of its menus, as a Protocol.

`window.py` has all of it and imports `menu.py`; so `menu.py` does not import the window.
"""

from collections.abc import Callable, Iterable
from typing import Any, Protocol

from PySide6.QtWidgets import QLabel, QWidget

from zkchat_cli.app.factory import App
from zkchat_cli.chat.session import ZkChatSession
from zkchat_cli.gui.conversation_panel import ConversationPanel
from zkchat_cli.gui.input_box import InputBox
from zkchat_cli.gui.panel import Panel
from zkchat_cli.gui.transcript import TranscriptView
from zkchat_cli.views.text import StyledLine


class MenuHost(Protocol):
    """The window that the menus belong to."""

    app: App | None
    session: ZkChatSession | None
    # The state that is shown while nothing runs
    idle: str
    conversations: ConversationPanel
    transcript: TranscriptView
    result: Panel
    input: InputBox
    state: QLabel

    @property
    def answering(self) -> bool:
        """Whether an answer is being written."""

    def window(self) -> QWidget:
        """The widget that dialogs belong to."""

    def close(self) -> bool:
        """Leave the program."""

    def run(
        self,
        work: Callable[[ZkChatSession], Any],
        done: Callable[[Any], object] = ...,
        stopped: Callable[[], object] = ...,
    ) -> None:
        """Run a task with the session after all earlier ones; `done` gets its result."""

    def look_up(
        self, work: Callable[[ZkChatSession], Any], done: Callable[[Any], object] = ...
    ) -> None:
        """Run a lookup, which changes nothing, also while a turn runs."""

    def run_command(self, line: str) -> None:
        """Run a slash command, and show its result."""

    def ask(
        self, question: str, then: Callable[[], None], lines: Iterable[StyledLine] = ()
    ) -> None:
        """Ask a question, and call `then` after a yes."""

    def switch_to(self, session: ZkChatSession | None) -> None:
        """Show another session, or with None this one as it is now."""
