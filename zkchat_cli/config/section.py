"""What every table of settings has in common."""

from typing import TypeVar

from pydantic import BaseModel, ConfigDict


class Section(BaseModel):
    """A table of settings. A key that it does not have is an error.

    A value can be an address with a password, so no error of pydantic quotes one.
    """

    model_config = ConfigDict(frozen=True, extra="forbid", hide_input_in_errors=True)


S = TypeVar("S", bound=Section)
