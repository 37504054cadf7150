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
import unicodedata
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
from zkchat_cli.references.file_imports import find_imports, find_written_paths
from zkchat_cli.text.truncate import truncate
from zkchat_cli.tokens.counter import TokenCounter
from zkchat_cli.vault import filesystem

# The user's memory file for all vaults, in the configuration folder
USER_FILE = "ZKCHAT.md"
# More than any share of a window takes
MAX_BYTES = 1_000_000
CUT_MARK = "\n[… cut: this file is longer than its share of the context window]"
# Read beside the first name, too: zk-chat kept it there together with a file of another program
EXTRA_FILE = "WILK.md"
MAX_FILES = 50
MAX_ACTIVE_NOTES = 30
# If memory imports more paths than that, every file counts as memory
MAX_PATHS = 5_000
_find_imports = lru_cache(maxsize=MAX_FILES)(find_imports)  # 1 ms for each prompt

MemoryKind = Literal["file", "fact", "document", "agent", "user"]


def read_memory_file(
    root: Path, path: str, warn: Callable[[str, str], None] = lambda *_: None
) -> str | None:
    """The trimmed text; None if there is no such file, empty if it cannot be used. A bad file
    (binary, huge, a link out of the vault) is a warning, never an error; `warn` takes the problem
    and what to do about it.
    """
    if not os.path.isfile(f"{root}/{path}"):  # noqa: PTH113, RUF100
        # The usual case: most folders have no memory file
        return None
    name = filesystem.printable(path)
    try:
        raw = read_beginning(filesystem.resolve_inside(root, path), MAX_BYTES + 1)
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
    text, problem = filesystem.decode(raw[: raw.rfind(b"\n") + 1] or raw if is_cut else raw)
    if problem:
        warn(f"memory: {name} is {problem}", "")
    return text.strip() + (CUT_MARK if is_cut else "")


class MemoryItem(NamedTuple):
    """A piece of memory and why it is in the prompt. Facts and private memory have a `key` and no
    path.
    """

    relative_path: str
    content: str
    tokens: int
    reason: str
    cut: bool = False
    kind: MemoryKind = "file"
    key: str | None = None
    # That a fact belongs to; None if it is shared
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
    paths: list[str] = []
    for messages in (current, recent):
        references = [
            r
            for m in messages
            if m.role == "user"
            for r in m.references
            if r.reference_type in ("direct", "import")
        ]
        paths += [reference.relative_path for reference in references if reference.relative_path]
        paths += [chunk.relative_path for message in messages for chunk in message.chunks]
    return list(dict.fromkeys(paths))[:MAX_ACTIVE_NOTES]


@dataclass
class MemoryLoader:
    """Loads memory files below one folder and their imports into a token budget, each file once.
    `names` are those of the vault's files.
    """

    root: Path
    warn: Callable[[str, str], None]
    budget: int
    counter: TokenCounter
    names: Sequence[str] = ()
    seen: set[str] = field(default_factory=set)

    def load_root(self) -> tuple[MemoryItem, ...]:
        """The memory files in the vault's root and their imports, in order."""
        return tuple(
            item
            for path in self._memory_paths("")
            for item in self._load(path, f"{path} in the vault's root")
        )

    def load_private(self, kind: MemoryKind, file: Path) -> tuple[MemoryItem, ...]:
        """The memory file of the user or an agent, which is outside the vault. It imports nothing:
        keys are kept in the same folder.
        """
        key, owner = (
            (file.name, "your own memory file")
            if kind == "user"
            else (file.stem, f"memory of the agent {file.stem}")
        )
        items = self._load(file.name, f"{owner}, {file}", with_imports=False)
        return tuple(item._replace(relative_path="", key=key, kind=kind) for item in items)

    def load_folders(self, notes: Iterable[str]) -> tuple[MemoryItem, ...]:
        """The memory files in the folders above the active notes, outermost first. The budget goes
        to the folders of the first notes first, and of these to the nearest.
        """
        by_folder: dict[str, list[MemoryItem]] = {}
        for note in notes:
            folder = posixpath.dirname(note)
            while folder.strip("/.") and not folder.startswith(".."):
                if folder not in by_folder:
                    paths = self._memory_paths(folder)
                    by_folder[folder] = [
                        item
                        for path in paths
                        for item in self._load(path, f"in {folder}, above {note}")
                    ]
                folder = posixpath.dirname(folder)
        return tuple(
            item
            for folder in sorted(by_folder, key=lambda folder: (folder.count("/"), folder))
            for item in by_folder[folder]
        )

    def _memory_paths(self, folder: str) -> list[str]:
        """The memory file of a folder: the first of `names` that can be read, and `WILK.md` beside
        the first name.
        """
        first = next(
            (name for name in self.names if self._read(posixpath.join(folder, name))), None
        )
        found = [] if first is None else [first, EXTRA_FILE] if first == self.names[0] else [first]
        return [posixpath.join(folder, name) for name in dict.fromkeys(found)]

    def _read(self, path: str) -> str | None:
        return read_memory_file(self.root, path, self.warn)

    def _load(self, path: str, reason: str, *, with_imports: bool = True) -> list[MemoryItem]:
        text = None if path in self.seen else self._read(path)
        if not text:
            return []
        self.seen.add(path)
        content, tokens = truncate_to_budget(text, self.budget, self.counter)
        if content is not text:
            result = "is cut" if content else "is left out"
            hint = (
                f"{self.budget:,} tokens are left for it; shorten it, or raise context.max_tokens."
            )
            self.warn(
                f"memory: {path} is longer than its share of the context window and {result}", hint
            )
        if not content:
            return []
        self.budget -= tokens
        is_cut = content.endswith(CUT_MARK)
        items = [MemoryItem(path, content, tokens, reason, cut=is_cut)]
        # A cut line may end with a part of a path
        for imported in _find_imports(content) if with_imports and not is_cut else ():
            if len(self.seen) >= MAX_FILES:
                self.warn(
                    f"memory: more than {MAX_FILES} files; the others are left out",
                    f"{path} imports too many.",
                )
                break
            paths = import_paths(imported.path, posixpath.dirname(path))
            target = next(
                (each for each in paths if each in self.seen or self._read(each) is not None), None
            )
            if target is not None:
                items += self._load(target, f"imported by {path}")
            elif imported.is_path:  # `@anna` may be a person's name
                written = f"{truncate(imported.written, 80)} in {path}"
                self.warn(
                    f"memory: {written} is not a file in the vault",
                    "Give a path relative to the file that names it.",
                )
        return items


