"""The files of pictures that messages send: read when a message names one, and again, checked by
their hash, for each call that sends it.
"""

import os
from hashlib import sha256
from pathlib import Path

from zkchat_cli.errors import VaultError, reason
from zkchat_cli.fileio import read_beginning, read_file
from zkchat_cli.models.images import Image
from zkchat_cli.references.image_formats import other_format, read_header
from zkchat_cli.vault import filesystem

SUFFIXES = (
    ".png",
    ".jpg",
    ".jpeg",
    ".gif",
    ".webp",
    ".bmp",
    ".tif",
    ".tiff",
    ".heic",
    ".heif",
    ".avif",
    ".ico",
)
"""Ends of the names of pictures, also of those that no model takes."""
MAX_BYTES = 3_932_160
"""The largest file. Anthropic takes 5 MiB in base64, which is four thirds of the bytes:
https://platform.claude.com/docs/en/build-with-claude/vision
"""
MAX_SIDE = 8000
"""The longest side in pixels that Anthropic takes; OpenAI and others scale pictures down."""
# The first bytes of a file, which name its format
_BEGINNING = 16
_CONVERT = "Convert it to PNG or JPEG."
_SHRINK = "Make it smaller, for example: magick IN.png -resize 2000x2000 OUT.jpg"


def is_picture(path: str) -> bool:
    """Whether a path is that of a picture, by its end."""
    return path.lower().endswith(SUFFIXES)


def read_image(file: Path, relative_path: str) -> Image:
    """The picture in a file, without its bytes. Raises VaultError for one that cannot be sent."""
    name = filesystem.short_path(relative_path)
    data = _read(file, name)
    try:
        header = read_header(data)
    except ValueError as e:
        raise VaultError(f"{name} is damaged: {e}", "Open it in another program.") from e
    side = max(header.width, header.height)
    if side > MAX_SIDE:
        raise VaultError(
            f"{name} is too large to send: {side:,} pixels of at most {MAX_SIDE:,}", _SHRINK
        )
    return Image(
        relative_path=relative_path,
        media_type=header.media_type,
        sha256=sha256(data).hexdigest(),
        size=len(data),
        width=header.width,
        height=header.height,
    )


def _read(file: Path, name: str) -> bytes:
    try:
        format_name = other_format(read_beginning(file, _BEGINNING))
        size = file.stat().st_size
        if format_name is None and size <= MAX_BYTES:
            return read_file(file, MAX_BYTES)
    except OSError as e:
        raise VaultError(f"{name} cannot be read: {reason(e)}", "Check the file.") from e
    if format_name is not None:
        raise VaultError(f"{name} is a {format_name} picture: models do not take these", _CONVERT)
    raise VaultError(
        f"{name} is too large to send: {size // 1000:,} kB of at most {MAX_BYTES // 1000:,}",
        _SHRINK,
    )


class ImageFiles:
    """The pictures that were sent before, as their files are now: in the vault or below the current
    folder, and nowhere else.
    """

    def __init__(self, root: Path, folder: Path | None) -> None:
        self._root = root
        self._folder = folder
        # Whether the file of a picture had its bytes when it had this stamp
        self._checked: dict[tuple[str, str], tuple[filesystem.Stamp, bool]] = {}

    def has(self, image: Image) -> bool:
        """Whether the picture's file still has the bytes that were sent."""
        file = self._find(image)
        if file is None:
            return False
        key = (image.relative_path, image.sha256)
        try:
            stamp = filesystem.stamp(file.stat())
        except OSError:
            return False
        known = self._checked.get(key)
        if known is None or known[0] != stamp:
            known = (stamp, self._read_checked(file, image) is not None)
            self._checked[key] = known
        return known[1]

    def load(self, image: Image) -> Image:
        """The picture with its bytes; without, if the file no longer has them."""
        file = self._find(image)
        data = self._read_checked(file, image) if file is not None else None
        return image.model_copy(update={"data": data})

    def _find(self, image: Image) -> Path | None:
        real = os.path.realpath(self._root / image.relative_path)
        for base in (self._root, self._folder):
            if base is None:
                continue
            relative = os.path.relpath(real, os.path.realpath(base))
            try:
                return filesystem.resolve_inside(Path(os.path.realpath(base)), relative)
            except VaultError:
                continue
        return None

    def _read_checked(self, file: Path, image: Image) -> bytes | None:
        try:
            data = read_file(file, MAX_BYTES)
        except OSError:
            return None
        return data if sha256(data).hexdigest() == image.sha256 else None
