"""How a command ends with an error, where the root cannot simply print it."""

from collections.abc import Mapping
from typing import Any

from zkchat_cli.errors import ZkchatError


class CommandFailed(Exception):
    """The end of a command with an error. The root turns it into an exit code, and prints the
    error unless `is_printed`: the user has seen it then.

    `partial` is the part of an answer that came before the error; JSON has it beside the error.
    `document` has what else JSON has beside the error, such as finished steps. `is_streamed`: the
    error has been printed as a JSON event.
    """

    def __init__(
        self,
        error: ZkchatError,
        *,
        partial: str = "",
        is_printed: bool = False,
        is_streamed: bool = False,
    ) -> None:
        super().__init__(error.message)
        self.error = error
        self.partial = partial
        self.is_printed = is_printed
        self.is_streamed = is_streamed
        self.document: Mapping[str, Any] = {}
