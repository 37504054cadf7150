"""Completion while typing: `/commands` with their help and arguments, `[[notes#headings`, `@files`, `@agents` where a message begins.

Asked in a thread of its own.
"""

import re
import threading
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import TYPE_CHECKING

from prompt_toolkit.completion import CompleteEvent, Completer, Completion
from prompt_toolkit.document import Document

from zkchat_cli.errors import ZkchatError
from zkchat_cli.text.sanitize import sanitize_name

if TYPE_CHECKING:  # a session loads them; the prompt is there before
    from zkchat_cli.chat.session import ZkChatSession
    from zkchat_cli.slash.base import SlashCommand

MOST = 30
LONGEST_WAIT = 10.0
"""Seconds for which completion waits for the session it completes for."""
FILES_LAST = 5.0
"""Seconds for which the list of a folder's files, or of a note's headings, is taken to be current."""
_FILE = re.compile(r"""(?:^|[\s(\[{'“‘，。、：；（「])@(?:"([^"\n]*)|((?:\\.|[^\s"'<>|*?;,(){}\[\]`@])*))$""")
_AGENT = re.compile(r"\s*(?:/solve\s+(?:--iterations[ =]\d+\s+)?)?@((?:[^\W_][\w-]{0,47})?)")
_UNLINKABLE = re.compile(r"[#|^\[\]]")
"""A name with one of these cannot be written as a link."""


def command_typed(before: str) -> str | None:
    """The command being typed, without its slash; None when `before`, the text before the cursor, is something else."""
    return before[1:] if before.startswith("/") and before[1:].isalpha() | (before == "/") else None


def argument_typed(before: str) -> tuple[str, str] | None:
    """A command and its argument being typed, if that is one word so far; None when `before` is something else."""
    name, space, argument = before.partition(" ")
    return (name[1:], argument) if space and name.startswith("/") and name[1:].isalpha() and not set(argument) & set(" \n") else None


def link_typed(before: str) -> str | None:
    """What is typed in a `[[link` that is still open; None outside of one, and where it is to be shown under another name."""
    line = before.rpartition("\n")[2]
    _, opened, name = line.rpartition("[[")
    return name if opened and "]]" not in name and "|" not in name else None


def file_typed(before: str) -> str | None:
    """The path being typed after an `@` with which a word begins, with its quotation mark if it has one; None elsewhere."""
    line = before.rpartition("\n")[2]
    found = _FILE.search(line[-1000:])
    if found is None:
        return None
    return f'"{found[1]}' if found[1] is not None else found[2]


def agent_typed(before: str) -> str | None:
    """The name being typed after an `@` with which the message, or a goal, begins, as an agent's may be; None elsewhere."""
    found = _AGENT.fullmatch(before)
    return found[1] if found is not None else None


def completing(before: str) -> bool:
    """Whether there may be something to complete before the cursor."""
    return any(kind(before) is not None for kind in (command_typed, argument_typed, link_typed, file_typed))


