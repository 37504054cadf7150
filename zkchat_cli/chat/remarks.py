"""What the model is told with the user's next message: what the user did since, such as taking a
part of a change that it proposed.
"""

from zkchat_cli.chat.user_input import UserInput
from zkchat_cli.llm.base import Model


class Remarks:
    """The remarks that wait for the next message of a conversation."""

    def __init__(self) -> None:
        self._waiting: tuple[str, ...] = ()

    def add(self, remark: str) -> None:
        """Tell this with the next message that a model gets, in a line below the user's words."""
        self._waiting = (*self._waiting, remark)

    def add_to(self, user_input: UserInput, model: Model) -> UserInput:
        """The input with all remarks that wait; then none waits any more. The offline engine has no
        use for them.
        """
        if not self._waiting or model.searches_itself:
            return user_input
        told = user_input.with_remark("\n".join(self._waiting))
        self._waiting = ()
        return told
