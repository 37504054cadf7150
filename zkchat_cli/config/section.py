"""What every table of settings has in common."""

from typing import Annotated, TypeVar

from pydantic import BaseModel, BeforeValidator, ConfigDict


class Section(BaseModel):
    """A table of settings. A key that it does not have is an error.

    A value can be an address with a password, so no error of pydantic quotes one.
    """

    model_config = ConfigDict(frozen=True, extra="forbid", hide_input_in_errors=True)


S = TypeVar("S", bound=Section)


def split_list(value: object) -> object:
    """A text with commas as a list of its parts; any other value unchanged."""
    if not isinstance(value, str):
        return value
    return [part.strip() for part in value.split(",") if part.strip()]


TextList = Annotated[tuple[str, ...], BeforeValidator(split_list)]
"""Texts; the environment and the command line have them as one text with commas."""
