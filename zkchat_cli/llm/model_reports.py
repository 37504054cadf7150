"""What servers last said about their models, in a file: a server that does not answer must not
change how large a prompt may be.
"""

import hashlib
import json
from contextlib import suppress
from pathlib import Path
from typing import Any, NamedTuple

from zkchat_cli.fileio import atomic_write, read_file
from zkchat_cli.text.numbers import whole_number

MAX_BYTES = 1_000_000
# Models that are remembered, the last ones
MOST_MODELS = 200
_ADDRESS_DIGITS = 12


class ModelReport(NamedTuple):
    """The window of a model in tokens, who named it, and what the model can do; None is unknown.
    `refused` has the names of the parameters that it has refused.
    """

    window: int | None = None
    source: str = ""
    calls_tools: bool | None = None
    takes_images: bool | None = None
    refused: tuple[str, ...] = ()


class ModelReports:
    """The last report about each model, by its name and the address of its server.

    Without a `file` nothing is remembered; if it is `read_only`, nothing new is.
    """

    def __init__(self, file: Path | None = None, *, read_only: bool = False) -> None:
        self._file = file
        self._read_only = read_only

    def find(self, model: str, address: str) -> ModelReport | None:
        """The last report about a model; None if there is none that can be read."""
        stored = self._stored().get(_key(model, address))
        if not isinstance(stored, dict):
            return None
        return ModelReport(
            window=whole_number(stored.get("window"), least=1),
            source=str(stored.get("source") or ""),
            calls_tools=_yes_or_no(stored.get("calls_tools")),
            takes_images=_yes_or_no(stored.get("takes_images")),
            refused=_names(stored.get("refused")),
        )

    def remember(self, model: str, address: str, report: ModelReport) -> None:
        """Store a report. A file that cannot be written stays as it is."""
        if self._file is None or self._read_only:
            return
        key = _key(model, address)
        stored = self._stored()
        described = {**report._asdict(), "refused": [*report.refused]}
        if stored.get(key) == described:
            return
        stored.pop(key, None)
        stored[key] = described
        newest = dict([*stored.items()][-MOST_MODELS:])
        with suppress(OSError):
            atomic_write(self._file, json.dumps(newest, indent=1) + "\n", private=True)

    def _stored(self) -> dict[str, Any]:
        """What the file has; nothing if it is missing or damaged."""
        if self._file is not None:
            with suppress(OSError, ValueError, RecursionError):
                stored = json.loads(read_file(self._file, MAX_BYTES))
                if isinstance(stored, dict):
                    return stored
        return {}


def _key(model: str, address: str) -> str:
    """The name of the model with a digest of the address, which may have a password in it."""
    digest = hashlib.sha256(address.encode("utf-8", "replace")).hexdigest()
    return f"{model} {digest[:_ADDRESS_DIGITS]}"


def _names(value: object) -> tuple[str, ...]:
    if not isinstance(value, list):
        return ()
    return tuple(name for name in value if isinstance(name, str))


def _yes_or_no(value: object) -> bool | None:
    return value if isinstance(value, bool) else None
