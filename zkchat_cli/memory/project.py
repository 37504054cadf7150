"""Project memory: `ZKCHAT.md` (and `WILK.md`), in the vault's root for every prompt, in a folder for when a note below it is in play.

What stands in the root goes to the front of the prompt, which stays byte for byte the same from turn to turn. What a folder has comes
with the message alone: it is of use while one talks about its notes, and in front each change of subject would cost the provider's cache.
"""

import posixpath
from bisect import bisect_right
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import Literal

from zkchat_cli.agents.profile import Agent
from zkchat_cli.memory.file_reader import CUT, MemoryFiles
from zkchat_cli.models import ZkChatMessage
from zkchat_cli.references.file_imports import imports_in
from zkchat_cli.text.truncate import truncate
from zkchat_cli.tokens.counter import TokenCounter

ALSO_READ = "WILK.md"
DEEPEST = 5
"""Imports that lead from one file to the next."""
MOST_FILES = 50
MOST_NOTES = 30
"""Notes in play whose folders are looked at, those of this turn first."""

MemoryKind = Literal["file", "fact", "document", "agent"]


@dataclass(frozen=True, slots=True)
class MemoryItem:
    """A piece of memory and why it is in the prompt. A fact, and an agent's memory, which is not in the vault, have no path but a `key`."""

    relative_path: str
    content: str
    tokens: int
    reason: str
    cut: bool = False
    kind: MemoryKind = "file"
    key: str | None = None


@dataclass(frozen=True, slots=True)
class ActiveNote:
    """A note that the conversation is about, and how it came in: "which you named"."""

    relative_path: str
    reason: str


_HOW = {"direct": "which you named", "import": "which you imported", "link": "which a note that you named links to"}


def find_active_notes(current: Sequence[ZkChatMessage], recent: Sequence[ZkChatMessage]) -> tuple[ActiveNote, ...]:
    """The notes that the messages of this turn name or found, then those of `recent` turns; each once."""
    found: dict[str, str] = {}
    for messages, when in ((current, ""), (recent, " a moment ago")):
        for path, how in _notes(messages):
            found.setdefault(path, how + when)
    return tuple(ActiveNote(path, how) for path, how in list(found.items())[:MOST_NOTES])


def _notes(messages: Sequence[ZkChatMessage]) -> Iterator[tuple[str, str]]:
    for message in messages:
        if message.role == "user":
            known = (r for r in message.references if r.reference_type in _HOW)
            yield from ((r.relative_path, _HOW[r.reference_type]) for r in known if r.relative_path)
    for message in messages:
        yield from ((chunk.relative_path, "which was found") for chunk in message.chunks)


def load_root_memory(files: MemoryFiles, names: Iterable[str], room: int, counter: TokenCounter) -> tuple[MemoryItem, ...]:
    """The memory files in the vault's root and what they import, in order, in `room` tokens together; what is longer is cut and marked."""
    taking = _Taking(files, room, counter)
    return tuple(item for name in dict.fromkeys(names) for item in taking.take(name, f"{name} in the vault's root"))


def load_agent_memory(files: MemoryFiles, agent: Agent, room: int, counter: TokenCounter) -> tuple[MemoryItem, ...]:
    """What stands in the agent's own memory file, in `room` tokens."""
    if agent.memory_file is None:
        return ()
    taking = _Taking(files, room, counter)
    return tuple(
        replace(item, relative_path="", key=agent.name, kind="agent", reason=f"memory of the agent {agent.name}, {agent.memory_file}")
        for item in taking.take(agent.memory_file.name, "", imports=False)
    )


def load_folder_memory(
    files: MemoryFiles,
    names: Sequence[str],
    notes: Iterable[ActiveNote],
    room: int,
    counter: TokenCounter,
    there: Iterable[MemoryItem] = (),
) -> tuple[MemoryItem, ...]:
    """The memory files in the folders above the notes in play, the nearest last; what is in the prompt already (`there`) is left out.

    Where there is no room for all, those nearest to the notes of this turn stay.
    """
    taking = _Taking(files, room, counter, {item.relative_path for item in there})
    found: dict[str, list[MemoryItem]] = {}
    for note in notes:
        if posixpath.basename(note.relative_path) in names:
            continue  # a search may find memory itself
        nearest = folder = posixpath.dirname(note.relative_path)
        while folder.strip("/.") and not folder.startswith(".."):
            if folder not in found:
                of = f"in the folder of {note.relative_path}" if folder == nearest else f"in {folder}, above {note.relative_path}"
                paths = [f"{folder}/{name}" for name in dict.fromkeys(names) if name]
                found[folder] = [item for path in paths for item in taking.take(path, f"{of}, {note.reason}")]
            folder = posixpath.dirname(folder)
    return tuple(item for folder in sorted(found, key=lambda folder: (folder.count("/"), folder)) for item in found[folder])


