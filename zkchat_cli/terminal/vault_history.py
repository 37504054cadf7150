"""The input history: the lines that were typed in chats about a vault."""

import asyncio
from collections.abc import AsyncGenerator, Iterable
from pathlib import Path

from prompt_toolkit.history import History

from zkchat_cli.store.input_history import append_line, read_lines
from zkchat_cli.terminal.pastes import Pastes

# Seconds between two checks whether the history's file is known; a thread that blocked would delay
# leaving the chat
POLL_INTERVAL = 0.05


class VaultHistory(History):
    """Remembers lines from the first on, with the `pastes` in full.

    It reads and writes the vault's file once `set_file` has named it.
    """

    def __init__(self) -> None:
        super().__init__()
        self.pastes = Pastes()
        self._file_known = False
        self._file: Path | None = None

    def set_file(self, file: Path | None) -> None:
        """Set the file; only the first call counts. None means that no history is stored."""
        if not self._file_known:
            self._file = file
            self._file_known = True
            # The lines that were sent before the file was known
            for string in reversed(self._loaded_strings):
                self.store_string(string)

    async def load(self) -> AsyncGenerator[str, None]:
        """The lines, newest first, as soon as the file is known."""
        while not self._file_known:
            await asyncio.sleep(POLL_INTERVAL)
        async for string in super().load():
            yield string

    def load_history_strings(self) -> Iterable[str]:
        """The lines of the file, newest first."""
        return read_lines(self._file) if self._file is not None else ()

    def store_string(self, string: str) -> None:
        """Add a line to the file, if there is one."""
        if self._file is not None:
            append_line(self._file, self.pastes.unfold(string))
