"""The status bar of the window: what runs, who answers, and how much room there is."""

from PySide6 import QtWidgets

from zkchat_cli.gui.budget_label import BudgetLabel
from zkchat_cli.text.truncate import truncate
from zkchat_cli.views.text import short_count

# Most characters of the agent's and the model's names
MAX_SPEAKER = 40


class ChatStatusBar(QtWidgets.QStatusBar):
    """The `state` on the left; on the right the size of the message being typed, the speaker and
    the `budget`.
    """

    def __init__(self) -> None:
        super().__init__()
        self.state = QtWidgets.QLabel()
        self.typed = QtWidgets.QLabel()
        self.speaker = QtWidgets.QLabel()
        self.budget = BudgetLabel()
        self.addWidget(self.state, 1)
        for widget in (self.typed, self.speaker, self.budget):
            self.addPermanentWidget(widget)

    def hide_tokens(self) -> None:
        """Show no figures of tokens, because the settings say so."""
        self.typed.hide()
        self.budget.hide()

    def show_speaker(self, name: str) -> None:
        """Name the agent and the model that answer."""
        self.speaker.setText(truncate(name, MAX_SPEAKER))

    def show_typed(self, tokens: int, *, estimated: bool) -> None:
        """Show the tokens of the message that is being typed."""
        mark = "~" if estimated else ""
        self.typed.setText(f"message: {mark}{short_count(tokens)} tokens")
