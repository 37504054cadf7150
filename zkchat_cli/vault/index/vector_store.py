"""The interface of a store of vectors, beside the index's (`index/port.py`). `index/sqlite/` stores
them, and the contract is in tests/test_index_port.py.
"""

from collections.abc import Collection, Sequence
from contextlib import AbstractContextManager
from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from zkchat_cli.vault.search.vector_math import Vector


class VectorStore(Protocol):
    """The vectors of one embedder, by the keys of chunks. Threads may share it."""

    @property
    def is_empty(self) -> bool:
        """Whether there are no vectors."""
        ...

    def count_windows(self) -> int:
        """How many windows have a vector."""
        ...

    def missing_keys(self, keys: Sequence[int]) -> list[int]:
        """Those of the keys that nothing is stored for, in order."""
        ...

    def keys_without_vectors(self, keys: Sequence[int]) -> list[int]:
        """Those of the keys that are stored without vectors, in order: the model does not know
        their language.
        """
        ...

    @property
    def share_without_vectors(self) -> float:
        """The share of the stored chunks that have no vectors."""
        ...

    def nearest(self, vector: "Vector", limit: int) -> dict[int, float]:
        """The cosines of the chunks with the windows that share most signs with the vector, by
        their keys, nearest first. Raises ProviderError if the vector has other dimensions than the
        stored ones: another model has this name now.
        """
        ...

    def cosines(self, vector: "Vector", keys: Collection[int]) -> dict[int, float]:
        """The cosines of the chunks with these keys that have vectors."""
        ...

    def sample_cosines(self, vector: "Vector") -> list[float]:
        """The cosines of chunks that represent all."""
        ...

    def claim(self, keys: Sequence[int]) -> AbstractContextManager[list[int] | None]:
        """Reserve the writing of vectors, so that two processes never compute the same. Gives those
        of the keys that have none; None while another process writes. What is added is stored at
        the end. Raises VaultError, and IndexDamaged for a damaged file.
        """
        ...

    def add(self, key: int, vectors: "Sequence[Vector]") -> None:
        """Store, during a claim, the vectors of a chunk's windows; none if the model does not know
        their language.
        """
        ...

    def prune(self, used: Collection[int]) -> None:
        """Delete the vectors of all other keys."""
        ...

    def close(self) -> None:
        """Close the file; it is opened again when it is needed."""
        ...
