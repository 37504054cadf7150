"""The base class of all values."""

from typing import Annotated

from pydantic import BaseModel, ConfigDict, Field

Count = Annotated[int, Field(ge=0, le=10**15)]
"""A number of tokens, lines or the like. Imported files are untrusted; sums of counts still fit a column of a database."""
Quantity = Annotated[float, Field(ge=-(10**15), le=10**15)]
"""A score or milliseconds: a finite number."""


class Value(BaseModel):
    """Frozen; refuses unknown keys, so that a misspelt field in a file is an error and not lost data."""

    model_config = ConfigDict(frozen=True, extra="forbid")
