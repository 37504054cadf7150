"""A picture that a message sends to a model."""

from typing import Literal

from pydantic import Field

from zkchat_cli.models.base import Count, _LogValue

MediaType = Literal["image/png", "image/jpeg", "image/gif", "image/webp"]
"""The formats that all providers take."""
_KB = 1000


class Image(_LogValue):
    """A picture by its path, its size in bytes and pixels, and the hash of its bytes.

    The bytes stay in their file: the store and exports say which picture was sent, and a later call
    sends it again only if the file still has this hash.
    """

    relative_path: str
    media_type: MediaType
    sha256: str
    size: Count
    width: Count
    height: Count
    data: bytes | None = Field(None, exclude=True, repr=False)
    """The bytes, only while a call is made. Neither stored nor exported."""

    def __str__(self) -> str:
        kind = self.media_type.removeprefix("image/").upper()
        kilobytes = max(1, round(self.size / _KB))
        return f"{self.width:,} × {self.height:,} {kind}, {kilobytes:,} kB"

    @property
    def short_hash(self) -> str:
        """The beginning of the hash, which is enough to recognize a picture."""
        return self.sha256[:12]