@dataclass
class _Taking:
    """Memory files being taken into a room of tokens, each once."""

    files: MemoryFiles
    room: int
    counter: TokenCounter
    seen: set[str] = field(default_factory=set)

    def take(self, path: str, reason: str, depth: int = 0, *, imports: bool = True) -> list[MemoryItem]:
        """The file, cut to what room there is, and after it what that imports."""
        if path in self.seen:
            return []
        text = self.files.read(path)
        if not text:
            return []
        self.seen.add(path)
        content, tokens = truncate_to_budget(text, self.room, self.counter)
        if content is not text and len(self.seen) <= MOST_FILES:
            how = "is cut" if content else "is left out"
            hint = f"{self.room} tokens are left for it; shorten it, or raise context.max_tokens."
            self.files.warn(f"memory: {path} is longer than its share of the context window and {how}", hint)
        if not content:
            return []
        self.room -= tokens
        item = MemoryItem(path, content, tokens, reason, cut=content is not text or text.endswith(CUT))
        return [item, *(each for imported in (self._imports(item, depth) if imports else ()) for each in imported)]

    def _imports(self, item: MemoryItem, depth: int) -> Iterator[list[MemoryItem]]:
        for wanted in imports_in(item.content):
            if len(self.seen) >= MOST_FILES:
                self.files.warn(f"memory: more than {MOST_FILES} files; the others are left out", f"{item.relative_path} imports too many.")
                return
            paths = list(_candidates(wanted.path, posixpath.dirname(item.relative_path)))
            path = next((path for path in paths if path in self.seen or self.files.read(path) is not None), None)
            written = f"{truncate(wanted.written, 80)} in {item.relative_path}"
            if path is None:
                if wanted.is_path:  # `@anna` may be a name
                    self.files.warn(f"memory: {written} is not a file in the vault", "Give a path relative to the file that names it.")
            elif depth >= DEEPEST:
                hint = "Import it nearer to the first."
                self.files.warn(f"memory: {written} is left out, {DEEPEST} imports away from the first file", hint)
            else:
                yield self.take(path, f"imported by {item.relative_path}", depth + 1)


def _candidates(written: str, folder: str) -> Iterator[str]:
    """The paths that an import may mean: from its file's folder or else from the vault's root, with `.md` where that is left out."""
    for base in dict.fromkeys((folder, "")):
        path = posixpath.normpath(posixpath.join(base, written.lstrip("/")))
        yield from (path, f"{path}.md")


def truncate_to_budget(text: str, room: int, counter: TokenCounter) -> tuple[str, int]:
    """`text` if it takes at most `room` tokens, else as much of its beginning as does, in whole lines if it can, marked; and its tokens."""
    tokens = counter.count(text) if len(text) <= 40 * max(room, 1) else room + 1  # a 50 MB file need not be counted to be too long
    if tokens <= room:
        return text, tokens
    if room <= 0:
        return "", 0
    used, kept = counter.count(CUT), []
    lines = text[: 40 * room].split("\n")
    for line in lines:
        used += counter.count(line) + 1
        if used > room:
            break
        kept.append(line)
    beginning = "\n".join(kept) or _beginning(lines[0], room, counter)
    cut = beginning + CUT
    return (cut, counter.count(cut)) if beginning else ("", 0)


def _beginning(line: str, room: int, counter: TokenCounter) -> str:
    """As much of one long line as fits with the mark: a whole file may be a single paragraph."""
    lengths = range(min(len(line), 8 * room))
    return line[: bisect_right(lengths, room, key=lambda n: counter.count(line[: n + 1] + CUT))]
