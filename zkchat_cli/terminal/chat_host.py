"""What the chat offers to the code that works for it, as Protocols.

`repl.py` has all of it and imports the code that uses it; so that code does not import `repl.py`.
"""

from typing import TYPE_CHECKING, Protocol

# Imported only for types: the first prompt is drawn before the session's modules are loaded
if TYPE_CHECKING:
    from zkchat_cli.chat.session import ZkChatSession
    from zkchat_cli.models.prompts import ContextUsage
    from zkchat_cli.slash.base import ListQuestion
    from zkchat_cli.terminal.screen import Screen


class ChatHost(Protocol):
    """The chat that a line was typed in (see command_runner.py)."""

    session: "ZkChatSession"
    # The text that the next prompt begins with
    next_input: str
    # Outputs of shell commands that the next message is sent with
    outputs: tuple[str, ...]
    # While this is true, the background computes no vectors
    turn_is_running: bool

    @property
    def usage(self) -> "ContextUsage | None":
        """The figures that the toolbar shows; None before the first measurement."""

    @property
    def screen(self) -> "Screen":
        """The screen for output."""

    def read_answer(self, question: str, choices: str) -> str:
        """Ask the user, and return the text of the answer."""

    @property
    def can_choose(self) -> bool:
        """Whether a list to choose from can be drawn."""

    def choose(self, choice: "ListQuestion") -> str | None:
        """Let the user choose from a list; None for no choice."""


class StartupHost(Protocol):
    """The chat that the background works for (see startup.py and conversation_watcher.py). The
    background calls it from its threads.
    """

    def notify(self) -> None:
        """Use what the background has finished, at the next opportunity."""

    def measure(self) -> None:
        """Measure the next prompt, and show its size in the toolbar."""

    def is_busy(self) -> bool:
        """Whether a turn runs or somebody types, so that other work should wait."""

    def show_waiting(self, waiting: str) -> None:
        """Show in the toolbar what a server does not have yet."""

    def current(self) -> "ZkChatSession | None":
        """The session in use; None before it is opened."""

    def typing_session(self) -> "ZkChatSession | None":
        """The session that a message is being typed for; None while nobody types one."""
