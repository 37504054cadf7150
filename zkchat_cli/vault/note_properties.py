"""The properties of notes, read from their files: the index has no table of them."""

from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path

from zkchat_cli import fileio
from zkchat_cli.errors import VaultError
from zkchat_cli.text import words
from zkchat_cli.vault import filesystem
from zkchat_cli.vault.front_matter import MAX_CHARACTERS, read_front_matter
from zkchat_cli.vault.text_decoder import decode, has_mark


def read_properties(root: Path, relative_path: str) -> Mapping[str, tuple[str, ...]]:
    """The values of each property by its folded name; none for a note that cannot be read."""
    with suppress(OSError, VaultError):
        file = filesystem.resolve_inside(root, relative_path)
        head = fileio.read_beginning(file, MAX_CHARACTERS)
        # Most notes have no front matter, and many are read
        if not head.startswith((b"---", b"\xef\xbb\xbf---")) and not has_mark(head):
            return {}
        matter = read_front_matter(decode(head).text)
        return {name: matter.texts(name) for name in matter.written}
    return {}


def has_property(root: Path, relative_path: str, wanted: str) -> bool:
    """Whether a note has a property, as "status" or with a value as "status: open". A value fits
    that has all the words of the wanted one: "author: Kafka" finds Franz Kafka.
    """
    name, _, value = wanted.partition(":")
    values = read_properties(root, relative_path).get(name.strip().casefold(), ())
    terms = set(words.terms(value))
    return any(terms <= set(words.terms(each)) for each in values)