class ChatCompleter(Completer):
    """Who types before there is a session waits for it, in completion's own thread."""

    def __init__(self, session: "Callable[[], ZkChatSession | None]") -> None:
        self._session = session
        self.ready = threading.Event()
        """Set when there is a session, or never will be."""
        self._listed: dict[str, tuple[float, list[str]]] = {}

    def get_completions(self, document: Document, complete_event: CompleteEvent) -> Iterable[Completion]:  # noqa: ARG002
        before = document.text_before_cursor
        if not completing(before) or not self.ready.wait(LONGEST_WAIT) or (session := self._session()) is None:
            return
        try:
            yield from self._completions(before, document.text_after_cursor, session)
        except ZkchatError:
            return  # what is wrong is told when a message needs it

    def _completions(self, before: str, after: str, session: "ZkChatSession") -> Iterator[Completion]:
        from zkchat_cli import slash  # the session has loaded them
        from zkchat_cli.slash.base import CompletionValue
        from zkchat_cli.vault.links.fuzzy import best_matches

        if (command := command_typed(before)) is not None:
            known = {each.name: each for each in slash.commands()}
            begin = [name for name in known if name.startswith(command.lower())]
            for name in begin or best_matches(list(known), command, MOST):
                yield Completion(f"/{name}", -len(before), display_meta=known[name].help)
        elif (link := link_typed(before)) is not None:
            closing = "" if after.startswith("]]") else "]]"
            if "#" in link:
                yield from self._headings(link, closing, session)
            else:
                yield from self._notes(link, closing, session)
        elif (typed := argument_typed(before)) is not None and (values := _values(slash.commands(), typed[0], session)):
            for value in best_matches(values, typed[1], MOST):
                about = sanitize_name(value.description) if isinstance(value, CompletionValue) else ""
                yield Completion(value, -len(typed[1]), display_meta=about)
        elif (path := file_typed(before)) is not None:
            if (named := agent_typed(before)) is not None:
                for name in session.agent_names():
                    if name.startswith(named.lower()):
                        yield Completion(f"{name} ", -len(named), display=f"@{name}", display_meta="answers this message")
            for found in best_matches(self._files(session), path.lstrip('"'), MOST):
                yield Completion(_written(found), -len(path), display=found)

    def _notes(self, typed: str, closing: str, session: "ZkChatSession") -> Iterator[Completion]:
        for name, path, link, kind in session.vault.complete(typed, MOST):
            if _harmless(name) and _harmless(path) and not _UNLINKABLE.search(link):
                folder = path.rpartition("/")[0]
                of = f"{kind} of {link}" if kind != "name" else ""
                yield Completion(link + closing, -len(typed), display=name, display_meta="  ".join(filter(None, (of, folder))))

    def _headings(self, link: str, closing: str, session: "ZkChatSession") -> Iterator[Completion]:
        """The headings of the note named before the first `#`: all in their order, or those with the letters after the last."""
        from zkchat_cli.vault.links.fuzzy import best_matches

        name, _, typed = link.partition("#")
        heading = typed.rpartition("#")[2]

        def headings() -> list[str]:
            target = session.vault.resolve(name).target if name.strip() else None
            found = session.vault.note(target).headings if target else ()
            return [
                text for text in dict.fromkeys(each.text for each in found) if text and _harmless(text) and not _UNLINKABLE.search(text)
            ]

        for text in best_matches(self._current(f"#{name}", headings), heading, MOST):
            yield Completion(text + closing, -len(heading), display=text)

    def _files(self, session: "ZkChatSession") -> list[str]:
        """What may be imported, by its path from the current folder or the vault."""
        from zkchat_cli.references import file_imports

        def files() -> list[str]:
            folder = session.services.working_folder
            inside = file_imports.list_files(folder) if folder is not None and folder != session.vault.root else ()
            return list(dict.fromkeys(path for path in (*inside, *file_imports.list_files(session.vault.root)) if _harmless(path)))

        return self._current("@", files)

    def _current(self, key: str, make: Callable[[], list[str]]) -> list[str]:
        made = self._listed.get(key)
        if made is None or time.monotonic() - made[0] > FILES_LAST:
            self._listed = {key: (made := (time.monotonic(), make()))}
        return made[1]


def _values(commands: "Sequence[SlashCommand]", name: str, session: "ZkChatSession") -> list[str]:
    """What the argument of a command may be."""
    values = next((command.values for command in commands if command.name == name), None)
    return [value for value in values(session) if _harmless(value)] if values is not None else []


def _written(path: str) -> str:
    """A path as it stands after an `@`."""
    return path if re.fullmatch(r"""[^\s"'<>|*?;,(){}\[\]`@\\“”‘’]+""", path) else f'"{path}"'


def _harmless(name: str) -> bool:
    return sanitize_name(name) == name
