"""Regular expressions that are compiled when they are first used: the modules of one question have
200, which take 40 ms.
"""

import re
from typing import Any, cast


class LazyPattern:
    """A pattern with the methods of `re.Pattern`. All of them become its own at the first use, so
    that later calls cost no more.
    """

    def __init__(self, pattern: str, flags: int) -> None:
        self.pattern = pattern
        self._flags = flags

    def __getattr__(self, name: str) -> Any:
        compiled = re.compile(self.pattern, self._flags)
        for method in dir(compiled):
            if not method.startswith("_"):
                self.__dict__[method] = getattr(compiled, method)
        return getattr(compiled, name)


def lazy_pattern(pattern: str, flags: int = 0) -> re.Pattern[str]:
    """A regular expression that is compiled at its first use; all else is as with `re.compile`."""
    return cast("re.Pattern[str]", LazyPattern(pattern, flags))
