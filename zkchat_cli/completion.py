"""Completion while typing, in every front end: `/commands` with their help and arguments, `[[notes#headings`, `@files`, `#tags`, `@agents`
at the beginning of a message.

Runs in a thread of its own. Enter waits for that thread, so nothing here waits for the session or for the first index.
"""

import re
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from typing import TYPE_CHECKING, NamedTuple

from zkchat_cli.errors import ZkchatError
from zkchat_cli.text.sanitize import sanitize_name

if TYPE_CHECKING:  # a session loads them; the prompt is there before
    from zkchat_cli.chat.session import ZkChatSession
    from zkchat_cli.slash.base import SlashCommand

MAX_COMPLETIONS = 30
CACHE_SECONDS = 5.0
"""Seconds for which a scan of the vault and the list of its files are reused."""
_FILE = re.compile(r"""(?:^|[\s(\[{'“‘，。、：；（「])@(?:"([^"\n]*)|((?:\\.|[^\s"'<>|*?;,(){}\[\]`@])*))$""")
_TAG = re.compile(r"(?:^|\s)#([^\s#\[\]]*)$")
_AGENT = re.compile(r"\s*@((?:[^\W_][\w-]{0,47})?)")
_UNLINKABLE = re.compile(r"[#|^\[\]]")
"""A name with one of these characters cannot be linked."""


# each function gets the text before the cursor and returns what is being typed; None if it is something else


def command_prefix(before: str) -> str | None:
    return before[1:] if before.startswith("/") and before[1:].isalpha() | (before == "/") else None


def command_argument(before: str) -> tuple[str, str] | None:
    """A command and its argument, if that is one word so far."""
    name, space, argument = before.partition(" ")
    return (name[1:], argument) if space and name.startswith("/") and name[1:].isalpha() and not set(argument) & set(" \n") else None


def link_prefix(before: str) -> str | None:
    """The inside of an open `[[link`, before any `|`."""
    line = before.rpartition("\n")[2]
    _, opened, name = line.rpartition("[[")
    return name if opened and "]]" not in name and "|" not in name else None


def file_prefix(before: str) -> str | None:
    """The path after an `@` at the beginning of a word, with its quotation mark, if any."""
    line = before.rpartition("\n")[2]
    found = _FILE.search(line[-1000:])
    if found is None:
        return None
    return f'"{found[1]}' if found[1] is not None else found[2]


def tag_prefix(before: str) -> str | None:
    """The name after a `#` at the beginning of a word."""
    found = _TAG.search(before[-200:])
    return found[1] if found is not None else None


def agent_prefix(before: str) -> str | None:
    """The name after an `@` at the beginning of a message."""
    found = _AGENT.fullmatch(before)
    return found[1] if found is not None else None


def can_complete(before: str) -> bool:
    return any(prefix(before) is not None for prefix in (command_prefix, command_argument, link_prefix, file_prefix, tag_prefix))


class Suggestion(NamedTuple):
    """`text` takes the place of the `replaced` characters before the cursor; `label` is shown for it, with a `description`."""

    text: str
    replaced: int
    label: str = ""
    description: str = ""


