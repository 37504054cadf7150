"""Completion while typing: `/commands` with their help at the start of a line, `[[notes` anywhere. Works on lists made beforehand."""

from collections.abc import Iterable, Sequence

from prompt_toolkit.completion import CompleteEvent, Completer, Completion
from prompt_toolkit.document import Document

from zkchat_cli.slash import SlashCommand
from zkchat_cli.terminal.safe import neutralise
from zkchat_cli.words import fold

MOST = 30


class ChatCompleter(Completer):
    """`notes` are paths relative to the vault; set them anew when the vault has changed."""

    def __init__(self, commands: Sequence[SlashCommand]) -> None:
        self._commands = commands
        self._notes: list[tuple[str, str, str]] = []

    def set_notes(self, paths: Iterable[str]) -> None:
        entries = []
        for path in paths:
            folder, _, file = path.rpartition("/")
            name = file.rsplit(".", 1)[0]
            entries.append((fold(name), name, folder))
        self._notes = sorted(entries)

    def get_completions(self, document: Document, complete_event: CompleteEvent) -> Iterable[Completion]:  # noqa: ARG002
        before = document.text_before_cursor
        if before.startswith("/") and " " not in before:
            typed = before[1:]
            for command in self._commands:
                if command.name.startswith(typed):
                    yield Completion(f"/{command.name}", -len(before), display_meta=command.help)
            return
        open_link = before.rpartition("\n")[2].rpartition("[[")
        if open_link[1] and "]]" not in open_link[2]:
            yield from self._note_names(open_link[2])

    def _note_names(self, typed: str) -> Iterable[Completion]:
        """Names that begin with what is typed, then names that contain it."""
        wanted = fold(typed)
        begins = [e for e in self._notes if e[0].startswith(wanted)][:MOST]
        contains = [e for e in self._notes if wanted in e[0] and not e[0].startswith(wanted)][: MOST - len(begins)]
        for _, name, folder in begins + contains:
            yield Completion(f"{name}]]", -len(typed), display=neutralise(name), display_meta=neutralise(folder))
