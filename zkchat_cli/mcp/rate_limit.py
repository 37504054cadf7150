"""How many requests somebody may send."""

import threading
from collections.abc import Callable


class RateLimit:
    """At most so many requests a second, also all at once after a pause. The `clock` counts
    seconds.
    """

    def __init__(self, per_second: float, clock: Callable[[], float]) -> None:
        self._per_second = per_second
        # One request must fit in, however seldom it may come
        self._most = max(per_second, 1.0)
        self._clock = clock
        self._left = self._most
        self._counted_at = clock()
        self._lock = threading.Lock()

    def take(self) -> float:
        """Count one request. Returns 0, or the seconds until it would be accepted; then it does not
        count.
        """
        with self._lock:
            now = self._clock()
            self._left += (now - self._counted_at) * self._per_second
            self._left = min(self._left, self._most)
            self._counted_at = now
            if self._left < 1:
                return (1 - self._left) / self._per_second
            self._left -= 1
            return 0.0
