"""What was typed in a vault before, kept in a file of the vault's own. The prompt is there before it is known which file that is."""

import asyncio
from collections.abc import AsyncGenerator, Callable, Iterable
from contextlib import suppress
from pathlib import Path

from prompt_toolkit.history import FileHistory

LOOKS_AGAIN = 0.05
"""Seconds between two looks whether the file is known: a thread that waited for it would have to be waited for by who leaves."""


class VaultHistory(FileHistory):
    """Lines are remembered from the first one on, and read and written as soon as `keep_in` has said where.

    `told_in_full` says what stands for a line in the file, where something in it stands for something longer. A line that is no valid
    Unicode (bytes that were no UTF-8) is kept as well as it can be, rather than ending the chat.
    """

    def __init__(self, told_in_full: Callable[[str], str] = str) -> None:
        super().__init__("")
        self._told_in_full = told_in_full
        self._known = False
        self._file: Path | None = None
        self._early: list[str] = []

    def keep_in(self, file: Path | None) -> None:
        """For good: called again it does nothing. A folder that cannot be written to, and None, cost the history, not the chat."""
        if self._known:
            return
        with suppress(OSError):
            if file is not None:
                file.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
                file.touch(mode=0o600)
                self._file, self.filename = file, str(file)
        self._known = True
        for string in self._early:
            self.store_string(string)

    async def load(self) -> AsyncGenerator[str, None]:
        while not self._known:
            await asyncio.sleep(LOOKS_AGAIN)
        if not self._loaded:
            if self._file is not None:
                self._loaded_strings = await asyncio.get_running_loop().run_in_executor(None, lambda: list(self.load_history_strings()))
            self._loaded = True
        for string in self._loaded_strings:
            yield string

    def load_history_strings(self) -> Iterable[str]:
        with suppress(OSError):
            yield from super().load_history_strings()

    def store_string(self, string: str) -> None:
        if not self._known:
            self._early.append(string)
        elif self._file is not None:
            with suppress(OSError):  # a full disk costs a line of history
                super().store_string(self._told_in_full(string).encode("utf-8", "replace").decode())
