"""Options of the command line that decide how a session starts."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path


@dataclass(frozen=True, slots=True)
class StartupOptions:
    """None leaves a setting to the other layers."""

    vault: Path | None = None
    model: str | None = None
    config_file: Path | None = None
    strategy: str | None = None
    max_context: int | None = None
    store: bool = True
    agent: str | None = None
    overrides: Mapping[str, object] = field(default_factory=dict)
    """Settings changed in the chat, by key."""
    unsafe: bool = False
    """Whether the model may propose changes of notes."""
    store_later: bool = False
    """Whether to keep conversations in memory when the store cannot be written, instead of stopping."""

    @property
    def flags(self) -> dict[str, object]:
        named = {
            "vault.path": str(self.vault) if self.vault is not None else None,
            "model": self.model,
            "context.strategy": self.strategy,
            "context.max_tokens": self.max_context,
        }
        return {**{key: value for key, value in named.items() if value is not None}, **self.overrides}