class InputCompleter:
    """Offers nothing until the session is open, and notes and files only when the vault `is_indexed`."""

    def __init__(self, session: "Callable[[], ZkChatSession | None]", is_indexed: Callable[[], bool] = lambda: True) -> None:
        self._session = session
        self._is_indexed = is_indexed
        self._scanned_at = float("-inf")
        self._files: list[str] = []
        self._tags: list[str] = []

    def suggest(self, before: str, after: str = "") -> Iterator[Suggestion]:
        """What could be typed between the text before and the text after the cursor, best first."""
        if can_complete(before) and (session := self._session()) is not None:
            with suppress(ZkchatError):  # a message will report the problem
                yield from self._suggest(before, after, session)

    def _suggest(self, before: str, after: str, session: "ZkChatSession") -> Iterator[Suggestion]:
        from zkchat_cli import slash  # the session has loaded them
        from zkchat_cli.vault.links.fuzzy import best_matches

        if any(prefix(before) is not None for prefix in (link_prefix, file_prefix, tag_prefix)):
            if not self._is_indexed():
                return
            self._scan(session)
        if (command := command_prefix(before)) is not None:
            known = {each.name: each for each in slash.commands()}
            matches = [name for name in known if name.startswith(command.lower())]
            for name in matches or best_matches(list(known), command, MAX_COMPLETIONS):
                yield Suggestion(f"/{name}", len(before), description=known[name].help)
        elif (link := link_prefix(before)) is not None:
            closing = "" if after.startswith("]]") else "]]"
            if "#" in link:
                yield from self._headings(link, closing, session)
            else:
                yield from self._notes(link, closing, session)
        elif (tag := tag_prefix(before)) is not None:
            for found in best_matches(self._tags, tag, MAX_COMPLETIONS):
                yield Suggestion(found, len(tag), label=f"#{found}")
        elif (argument := command_argument(before)) is not None and (values := _argument_values(slash.commands(), argument[0], session)):
            for value in best_matches(list(values), argument[1], MAX_COMPLETIONS):
                yield Suggestion(value, len(argument[1]), description=sanitize_name(values[value]))
        elif (path := file_prefix(before)) is not None:
            if (agent := agent_prefix(before)) is not None:
                for name in session.agent_names():
                    if name.startswith(agent.lower()):
                        yield Suggestion(f"{name} ", len(agent), label=f"@{name}", description="answers this message")
            for found in best_matches(self._files, path.lstrip('"'), MAX_COMPLETIONS):
                yield Suggestion(_quote_path(found), len(path), label=found)

    def _notes(self, typed: str, closing: str, session: "ZkChatSession") -> Iterator[Suggestion]:
        for name, path, link, kind in session.vault.complete(typed, MAX_COMPLETIONS):
            if _is_printable(name) and _is_printable(path) and not _UNLINKABLE.search(link):
                folder = path.rpartition("/")[0]
                source = f"{kind} of {link}" if kind != "name" else ""
                yield Suggestion(link + closing, len(typed), label=name, description="  ".join(filter(None, (source, folder))))

    def _headings(self, link: str, closing: str, session: "ZkChatSession") -> Iterator[Suggestion]:
        """The headings of the note before the first `#`, in order, or those that match the text after the last `#`."""
        from zkchat_cli.vault.links.fuzzy import best_matches

        name, _, typed = link.partition("#")
        heading = typed.rpartition("#")[2]
        target = session.vault.resolve(name).target if name.strip() else None
        found = session.vault.note(target).markup.headings if target else ()
        headings = dict.fromkeys(each.text for each in found if each.text)
        linkable = [text for text in headings if _is_printable(text) and not _UNLINKABLE.search(text)]
        for text in best_matches(linkable, heading, MAX_COMPLETIONS):
            yield Suggestion(text + closing, len(heading), label=text)

    def _scan(self, session: "ZkChatSession") -> None:
        """Look for new notes, and for files that can be imported, from the current folder and from the vault."""
        from zkchat_cli.references import file_imports

        if time.monotonic() - self._scanned_at < CACHE_SECONDS:
            return
        self._scanned_at = time.monotonic()
        session.apply_scan(session.vault.refresh())
        folder, root = session.services.working_folder, session.vault.root
        self._tags = [tag for tag in session.vault.tags() if _is_printable(tag)]
        inside = file_imports.list_files(folder) if folder is not None and folder != root else ()
        self._files = list(dict.fromkeys(path for path in (*inside, *file_imports.list_files(root)) if _is_printable(path)))


def _argument_values(commands: "Sequence[SlashCommand]", name: str, session: "ZkChatSession") -> dict[str, str]:
    """The values of a command's argument with their descriptions."""
    values = next((command.values(session) for command in commands if command.name == name), ())
    described = values if isinstance(values, Mapping) else dict.fromkeys(values, "")
    return {value: text for value, text in described.items() if _is_printable(value)}


def _quote_path(path: str) -> str:
    """A path as it is written after an `@`."""
    return path if re.fullmatch(r"""[^\s"'<>|*?;,(){}\[\]`@\\“”‘’]+""", path) else f'"{path}"'


def _is_printable(name: str) -> bool:
    return sanitize_name(name) == name
