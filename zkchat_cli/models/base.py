"""What all values have in common."""

from pydantic import BaseModel, ConfigDict


class Value(BaseModel):
    """A frozen value that refuses unknown keys, so that a misspelt field in a file is an error and not a loss."""

    model_config = ConfigDict(frozen=True, extra="forbid")
