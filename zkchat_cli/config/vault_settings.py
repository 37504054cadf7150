"""The settings of the notes."""

from typing import Annotated

from pydantic import BeforeValidator, Field, StringConstraints, field_validator

from zkchat_cli.config.section import Section, TextList, split_list

_NamedFolder = Annotated[str, StringConstraints(pattern=r"^[A-Za-z0-9][A-Za-z0-9._-]{0,63}=.+$")]
_NamedFolders = Annotated[tuple[_NamedFolder, ...], BeforeValidator(split_list)]


class VaultSettings(Section):
    """The table [vault]: the notes."""

    path: str = Field(
        "",
        description=(
            "folder of notes to chat with; empty: --vault, ZKCHAT_VAULT or the current folder"
        ),
    )
    id: str = Field(
        "",
        pattern=r"^([A-Za-z0-9][A-Za-z0-9._-]{0,63})?$",
        description="name of these notes in a store on a server, the same on each machine",
    )
    ids: _NamedFolders = Field(
        (), description="names of notes on a server by their folders here: ['team=~/notes']"
    )
    ignore: TextList = Field(
        (), description="globs of notes to leave out of the index, such as ['Templates/*']"
    )
    daily_format: str = Field(
        "",
        max_length=100,
        description=(
            "format of the names of daily notes, as in Obsidian: DD-MM-YYYY; empty: usual forms"
        ),
    )

    @field_validator("daily_format")
    @classmethod
    def _format_has_a_year(cls, written: str) -> str:
        if written and not any(year in written for year in ("YY", "GGGG", "gggg")):
            raise ValueError("it has no year: write it as in Obsidian, such as YYYY-MM-DD")
        return written
