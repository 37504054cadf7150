"""Completion while typing: `/commands` with their help at the start of a line, `[[notes` anywhere. Works on lists made beforehand."""

import threading
from bisect import bisect_left
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import islice

from prompt_toolkit.completion import CompleteEvent, Completer, Completion
from prompt_toolkit.document import Document

from zkchat_cli.errors import ZkchatError
from zkchat_cli.slash import Offer, SlashCommand
from zkchat_cli.terminal.safe import neutralise_name
from zkchat_cli.words import fold

MOST = 30
LONGEST_WAIT = 10.0
"""Seconds for which completion waits for what there is to complete."""


def command_typed(before: str) -> str | None:
    """The command being typed, without its slash; None when `before`, the text before the cursor, is something else."""
    return before[1:] if before.startswith("/") and before[1:].isalpha() | (before == "/") else None


def argument_typed(before: str) -> tuple[str, str] | None:
    """A command and its argument being typed, if that is one word so far; None when `before` is something else."""
    name, space, argument = before.partition(" ")
    return (name[1:], argument) if space and name.startswith("/") and name[1:].isalpha() and not set(argument) & set(" \n") else None


def link_typed(before: str) -> str | None:
    """The name being typed in a `[[link` that is still open; None outside of one."""
    line = before.rpartition("\n")[2]
    _, opened, name = line.rpartition("[[")
    return name if opened and "]]" not in name else None


class ChatCompleter(Completer):
    """What there is to complete is set when it is known: commands once, notes (paths relative to the vault) whenever they change.

    Who types before it is known waits for it, in completion's own thread, as long as `ready` is not set.
    """

    def __init__(self, values: Callable[[SlashCommand], Sequence[str]] = lambda _: ()) -> None:
        self._values = values
        self.ready = threading.Event()
        self.ready.set()
        self.commands: Sequence[SlashCommand] = ()
        self._notes: list[tuple[str, str, str]] = []
        self._paths: tuple[str, ...] = ()

    def set_notes(self, paths: Sequence[str]) -> None:
        """A name that several notes share is completed with its folder, since alone it would mean only one of them."""
        if self._paths == tuple(paths):
            return
        stems = [(path, path.rsplit(".", 1)[0]) for path in paths if neutralise_name(path) == path]
        shared = Counter(fold(stem.rpartition("/")[2]) for _, stem in stems)
        entries = []
        for _, stem in stems:
            folder, _, name = stem.rpartition("/")
            folded = fold(name)
            entries.append((folded, stem if shared[folded] > 1 else name, folder))
        self._notes = sorted(entries)
        self._paths = tuple(paths)

    def get_completions(self, document: Document, complete_event: CompleteEvent) -> Iterable[Completion]:  # noqa: ARG002
        before = document.text_before_cursor
        self.ready.wait(LONGEST_WAIT)
        if (command := command_typed(before)) is not None:
            for known in self.commands:
                if known.name.startswith(command):
                    yield Completion(f"/{known.name}", -len(before), display_meta=known.help)
        elif (typed := argument_typed(before)) is not None and (values := self._values_of(typed[0])):
            folded = fold(typed[1])
            for value in sorted((v for v in values if folded in fold(v)), key=lambda v: not fold(v).startswith(folded))[:MOST]:
                about = neutralise_name(value.about) if isinstance(value, Offer) else ""
                yield Completion(value, -len(typed[1]), display_meta=about)
        elif (name := link_typed(before)) is not None:
            closing = "" if document.text_after_cursor.startswith("]]") else "]]"
            for found, folder in self._names_like(name):
                yield Completion(found + closing, -len(name), display=found, display_meta=folder)

    def _values_of(self, name: str) -> list[str]:
        """What the argument of a command may be, as far as it can be shown; nothing when it cannot be found out."""
        for command in self.commands:
            if command.name == name:
                try:
                    return [value for value in self._values(command) if neutralise_name(value) == value]
                except ZkchatError:
                    return []
        return []

    def _names_like(self, typed: str) -> Iterator[tuple[str, str]]:
        """Names that begin with what is typed, then names that contain it; at most `MOST`."""
        wanted = fold(typed)
        notes = self._notes
        first = bisect_left(notes, (wanted,))
        begin = [(name, folder) for folded, name, folder in islice(notes, first, first + MOST) if folded.startswith(wanted)]
        yield from begin
        contain = ((name, folder) for folded, name, folder in notes if wanted in folded and not folded.startswith(wanted))
        yield from islice(contain, MOST - len(begin))
