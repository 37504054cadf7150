"""Project memory: `ZKCHAT.md` in the vault's root goes into every prompt; in a folder, into prompts
about its notes.

Other programs' names for it are read, too (`AGENTS.md`, `CLAUDE.md`, `WILK.md`): in each folder,
the first that can be read counts.

Root memory is at the front of the prompt, which stays the same from turn to turn. Folder memory
goes next to the message it belongs to: at the front, each change of subject would invalidate the
provider's prompt cache.
"""

import os
import posixpath
from bisect import bisect_right
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from pathlib import Path
from typing import Literal, NamedTuple

from zkchat_cli.config.schema import MemorySettings
from zkchat_cli.errors import VaultError, reason
from zkchat_cli.fileio import read_beginning
from zkchat_cli.models.messages import ZkChatMessage
from zkchat_cli.references.file_imports import find_imports
from zkchat_cli.text.truncate import truncate
from zkchat_cli.tokens.counter import TokenCounter
from zkchat_cli.vault import filesystem
from zkchat_cli.vault.text_decoder import decode

# The user's memory file for all vaults, in the configuration folder
USER_FILE = "ZKCHAT.md"
# Bytes of a memory file that are read: more than any share of a window takes
MAX_BYTES = 1_000_000
CUT_MARK = "\n[… cut: this file is longer than its share of the context window]"
# A memory file that is read together with one of the first name, because zk-chat wrote both
EXTRA_FILE = "WILK.md"
# Memory files in a prompt
MAX_FILES = 50
# Notes of a turn with memory in their folders
MAX_ACTIVE_NOTES = 30
_MOST_CHARACTERS_OF_A_TOKEN = 40
# Characters of a path in a warning
_LONGEST_PATH = 80
# Reading the imports again takes 1 ms for each prompt
_find_imports = lru_cache(maxsize=MAX_FILES)(find_imports)

MemoryKind = Literal["file", "fact", "document", "agent", "user"]


def read_memory_file(
    root: Path, path: str, warn: Callable[[str, str], None] = lambda *_: None
) -> str | None:
    """The trimmed text of a memory file; None if there is no such file, empty if it cannot be used.

    A bad file (binary, huge, a link out of the vault) is a warning, never an error; `warn` takes
    the problem and what to do about it.
    """
    # The usual case: most folders have no memory file. `Path.is_file` takes three times as long
    if not os.path.isfile(f"{root}/{path}"):  # noqa: PTH113
        return None
    name = filesystem.printable(path)
    one_more = MAX_BYTES + 1
    try:
        raw = read_beginning(filesystem.resolve_inside(root, path), one_more)
    except VaultError as e:
        warn(f"memory: {e.message}", e.hint)
        return ""
    except OSError as e:
        warn(f"memory: {name} cannot be read: {reason(e)}", "Check its permissions.")
        return ""
    if b"\0" in raw:
        warn(
            f"memory: {name} is not a text file; it is left out",
            "Memory is Markdown or plain text.",
        )
        return ""
    is_cut = len(raw) > MAX_BYTES
    if is_cut:
        whole_lines = raw[: raw.rfind(b"\n") + 1]
        raw = whole_lines or raw
    text, problem = decode(raw)
    if problem:
        warn(f"memory: {name} is {problem}", "")
    text = text.strip()
    return text + CUT_MARK if is_cut else text


class MemoryItem(NamedTuple):
    """A piece of memory, and why it is in the prompt. Facts and private memory have a `key` and no
    path.
    """

    relative_path: str
    content: str
    tokens: int
    reason: str
    cut: bool = False
    kind: MemoryKind = "file"
    key: str | None = None
    # The agent that a fact belongs to; None if it is shared
    agent: str | None = None


def memory_file_names(settings: MemorySettings) -> tuple[str, ...]:
    """The names of memory files, the one that counts first."""
    return tuple(dict.fromkeys((*settings.project_file, EXTRA_FILE)))


def find_active_notes(
    current: Sequence[ZkChatMessage], recent: Sequence[ZkChatMessage]
) -> list[str]:
    """The paths of the notes that this turn names or found, then of those of the `recent`
    messages.
    """
    paths = dict.fromkeys((*_note_paths(current), *_note_paths(recent)))
    return [path for path in paths if path][:MAX_ACTIVE_NOTES]


def _note_paths(messages: Sequence[ZkChatMessage]) -> Iterator[str | None]:
    """The paths that the questions name, then those of all that was found."""
    for message in messages:
        if message.role == "user":
            for reference in message.references:
                if reference.is_named:
                    yield reference.relative_path
    for message in messages:
        for chunk in message.chunks:
            yield chunk.relative_path


