"""The input history of a vault, in a file of its own. The prompt is drawn before the file is known."""

import asyncio
from collections.abc import AsyncGenerator, Callable, Iterable
from pathlib import Path

from prompt_toolkit.history import History

from zkchat_cli.store.input_history import append_line, read_lines

POLL_INTERVAL = 0.05
"""Seconds between two checks whether the file is known: a blocked thread would delay leaving the chat."""


class VaultHistory(History):
    """Remembers lines from the first on, and reads and writes the file once `set_file` has named it.

    `unfold` returns a line as it is to be stored. Bytes that are not valid Unicode are replaced.
    """

    def __init__(self, unfold: Callable[[str], str] = str) -> None:
        super().__init__()
        self._unfold = unfold
        self._file_known = False
        self._file: Path | None = None

    def set_file(self, file: Path | None) -> None:
        """Only the first call counts. None means that no history is stored."""
        if self._file_known:
            return
        self._file = file
        self._file_known = True
        for string in reversed(self._loaded_strings):  # those sent before
            self.store_string(string)

    async def load(self) -> AsyncGenerator[str, None]:
        while not self._file_known:
            await asyncio.sleep(POLL_INTERVAL)
        async for string in super().load():
            yield string

    def load_history_strings(self) -> Iterable[str]:
        return read_lines(self._file) if self._file is not None else ()

    def store_string(self, string: str) -> None:
        if self._file is not None:
            append_line(self._file, self._unfold(string))
