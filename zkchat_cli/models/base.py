"""The base class of all values."""

from typing import Annotated, Any

from pydantic import BaseModel, ConfigDict, Field

Count = Annotated[int, Field(strict=True, ge=0, le=10**15)]
"""A number of tokens, lines or the like. Imported files are untrusted: `"12"` and `true` are refused, and sums of counts fit a column of a
database."""
Quantity = Annotated[float, Field(strict=True, ge=-(10**15), le=10**15)]
"""A score or milliseconds: a finite number."""


_NO_FIELD_NAMES: set[str] = set()
"""Replaces the names of the fields that were given, which are not needed: pydantic would store a set of them for each value, two fifths of
the memory of a long conversation."""


class Value(BaseModel):
    """Frozen; refuses unknown keys, so that a misspelt field in a file is an error and not lost data.

    A class is built when its first value is made: building all of them takes 12 ms, and the budget bar needs eight. From pydantic 2.14 on
    it is built under a lock: two threads may make the first value at once.
    """

    model_config = ConfigDict(frozen=True, extra="forbid", defer_build=True)

    def model_post_init(self, _context: Any, /) -> None:
        object.__setattr__(self, "__pydantic_fields_set__", _NO_FIELD_NAMES)
