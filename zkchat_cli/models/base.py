"""The base class of all values."""

from pydantic import BaseModel, ConfigDict


class Value(BaseModel):
    """Frozen; refuses unknown keys, so that a misspelt field in a file is an error and not lost data."""

    model_config = ConfigDict(frozen=True, extra="forbid")
