"""What the model is told with the user's next message: what the user did since, such as taking a
part of a change that it proposed.

A remark is stored with the message after which it was made, so a resumed conversation tells it,
too. It waits until a later question of the branch has it.
"""

from collections.abc import Callable, Iterable

from zkchat_cli.chat.user_input import UserInput
from zkchat_cli.llm.base import Model
from zkchat_cli.models.messages import ZkChatMessage


def untold_remarks(branch: Iterable[ZkChatMessage]) -> tuple[str, ...]:
    """The remarks of these messages that no question after them has."""
    untold: list[str] = []
    for message in branch:
        if message.role == "user":
            untold = [remark for remark in untold if remark not in message.content]
        untold += message.remarks
    return tuple(untold)


class Remarks:
    """The remarks that wait for the next message of a conversation; `store` keeps another one for
    other processes.
    """

    def __init__(self, waiting: Iterable[str], store: Callable[[str], None]) -> None:
        self._waiting = tuple(waiting)
        self._store = store

    def add(self, remark: str) -> None:
        """Tell this with the next message that a model gets, in a line below the user's words."""
        self._waiting = (*self._waiting, remark)
        self._store(remark)

    def add_to(self, user_input: UserInput, model: Model) -> UserInput:
        """The input with all remarks that wait; then none waits any more. The offline engine has no
        use for them.
        """
        if not self._waiting or model.searches_itself:
            return user_input
        told = user_input.with_remark("\n".join(self._waiting))
        self._waiting = ()
        return told
