"""The files of pictures: which can be sent, and what is wrong with the others."""

import os
from collections.abc import Callable
from pathlib import Path

import pytest
from pictures import gif, jpeg, png, webp

from zkchat_cli.errors import VaultError
from zkchat_cli.models.images import Image
from zkchat_cli.references.image_files import MAX_BYTES, ImageFiles, read_image


def write(folder: Path, name: str, data: bytes) -> Path:
    file = folder / name
    file.write_bytes(data)
    return file


@pytest.mark.parametrize(
    ("data", "media_type"),
    [
        (png(640, 480), "image/png"),
        (jpeg(640, 480), "image/jpeg"),
        (gif(640, 480), "image/gif"),
        (webp(640, 480), "image/webp"),
    ],
)
def test_format_and_size_come_from_the_bytes_not_from_the_name(
    tmp_path: Path, data: bytes, media_type: str
) -> None:
    image = read_image(write(tmp_path, "photo.png", data), "photo.png")
    assert (image.media_type, image.width, image.height) == (media_type, 640, 480)
    assert image.size == len(data)
    assert len(image.sha256) == 64


@pytest.mark.parametrize("make", [png, jpeg, gif, webp])
def test_a_picture_that_ends_early_is_damaged(tmp_path: Path, make: Callable[[], bytes]) -> None:
    data = make()
    for length in (3, len(data) // 2, len(data) - 1):
        with pytest.raises(VaultError) as error:
            read_image(write(tmp_path, "cut.png", data[:length]), "cut.png")
        assert "cut.png is damaged" in error.value.message


def test_a_png_with_a_changed_byte_is_damaged(tmp_path: Path) -> None:
    data = bytearray(png())
    data[20] ^= 1
    with pytest.raises(VaultError, match="a part of it has changed"):
        read_image(write(tmp_path, "a.png", bytes(data)), "a.png")


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (b"just text", "it is not a PNG, JPEG, GIF or WebP picture"),
        (b"", "it is not a PNG, JPEG, GIF or WebP picture"),
        (b"\0\0\0\x18ftypheic" + b"\0" * 30, "a HEIC picture: models do not take these"),
        (b"BM" + b"\0" * 30, "a BMP picture: models do not take these"),
        (png(0, 5), "it has no size"),
        (png(8001, 1), "8,001 pixels of at most 8,000"),
    ],
)
def test_what_cannot_be_sent_is_named(tmp_path: Path, data: bytes, message: str) -> None:
    with pytest.raises(VaultError) as error:
        read_image(write(tmp_path, "a.png", data), "a.png")
    assert message in error.value.message
    assert error.value.hint


def test_a_file_that_is_too_large_is_not_read(tmp_path: Path) -> None:
    file = write(tmp_path, "big.png", png())
    os.truncate(file, MAX_BYTES + 1)
    with pytest.raises(VaultError, match="too large to send: 3,932 kB of at most 3,932"):
        read_image(file, "big.png")


@pytest.mark.parametrize("end", range(len(webp())))
def test_no_beginning_of_a_picture_ends_with_another_error(tmp_path: Path, end: int) -> None:
    for make in (png, jpeg, gif, webp):
        data = make()[: min(end, len(make()) - 1)]
        with pytest.raises(VaultError):
            read_image(write(tmp_path, "a.png", data), "a.png")


# pictures of earlier messages


def stored(folder: Path, name: str = "a.png") -> Image:
    return read_image(folder / name, name)


def test_a_picture_is_sent_again_only_as_long_as_its_file_is_the_same(tmp_path: Path) -> None:
    write(tmp_path, "a.png", png())
    image = stored(tmp_path)
    files = ImageFiles(tmp_path, None)
    assert files.has(image)
    assert files.load(image).data == png()
    write(tmp_path, "a.png", png(gray=3))
    assert not files.has(image)
    assert files.load(image).data is None
    (tmp_path / "a.png").unlink()
    assert not files.has(image)


def test_a_stored_path_outside_of_vault_and_folder_is_never_read(tmp_path: Path) -> None:
    vault = tmp_path / "vault"
    vault.mkdir()
    write(tmp_path, "secret.png", png())
    image = stored(tmp_path, "secret.png").model_copy(update={"relative_path": "../secret.png"})
    assert not ImageFiles(vault, None).has(image)
    assert ImageFiles(vault, tmp_path).has(image)
    (vault / "link.png").symlink_to(tmp_path / "secret.png")
    linked = image.model_copy(update={"relative_path": "link.png"})
    assert not ImageFiles(vault, None).has(linked)
