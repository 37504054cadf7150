"""What all values have in common: they are frozen pydantic models that refuse unknown keys.

They are pydantic models because each is stored, exported or printed as JSON. Missing is `None`,
never absent. Line numbers start at 1; paths are relative to the vault with `/`.
"""

from typing import Annotated, Any

from pydantic import BaseModel, ConfigDict, Field

Count = Annotated[int, Field(strict=True, ge=0, le=10**15)]
"""A number of tokens, lines or the like. Imported files are untrusted: `"12"` and `true` are
refused, and sums fit a database's column.
"""

# A score or milliseconds: a finite number
Quantity = Annotated[float, Field(strict=True, ge=-(10**15), le=10**15)]


class Value(BaseModel):
    """Frozen; refuses unknown keys, so that a misspelt field in a file is an error and not lost
    data.

    A class is built when its first value is made: building all of them takes 12 ms, and the budget
    bar needs eight. From pydantic 2.14 on it is built under a lock: two threads may make the first
    value at once.
    """

    model_config = ConfigDict(frozen=True, extra="forbid", defer_build=True)


_NO_FIELD_NAMES: set[str] = set()


class _LogValue(Value):
    """A value that a long conversation holds by thousands.

    pydantic keeps a set of the fields that were given with each value. For messages and what they
    are made of, these sets would take two fifths of the memory, so all share one empty set. The
    price: `model_fields_set` is empty, and `model_dump(exclude_unset=True)` returns nothing.
    """

    def model_post_init(self, _context: Any, /) -> None:
        object.__setattr__(self, "__pydantic_fields_set__", _NO_FIELD_NAMES)
