"""The settings of the store."""

from pydantic import Field, field_validator

from zkchat_cli.config.section import Section
from zkchat_cli.config.store_url import SCHEMES


class StoreSettings(Section):
    """The table [store]: where conversations and memory are kept."""

    url: str = Field(
        "",
        description=(
            "PostgreSQL server for several machines or people: postgresql://USER@HOST/DATABASE; "
            "empty: a file"
        ),
    )
    user: str = Field(
        "", description="your name on that server, if several people use the same role"
    )
    allow_insecure: bool = Field(
        False, description="whether conversations may go to another machine without TLS"
    )

    @field_validator("url")
    @classmethod
    def _is_server(cls, url: str) -> str:
        if url and not url.startswith(SCHEMES):
            raise ValueError("it must begin with postgresql://")
        return url
