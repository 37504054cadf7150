"""Project memory: `ZKCHAT.md` (and `WILK.md`) in the vault's root, instructions and facts that belong in every prompt."""

from bisect import bisect_right
from collections.abc import Sequence
from dataclasses import dataclass

from zkchat_cli.errors import VaultError
from zkchat_cli.tokens import TokenCounter
from zkchat_cli.vault import Vault

ALSO_READ = "WILK.md"
CUT = "\n[… cut: this file is longer than its share of the context window]"


@dataclass(frozen=True, slots=True)
class MemoryItem:
    """A piece of memory and why it is in the prompt."""

    relative_path: str
    content: str
    tokens: int
    reason: str
    cut: bool = False


def project_memory(vault: Vault, file_names: Sequence[str], share: int, counter: TokenCounter) -> tuple[MemoryItem, ...]:
    """The memory files that exist in the vault's root, in order, within `share` tokens together; a longer one is cut and marked."""
    items: list[MemoryItem] = []
    for name in dict.fromkeys(file_names):
        try:
            text = vault.read(name).strip()
        except VaultError:
            continue
        if text:
            room = share - sum(item.tokens for item in items)
            fitting, tokens = fit(text, room, counter)
            if fitting:
                items.append(MemoryItem(name, fitting, tokens, f"{name} in the vault's root", cut=fitting is not text))
    return tuple(items)


def fit(text: str, room: int, counter: TokenCounter) -> tuple[str, int]:
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
