"""What search by meaning asks of a model: the vectors of texts."""

from collections.abc import Collection, Sequence
from typing import TYPE_CHECKING, Literal, Protocol, runtime_checkable

from zkchat_cli.errors import ProviderError

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

    from zkchat_cli.vault.search.vector_math import Vector

Purpose = Literal["query", "document"]

# In a vector: its square is still a number. NaN and infinity are not smaller.
LARGEST_NUMBER = 1e18


class Embedder(Protocol):
    """Turns texts into vectors, `batch` of them per call. Contacts its server, or loads its model,
    only in `embed`.

    `id` is "provider/model": vectors of different ids are never compared. `languages` are those of
    the model; None for all.
    """

    @property
    def id(self) -> str: ...

    @property
    def batch(self) -> int: ...

    @property
    def languages(self) -> Collection[str] | None: ...

    def load(self) -> None:
        """Load a model that runs in this program; contacts no server. Raises ProviderError."""

    def embed(self, texts: Sequence[str], *, purpose: Purpose) -> "ArrayLike":
        """One row of numbers per text, as the model returned them. Raises ProviderError."""

    def close(self) -> None:
        """End connections to a server, and what it still computes."""


@runtime_checkable
class KnowsWords(Protocol):
    """An embedder with a vocabulary, which tells words of its languages from others."""

    def knows_word(self, word: str) -> bool:
        """Whether a word, or a form of it, is in the vocabulary, and not only pieces of it. Raises
        ProviderError.
        """


def compute_vectors(embedder: Embedder, texts: Sequence[str], purpose: Purpose) -> "list[Vector]":
    """The texts' vectors, with length 1. Raises ProviderError, also for an answer that is not a row
    of numbers for each text.
    """
    import numpy as np  # 0.1 s

    answer = embedder.embed(texts, purpose=purpose)
    try:
        found = np.asarray(answer)
        # Texts and null would be converted
        rows = found.astype(np.float64) if found.dtype.kind in "fiu" else np.empty(0)
    except (ValueError, TypeError, OverflowError):
        rows = np.empty(0)
    if (
        rows.ndim != 2
        or len(rows) != len(texts)
        or not rows.size
        or not (np.abs(rows) <= LARGEST_NUMBER).all()
    ):
        problem = f"{embedder.id} answered without a vector for each of {len(texts)} texts"
        raise ProviderError("bad_answer", problem, "Is it an embedding model? See semantic.model.")
    lengths = np.linalg.norm(rows, axis=1, keepdims=True)
    return list((rows / np.where(lengths > 0, lengths, 1.0)).astype(np.float32))