@dataclass
class MemoryLoader:
    """Loads memory files below one folder and their imports into a token budget, each file once.
    `names` are the names of memory files in the vault.
    """

    root: Path
    warn: Callable[[str, str], None]
    budget: int
    counter: TokenCounter
    names: Sequence[str] = ()
    seen: set[str] = field(default_factory=set)

    def load_root(self) -> tuple[MemoryItem, ...]:
        """The memory files in the vault's root and their imports, in order."""
        items: list[MemoryItem] = []
        for path in self._memory_paths(""):
            items += self._load(path, f"{path} in the vault's root")
        return tuple(items)

    def load_private(self, kind: MemoryKind, file: Path) -> tuple[MemoryItem, ...]:
        """The memory file of the user or an agent, which is outside the vault. It imports nothing:
        keys are kept in the same folder.
        """
        key = file.stem
        owner = f"memory of the agent {file.stem}"
        if kind == "user":
            key = file.name
            owner = "your own memory file"
        items = self._load(file.name, f"{owner}, {file}", with_imports=False)
        return tuple(item._replace(relative_path="", key=key, kind=kind) for item in items)

    def load_folders(self, notes: Iterable[str]) -> tuple[MemoryItem, ...]:
        """The memory files in the folders above the active notes, outermost first. The budget goes
        to the folders of the first notes first, and of these to the nearest.
        """
        by_folder: dict[str, list[MemoryItem]] = {}
        for note in notes:
            for folder in _folders_above(note):
                if folder in by_folder:
                    continue
                by_folder[folder] = []
                for path in self._memory_paths(folder):
                    by_folder[folder] += self._load(path, f"in {folder}, above {note}")
        items: list[MemoryItem] = []
        for folder in sorted(by_folder, key=_depth_and_name):
            items += by_folder[folder]
        return tuple(items)

    def _memory_paths(self, folder: str) -> list[str]:
        """The memory file of a folder: the first of `names` that can be read, and `WILK.md` beside
        the first name.
        """
        for name in self.names:
            path = posixpath.join(folder, name)
            if self._read(path):
                is_first = name == self.names[0]
                if is_first and name != EXTRA_FILE:
                    return [path, posixpath.join(folder, EXTRA_FILE)]
                return [path]
        return []

    def _read(self, path: str) -> str | None:
        return read_memory_file(self.root, path, self.warn)

    def _load(self, path: str, reason: str, *, with_imports: bool = True) -> list[MemoryItem]:
        text = None if path in self.seen else self._read(path)
        if not text:
            return []
        self.seen.add(path)
        content, tokens = truncate_to_budget(text, self.budget, self.counter)
        if content is not text:
            self._warn_of_length(path, content)
        if not content:
            return []
        self.budget -= tokens
        is_cut = content.endswith(CUT_MARK)
        items = [MemoryItem(path, content, tokens, reason, cut=is_cut)]
        # A cut line may end with a part of a path
        if with_imports and not is_cut:
            items += self._load_imports(path, content)
        return items

    def _warn_of_length(self, path: str, content: str) -> None:
        result = "is cut" if content else "is left out"
        self.warn(
            f"memory: {path} is longer than its share of the context window and {result}",
            f"{self.budget:,} tokens are left for it; shorten it, or raise context.max_tokens.",
        )

    def _load_imports(self, path: str, content: str) -> list[MemoryItem]:
        """The files that a memory file imports, and their imports."""
        items: list[MemoryItem] = []
        for imported in _find_imports(content):
            if len(self.seen) >= MAX_FILES:
                self.warn(
                    f"memory: more than {MAX_FILES} files; the others are left out",
                    f"{path} imports too many.",
                )
                break
            target = self._find_file(import_paths(imported.path, posixpath.dirname(path)))
            if target is not None:
                items += self._load(target, f"imported by {path}")
            # `@anna` may be a person's name
            elif imported.is_path:
                written = f"{truncate(imported.written, _LONGEST_PATH)} in {path}"
                self.warn(
                    f"memory: {written} is not a file in the vault",
                    "Give a path relative to the file that names it.",
                )
        return items

    def _find_file(self, paths: Iterable[str]) -> str | None:
        """The first of these paths that is a file."""
        for path in paths:
            if path in self.seen or self._read(path) is not None:
                return path
        return None


def _depth_and_name(folder: str) -> tuple[int, str]:
    """The key that sorts folders from the outermost on."""
    return folder.count("/"), folder


def _folders_above(note: str) -> Iterator[str]:
    """The folders of a note in the vault, the nearest first, without the vault's root."""
    folder = posixpath.dirname(note)
    while folder.strip("/.") and not folder.startswith(".."):
        yield folder
        folder = posixpath.dirname(folder)


def import_paths(written: str, folder: str) -> Iterator[str]:
    """The paths that an import may mean: relative to its file's folder, then to the vault's root,
    each as it is written and with `.md` added.
    """
    for base in dict.fromkeys((folder, "")):
        path = posixpath.normpath(posixpath.join(base, written.lstrip("/")))
        yield from (path, f"{path}.md")


def truncate_to_budget(text: str, budget: int, counter: TokenCounter) -> tuple[str, int]:
    """The text and its tokens; if it is too long, its first lines (or a part of the first) and a
    mark, in at most `budget` tokens.
    """
    # A 50 MB file is too long without counting it
    most = _MOST_CHARACTERS_OF_A_TOKEN * max(budget, 1)
    if len(text) <= most:
        tokens = counter.count(text)
        if tokens <= budget:
            return text, tokens
    indexes = range(min(len(text), _MOST_CHARACTERS_OF_A_TOKEN * budget))

    def tokens_up_to(index: int) -> int:
        return counter.count(text[: index + 1] + CUT_MARK)

    length = bisect_right(indexes, budget, key=tokens_up_to)
    if length == 0:
        return "", 0
    beginning = text[:length]
    whole_lines, _, _ = beginning.rpartition("\n")
    content = (whole_lines or beginning) + CUT_MARK
    return content, counter.count(content)
