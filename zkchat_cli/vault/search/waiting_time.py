"""How long searches wait for vectors that are missing."""

from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext

# How long a question waits for vectors of what its words find
FIRST_SECONDS = 1.0
# A search so long after that belongs to another question
PAUSE_SECONDS = 2.0
# How long all searches of a batch wait: the last vectors may take some tenths of a second more
BATCH_SECONDS = 0.5


class WaitingTime:
    """The time for vectors of the question, or the batch, that is searched now. `seconds` is what
    all have waited. `clock` gives monotonic seconds.
    """

    def __init__(self, clock: Callable[[], float]) -> None:
        self.seconds = 0.0
        self._clock = clock
        self._is_batch = False
        self._left = 0.0
        self._next_question_at = float("-inf")

    @property
    def is_over(self) -> bool:
        """Whether the next vectors would be too late."""
        return self._left <= 0

    @property
    def may_begin(self) -> bool:
        """Whether a search may load the model: always for a question, once for a batch."""
        return not self._is_batch or not self.is_over

    def begin_batch(self) -> None:
        """All searches from now on belong to one batch."""
        self._is_batch = True
        self._left = BATCH_SECONDS

    def begin_search(self) -> None:
        """A search begins that lacks vectors, of the last question or another one."""
        if not self._is_batch and self._clock() > self._next_question_at:
            self._left = FIRST_SECONDS
            self._next_question_at = self._clock() + FIRST_SECONDS + PAUSE_SECONDS

    @contextmanager
    def measured(self) -> Iterator[None]:
        """The time that the block takes counts."""
        begin = self._clock()
        try:
            yield
        finally:
            seconds = self._clock() - begin
            self.seconds += seconds
            self._left -= seconds

    def measured_in_batch(self) -> AbstractContextManager[None]:
        """The time of the block counts for a batch, but not for a question: a model is loaded."""
        return self.measured() if self._is_batch else nullcontext()
