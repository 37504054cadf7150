"""Completion while typing, in every front end: `/commands` with their help and arguments,
`[[notes#headings`, `@files`, `#tags`, `@agents` at the beginning of a message.

Runs in a thread of its own. Enter waits for that thread, so nothing here waits for the session or
for the first index.
"""

import re
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from typing import TYPE_CHECKING, NamedTuple

from zkchat_cli.errors import ZkchatError
from zkchat_cli.text.sanitize import sanitize_name

# A session loads them; the prompt is there before
if TYPE_CHECKING:
    from zkchat_cli.chat.session import ZkChatSession

MAX_COMPLETIONS = 30
# Seconds for which a scan of the vault and the list of its files are reused
CACHE_SECONDS = 5.0
_TYPED = re.compile(
    r"""
    \A/(?P<command>[^\W\d_]*)\Z
    | \A/(?P<name>[^\W\d_]+)[ ](?P<argument>(?!\[\[|[\#@])[^ \n]*)\Z
    | \[\[(?P<link>(?:(?!\[\[|\]\])[^|\n])*)\Z
    | (?:^|\s)\#(?P<tag>[^\s\#\[\]]*)\Z
    | (?:^|[\s(\[{'“‘，。、：；（「])@(?P<path>"[^"\n]*|(?:\\.|[^\s"'<>|*?;,(){}\[\]`@])*)\Z
    """,
    re.VERBOSE,
)
"""What is being typed before the cursor: a command, its argument if that is one word so far, the
inside of an open `[[link`, or the text after a `#` or `@` at the beginning of a word, there with
its quotation mark, if any.
"""
_AGENT = re.compile(r"\s*@((?:[^\W_][\w-]{0,47})?)")
# A name with one of these characters cannot be linked
_UNLINKABLE = re.compile(r"[#|^\[\]]")


def match_typed(before: str) -> re.Match[str] | None:
    """What is being typed before the cursor, if it can be completed; the name of its group says
    what it is.
    """
    return _TYPED.search(before if before.startswith("/") else before.rpartition("\n")[2][-1000:])


class Suggestion(NamedTuple):
    """`text` takes the place of the `replaced` characters before the cursor; `label` is shown for
    it, with a `description`.
    """

    text: str
    replaced: int
    label: str = ""
    description: str = ""


class InputCompleter:
    """Offers nothing until the session is open, and notes and files only when the vault
    `is_indexed`.
    """

    def __init__(
        self,
        session: "Callable[[], ZkChatSession | None]",
        is_indexed: Callable[[], bool] = lambda: True,
    ) -> None:
        self._session = session
        self._is_indexed = is_indexed
        self._scanned_at = float("-inf")
        self._files: list[str] = []
        self._tags: list[str] = []

    def suggest(self, before: str, after: str = "") -> Iterator[Suggestion]:
        """What could be typed between the text before and the text after the cursor, best first."""
        if (typed := match_typed(before)) is not None and (session := self._session()) is not None:
            with suppress(ZkchatError):  # a message will report the problem
                yield from self._suggest(
                    typed, before, "" if after.startswith("]]") else "]]", session
                )

    def _suggest(
        self, typed: re.Match[str], before: str, closing: str, session: "ZkChatSession"
    ) -> Iterator[Suggestion]:
        from zkchat_cli import slash  # the session has loaded them
        from zkchat_cli.vault.links.name_suggestions import best_matches

        kind = typed.lastgroup or ""
        text = typed[kind]
        if kind in ("link", "path", "tag"):
            if not self._is_indexed():
                return
            self._scan(session)
        match kind:
            case "command":
                known = {each.name: each for each in slash.commands()}
                matches = [name for name in known if name.startswith(text.lower())]
                for name in matches or best_matches(list(known), text, MAX_COMPLETIONS):
                    yield Suggestion(f"/{name}", len(before), description=known[name].help)
            case "argument":
                found = next(
                    (
                        command.values(session)
                        for command in slash.commands()
                        if command.name == typed["name"]
                    ),
                    (),
                )
                values = found if isinstance(found, Mapping) else dict.fromkeys(found, "")
                for value in best_matches([*filter(_is_printable, values)], text, MAX_COMPLETIONS):
                    yield Suggestion(value, len(text), description=sanitize_name(values[value]))
            # The headings of the note before the first `#`, or those that match the text after the
            # last
            case "link" if "#" in text:
                note, *_, heading = text.split("#")
                target = session.vault.resolve(note).target if note.strip() else None
                headings = session.vault.reader.parse(target).markup.headings if target else ()
                names = dict.fromkeys(each.text for each in headings if each.text)
                linkable = [
                    name for name in names if _is_printable(name) and not _UNLINKABLE.search(name)
                ]
                for name in best_matches(linkable, heading, MAX_COMPLETIONS):
                    yield Suggestion(name + closing, len(heading), label=name)
            case "link":
                for name, path, link, found_by in session.vault.complete(text, MAX_COMPLETIONS):
                    if _is_printable(name) and _is_printable(path) and not _UNLINKABLE.search(link):
                        source = f"{found_by} of {link}" if found_by != "name" else ""
                        description = "  ".join(filter(None, (source, path.rpartition("/")[0])))
                        yield Suggestion(
                            link + closing, len(text), label=name, description=description
                        )
            case "tag":
                yield from (
                    Suggestion(tag, len(text), label=f"#{tag}")
                    for tag in best_matches(self._tags, text, MAX_COMPLETIONS)
                )
            case "path":
                if (agent := _AGENT.fullmatch(before)) is not None:
                    for name in session.agent_names():
                        if name.startswith(agent[1].lower()):
                            yield Suggestion(
                                f"{name} ",
                                len(agent[1]),
                                label=f"@{name}",
                                description="answers this message",
                            )
                for path in best_matches(self._files, text.lstrip('"'), MAX_COMPLETIONS):
                    quoted = (
                        path
                        if re.fullmatch(r"""[^\s"'<>|*?;,(){}\[\]`@\\“”‘’]+""", path)
                        else f'"{path}"'
                    )
                    yield Suggestion(quoted, len(text), label=path)

    def _scan(self, session: "ZkChatSession") -> None:
        """Look for new notes, and for files that can be imported, from the current folder and from
        the vault.
        """
        from zkchat_cli.references import file_imports

        if time.monotonic() - self._scanned_at < CACHE_SECONDS:
            return
        self._scanned_at = time.monotonic()
        session.apply_scan(session.vault.refresh())
        folder = session.services.working_folder
        root = session.vault.root
        self._tags = [tag for tag in session.vault.catalog.tags() if _is_printable(tag)]
        inside = file_imports.list_files(folder) if folder is not None and folder != root else ()
        self._files = list(
            dict.fromkeys(
                path for path in (*inside, *file_imports.list_files(root)) if _is_printable(path)
            )
        )


def _is_printable(name: str) -> bool:
    return sanitize_name(name) == name