def import_paths(written: str, folder: str) -> Iterator[str]:
    """The paths an import may mean: relative to its file's folder, then to the vault's root; `.md`
    may be left out.
    """
    for base in dict.fromkeys((folder, "")):
        path = posixpath.normpath(posixpath.join(base, written.lstrip("/")))
        yield from (path, f"{path}.md")


def truncate_to_budget(text: str, budget: int, counter: TokenCounter) -> tuple[str, int]:
    """The text and its tokens; if it is too long, its first lines (or a part of the first) and a
    mark, in at most `budget` tokens.
    """
    # A 50 MB file is too long without counting it
    if len(text) <= 40 * max(budget, 1) and (tokens := counter.count(text)) <= budget:
        return text, tokens
    lengths = range(min(len(text), 40 * budget))
    beginning = text[
        : bisect_right(lengths, budget, key=lambda n: counter.count(text[: n + 1] + CUT_MARK))
    ]
    whole_lines = (beginning.rpartition("\n")[0] or beginning) + CUT_MARK
    return (whole_lines, counter.count(whole_lines)) if beginning else ("", 0)


class MemoryPaths(NamedTuple):
    """Which files instruct later conversations: memory files (`names`), all they import, and the
    memory in `agents_folder`. A model's change of one of them needs an approval of its own. Files
    are compared by their real paths, so that no link hides one. A path that is imported but missing
    counts too: a note that is created there would be read.
    """

    root: Path
    names: tuple[str, ...]
    agents_folder: Path | None = None

    def first_among(self, paths: Iterable[str]) -> str | None:
        """The first of these paths of the vault that is or would be memory, with the reason if it
        is not its name; None if none is.
        """
        reasons = self._reasons()
        for path in paths:
            if any(_fold(f"/{path}").endswith(_fold(f"/{name}")) for name in self.names):
                return path
            real = Path(_comparable(self.root / path))
            if len(reasons) > MAX_PATHS:
                return f"{path} (one of over {MAX_PATHS:,} files that memory may import)"
            if (
                self.agents_folder is not None
                and real.suffix == ".md"
                and str(real.parent) == _comparable(self.agents_folder)
            ):
                return f"{path} (memory of the agent {real.stem})"
            if str(real) in reasons:
                return f"{path} ({reasons[str(real)]})"
        return None

    def _reasons(self) -> dict[str, str]:
        """Why a file is memory, by its real path; an import may mean several paths."""
        reasons: dict[str, str] = {}
        found: dict[str, str] = {}
        for folder, folders, _ in os.walk(self.root):
            folders[:] = [name for name in folders if not name.startswith(".")]
            for name in self.names:
                if os.path.lexists(f"{folder}/{name}"):  # broken links included
                    path = posixpath.normpath(
                        posixpath.join(
                            os.path.relpath(folder, self.root).replace(os.sep, "/"), name
                        )
                    )
                    found[path] = f"the same file as {path}"
        seen: set[str] = set()
        while found and len(reasons) <= MAX_PATHS:
            path, why = found.popitem()
            if path not in seen and "\0" not in path:
                seen.add(path)
                reasons.setdefault(_comparable(self.root / path), why)
                for written in find_written_paths(read_memory_file(self.root, path) or ""):
                    found |= dict.fromkeys(
                        import_paths(written, posixpath.dirname(path)), f"imported by {path}"
                    )
        if self.agents_folder is not None:
            reasons[_comparable(self.agents_folder.parent / USER_FILE)] = "your own memory file"
            reasons |= {
                _comparable(file): f"memory of the agent {file.stem}"
                for file in self.agents_folder.glob("*.md")
            }
        return reasons


def _comparable(file: Path) -> str:
    return _fold(os.path.realpath(file))


def _fold(path: str) -> str:
    """Equal for all spellings that one file may have: some file systems ignore case and
    normalization.
    """
    return unicodedata.normalize("NFC", path).casefold()
